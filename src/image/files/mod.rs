//! Picture files: PNG, `OpenEXR` and NPY.
//!
//! | format | holds | reading | writing |
//! |---|---|---|---|
//! | `.png` | 8 bits a channel, clamped, no gamma, straight alpha | 8 and 16 bits, grey or colour, with or without alpha | RGB when every alpha rounds to 255, else RGBA |
//! | `.exr` | f32, premultiplied | the first layer with R, G, B and perhaps A | RGBA, lossless |
//! | `.npy` | f32, premultiplied, H x W x 4, top row first | H x W x 3 or 4 of f4, f8 or u1, either byte and index order | little-endian, C order, version 1.0 |
//!
//! Writing goes by the extension of the name; reading by the first bytes of the content, so a
//! misnamed file is still read. Nothing is allocated on a header's word alone: sizes are checked
//! against limits and against the length of the file first.

mod exr;
mod npy;
mod npy_header;
mod png;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::Frame;
use crate::error::{Error, Result};
use crate::output::write_whole;

/// The longest side of a picture in a file, in pixels: the limit of 16-bit sizes.
pub(crate) const MAX_SIDE_PIXELS: u32 = 65_535;

/// The most pixels of a picture in a file: 4 GiB in memory, at 16 bytes a pixel.
pub(crate) const MAX_PIXELS: u64 = 1 << 28;

/// The longest picture file, in bytes: [`MAX_PIXELS`] RGBA pixels of 8-byte floats, and a header.
const MAX_FILE_BYTES: u64 = MAX_PIXELS * 4 * 8 + (1 << 20);

/// The most a byte of deflate can stand for, in bytes: 258 in 2 bits (RFC 1951). No compression in
/// PNG or `OpenEXR` packs tighter, so a file of n bytes holds at most this many times n bytes.
const MAX_BYTES_PER_DEFLATED_BYTE: u64 = 1032;

/// A picture file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    /// Portable Network Graphics, 8 bits a channel.
    Png,
    /// `OpenEXR`, f32.
    Exr,
    /// `NumPy`'s array file, f32, H x W x 4.
    Npy,
}

impl Format {
    /// The format that the extension of `path` names, in either case; `None` for any other.
    #[must_use]
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        [Self::Png, Self::Exr, Self::Npy]
            .into_iter()
            .find(|format| format.extension().eq_ignore_ascii_case(extension))
    }

    /// The format whose files begin as `content` does; `None` for any other.
    #[must_use]
    pub(crate) fn of_content(content: &[u8]) -> Option<Self> {
        [
            (png::MAGIC, Self::Png),
            (exr::MAGIC, Self::Exr),
            (npy::MAGIC, Self::Npy),
        ]
        .into_iter()
        .find_map(|(magic, format)| content.starts_with(magic).then_some(format))
    }

    /// The extension of the format's files, without the dot.
    #[must_use]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Exr => "exr",
            Self::Npy => "npy",
        }
    }
}

