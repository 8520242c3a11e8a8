//! The bytes of an input file: mapped, read from a pipe, or borrowed.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use quadrille_base::error::{Error, Result};

/// Limit for input from a pipe, which is held in memory: 4 GiB.
const PIPE_LIMIT_BYTES: u64 = 4 << 30;

/// Files above this size release pages after decoding, so that memory never holds both the whole file and the scene.
const RELEASE_ABOVE_BYTES: usize = 32 << 20;

/// Granularity of released ranges: a multiple of all page sizes in use, and the range that Linux maps around a page fault.
const PAGE_BYTES: usize = 64 << 10;

/// Bytes per read ahead, which stay in a second-level cache. Sizes from 64 to 512 KiB take the same time.
const PART_BYTES: usize = 128 << 10;

thread_local! {
    /// Buffer that one [`ReadAhead`] of this thread leaves to the next.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Bytes of an input file, which dereference to `[u8]`.
pub enum FileBytes<'a> {
    /// A regular file, mapped into memory.
    Mapped(MappedFile),
    /// Bytes held in memory, such as the content of a pipe.
    Owned(Vec<u8>),
    /// Bytes that the caller owns.
    Borrowed(&'a [u8]),
}

impl FileBytes<'_> {
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
        let map = map(&file).map_err(|e| Error::read(path, e))?;
        Ok(Self::Mapped(MappedFile { map, file, path: path.to_path_buf() }))
    }

    /// Releases the memory of `range` in large files. The bytes stay readable.
    pub(crate) fn release(&self, range: Range<usize>) {
        if let Self::Mapped(file) = self
            && file.map.len() > RELEASE_ABOVE_BYTES
        {
            release(&file.map, range);
        }
    }
}

impl Deref for FileBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(file) => &file.map,
            Self::Owned(bytes) => bytes,
            Self::Borrowed(bytes) => bytes,
        }
    }
}

/// A file and its read-only mapping; the file stays open for [`ReadAhead`].
pub struct MappedFile {
    map: Mmap,
    file: File,
    path: PathBuf,
}

impl MappedFile {
    fn read_at(&self, start: usize, into: &mut [u8]) -> Result<()> {
        read_at(&self.file, start as u64, into).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                let place = format!("byte {start}");
                let expected =
                    format!("the {} bytes that the file had when it was opened", self.map.len());
                Error::malformed(&self.path, place, expected, "a shorter file")
            }
            _ => Error::read(&self.path, error),
        })
    }
}

#[cfg(unix)]
fn read_at(file: &File, start: u64, into: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, start)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: u64, _: &mut [u8]) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Buffer for the part of a file that a thread decodes next. Reading a part is faster than page faults of a mapping.
#[derive(Debug, Default)]
pub struct ReadAhead {
    part: Range<usize>,
    buffer: Vec<u8>,
}

impl ReadAhead {
    /// Returns the bytes `wanted` of `file`; reads ahead of them, but not beyond byte `end`.
    #[inline]
    pub(crate) fn bytes<'a>(
        &'a mut self,
        file: &'a FileBytes<'_>,
        wanted: Range<usize>,
        end: usize,
    ) -> Result<&'a [u8]> {
        let file = match file {
            FileBytes::Mapped(file) if cfg!(unix) => file,
            bytes => return Ok(&bytes[wanted]),
        };
        if wanted.start < self.part.start || self.part.end < wanted.end {
            let end = end.min(wanted.start + PART_BYTES).max(wanted.end);
            self.read(file, wanted.start..end)?;
        }
        Ok(&self.buffer[wanted.start - self.part.start..][..wanted.len()])
    }

    fn read(&mut self, file: &MappedFile, part: Range<usize>) -> Result<()> {
        if self.buffer.is_empty() {
            self.buffer = SPARE.take();
        }
        if self.buffer.len() < part.len() {
            self.buffer.resize(part.len(), 0);
        }
        self.part = 0..0;
        file.read_at(part.start, &mut self.buffer[..part.len()])?;
        self.part = part;
        Ok(())
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        if !self.buffer.is_empty() {
            SPARE.set(std::mem::take(&mut self.buffer));
        }
    }
}

#[allow(unsafe_code, reason = "mapping a file is unsafe")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is private to the reader, read-only, and its bytes are only read as `u8` and
    // decoded by value, so a concurrent change gives other numbers, not undefined values. If another
    // process truncates the file, a bus error ends this one, as it ends every program that maps files.
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

fn read_pipe<'a>(pipe: impl Read, path: &Path) -> Result<FileBytes<'a>> {
    let mut bytes = Vec::new();
    pipe.take(PIPE_LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
    let what = "bytes of a scene read from a pipe (save it as a file first)";
    Error::check_limit(what, PIPE_LIMIT_BYTES, bytes.len() as u64)?;
    Ok(FileBytes::Owned(bytes))
}

#[cfg(test)]
#[path = "tests/units/bytes.rs"]
mod tests;
