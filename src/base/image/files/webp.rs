//! WebP: lossless, 8 bits per channel in sRGB, straight alpha; written only.

use std::io::{self, Write};

use webp::{Encoder, PixelLayout, WebPConfig};

use super::byte_rows::ByteRows;

/// `WEBP_MAX_DIMENSION` of libwebp.
pub(super) const MAX_SIDE_PIXELS: u32 = 16_383;

/// Effort of libwebp, 0 to 6. Textures are within 1.3 percent of the bytes of the most thorough search, in a hundredth of
/// its time (measured).
const METHOD: i32 = 2;
const QUALITY: f32 = 50.0;

pub(super) fn encode(out: &mut impl Write, rows: &ByteRows<'_>) -> io::Result<()> {
    out.write_all(&encode_webp(&rows.to_bytes(), rows.has_alpha(), rows.size())?)
}

/// Encodes RGB or RGBA pixels of a size (width, height) as lossless WebP. Colours under an alpha of 0 are kept.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for too few bytes, no pixels, or more than 16,383 per side, and failures of the encoder.
pub fn encode_webp(
    bytes: &[u8],
    has_alpha: bool,
    [width, height]: [u32; 2],
) -> io::Result<Vec<u8>> {
    let (layout, channels) = if has_alpha { (PixelLayout::Rgba, 4) } else { (PixelLayout::Rgb, 3) };
    let sides = 1..=MAX_SIDE_PIXELS;
    let is_whole = bytes.len() as u64 >= u64::from(width) * u64::from(height) * channels;
    if !is_whole || !sides.contains(&width) || !sides.contains(&height) {
        let found =
            format!("{width} x {height} pixels cannot be written from {} bytes", bytes.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, found));
    }
    let mut settings = WebPConfig::new().map_err(|()| {
        io::Error::other("the linked libwebp has another version than its headers")
    })?;
    settings.lossless = 1;
    settings.exact = 1;
    settings.method = METHOD;
    settings.quality = QUALITY;
    let encoded = Encoder::new(bytes, layout, width, height).encode_advanced(&settings);
    Ok(encoded.map_err(|error| io::Error::other(format!("{error:?}")))?.to_vec())
}
