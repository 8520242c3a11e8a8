//! PNG: 8 bits per channel in sRGB, straight alpha.

use std::fmt::Display;
use std::io::{self, BufRead, Cursor, Seek, Write};
use std::ops::Range;
use std::path::Path;

use fdeflate::StoredOnlyCompressor;
use image::codecs::png::PngDecoder;
use image::{DynamicImage, ImageDecoder};
use png::{ColorType, Compression, Decoder, DecodingError, Encoder, SrgbRenderingIntent, chunk};
use rayon::prelude::*;

use super::band::PushBand;
use super::byte_rows::ByteRows;
use super::limits::{check_compressed_length, stated_size};
use super::photo::{Photo, stated_orientation};
use super::png_filter::RowFilter;
use super::zlib_pieces::{self, Piece};
use crate::error::{Error, Result};
use crate::image::Frame;
use crate::math::SimdLevel;

pub(crate) const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Rendering intent in the sRGB chunk (PNG specification, 11.3.2.5).
const PERCEPTUAL: u8 = 0;

const MAX_CHUNK_BYTES: usize = (1 << 31) - 1;

/// Rows per thread at a time (assumed): 16 of 1000 pixels fit in the second-level cache. It does not change the file.
const BAND_ROWS: usize = 16;

const MIN_BITS_PER_PIXEL: u64 = 1;

