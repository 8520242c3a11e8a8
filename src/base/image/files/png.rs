//! PNG: 8 bits per channel in sRGB, straight alpha.

use std::io::{self, Cursor, Write};
use std::path::Path;

use image::codecs::png::{PngDecoder, PngEncoder};
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder};
use png::{ColorType, Compression, Encoder, SrgbRenderingIntent};

use super::band::PushBand;
use super::limits::{check_compressed_length, stated_size};
use super::photo::{Photo, stated_orientation};
use crate::error::{Error, Result};
use crate::image::{Frame, to_8_bit};

/// The first bytes of every PNG file (PNG specification, 5.2).
pub(crate) const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Size in bytes of what stands at the start of every file: the magic and the IHDR chunk.
const HEADER_BYTES: usize = MAGIC.len() + 25;
/// The chunk that tells that colours are in sRGB, with the perceptual rendering intent: length, type,
/// intent, checksum (PNG specification, 11.3.2.5).
const SRGB: [u8; 13] = *b"\0\0\0\x01sRGB\0\xae\xce\x1c\xe9";

/// Minimum size of a pixel before compression, in bits: black and white.
const MIN_BITS_PER_PIXEL: u64 = 1;

/// Decodes a PNG file to values of 0 to 1, colour times alpha, as stored. Gamma and colour space are ignored, as
/// by the trainers of 3D Gaussian splatting.
pub(super) fn decode(content: &[u8], named: &Path) -> Result<Photo> {
    let broken =
        |e: image::ImageError| Error::malformed(named, "PNG", "a whole picture", e.to_string());
    let mut decoder = PngDecoder::new(Cursor::new(content)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let size = stated_size(named, width.into(), height.into())?;
    check_compressed_length(named, content, size, MIN_BITS_PER_PIXEL)?;
    let orientation = stated_orientation(&mut decoder);
    let channels = u16::from(decoder.color_type().channel_count());
    let is_eight_bit = decoder.color_type().bits_per_pixel() == 8 * channels;
    // 8-bit values are multiplied by 257: v / 255 and 257 v / 65535 are the same f32.
    let picture = DynamicImage::from_decoder(decoder)
        .map_err(broken)?
        .into_rgba16();
    let pixels = picture.pixels().map(|pixel| {
        let [r, g, b, a] = pixel.0.map(|v| f32::from(v) / f32::from(u16::MAX));
        [r * a, g * a, b * a, a]
    });
    Ok(Photo {
        stored: Frame::from_pixels(width, height, pixels.collect()),
        orientation,
        is_eight_bit,
    })
}

/// Writes RGB when every alpha rounds to 255, else RGBA, both in sRGB.
///
/// Colour is divided by alpha, since PNG stores straight alpha. Where alpha rounds to 0, colour is
/// written as 0.
pub(super) fn encode(out: &mut impl Write, frame: &Frame) -> io::Result<()> {
    let (bytes, kind) = eight_bit(frame);
    let mut file = Vec::new();
    PngEncoder::new(&mut file)
        .write_image(&bytes, frame.width(), frame.height(), kind)
        .map_err(io_error)?;
    let (start, rest) = file.split_at(HEADER_BYTES.min(file.len()));
    [start, &SRGB, rest]
        .iter()
        .try_for_each(|part| out.write_all(part))
}

/// Writes an opaque picture of a size (width, height) as `draw` hands over its bands: RGB in sRGB. The bytes are not the
/// ones of [`encode`], which compresses all rows at once; the pixels are.
pub(super) fn encode_bands(
    out: &mut dyn Write,
    [width, height]: [u32; 2],
    draw: impl FnOnce(PushBand<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    let mut rows = writer.stream_writer()?;
    draw(&mut |band| rows.write_all(&rgb(&band.to_srgb())))?;
    rows.finish()?;
    Ok(writer.finish()?)
}

/// The pixels as RGB when every alpha rounds to 255, else as RGBA, in sRGB.
pub(super) fn eight_bit(frame: &Frame) -> (Vec<u8>, ExtendedColorType) {
    let frame = frame.to_srgb();
    if is_opaque(&frame) {
        return (rgb(&frame), ExtendedColorType::Rgb8);
    }
    let rgba = frame.pixels().iter().flat_map(|&p| straight_8_bit(p));
    (rgba.collect(), ExtendedColorType::Rgba8)
}

/// Whether every alpha rounds to 255.
pub(super) fn is_opaque(frame: &Frame) -> bool {
    frame.pixels().iter().all(|p| to_8_bit(p[3]) == u8::MAX)
}

/// The pixels of an opaque picture in sRGB, without alpha.
pub(super) fn rgb(frame: &Frame) -> Vec<u8> {
    let rgb = frame.pixels().iter().flat_map(|&[r, g, b, _]| [r, g, b]);
    rgb.map(to_8_bit).collect()
}

/// Colour divided by alpha, and alpha, as 8 bits.
pub(crate) fn straight_8_bit([r, g, b, a]: [f32; 4]) -> [u8; 4] {
    let alpha = to_8_bit(a);
    if alpha == 0 {
        return [0; 4];
    }
    // Alpha above 1 is written as 1.
    let divisor = a.min(1.0);
    let [r, g, b] = [r, g, b].map(|c| to_8_bit(c / divisor));
    [r, g, b, alpha]
}

/// Converts an error of the encoder; errors of the output stay what they are.
pub(super) fn io_error(error: image::ImageError) -> io::Error {
    match error {
        image::ImageError::IoError(e) => e,
        other => io::Error::other(other),
    }
}