/// Reads the picture file `path`.
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::Limit`] when it, or the picture in it, is
/// larger than this program's limits; [`Error::File`] when its content is no picture of a known
/// format, or a broken one.
pub fn read(path: &Path) -> Result<Frame> {
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    read_from(file, path)
}

/// Reads a picture file from `source`; `named` is its name in errors.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_from(source: impl Read, named: &Path) -> Result<Frame> {
    let mut content = Vec::new();
    source
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(|e| Error::read(named, e))?;
    if content.len() as u64 > MAX_FILE_BYTES {
        return Err(Error::Limit {
            what: format!("{}: bytes of a picture file", named.display()),
            limit: MAX_FILE_BYTES,
            found: content.len() as u64,
        });
    }
    decode(&content, named)
}

/// The picture in the content of a file; `named` is its name in errors.
///
/// # Errors
/// As [`read`], without [`Error::Read`].
pub fn decode(content: &[u8], named: &Path) -> Result<Frame> {
    match Format::of_content(content) {
        Some(Format::Png) => png::decode(content, named),
        Some(Format::Exr) => exr::decode(content, named),
        Some(Format::Npy) => npy::decode(content, named),
        None => Err(Error::file(
            named,
            "first bytes",
            "a picture: PNG, OpenEXR or NPY",
            match &content[..content.len().min(8)] {
                [] => "an empty file".to_owned(),
                start => format!("{start:02x?}"),
            },
        )),
    }
}

/// Writes `frame` to the file `path`, whole or not at all, in the format its extension names.
///
/// # Errors
/// [`Error::Caller`] when the extension is none of `.png`, `.exr` and `.npy`, or the picture has no
/// pixels or more than `MAX_SIDE_PIXELS` or `MAX_PIXELS`; [`Error::Write`] when the file cannot
/// be written.
pub fn write(path: &Path, frame: &Frame) -> Result<()> {
    let format = Format::of_name(path).ok_or_else(|| {
        Error::caller(
            "picture file",
            "a name that ends in .png, .exr or .npy",
            path.display().to_string(),
        )
    })?;
    check_size([frame.width(), frame.height()])?;
    write_whole(path, |mut out| write_to(&mut out, format, frame))
}

/// Writes `frame` to `out` in `format`; for files prefer [`write()`], which also checks the size.
///
/// # Errors
/// Those of `out`, and an error of kind `InvalidInput` when the picture has no pixels.
pub(crate) fn write_to(out: &mut impl Write, format: Format, frame: &Frame) -> io::Result<()> {
    if frame.pixels().is_empty() {
        let reason = "a picture without pixels";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    match format {
        Format::Png => png::encode(out, frame),
        Format::Exr => exr::encode(out, frame),
        Format::Npy => npy::encode(out, frame),
    }
}

/// Writes numbers a pixel, row by row from the top, to the NPY file `path`, whole or not at all:
/// u32, H x W. It is no picture, and [`read`] does not take it for one.
///
/// # Errors
/// [`Error::Caller`] when there are not `width * height` numbers, or the size is none that [`write()`]
/// takes; [`Error::Write`] when the file cannot be written.
pub(crate) fn write_counts(path: &Path, size: [u32; 2], counts: &[u32]) -> Result<()> {
    check_size(size)?;
    let pixels = size.map(u64::from).iter().product::<u64>();
    if counts.len() as u64 != pixels {
        return Err(Error::caller(
            "numbers a pixel",
            format!("{pixels}"),
            format!("{}", counts.len()),
        ));
    }
    write_whole(path, |mut out| npy::encode_counts(&mut out, size, counts))
}

fn check_size([width, height]: [u32; 2]) -> Result<()> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > 0 && width.max(height) <= MAX_SIDE_PIXELS && pixels <= MAX_PIXELS {
        return Ok(());
    }
    Err(Error::caller(
        "picture size",
        format!("1 to {MAX_SIDE_PIXELS} pixels a side, at most {MAX_PIXELS} in all"),
        format!("{width} x {height}"),
    ))
}

/// The size of a picture in a file, in pixels, checked to be within the limits.
#[derive(Debug, Clone, Copy)]
struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// The number of pixels.
    fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// The size a header states, if it is at least 1 x 1 and within the limits.
fn stated_size(named: &Path, width: u64, height: u64) -> Result<Size> {
    if width == 0 || height == 0 {
        let found = format!("{width} x {height}");
        return Err(Error::file(
            named,
            "picture size",
            "at least 1 x 1 pixels",
            found,
        ));
    }
    let limited = |what: &str, limit: u64, found: u64| Error::Limit {
        what: format!("{}: {what}", named.display()),
        limit,
        found,
    };
    let side = |value: u64| {
        u32::try_from(value)
            .ok()
            .filter(|&side| side <= MAX_SIDE_PIXELS)
            .ok_or_else(|| limited("pixels of a side", MAX_SIDE_PIXELS.into(), value))
    };
    let size = Size {
        width: side(width)?,
        height: side(height)?,
    };
    if size.pixels() > MAX_PIXELS {
        return Err(limited("pixels", MAX_PIXELS, size.pixels()));
    }
    Ok(size)
}

/// Refuses a compressed file that is too short to hold `size`, at `bits_per_pixel` at least.
fn check_compressed_length(
    named: &Path,
    content: &[u8],
    size: Size,
    bits_per_pixel: u64,
) -> Result<()> {
    let holds_bytes = content.len() as u64 * MAX_BYTES_PER_DEFLATED_BYTE;
    let needs_bytes = (size.pixels() * bits_per_pixel).div_ceil(8);
    if needs_bytes <= holds_bytes {
        return Ok(());
    }
    Err(Error::file(
        named,
        "file length",
        format!(
            "at least {} bytes for the {} x {} pixels its header states",
            needs_bytes.div_ceil(MAX_BYTES_PER_DEFLATED_BYTE),
            size.width,
            size.height
        ),
        format!("{} bytes", content.len()),
    ))
}

#[cfg(test)]
mod tests;
