//! Checked reading of little-endian values of a binary layer.

use crate::layer::Fault;

/// Cursor over the bytes of a layer that never reads beyond their end.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub(crate) fn at(bytes: &'a [u8], at: u64) -> Self {
        Self { bytes, at: usize::try_from(at).unwrap_or(usize::MAX) }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end)).ok_or_else(|| {
            let found = format!("the end of the layer at byte {}", self.bytes.len());
            Fault::new(format!("byte {}", self.at), format!("{count} bytes"), found)
        })?;
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> Result<f64, Fault> {
        self.array().map(f64::from_le_bytes)
    }

    /// Reads a u64 number of items that must be `most` at most.
    pub(crate) fn count(&mut self, most: usize) -> Result<usize, Fault> {
        let count = self.u64()?;
        usize::try_from(count).ok().filter(|count| *count <= most).ok_or_else(|| {
            let place = format!("byte {}", self.at - 8);
            Fault::new(place, format!("a number of items of {most} at most"), count)
        })
    }

    /// Moves to the position that is stored relative to its own.
    pub(crate) fn jump(&mut self) -> Result<(), Fault> {
        let start = self.at as u64;
        let offset = self.u64()?;
        // Offsets are signed; wrapping addition covers both directions.
        *self = Self::at(self.bytes, start.wrapping_add(offset));
        Ok(())
    }
}
