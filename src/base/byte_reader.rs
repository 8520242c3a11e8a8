//! Checked reading of little-endian values from untrusted bytes.

use std::fmt::Display;
use std::path::Path;

use crate::error::{Error, Result};

/// Cursor over the bytes of a file that never reads beyond their end.
pub struct ByteReader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    /// Creates a reader at the start of `bytes`; `path` names them in errors.
    pub fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self { path, bytes, at: 0 }
    }

    /// Error about `what` at the current byte.
    pub fn error(&self, what: &str, expected: impl Display, found: impl Display) -> Error {
        Error::malformed(self.path, format!("{what} at byte {}", self.at), expected, found)
    }

    /// True if all bytes were read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Takes the next `count` bytes, which are `what`.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8]> {
        let left = &self.bytes[self.at..];
        let taken = left.get(..count).ok_or_else(|| {
            let found = format!("{} bytes before the end of the file", left.len());
            self.error(what, format!("{count} bytes"), found)
        })?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    /// Reads an i32.
    pub fn i32(&mut self, what: &str) -> Result<i32> {
        self.array(what).map(i32::from_le_bytes)
    }

    /// Reads a u32.
    pub fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Reads a u64.
    pub fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Reads `N` numbers.
    pub fn f64s<const N: usize>(&mut self, what: &str) -> Result<[f64; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = f64::from_le_bytes(self.array(what)?);
        }
        Ok(values)
    }

    /// Reads a u64 count of items of at least `item_bytes` and checks that the rest of the file can hold them.
    pub fn count(&mut self, item_bytes: usize, what: &str) -> Result<usize> {
        let count = self.u64(what)?;
        let left = self.bytes.len() - self.at;
        let most = left / item_bytes;
        usize::try_from(count).ok().filter(|count| *count <= most).ok_or_else(|| {
            let expected =
                format!("at most {most}, the number that the next {left} bytes can hold");
            self.error(what, expected, count.to_string())
        })
    }

    /// Reads a zero-terminated text of up to `limit` bytes; invalid UTF-8 is replaced.
    pub fn text_to_zero(&mut self, limit: usize, what: &str) -> Result<String> {
        let left = &self.bytes[self.at..];
        let searched = &left[..left.len().min(limit)];
        let Some(length) = searched.iter().position(|&b| b == 0) else {
            let expected = format!("a name of up to {limit} bytes that ends with a zero byte");
            let found = format!("no zero byte in {} bytes", searched.len());
            return Err(self.error(what, expected, found));
        };
        self.at += length + 1;
        Ok(String::from_utf8_lossy(&searched[..length]).into_owned())
    }
}
