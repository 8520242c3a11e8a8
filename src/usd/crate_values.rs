//! Tables of a binary layer, and the values that its words stand for.

use std::cell::Cell;

use crate::bytes::Bytes;
use crate::compression::unpack_integers;
use crate::crate_types::*;
use crate::layer::{Arc, Attribute, Fault, NumberArray, Numbers, Value};
use quadrille_base::math::narrow;

/// Items of a table that any layer may have. Larger layers may have one per byte.
const MIN_ITEMS: usize = 1 << 16;
/// Bound on all items and bytes of texts that are decoded, as a multiple of the largest array: many attributes may share one.
const MAX_DECODED: usize = 64;
/// Arrays with fewer elements are never compressed.
const MIN_COMPRESSED: usize = 16;
/// Index after the last field of a set.
const END_OF_SET: u32 = u32::MAX;

pub(crate) struct CrateTables<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) version: [u8; 2],
    pub(crate) tokens: Vec<String>,
    pub(crate) strings: Vec<u32>,
    /// Token of the name, and value.
    pub(crate) fields: Vec<(u32, u64)>,
    pub(crate) field_sets: Vec<u32>,
    /// Parent, token of the name, and whether it is a property.
    pub(crate) paths: Vec<Option<(u32, u32, bool)>>,
    /// Items that were decoded, see [`MAX_DECODED`].
    pub(crate) decoded: Cell<usize>,
}

impl<'a> CrateTables<'a> {
    /// Largest number of items of a table or array.
    pub(crate) fn most(&self) -> usize {
        self.bytes.len().max(MIN_ITEMS)
    }

    /// Counts items that are decoded.
    fn count_decoded(&self, items: usize) -> Result<(), Fault> {
        let decoded = self.decoded.get().saturating_add(items);
        self.decoded.set(decoded);
        match decoded <= MAX_DECODED * self.most() {
            true => Ok(()),
            false => {
                Err(Fault::new("values", "arrays that fit a layer of this size", "more of them"))
            }
        }
    }

    pub(crate) fn owned(&self, text: &str) -> Result<String, Fault> {
        self.count_decoded(text.len())?;
        Ok(text.to_owned())
    }

    pub(crate) fn plain(&self, bytes: &mut Bytes<'_>) -> Result<Vec<u32>, Fault> {
        let count = bytes.count(self.bytes.len() / 4)?;
        self.count_decoded(count)?;
        (0..count).map(|_| bytes.u32()).collect()
    }