/// Decodes a PNG to premultiplied colours of 0 to 1. Gamma and colour space are ignored, as by trainers of splats.
pub(super) fn decode(content: &[u8], named: &Path) -> Result<Photo> {
    let unreadable = |e: &dyn Display| Error::malformed(named, "PNG", "a whole picture", e);
    let broken = |e: image::ImageError| unreadable(&e);
    let mut decoder = PngDecoder::new(Cursor::new(content)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let size = stated_size(named, width.into(), height.into())?;
    check_compressed_length(named, content, size, MIN_BITS_PER_PIXEL)?;
    // The decoder would return the first frame of an animation.
    let frames = match decoder.is_apng().map_err(broken)? {
        true => animation_frames(Cursor::new(content)).map_err(|e| unreadable(&e))?,
        false => 0,
    };
    if frames > 1 {
        let expected = "a single picture (`compare` reads films from names that end in .apng)";
        let found = format!("an animated PNG of {frames} frames");
        return Err(Error::malformed(named, "PNG", expected, found));
    }
    let orientation = stated_orientation(&mut decoder);
    let channels = u16::from(decoder.color_type().channel_count());
    let is_eight_bit = decoder.color_type().bits_per_pixel() == 8 * channels;
    // 8-bit values are multiplied by 257: v / 255 and 257 v / 65535 are the same f32.
    let picture = DynamicImage::from_decoder(decoder).map_err(broken)?.into_rgba16();
    let pixels = picture.pixels().map(|pixel| {
        let [r, g, b, a] = pixel.0.map(|v| f32::from(v) / f32::from(u16::MAX));
        [r * a, g * a, b * a, a]
    });
    Ok(Photo {
        stored: Frame::from_pixels(width, height, pixels.collect()),
        orientation,
        is_eight_bit,
        is_linear: false,
    })
}

/// Number of frames that the header of an animated PNG states; 0 for a single picture.
pub(crate) fn animation_frames(
    source: impl BufRead + Seek,
) -> std::result::Result<u32, DecodingError> {
    let reader = Decoder::new(source).read_info()?;
    Ok(reader.info().animation_control().map_or(0, |control| control.num_frames))
}

/// Writes 8-bit RGB or RGBA in sRGB: bands of rows are converted, filtered and compressed in parallel.
pub(crate) fn encode(out: &mut impl Write, rows: &ByteRows<'_>) -> io::Result<()> {
    let [width, height] = rows.size();
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(if rows.has_alpha() { ColorType::Rgba } else { ColorType::Rgb });
    let mut writer = encoder.write_header()?;
    writer.write_chunk(chunk::sRGB, &[PERCEPTUAL])?;
    for data in compressed(rows)?.chunks(MAX_CHUNK_BYTES) {
        writer.write_chunk(chunk::IDAT, data)?;
    }
    Ok(writer.finish()?)
}

fn compressed(rows: &ByteRows<'_>) -> io::Result<Vec<u8>> {
    let height = rows.size()[1] as usize;
    let band_rows = if zlib_pieces::can_join() { BAND_ROWS } else { height };
    let bands = (0..height.div_ceil(band_rows)).into_par_iter().map(|band| {
        let first = band * band_rows;
        compressed_band(rows, first..height.min(first + band_rows))
    });
    let joined = zlib_pieces::join(bands.collect::<io::Result<_>>()?);
    let stored_bytes = StoredOnlyCompressor::<()>::compressed_size((rows.row_bytes() + 1) * height);
    match joined.filter(|joined| joined.len() <= stored_bytes) {
        Some(joined) => Ok(joined),
        None => stored(rows),
    }
}

fn compressed_band(rows: &ByteRows<'_>, band: Range<usize>) -> io::Result<Piece> {
    let mut filter = RowFilter::new(rows.pixel_bytes(), rows.row_bytes());
    if let Some(above) = band.start.checked_sub(1) {
        rows.write_row(above, filter.next_row());
    }
    let level = SimdLevel::best();
    Piece::new(|push| {
        band.into_iter().try_for_each(|row| {
            rows.write_row(row, filter.next_row());
            push(filter.filter(level))
        })
    })
}

fn stored(rows: &ByteRows<'_>) -> io::Result<Vec<u8>> {
    let mut stream = StoredOnlyCompressor::new(Cursor::new(Vec::new()))?;
    let mut row = vec![0; rows.row_bytes()];
    for index in 0..rows.size()[1] as usize {
        rows.write_row(index, &mut row);
        // Filter 0 leaves a row unchanged.
        stream.write_data(&[0])?;
        stream.write_data(&row)?;
    }
    Ok(stream.finish()?.into_inner())
}

/// Writes an opaque picture of a size (width, height) in the bands that `draw` passes: RGB in sRGB. The bytes differ from
/// [`encode`]'s, which compresses all rows at once; the pixels do not.
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
    draw(&mut |band| rows.write_all(&ByteRows::opaque(band).to_bytes()))?;
    rows.finish()?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use image::codecs::png::PngEncoder;
    use image::{ExtendedColorType, ImageEncoder};

    use super::*;
    use crate::image::to_8_bit;

    /// Bytes of the signature and the IHDR chunk, which precede the sRGB chunk.
    const HEADER_BYTES: usize = 33;

    /// Pseudorandom numbers from -0.1 to 1.1, by a multiplicative generator modulo a prime.
    fn noise() -> impl Iterator<Item = f32> {
        const PRIME: u64 = (1 << 31) - 1;
        let states = std::iter::successors(Some(1_u64), |state| Some(state * 48_271 % PRIME));
        states.map(|state| state as f32 / PRIME as f32 * 1.2 - 0.1)
    }

    /// The file that the encoder of the crate `image` writes, which compresses a picture as a whole.
    fn whole(bytes: &[u8], [width, height]: [u32; 2], kind: ExtendedColorType) -> Vec<u8> {
        let mut file = Vec::new();
        PngEncoder::new(&mut file).write_image(bytes, width, height, kind).unwrap();
        let srgb = b"\0\0\0\x01sRGB\0\xae\xce\x1c\xe9".iter().copied();
        file.splice(HEADER_BYTES..HEADER_BYTES, srgb);
        file
    }

    fn encoded(rows: &ByteRows<'_>) -> Vec<u8> {
        let mut file = Vec::new();
        encode(&mut file, rows).unwrap();
        file
    }

    /// Pictures of noise and of smooth colours, and transparent ones.
    fn pictures() -> Vec<Frame> {
        let mut pictures = Vec::new();
        for [width, height] in [[1, 1], [7, 16], [33, 17], [300, 70]] {
            let mut noise = noise();
            let mut next = || noise.next().unwrap();
            let noise = (0..width * height).map(|_| [next(), next(), next(), next()]);
            pictures.push(Frame::from_pixels(width, height, noise.collect()));
            let smooth = (0..width * height).map(|i| {
                let (x, y) = ((i % width) as f32, (i / width) as f32);
                [x / 300.0, y / 70.0, (x * y).sqrt() / 99.0, (x / 200.0).min(1.0)]
            });
            pictures.push(Frame::from_pixels(width, height, smooth.collect()));
            pictures.push(Frame::new(width, height));
        }
        pictures
    }

    #[test]
    fn files_are_the_ones_of_an_encoder_of_whole_pictures() {
        for frame in pictures() {
            let size = [frame.width(), frame.height()];
            let background = [0.1, 0.5, 0.9];
            let over = frame.over(background);
            let rgb = over.pixels().iter().flat_map(|p| [p[0], p[1], p[2]]);
            let rgb: Vec<u8> = rgb.map(to_8_bit).collect();
            let expected = whole(&rgb, size, ExtendedColorType::Rgb8);
            assert!(encoded(&ByteRows::over(&frame, background)) == expected, "{size:?}");
            assert!(encoded(&ByteRows::of(&over, None)) == expected, "{size:?}");
            let rows = ByteRows::of(&frame, None);
            let kind =
                if rows.has_alpha() { ExtendedColorType::Rgba8 } else { ExtendedColorType::Rgb8 };
            assert!(encoded(&rows) == whole(&rows.to_bytes(), size, kind), "{size:?}");
        }
    }
}
