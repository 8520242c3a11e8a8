//! Limits of pictures in files, checked before memory is allocated.

use std::path::Path;

use crate::error::{Error, Result, shown};

/// Largest width and height: the limit of 16-bit sizes.
const MAX_SIDE_PIXELS: u32 = 65_535;

/// Most pixels of a picture: 4 GiB in memory, at 16 bytes per pixel.
const MAX_PIXELS: u64 = 1 << 28;

/// Largest file: [`MAX_PIXELS`] RGBA pixels of 8-byte floats, and a header.
pub(super) const MAX_FILE_BYTES: u64 = MAX_PIXELS * 4 * 8 + (1 << 20);

/// Highest expansion by DEFLATE: 258 bytes in 2 bits (RFC 1951). No compression in PNG or `OpenEXR` is tighter.
const MAX_BYTES_PER_DEFLATED_BYTE: u64 = 1032;

pub(super) fn check_size([width, height]: [u32; 2]) -> Result<()> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > 0 && width.max(height) <= MAX_SIDE_PIXELS && pixels <= MAX_PIXELS {
        return Ok(());
    }
    Err(Error::argument(
        "picture size",
        format!("1 to {MAX_SIDE_PIXELS} pixels per side, at most {MAX_PIXELS} in all"),
        format!("{width} x {height}"),
    ))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    pub(super) fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

pub(crate) fn stated_size(named: &Path, width: u64, height: u64) -> Result<Size> {
    if width == 0 || height == 0 {
        let (expected, found) = ("at least 1 x 1 pixels", format!("{width} x {height}"));
        return Err(Error::malformed(named, "picture size", expected, found));
    }
    let limited = |what: &str, limit: u64, found: u64| Error::Limit {
        what: format!("{}: {what}", shown(named)),
        limit,
        found,
    };
    let side = |value: u64| {
        u32::try_from(value)
            .ok()
            .filter(|&side| side <= MAX_SIDE_PIXELS)
            .ok_or_else(|| limited("pixels per side", MAX_SIDE_PIXELS.into(), value))
    };
    let size = Size { width: side(width)?, height: side(height)? };
    if size.pixels() > MAX_PIXELS {
        return Err(limited("pixels", MAX_PIXELS, size.pixels()));
    }
    Ok(size)
}

/// Refuses a compressed file that is too short for `size` pixels of at least `bits_per_pixel` bits.
pub(super) fn check_compressed_length(
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
    Err(Error::malformed(
        named,
        "file length",
        format!(
            "at least {} bytes for the {} x {} pixels that its header states",
            needs_bytes.div_ceil(MAX_BYTES_PER_DEFLATED_BYTE),
            size.width,
            size.height
        ),
        format!("{} bytes", content.len()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_cannot_claim_a_large_picture() {
        let named = Path::new("test picture");
        let size = stated_size(named, 16384, 16384).unwrap();
        let error = check_compressed_length(named, &[0; 100], size, 1).unwrap_err();
        assert!(error.to_string().contains("16384 x 16384"), "{error}");
    }
}
