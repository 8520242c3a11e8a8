//! Buffers of a document, and the views and accessors into them. All ranges are checked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::container::{Resolve, read_uri};
use super::json::{Accessor, GltfDocument, named as named_extension};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::{narrow, whole};
use quadrille_base::scalar::Scalar;

/// Elements without a buffer view (zeros) that any document may have. Larger buffers allow one element per byte.
const MIN_ZEROS: usize = 1 << 16;

/// Buffers of a document, with checked access to its views and accessors.
pub struct BufferStore<'a> {
    document: &'a GltfDocument,
    /// Bytes of each buffer, or the reason for their absence, which is an error only when the buffer is used.
    buffers: Vec<Result<Cow<'a, [u8]>, String>>,
    /// Decompressed elements of accessors, by accessor index.
    supplied: HashMap<usize, Vec<u8>>,
    path: PathBuf,
}

fn component(code: u32) -> Option<Scalar> {
    Some(match code {
        5120 => Scalar::I8,
        5121 => Scalar::U8,
        5122 => Scalar::I16,
        5123 => Scalar::U16,
        5125 => Scalar::U32,
        5126 => Scalar::F32,
        _ => return None,
    })
}

#[derive(Clone, Copy)]
struct Strided<'s> {
    bytes: &'s [u8],
    stride: usize,
    count: usize,
    component: Scalar,
}

impl<'s> Strided<'s> {
    fn elements(self) -> impl Iterator<Item = &'s [u8]> {
        (0..self.count).map(move |at| &self.bytes[at * self.stride..])
    }
}

impl<'a> BufferStore<'a> {
    /// Reads the buffers of `document`; `binary` is the buffer of a GLB.
    pub fn new(
        document: &'a GltfDocument,
        binary: Option<&'a [u8]>,
        path: &Path,
        resolve: &mut Resolve<'_>,
    ) -> Self {
        let mut buffers = Vec::new();
        for (at, buffer) in document.buffers.iter().enumerate() {
            let bytes = match (&buffer.uri, binary) {
                (Some(uri), _) => read_uri(uri, resolve).map(Cow::from),
                (None, Some(binary)) if at == 0 => Ok(binary.into()),
                (None, _) => Err("neither a URI nor the binary chunk of a GLB".to_owned()),
            };
            buffers.push(bytes.and_then(|bytes| match bytes.len() {
                short if short < buffer.byte_length => Err(format!("{short} bytes")),
                _ => Ok(bytes),
            }));
        }
        Self { document, buffers, supplied: HashMap::new(), path: path.to_path_buf() }
    }

    /// Supplies the elements of the accessor `at`, tightly packed, in the component type of the accessor.
    pub fn supply(&mut self, at: usize, elements: Vec<u8>) {
        self.supplied.insert(at, elements);
    }

    /// True if the elements of the accessor `at` are in a buffer view or were supplied.
    pub fn has_elements(&self, at: usize) -> Result<bool> {
        Ok(self.accessor(at)?.buffer_view.is_some() || self.supplied.contains_key(&at))
    }

    /// Creates an error about the document that names `place` in it.
    pub fn malformed(
        &self,
        place: impl Display,
        expected: impl Display,
        found: impl Display,
    ) -> Error {
        Error::malformed(&self.path, place, expected, found)
    }

