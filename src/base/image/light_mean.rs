//! Mean of pictures in linear light, as a sensor sums light while its shutter is open.

use rayon::prelude::*;

use super::srgb::{decode_fast, encode_unclamped};
use super::{ColourSpace, Frame};

/// Pixels that a thread adds at a time (assumed): the sums of a block stay in the cache of a core.
const BLOCK: usize = 4096;

/// Sum of pictures of one size in linear light, premultiplied.
///
/// The mean of equal pictures is the picture, to the rounding of f32: within 1e-5 of it for 64 pictures.
#[derive(Debug, Clone)]
pub struct LightMean {
    size: [u32; 2],
    sums: Vec<[f32; 4]>,
    count: u32,
}

impl LightMean {
    /// Creates the sum of no pictures of `width` by `height` pixels.
    pub fn new(width: u32, height: u32) -> Self {
        let sums = vec![[0.0; 4]; width as usize * height as usize];
        Self { size: [width, height], sums, count: 0 }
    }

    /// Adds pictures in sRGB, in their order, so that the sum does not depend on the number of threads or on how the pictures
    /// are divided into calls.
    ///
    /// # Panics
    /// When a picture has another size.
    pub fn add(&mut self, pictures: &[&Frame]) {
        for picture in pictures {
            assert_eq!([picture.width(), picture.height()], self.size, "size of a picture");
        }
        self.sums.par_chunks_mut(BLOCK).enumerate().for_each(|(block, sums)| {
            let first = block * BLOCK;
            for picture in pictures {
                let pixels = &picture.pixels()[first..first + sums.len()];
                for (sum, &[r, g, b, a]) in sums.iter_mut().zip(pixels) {
                    // The curve applies to straight colours.
                    let alpha = if a > 0.0 { a } else { 1.0 };
                    for (sum, c) in sum.iter_mut().zip([r, g, b]) {
                        *sum += decode_fast(c / alpha) * alpha;
                    }
                    sum[3] += a;
                }
            }
        });
        self.count += u32::try_from(pictures.len()).unwrap_or(u32::MAX);
    }

    /// Writes the mean to `picture`, in sRGB and not clamped; a transparent picture if nothing was added.
    pub fn write_to(&self, picture: &mut Frame) {
        let [width, height] = self.size;
        picture.resize(width, height);
        debug_assert_eq!(picture.colour_space(), ColourSpace::Srgb);
        let share = 1.0 / self.count.max(1) as f32;
        let pixels = picture.pixels_mut().par_chunks_mut(BLOCK).zip(self.sums.par_chunks(BLOCK));
        pixels.for_each(|(pixels, sums)| {
            for (pixel, sum) in pixels.iter_mut().zip(sums) {
                let [r, g, b, a] = sum.map(|sum| sum * share);
                let alpha = if a > 0.0 { a } else { 1.0 };
                let [r, g, b] = encode_unclamped([r, g, b].map(|c| c / alpha)).map(|c| c * alpha);
                *pixel = [r, g, b, a];
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(pictures: &[Frame]) -> Frame {
        let [width, height] = [pictures[0].width(), pictures[0].height()];
        let mut mean = LightMean::new(width, height);
        let (first, rest) = pictures.split_at(1);
        mean.add(&first.iter().collect::<Vec<_>>());
        mean.add(&rest.iter().collect::<Vec<_>>());
        let mut picture = Frame::new(0, 0);
        mean.write_to(&mut picture);
        picture
    }

    #[test]
    fn light_is_averaged() {
        // Half of white light is 0.735 on the curve, not 0.5; a half-covered white pixel stays white.
        let white = Frame::from_pixels(2, 1, vec![[1.0; 4], [1.0; 4]]);
        let other = Frame::from_pixels(2, 1, vec![[0.0, 0.0, 0.0, 1.0], [0.0; 4]]);
        let picture = mean(&[white, other]);
        let [half, thin] = [picture.pixels()[0], picture.pixels()[1]];
        assert!((half[0] - 0.735_357).abs() < 1e-5 && half[3] == 1.0, "{half:?}");
        assert!(thin.iter().all(|c| (c - 0.5).abs() < 1e-6), "{thin:?}");
    }

    #[test]
    fn the_mean_of_equal_pictures_is_the_picture() {
        let pixel = |k: u16| {
            let a = f32::from(k % 50) / 49.0;
            [0.0, 0.3, 1.4].map(|c| c * a * f32::from(k) / 5000.0)
        };
        let pixels = (0..5000).map(|k| {
            let [r, g, b] = pixel(k);
            [r, g, b, f32::from(k % 50) / 49.0]
        });
        let picture = Frame::from_pixels(100, 50, pixels.collect());
        let found = mean(&vec![picture.clone(); 64]);
        for (found, expected) in found.pixels().iter().zip(picture.pixels()) {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
            }
        }
    }
}
