//! `OpenEXR`: f32, premultiplied, by the format's convention.

use std::io::{self, Cursor, Write};
use std::path::Path;

use image::codecs::openexr::{OpenExrDecoder, OpenExrEncoder};
use image::{ExtendedColorType, ImageDecoder, ImageEncoder};

use super::limits::{check_compressed_length, stated_size};
use super::png::io_error;
use crate::error::{Error, Result};
use crate::image::Frame;

/// The first bytes of every `OpenEXR` file: 20000630, little-endian.
pub(super) const MAGIC: &[u8] = &[0x76, 0x2f, 0x31, 0x01];

/// Minimum size of a pixel before compression, in bits: three 16-bit channels.
const MIN_BITS_PER_PIXEL: u64 = 48;

/// Reads the display window of the first layer with R, G and B; without A, alpha is 1.
pub(super) fn decode(content: &[u8], named: &Path) -> Result<Frame> {
    let broken =
        |e: image::ImageError| Error::malformed(named, "OpenEXR", "a whole picture", e.to_string());
    let decoder =
        OpenExrDecoder::with_alpha_preference(Cursor::new(content), Some(true)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let size = stated_size(named, width.into(), height.into())?;
    check_compressed_length(named, content, size, MIN_BITS_PER_PIXEL)?;
    let mut frame = Frame::new(width, height);
    decoder
        .read_image(bytemuck::cast_slice_mut(frame.pixels_mut()))
        .map_err(broken)?;
    Ok(frame)
}

/// Writes one layer of R, G, B and A in f32, losslessly compressed.
pub(super) fn encode(out: &mut impl Write, frame: &Frame) -> io::Result<()> {
    // The encoder seeks back to fill in its table of offsets, which a pipe cannot.
    let mut file = Cursor::new(Vec::new());
    OpenExrEncoder::new(&mut file)
        .write_image(
            bytemuck::cast_slice(frame.pixels()),
            frame.width(),
            frame.height(),
            ExtendedColorType::Rgba32F,
        )
        .map_err(io_error)?;
    out.write_all(file.get_ref())
}