    /// Returns the element `at` of the document's array `name`.
    pub fn get<'d, T>(&self, array: &'d [T], at: usize, name: &str) -> Result<&'d T> {
        array.get(at).ok_or_else(|| {
            let expected = format!("an index below {}, the number in the document", array.len());
            self.malformed(format!("{name}[{at}]"), expected, at)
        })
    }

    /// Returns the bytes of a buffer view, and its stride in bytes if it states one.
    pub fn view(&self, at: usize) -> Result<(&[u8], Option<usize>)> {
        let view = self.get(&self.document.buffer_views, at, "bufferViews")?;
        let length = self.get(&self.document.buffers, view.buffer, "buffers")?.byte_length;
        let buffer = self.buffers.get(view.buffer).map(Result::as_ref);
        if let Some(Err(reason)) = buffer {
            let place = format!("buffers[{}]", view.buffer);
            let compressed = view.extensions.keys().next().map(|extension| {
                let extension = named_extension(extension);
                format!("{reason}, and bufferViews[{at}] is compressed: {extension} is not read")
            });
            let found = compressed.unwrap_or_else(|| reason.clone());
            return Err(self.malformed(place, format!("{length} bytes"), found));
        }
        let end = view.byte_offset.checked_add(view.byte_length);
        let end = end.filter(|end| *end <= length);
        let bytes =
            end.and_then(|end| buffer?.ok()?.get(view.byte_offset..end)).ok_or_else(|| {
                let expected = format!("a range inside the {length} bytes of its buffer");
                let found = format!("{} bytes from byte {}", view.byte_length, view.byte_offset);
                self.malformed(format!("bufferViews[{at}]"), expected, found)
            })?;
        Ok((bytes, view.byte_stride))
    }

    /// Returns the accessor of index `at`.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the document has no such accessor.
    pub fn accessor(&self, at: usize) -> Result<&'a Accessor> {
        self.get(&self.document.accessors, at, "accessors")
    }

    fn component(&self, place: &str, code: u32) -> Result<Scalar> {
        component(code)
            .ok_or_else(|| self.malformed(place, "a component type of glTF", code.to_string()))
    }

    /// Checks and returns `count` elements of `width` components from `offset` of a view. Errors name `place`.
    fn strided(
        &self,
        place: &str,
        view: usize,
        offset: usize,
        count: usize,
        width: usize,
        code: u32,
    ) -> Result<Strided<'_>> {
        let component = self.component(place, code)?;
        let (bytes, stride) = self.view(view)?;
        let size = width * component.size_bytes();
        let stride = stride.unwrap_or(size);
        if stride < size {
            let expected = format!("a stride of at least {size} bytes");
            return Err(self.malformed(place, expected, stride.to_string()));
        }
        // Numbers in the file are untrusted; no product of two overflows in 128 bits.
        let rows = (count as u128).saturating_sub(1) * stride as u128;
        let needed = if count == 0 { 0 } else { rows + size as u128 };
        if needed + offset as u128 > bytes.len() as u128 {
            let expected = format!("{count} elements of {size} bytes from byte {offset}");
            let found = format!("{} bytes in bufferViews[{view}]", bytes.len());
            return Err(self.malformed(place, expected, found));
        }
        Ok(Strided { bytes: bytes.get(offset..).unwrap_or(&[]), stride, count, component })
    }

    /// Returns the elements of the accessor `at`, of `N` components each, normalised if the accessor states it.
    pub fn vectors<const N: usize>(&self, at: usize) -> Result<Vec<[f32; N]>> {
        self.numbers(at, self.accessor(at)?.normalized)
    }

    /// [`Self::vectors`] from 0 to 1: whole numbers are normalised, whether the accessor states it or not.
    pub fn shares<const N: usize>(&self, at: usize) -> Result<Vec<[f32; N]>> {
        self.numbers(at, true)
    }

    /// [`Self::shares`] as colours with alpha, which is 1 for elements of three components.
    pub fn colours(&self, at: usize) -> Result<Vec<[f32; 4]>> {
        if self.accessor(at)?.shape == "VEC4" {
            return self.shares(at);
        }
        Ok(self.shares(at)?.into_iter().map(|[r, g, b]| [r, g, b, 1.0]).collect())
    }

    fn numbers<const N: usize>(&self, at: usize, normalised: bool) -> Result<Vec<[f32; N]>> {
        let shape = match N {
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            16 => "MAT4",
            _ => "SCALAR",
        };
        self.elements(at, shape, N, [0.0; N], |bytes, component| {
            decode(bytes, component, normalised)
        })
    }

    /// Decoded elements of accessor `at`. Elements without bytes are `zero`.
    fn elements<T: Clone>(
        &self,
        at: usize,
        shape: &str,
        width: usize,
        zero: T,
        decode: impl Fn(&[u8], Scalar) -> T,
    ) -> Result<Vec<T>> {
        let accessor = self.accessor(at)?;
        let place = format!("accessors[{at}]");
        if accessor.shape != shape {
            return Err(self.malformed(place, shape, accessor.shape.clone()));
        }
        let code = accessor.component_type;
        let mut values = match (self.supplied.get(&at), accessor.buffer_view) {
            (Some(bytes), _) => {
                let component = self.component(&place, code)?;
                let elements = bytes.chunks_exact(width * component.size_bytes());
                elements.map(|bytes| decode(bytes, component)).collect()
            }
            (None, Some(view)) => {
                let offset = accessor.byte_offset;
                let elements = self.strided(&place, view, offset, accessor.count, width, code)?;
                let decode = |bytes: &[u8]| decode(bytes, elements.component);
                elements.elements().map(decode).collect()
            }
            (None, None) => self.zeros(&place, accessor.count, zero)?,
        };
        if let Some(sparse) = &accessor.sparse {
            let (own, json, count) = (&sparse.values, &sparse.indices, sparse.count);
            let [view, offset] = [own.buffer_view, own.byte_offset];
            let elements = self.strided(&place, view, offset, count, width, code)?;
            let [view, offset] = [json.buffer_view, json.byte_offset];
            let indices = self.strided(&place, view, offset, count, 1, json.component_type)?;
            self.check_unsigned(&place, indices.component)?;
            for (index, bytes) in indices.elements().zip(elements.elements()) {
                let index = unsigned(index, indices.component);
                let Some(value) = values.get_mut(index as usize) else {
                    let expected = format!("sparse indices below {}", accessor.count);
                    return Err(self.malformed(place, expected, index.to_string()));
                };
                *value = decode(bytes, elements.component);
            }
        }
        Ok(values)
    }

    fn zeros<T: Clone>(&self, place: &str, count: usize, zero: T) -> Result<Vec<T>> {
        let bytes = self.buffers.iter().flatten().map(|buffer| buffer.len());
        let most = bytes.sum::<usize>().max(MIN_ZEROS);
        if count > most {
            let expected = format!("at most {most} elements without a buffer view");
            return Err(self.malformed(place, expected, count.to_string()));
        }
        Ok(vec![zero; count])
    }

    fn check_unsigned(&self, place: &str, component: Scalar) -> Result<()> {
        if matches!(component, Scalar::U8 | Scalar::U16 | Scalar::U32) {
            return Ok(());
        }
        Err(self.malformed(place, "indices of an unsigned type", format!("{component:?}")))
    }

    /// Returns the unsigned indices of the accessor `at`, which must be below `limit`.
    pub fn indices(&self, at: usize, limit: usize) -> Result<Vec<u32>> {
        let place = format!("accessors[{at}]");
        self.check_unsigned(&place, self.component(&place, self.accessor(at)?.component_type)?)?;
        let indices = self.elements(at, "SCALAR", 1, 0, unsigned)?;
        match indices.iter().find(|index| **index as usize >= limit) {
            None => Ok(indices),
            Some(index) => {
                Err(self.malformed(place, format!("indices below {limit}"), index.to_string()))
            }
        }
    }
}

fn unsigned(bytes: &[u8], component: Scalar) -> u32 {
    whole(component.read(bytes))
}

fn decode<const N: usize>(bytes: &[u8], component: Scalar, normalised: bool) -> [f32; N] {
    let scale: Option<f64> = match component {
        _ if !normalised => None,
        Scalar::I8 => Some(i8::MAX.into()),
        Scalar::U8 => Some(u8::MAX.into()),
        Scalar::I16 => Some(i16::MAX.into()),
        Scalar::U16 => Some(u16::MAX.into()),
        _ => None,
    };
    std::array::from_fn(|at| {
        let bytes = &bytes[at * component.size_bytes()..];
        let value = component.read(bytes);
        narrow(scale.map_or(value, |scale| (value / scale).max(-1.0)))
    })
}