    pub(crate) fn packed<'b>(&self, bytes: &mut Bytes<'b>) -> Result<&'b [u8], Fault> {
        let size = bytes.count(self.bytes.len())?;
        bytes.take(size)
    }

    pub(crate) fn integers(&self, bytes: &mut Bytes<'_>, count: usize) -> Result<Vec<u32>, Fault> {
        let integers = unpack_integers(self.packed(bytes)?, count)?;
        Ok(integers.into_iter().map(i32::cast_unsigned).collect())
    }

    pub(crate) fn token(&self, index: u32) -> Result<&str, Fault> {
        let token = self.tokens.get(index as usize).map(String::as_str);
        token.ok_or_else(|| {
            Fault::new("tokens", format!("an index below {}", self.tokens.len()), index)
        })
    }

    pub(crate) fn string(&self, index: u32) -> Result<&str, Fault> {
        let string = self.strings.get(index as usize);
        let wrong =
            || Fault::new("strings", format!("an index below {}", self.strings.len()), index);
        self.token(*string.ok_or_else(wrong)?)
    }

    /// Text of a path to a prim.
    pub(crate) fn path(&self, mut index: u32) -> Result<String, Fault> {
        let mut names = Vec::new();
        while let Some(Some((parent, token, _))) = self.paths.get(index as usize).copied()
            && parent != u32::MAX
        {
            names.push(self.token(token)?);
            index = parent;
        }
        names.reverse();
        self.owned(&format!("/{}", names.join("/")))
    }

    pub(crate) fn fields_of(&self, set: u32) -> impl Iterator<Item = Result<(&str, u64), Fault>> {
        let indices = self.field_sets.get(set as usize..).unwrap_or_default();
        indices.iter().take_while(|index| **index != END_OF_SET).map(|index| {
            let field = self.fields.get(*index as usize);
            let wrong =
                || Fault::new("fields", format!("an index below {}", self.fields.len()), index);
            let (name, value) = field.ok_or_else(wrong)?;
            Ok((self.token(*name)?, *value))
        })
    }

    pub(crate) fn read_samples(
        &self,
        value: u64,
        attribute: &mut Attribute<'a>,
    ) -> Result<(), Fault> {
        // Offsets lead over the data of nested values, behind which the numbers of the times and of the values stand.
        let mut values = Bytes::at(self.bytes, payload_of(value));
        values.jump()?;
        let mut times = Bytes::at(self.bytes, payload_of(values.u64()?));
        let count = times.count(self.bytes.len() / 8)?;
        values.jump()?;
        if values.count(self.bytes.len() / 8)? != count {
            return Err(Fault::new("time samples", format!("{count} values"), "another number"));
        }
        let mut first: Option<(f64, u64)> = None;
        for _ in 0..count {
            let (time, value) = (times.f64()?, values.u64()?);
            if first.is_none_or(|(first, _)| time < first) {
                first = Some((time, value));
            }
        }
        attribute.samples = count;
        attribute.first = match first {
            Some((time, value)) => Some((time, self.value(value)?)),
            None => None,
        };
        Ok(())
    }

    /// Text of an inlined token or string.
    pub(crate) fn text(&self, value: u64) -> Result<&str, Fault> {
        let [a, b, c, d, ..] = value.to_le_bytes();
        let index = u32::from_le_bytes([a, b, c, d]);
        if kind_of(value) == STRING { self.string(index) } else { self.token(index) }
    }

    pub(crate) fn names(&self, value: u64) -> Result<Vec<&str>, Fault> {
        if kind_of(value) != TOKEN_VECTOR {
            return Ok(Vec::new());
        }
        let mut bytes = Bytes::at(self.bytes, payload_of(value));
        self.plain(&mut bytes)?.into_iter().map(|index| self.token(index)).collect()
    }

    /// Value of a word.
    pub(crate) fn value(&self, value: u64) -> Result<Value<'a>, Fault> {
        let kind = kind_of(value);
        let [is_array, is_inlined, is_packed, is_edit] =
            [63, 62, 61, 60].map(|bit| value >> bit & 1 == 1);
        let payload = payload_of(value);
        if is_edit {
            return Ok(Value::Other);
        }
        if is_array {
            return self.array(kind, payload, is_packed);
        }
        let [a, b, c, d, ..] = value.to_le_bytes();
        let low = [a, b, c, d];
        let mut bytes = Bytes::at(self.bytes, payload);
        Ok(match kind {
            BOOL | UCHAR | SPECIFIER => Value::Number(a.into()),
            INT | INT64 if is_inlined => Value::Number(i32::from_le_bytes(low).into()),
            UINT | UINT64 if is_inlined => Value::Number(u32::from_le_bytes(low).into()),
            HALF => Value::Number(half::f16::from_le_bytes([a, b]).to_f64()),
            FLOAT => Value::Number(f32::from_le_bytes(low).into()),
            DOUBLE | TIME_CODE if is_inlined => Value::Number(f32::from_le_bytes(low).into()),
            DOUBLE | TIME_CODE => Value::Number(bytes.f64()?),
            STRING | TOKEN => Value::Text(self.owned(self.text(value)?)?),
            TOKEN_VECTOR => self.texts(self.plain(&mut bytes)?, false)?,
            STRING_VECTOR => self.texts(self.plain(&mut bytes)?, true)?,
            TOKEN_LIST_OP | STRING_LIST_OP => {
                let mut items = Vec::new();
                self.list(&mut bytes, |bytes| {
                    items.push(bytes.u32()?);
                    Ok(())
                })?;
                self.texts(items, kind == STRING_LIST_OP)?
            }
            REFERENCE_LIST_OP | PAYLOAD_LIST_OP => {
                let mut arcs = Vec::new();
                self.list(&mut bytes, |bytes| {
                    arcs.push(self.arc(bytes, kind == REFERENCE_LIST_OP)?);
                    Ok(())
                })?;
                Value::Arcs(arcs)
            }
            PAYLOAD => Value::Arcs(vec![self.arc(&mut bytes, false)?]),
            VALUE_BLOCK => Value::Blocked,
            _ => match shape(kind) {
                Some((count, size)) => self.tuple(kind, value, is_inlined, (count, size))?,
                None => Value::Other,
            },
        })
    }

    fn tuple(
        &self,
        kind: u8,
        value: u64,
        is_inlined: bool,
        (count, size): (usize, usize),
    ) -> Result<Value<'a>, Fault> {
        let small = value.to_le_bytes();
        let small = |at: usize| f64::from(small[at].cast_signed());
        if is_inlined && kind != VEC2H {
            // Small integers; of a matrix, those of the diagonal.
            let side = usize::isqrt(count);
            let components = (0..count).map(|at| match MATRICES.contains(&kind) {
                true if at % (side + 1) == 0 => small(at / (side + 1)),
                true => 0.0,
                false => small(at),
            });
            return Ok(Value::Tuple(components.collect()));
        }
        let inlined = value.to_le_bytes();
        let mut bytes = match is_inlined {
            true => Bytes::at(&inlined, 0),
            false => Bytes::at(self.bytes, payload_of(value)),
        };
        let component = |_| component(kind, size, &mut bytes);
        Ok(Value::Tuple((0..count).map(component).collect::<Result<_, Fault>>()?))
    }

    /// Calls `item` for all items of a list of edits that are not deleted.
    fn list(
        &self,
        bytes: &mut Bytes<'_>,
        mut item: impl FnMut(&mut Bytes<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut item = |bytes: &mut Bytes<'_>| {
            self.count_decoded(1)?;
            item(bytes)
        };
        let [header] = bytes.array()?;
        // Explicit, added, prepended and appended items are kept; deleted and ordered ones say nothing about splats. The
        // lists stand in the order explicit, added, prepended, appended, deleted, ordered.
        for bit in [1, 2, 5, 6] {
            if header >> bit & 1 == 1 {
                for _ in 0..bytes.count(self.bytes.len())? {
                    item(bytes)?;
                }
            }
        }
        Ok(())
    }

    fn arc(&self, bytes: &mut Bytes<'_>, is_reference: bool) -> Result<Arc, Fault> {
        let asset = self.owned(self.string(bytes.u32()?)?)?;
        let path = bytes.u32()?;
        let path = if path == u32::MAX { String::new() } else { self.path(path)? };
        if is_reference || self.version >= [0, 8] {
            // Offset and scale of times.
            bytes.take(16)?;
        }
        if is_reference {
            for _ in 0..bytes.count(self.bytes.len())? {
                bytes.u32()?;
                // The data of the value, behind which the value itself stands.
                bytes.jump()?;
                bytes.u64()?;
            }
        }
        Ok(Arc { asset, path: if path == "/" { String::new() } else { path } })
    }

    fn texts(&self, indices: Vec<u32>, are_strings: bool) -> Result<Value<'a>, Fault> {
        let text = |index| if are_strings { self.string(index) } else { self.token(index) };
        let texts: Result<_, Fault> =
            indices.into_iter().map(|index| self.owned(text(index)?)).collect();
        Ok(Value::Texts(texts?))
    }

    fn array(&self, kind: u8, payload: u64, is_packed: bool) -> Result<Value<'a>, Fault> {
        let mut bytes = Bytes::at(self.bytes, payload);
        let count = if payload == 0 {
            0
        } else {
            if self.version < [0, 5] {
                bytes.u32()?;
            }
            match self.version < [0, 7] {
                true => bytes.u32()?.into(),
                false => bytes.u64()?,
            }
        };
        let count = usize::try_from(count).ok().filter(|count| *count <= self.most());
        let most = self.most();
        let count = count.ok_or_else(|| {
            let expected = format!("an array of {most} elements at most, in a layer of this size");
            Fault::new(format!("byte {payload}"), expected, "a larger number")
        })?;
        if kind == TOKEN {
            self.count_decoded(count)?;
            let indices: Result<_, Fault> = (0..count).map(|_| bytes.u32()).collect();
            return self.texts(indices?, false);
        }
        let shaped = if kind == INT { Some((1, 4)) } else { shape(kind) };
        let Some((width, size)) = shaped else { return Ok(Value::Other) };
        let numbers = if is_packed && count >= MIN_COMPRESSED && width == 1 {
            self.count_decoded(count)?;
            Numbers::Decoded(self.packed_numbers(kind, size, count, &mut bytes)?)
        } else {
            let stored = bytes.take(count * width * size)?;
            match size {
                2 => Numbers::F16(stored.as_chunks().0),
                4 if kind != INT && !has_integers(kind) => Numbers::F32(stored.as_chunks().0),
                _ => {
                    self.count_decoded(count * width)?;
                    let mut stored = Bytes::at(stored, 0);
                    let number = |_| Ok(narrow(component(kind, size, &mut stored)?));
                    Numbers::Decoded((0..count * width).map(number).collect::<Result<_, Fault>>()?)
                }
            }
        };
        Ok(Value::Array(NumberArray { width, numbers }))
    }

    /// Numbers that are packed as integers, or as indices of a table of values.
    fn packed_numbers(
        &self,
        kind: u8,
        size: usize,
        count: usize,
        bytes: &mut Bytes<'_>,
    ) -> Result<Vec<f32>, Fault> {
        let of_integers = |bytes: &mut Bytes<'_>| {
            let integers = unpack_integers(self.packed(bytes)?, count)?;
            Ok(integers.into_iter().map(|value| narrow(value.into())).collect())
        };
        if kind == INT {
            return of_integers(bytes);
        }
        match bytes.array()? {
            [b'i'] => of_integers(bytes),
            [b't'] => {
                let values = bytes.u32()? as usize;
                let mut values = Bytes::at(bytes.take(values.saturating_mul(size))?, 0);
                let mut table = Vec::new();
                while let Ok(value) = component(kind, size, &mut values) {
                    table.push(narrow(value));
                }
                let indices = self.integers(bytes, count)?;
                let value = |index: u32| {
                    let wrong =
                        || Fault::new("array", format!("an index below {}", table.len()), index);
                    table.get(index as usize).copied().ok_or_else(wrong)
                };
                indices.into_iter().map(value).collect()
            }
            [code] => Err(Fault::new("array", "packed integers (i) or a table (t)", code)),
        }
    }
}

fn component(kind: u8, size: usize, bytes: &mut Bytes<'_>) -> Result<f64, Fault> {
    Ok(match size {
        2 => half::f16::from_le_bytes(bytes.array()?).to_f64(),
        4 if kind == INT || has_integers(kind) => bytes.array().map(i32::from_le_bytes)?.into(),
        4 => bytes.array().map(f32::from_le_bytes)?.into(),
        _ => bytes.f64()?,
    })
}
