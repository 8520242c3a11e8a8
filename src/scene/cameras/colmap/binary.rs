//! COLMAP's binary files, little-endian.
//!
//! `cameras.bin`: u64 count; per camera u32 identifier, i32 model, u64 width, u64 height, f64
//! parameters. `images.bin`: u64 count; per image u32 identifier, 4 f64 quaternion, 3 f64
//! translation, u32 camera, name up to a zero byte, u64 count of points of 24 bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use super::lens::{Lens, MAX_PARAMETERS, Model};
use super::{Image, Lenses};
use crate::error::{Error, Result};

/// Bytes of a point of an image: f64 x, f64 y, u64 identifier.
const POINT_BYTES: u64 = 24;
/// Least bytes of a camera: its fixed part and three parameters.
const MIN_CAMERA_BYTES: u64 = 24 + 3 * 8;
/// Least bytes of an image: its fixed part, an empty name and no points.
const MIN_IMAGE_BYTES: u64 = 64 + 1 + 8;
/// Longest image name, in bytes: the longest path of common systems.
const MAX_NAME_BYTES: u64 = 4096;

pub(super) fn read_cameras_file(path: &Path) -> Result<Lenses> {
    read_cameras(&mut Source::open(path)?)
}

pub(super) fn read_images_file(path: &Path) -> Result<Vec<Image>> {
    read_images(&mut Source::open(path)?)
}

/// A file read front to back that never promises more bytes than are left.
#[derive(Debug)]
pub(super) struct Source<'a, R> {
    path: &'a Path,
    inner: BufReader<R>,
    size_bytes: u64,
    left_bytes: u64,
}

impl<'a> Source<'a, File> {
    fn open(path: &'a Path) -> Result<Self> {
        let open = || -> io::Result<_> {
            let file = File::open(path)?;
            let size_bytes = file.metadata()?.len();
            Ok((file, size_bytes))
        };
        let (file, size_bytes) = open().map_err(|e| Error::read(path, e))?;
        Ok(Self::new(path, file, size_bytes))
    }
}

impl<'a, R: Read + Seek> Source<'a, R> {
    pub(super) fn new(path: &'a Path, inner: R, size_bytes: u64) -> Self {
        Self {
            path,
            inner: BufReader::new(inner),
            size_bytes,
            left_bytes: size_bytes,
        }
    }

    fn error(&self, what: &str, expected: String, found: String) -> Error {
        let offset = self.size_bytes - self.left_bytes;
        Error::file(
            self.path,
            format!("{what} at byte {offset}"),
            expected,
            found,
        )
    }

    /// Takes `count` bytes off what is left.
    fn claim(&mut self, count: u64, what: &str) -> Result<()> {
        match self.left_bytes.checked_sub(count) {
            Some(left) => {
                self.left_bytes = left;
                Ok(())
            }
            None => Err(self.error(
                what,
                format!("{count} bytes"),
                format!("{} bytes before the end of the file", self.left_bytes),
            )),
        }
    }

    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        self.claim(N as u64, what)?;
        let mut bytes = [0; N];
        self.inner
            .read_exact(&mut bytes)
            .map_err(|e| Error::read(self.path, e))?;
        Ok(bytes)
    }

    fn u32(&mut self, what: &str) -> Result<u32> {
        self.bytes(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64> {
        self.bytes(what).map(u64::from_le_bytes)
    }

    fn floats<const N: usize>(&mut self, what: &str) -> Result<[f64; N]> {
        let mut floats = [0.0; N];
        for float in &mut floats {
            *float = f64::from_le_bytes(self.bytes(what)?);
        }
        Ok(floats)
    }

    /// A count of items of at least `item_bytes` each, all of which can still be in the file.
    fn count(&mut self, item_bytes: u64, what: &str) -> Result<u64> {
        let count = self.u64(what)?;
        let most = self.left_bytes / item_bytes;
        if count > most {
            return Err(self.error(
                what,
                format!(
                    "at most {most}, by the {} bytes that follow",
                    self.left_bytes
                ),
                count.to_string(),
            ));
        }
        Ok(count)
    }

    /// A name that ends with a zero byte.
    fn name(&mut self, what: &str) -> Result<String> {
        let mut name = Vec::new();
        let limit = self.left_bytes.min(MAX_NAME_BYTES);
        let read = (&mut self.inner)
            .take(limit)
            .read_until(0, &mut name)
            .map_err(|e| Error::read(self.path, e))?;
        if name.pop() != Some(0) {
            return Err(self.error(
                what,
                format!("a name of up to {MAX_NAME_BYTES} bytes that ends with a zero byte"),
                format!("no zero byte in {read} bytes"),
            ));
        }
        self.claim(read as u64, what)?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }

    fn skip(&mut self, count: u64, what: &str) -> Result<()> {
        self.claim(count, what)?;
        let offset = i64::try_from(count)
            .map_err(|_| self.error(what, "at most 2^63 bytes".into(), count.to_string()))?;
        self.inner
            .seek_relative(offset)
            .map_err(|e| Error::read(self.path, e))
    }
}

pub(super) fn read_cameras<R: Read + Seek>(source: &mut Source<R>) -> Result<Lenses> {
    let count = source.count(MIN_CAMERA_BYTES, "number of cameras")?;
    let mut lenses = Lenses::new();
    for index in 0..count {
        let place = format!("camera {index}");
        let id = source.u32(&place)?;
        let model_id = i32::from_le_bytes(source.bytes(&place)?);
        let model = Model::by_id(model_id, source.path, &place)?;
        let mut size_px = [0; 2];
        for side in &mut size_px {
            let value = source.u64(&place)?;
            *side = u32::try_from(value).map_err(|_| {
                source.error(&place, "a side below 2^32 pixels".into(), value.to_string())
            })?;
        }
        let mut parameters = [0.0; MAX_PARAMETERS];
        for parameter in &mut parameters[..model.parameters] {
            [*parameter] = source.floats(&place)?;
        }
        lenses.insert(id, Lens::new(model, size_px, parameters));
    }
    Ok(lenses)
}

pub(super) fn read_images<R: Read + Seek>(source: &mut Source<R>) -> Result<Vec<Image>> {
    let count = source.count(MIN_IMAGE_BYTES, "number of images")?;
    let mut images = Vec::new();
    for index in 0..count {
        let place = format!("image {index}");
        let _id = source.u32(&place)?;
        let quaternion = source.floats(&place)?;
        let translation = source.floats(&place)?;
        let camera_id = source.u32(&place)?;
        let name = source.name(&place)?;
        let points = source.count(POINT_BYTES, &place)?;
        source.skip(points * POINT_BYTES, &place)?;
        images.push(Image {
            place,
            quaternion,
            translation,
            camera_id,
            name,
        });
    }
    Ok(images)
}
