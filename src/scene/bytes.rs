//! The bytes of an input file: mapped, read from a pipe, or borrowed.

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::Mmap;

use quadrille_base::error::{Error, Result};

/// Maximum size of a pipe's content, which is held in memory: 4 GiB.
const PIPE_LIMIT_BYTES: u64 = 4 << 30;

/// Size in bytes of files whose pages are released after reading, so that memory never holds the whole
/// file and the scene.
const RELEASE_ABOVE_BYTES: usize = 32 << 20;

/// Granularity of released pages, in bytes: a multiple of every page size in use, and the range that
/// Linux maps around a page fault.
const PAGE_BYTES: usize = 64 << 10;

/// The bytes of a file.
pub enum Bytes<'a> {
    /// A file that is mapped into memory.
    Mapped(Mmap),
    /// Bytes that were read, as from a pipe.
    Owned(Vec<u8>),
    /// Bytes of the caller.
    Borrowed(&'a [u8]),
}

impl Bytes<'_> {
    /// Opens `path`. A file is mapped; a pipe, or standard input for `-`, is read to its end.
    pub fn open(path: &Path) -> Result<Self> {
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

    /// Releases the memory of `range` in large files. The bytes stay readable.
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

#[allow(unsafe_code, reason = "mapping a file is unsafe")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is private to the reader, read-only, and its bytes are only read as `u8` and
    // decoded by value, so a concurrent change gives other numbers, not undefined values. If another
    // process truncates the file, the reader ends with a bus error, as every program that maps files.
    unsafe { Mmap::map(file) }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "giving pages of a mapped file back")]
fn release(map: &Mmap, range: Range<usize>) {
    // Both ends are rounded down, so that no page remains between neighbouring ranges.
    let start = range.start / PAGE_BYTES * PAGE_BYTES;
    let end = range.end.min(map.len()) / PAGE_BYTES * PAGE_BYTES;
    if start < end {
        // SAFETY: the map is backed by a file and never written to, so a released page has the same
        // bytes when it is read again. A failure costs memory only.
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
    let what = "bytes of a scene read from a pipe (save it as a file first)";
    Error::check_limit(what, PIPE_LIMIT_BYTES, bytes.len() as u64)?;
    Ok(Bytes::Owned(bytes))
}
