//! Pictures of a pair on a page: JPEG, reduced until they fit.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::difference::heat_picture;
use quadrille_base::image::files::{self, JpegQuality, PictureFormat};
use quadrille_base::image::resize::{ResizedValues, resized};

/// Number of worst pairs with pictures on a page (assumed); the table has all pairs.
pub(super) const MOST_SHOWN: usize = 250;
/// Widths in pixels that are tried until all three pictures fit, after their own width (assumed).
const WIDTHS_PX: [u32; 8] = [1600, 1280, 960, 800, 640, 480, 320, 200];
/// JPEG quality (assumed): compression errors are smaller than the differences that a page shows.
const QUALITY: u8 = 85;

/// Pictures of a pair as base64-encoded JPEG.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairPictures {
    /// Width and height in pixels; 0 without pictures.
    pub(super) size: [u32; 2],
    /// Both pictures, and the map of the FLIP error.
    encoded: [String; 3],
}

impl PairPictures {
    /// Encodes opaque pictures and their errors in at most `most` bytes, or at the least width.
    pub(crate) fn encoded([a, b]: [&Frame; 2], errors: &[f32], most: usize) -> Result<Self> {
        let size = [a.width(), a.height()];
        let map = heat_picture(size, errors);
        let pictures = [a, b, &map];
        let mut width = size[0].min(WIDTHS_PX[0]);
        loop {
            let reduced = reduced_size(size, width);
            let [a, b, map] = pictures.map(|picture| jpeg(picture, reduced));
            let encoded = [a?, b?, map?];
            let bytes = encoded.iter().map(Vec::len).sum::<usize>();
            // Bytes grow with the number of pixels, or more slowly.
            let fitting = f64::from(width) * (most as f64 / bytes as f64).sqrt();
            let smaller = || WIDTHS_PX.into_iter().filter(|other| *other < width);
            let next = smaller().find(|other| f64::from(*other) <= fitting);
            match next.or_else(|| smaller().next_back()) {
                Some(next) if bytes > most => width = next,
                _ => {
                    return Ok(Self {
                        size: reduced,
                        encoded: encoded.map(|bytes| STANDARD.encode(bytes)),
                    });
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.size == [0; 2]
    }

    /// CSS variables with the pictures, since several boxes show each picture.
    pub(super) fn variables(&self) -> String {
        let mut style = String::new();
        for (name, encoded) in ["a", "b", "e"].iter().zip(&self.encoded) {
            if !encoded.is_empty() {
                let _ = write!(style, "--{name}:url(data:image/jpeg;base64,{encoded});");
            }
        }
        style
    }
}

fn reduced_size([width, height]: [u32; 2], to_width: u32) -> [u32; 2] {
    let scaled = u64::from(height) * u64::from(to_width) / u64::from(width.max(1));
    [to_width, u32::try_from(scaled).unwrap_or(height).max(1)]
}

fn jpeg(picture: &Frame, size: [u32; 2]) -> Result<Vec<u8>> {
    let quality = JpegQuality::new(QUALITY).unwrap_or(JpegQuality::DEFAULT);
    let mut bytes = Vec::new();
    let same = [picture.width(), picture.height()] == size;
    let reduced =
        if same { None } else { Some(resized(&picture.to_srgb(), size, ResizedValues::EightBit)) };
    let picture = reduced.as_ref().unwrap_or(picture);
    let written = files::write_to(&mut bytes, PictureFormat::Jpeg(quality), picture);
    written.map_err(|e| Error::argument("picture of a page", "a picture that JPEG can hold", e))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_reduced_until_they_fit() {
        let noise = (0..640 * 360_u32).map(|at| {
            let value = at.wrapping_mul(2_654_435_761) >> 24;
            [quadrille_base::image::from_8_bit(u8::try_from(value).unwrap()); 4]
        });
        let noise = Frame::from_pixels(640, 360, noise.collect()).over([0.0; 3]);
        let errors = vec![0.5; 640 * 360];
        let sizes = [usize::MAX, 400_000, 100_000, 10].map(|most| {
            let pictures = PairPictures::encoded([&noise, &noise], &errors, most).unwrap();
            let bytes: usize = pictures.encoded.iter().map(|text| text.len() / 4 * 3).sum();
            assert!(bytes <= most.saturating_add(6) || most == 10, "{bytes} of {most}");
            pictures.size
        });
        assert_eq!(sizes[0], [640, 360]);
        assert!(sizes.windows(2).all(|pair| pair[0][0] >= pair[1][0]), "{sizes:?}");
        assert_eq!(sizes[3], [200, 112]);
    }
}
