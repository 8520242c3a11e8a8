//! A scene file's bytes: mapped, read from a pipe, or borrowed.

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// Most bytes taken from a pipe, which has to be held in memory whole: 4 GiB.
const PIPE_LIMIT_BYTES: u64 = 4 << 30;

/// Files above this size give their pages back as they are consumed, in bytes, so that file and
/// arrays are never both in memory. Below, the memory is not worth the calls.
const RELEASE_ABOVE_BYTES: usize = 32 << 20;

/// Granularity of pages given back, in bytes: a multiple of every page size in use, and what Linux
/// maps around a page that is touched.
const PAGE_BYTES: usize = 64 << 10;

/// The bytes of a file.
pub(crate) enum Bytes<'a> {
    /// Mapped from a file.
    Mapped(Mmap),
    /// Read from a pipe.
    Owned(Vec<u8>),
    /// In the caller's memory.
    Borrowed(&'a [u8]),
}

impl Bytes<'_> {
    /// Opens `path`: a file is mapped, anything else (a pipe, `-` for stdin) read to its end.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return read_pipe(std::io::stdin().lock(), path);
        }
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        let meta = file.metadata().map_err(|e| Error::read(path, e))?;
        if !meta.is_file() {
            return read_pipe(file, path);
        }
        map(&file)
            .map(Self::Mapped)
            .map_err(|e| Error::read(path, e))
    }

    /// Tells the system that `range` will not be read again. The bytes stay readable; only the
    /// memory that held them may be given back.
    pub(crate) fn release(&self, range: Range<usize>) {
        if let Self::Mapped(map) = self
            && map.len() > RELEASE_ABOVE_BYTES
        {
            release(map, range);
        }
    }
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
            Self::Borrowed(bytes) => bytes,
        }
    }
}

#[allow(unsafe_code, reason = "the only door to mapped files")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is private to the reader, read-only, and its bytes are only ever seen as
    // `u8` and decoded by value, so a change under our feet gives other numbers, not undefined
    // values; a file cut short by someone else while it is read ends the process with a bus error,
    // as it does in every program that maps files.
    unsafe { Mmap::map(file) }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "giving pages of a mapped file back")]
fn release(map: &Mmap, range: Range<usize>) {
    // Rounded down at both ends, so that neighbouring ranges leave no page between them; a
    // neighbour that still reads the first page gets it again.
    let start = range.start / PAGE_BYTES * PAGE_BYTES;
    let end = range.end.min(map.len()) / PAGE_BYTES * PAGE_BYTES;
    if start < end {
        // SAFETY: the map is backed by a file and never written to, so a page that is dropped and
        // touched again comes back with the file's bytes. Failure costs memory only.
        let _ = unsafe {
            map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
        };
    }
}

#[cfg(not(target_os = "linux"))]
fn release(_map: &Mmap, _range: Range<usize>) {}

fn read_pipe<'a>(pipe: impl Read, path: &Path) -> Result<Bytes<'a>> {
    let mut bytes = Vec::new();
    pipe.take(PIPE_LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::read(path, e))?;
    let found = bytes.len() as u64;
    if found > PIPE_LIMIT_BYTES {
        return Err(Error::Limit {
            what: "bytes of a scene read from a pipe (save it as a file first)".into(),
            limit: PIPE_LIMIT_BYTES,
            found,
        });
    }
    Ok(Bytes::Owned(bytes))
}
