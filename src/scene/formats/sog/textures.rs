use std::io::Cursor;

use image_webp::WebPDecoder;

use super::archive::Archive;
use quadrille_base::error::Result;

/// Pixels that a picture may have beyond twice the needed number, since its sides are rounded up.
const SPARE_PIXELS: u64 = 1 << 16;

pub(super) struct Pixels {
    pub(super) width: usize,
    pub(super) rgba: Vec<[u8; 4]>,
}

impl Pixels {
    /// Decodes the picture `name`, which must have `needed` pixels or somewhat more. Its size is checked first, since a
    /// small file can hold a huge picture of one colour.
    pub(super) fn decode(
        bytes: &[u8],
        name: &str,
        needed: u64,
        archive: &Archive<'_>,
    ) -> Result<Self> {
        let wrong = |expected: String, found: String| {
            archive.source().malformed(format!("picture \"{name}\""), expected, found)
        };
        let unread = |e: image_webp::DecodingError| wrong("a lossless WebP".into(), e.to_string());
        let mut decoder =
            WebPDecoder::new(archive.source().task.reader(Cursor::new(bytes))).map_err(unread)?;
        let (width, height) = decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        let most = needed.saturating_mul(2) + SPARE_PIXELS;
        if !(needed..=most).contains(&pixels) {
            return Err(wrong(format!("{needed} to {most} pixels"), format!("{width} x {height}")));
        }
        if decoder.is_lossy() || decoder.is_animated() {
            return Err(wrong("a lossless WebP".into(), "a lossy or animated one".to_owned()));
        }
        let mut values = vec![0; decoder.output_buffer_size().unwrap_or(0)];
        decoder.read_image(&mut values).map_err(unread)?;
        let rgba: Vec<[u8; 4]> = if decoder.has_alpha() {
            values.as_chunks::<4>().0.to_vec()
        } else {
            let opaque = |[r, g, b]: &[u8; 3]| [*r, *g, *b, 255];
            values.as_chunks::<3>().0.iter().map(opaque).collect()
        };
        if (rgba.len() as u64) < needed {
            return Err(wrong(format!("{needed} pixels"), rgba.len().to_string()));
        }
        Ok(Self { width: width as usize, rgba })
    }
}
