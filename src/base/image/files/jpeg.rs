//! JPEG: 8 bits per channel in sRGB, without alpha. Photographs and the pictures of many data sets are JPEG.

use std::io::{self, Cursor, Write};
use std::path::Path;

use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder};

use super::byte_rows::ByteRows;
use super::limits::stated_size;
use super::photo::stated_orientation;
use crate::error::{Error, Result};
use crate::image::orientation::ExifOrientation;
use crate::image::{Frame, from_8_bit};

pub(super) const MAGIC: &[u8] = &[0xff, 0xd8, 0xff];

/// Quality of a JPEG file: 1 to 100, the percentage of the Independent JPEG Group's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JpegQuality(u8);

impl JpegQuality {
    /// Quality of thumbnails and pages (assumed), at which losses are hard to see.
    pub const DEFAULT: Self = Self(90);

    /// Creates a quality from a number from 1 to 100.
    pub fn new(quality: u8) -> Option<Self> {
        (1..=100).contains(&quality).then_some(Self(quality))
    }
}

/// Upper bound: a block of 8 x 8 samples has a code of at least one bit, and a channel at most 16 pixels per sample.
const MAX_PIXELS_PER_BYTE: u64 = 8 * 64 * 16;

/// Decodes a JPEG file to values of 0 to 1 with alpha 1, as stored, with the orientation that it states.
pub(super) fn decode(content: &[u8], named: &Path) -> Result<(Frame, ExifOrientation)> {
    let broken = |e: image::ImageError| Error::malformed(named, "JPEG", "a whole picture", e);
    let mut decoder = JpegDecoder::new(Cursor::new(content)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let size = stated_size(named, width.into(), height.into())?;
    if size.pixels() > content.len() as u64 * MAX_PIXELS_PER_BYTE {
        let expected = format!("enough bytes for {width} x {height} pixels");
        let found = format!("{} bytes", content.len());
        return Err(Error::malformed(named, "file length", expected, found));
    }
    check_end(content, named)?;
    let orientation = stated_orientation(&mut decoder);
    let picture = DynamicImage::from_decoder(decoder).map_err(broken)?.into_rgb8();
    let pixels = picture.pixels().map(|pixel| {
        let [r, g, b] = pixel.0.map(from_8_bit);
        [r, g, b, 1.0]
    });
    Ok((Frame::from_pixels(width, height, pixels.collect()), orientation))
}

/// Refuses a file that ends within its picture, since the decoder would fill the missing rows with grey. Scan data never
/// contain the end marker 0xff 0xd9; a thumbnail before them may contain both markers.
fn check_end(content: &[u8], named: &Path) -> Result<()> {
    let last = |marker: u8| content.windows(2).rposition(|pair| pair == [0xff, marker]);
    if last(0xd9) > last(0xda) {
        return Ok(());
    }
    let (expected, found) = ("a marker for the end of the picture", "none: the file is cut off");
    Err(Error::malformed(named, "end of the file", expected, found))
}

/// Writes RGB without subsampling of its chroma (4:4:4).
pub(super) fn encode(
    out: &mut impl Write,
    rows: &ByteRows<'_>,
    quality: JpegQuality,
) -> io::Result<()> {
    let [width, height] = rows.size();
    JpegEncoder::new_with_quality(out, quality.0)
        .write_image(&rows.to_bytes(), width, height, ExtendedColorType::Rgb8)
        .map_err(io_error)
}

fn io_error(error: image::ImageError) -> io::Error {
    match error {
        image::ImageError::IoError(e) => e,
        other => io::Error::other(other),
    }
}
