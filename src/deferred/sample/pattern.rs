//! The samples of all pixels: positions in the pixel, on the lens and in time, in lanes.

use super::sobol;
use crate::error::Result;
use crate::raster::samples::SamplePattern;

/// Pixels along the side of the block of pixels after which the pattern repeats.
pub const SIDE_PX: usize = 64;
/// Lanes of a pixel.
pub const LANES: usize = 16;
/// Subpixel units per pixel of [`SamplePattern::offsets`].
const UNITS_PER_PIXEL: f32 = 256.0;

/// Positions of samples in the pixel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PixelPattern {
    /// The first two dimensions of the Sobol points, other ones in each pixel.
    #[default]
    Sobol,
    /// Direct3D's standard positions, the same in all pixels.
    Standard,
}

/// The samples of one pixel, lane by lane. Lanes beyond the number of samples repeat the first sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PixelSamples {
    /// Columns, from the left border of the pixel, in pixels.
    pub x: [f32; LANES],
    /// Rows, from the top border of the pixel, in pixels.
    pub y: [f32; LANES],
    /// Positions on the unit disc of the lens, across.
    pub u: [f32; LANES],
    /// Positions on the unit disc of the lens, down.
    pub v: [f32; LANES],
    /// Times, from 0 to 1.
    pub t: [f32; LANES],
}

/// The samples of all pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct StochasticPattern {
    count: u32,
    pixels: Vec<PixelSamples>,
}

impl StochasticPattern {
    /// The pattern of `count` samples per pixel with a seed.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for another number of samples than 1, 2, 4, 8 or 16.
    pub fn new(count: u32, pattern: PixelPattern, seed: u64) -> Result<Self> {
        let standard = SamplePattern::standard(count)?;
        let points = sobol::points();
        let side = u32::try_from(SIDE_PX).unwrap_or(u32::MAX);
        let pixel = |at: u32| {
            let scrambles: [u32; sobol::DIMENSIONS] = std::array::from_fn(|dimension| {
                let dimension = u32::try_from(dimension).unwrap_or(u32::MAX);
                sobol::scramble(seed, [at % side, at / side], dimension)
            });
            let value = |lane: usize, dimension: usize| {
                unit_interval(points[lane % count as usize][dimension] ^ scrambles[dimension])
            };
            let lanes = |dimension: usize| -> [f32; LANES] {
                std::array::from_fn(|lane| value(lane, dimension))
            };
            let discs: [[f32; 2]; LANES] =
                std::array::from_fn(|lane| disc([value(lane, 2), value(lane, 3)]));
            let [x, y] = match pattern {
                PixelPattern::Sobol => [lanes(0), lanes(1)],
                PixelPattern::Standard => standard
                    .lanes_f32()
                    .map(|axis| axis.map(|v| v / UNITS_PER_PIXEL)),
            };
            PixelSamples {
                x,
                y,
                u: discs.map(|p| p[0]),
                v: discs.map(|p| p[1]),
                t: lanes(4),
            }
        };
        Ok(Self {
            count,
            pixels: (0..side * side).map(pixel).collect(),
        })
    }

    /// Samples per pixel.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bits of the lanes in use.
    #[inline]
    pub fn lanes(&self) -> u16 {
        u16::MAX >> (16 - self.count)
    }

    /// The samples of a pixel.
    #[inline]
    pub fn pixel(&self, x: u32, y: u32) -> &PixelSamples {
        let [x, y] = [x, y].map(|v| v as usize % SIDE_PX);
        &self.pixels[y * SIDE_PX + x]
    }
}

/// The upper 24 bits of a fraction of 2^32, below 1.
#[allow(clippy::cast_precision_loss, reason = "24 bits")]
fn unit_interval(fraction: u32) -> f32 {
    (fraction >> 8) as f32 / 16_777_216.0
}

/// Maps the unit square to the unit disc, and equal areas to equal areas (Shirley and Chiu, "A Low
/// Distortion Map Between Disk and Square", 1997).
#[allow(clippy::cast_possible_truncation, reason = "samples are f32")]
fn disc(square: [f32; 2]) -> [f32; 2] {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
    let [a, b] = square.map(|v| 2.0 * f64::from(v) - 1.0);
    if a == 0.0 && b == 0.0 {
        return [0.0; 2];
    }
    let (radius, angle) = if a.abs() > b.abs() {
        (a, FRAC_PI_4 * (b / a))
    } else {
        (b, FRAC_PI_2 - FRAC_PI_4 * (a / b))
    };
    let (sin, cos) = angle.sin_cos();
    [radius * cos, radius * sin].map(|v| v as f32)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_in_their_ranges_and_depend_on_pixel_and_seed() {
        let pattern = StochasticPattern::new(16, PixelPattern::Sobol, 1).unwrap();
        let other = StochasticPattern::new(16, PixelPattern::Sobol, 2).unwrap();
        for (x, y) in [(0, 0), (5, 7), (63, 63)] {
            let p = pattern.pixel(x, y);
            let all = [p.x, p.y, p.t];
            assert!(all.iter().flatten().all(|v| (0.0..1.0).contains(v)));
            let radii = (0..LANES).map(|k| p.u[k].hypot(p.v[k]));
            assert!(radii.fold(0.0, f32::max) <= 1.0 + 1e-6);
            assert_ne!(p, other.pixel(x, y));
            assert_eq!(p, pattern.pixel(x + 64, y + 128));
        }
        assert_ne!(pattern.pixel(0, 0), pattern.pixel(1, 0));
        assert_eq!((pattern.lanes(), pattern.count()), (0xffff, 16));
        assert!(StochasticPattern::new(3, PixelPattern::Sobol, 1).is_err());
    }

    #[test]
    fn the_disc_is_filled_evenly() {
        let pattern = StochasticPattern::new(16, PixelPattern::Standard, 1).unwrap();
        assert_eq!(pattern.pixel(0, 0).x, pattern.pixel(9, 4).x);
        assert_eq!(pattern.pixel(3, 3).x[0], 0.5625);
        let all = (0..64_u32 * 64).flat_map(|at| {
            let p = pattern.pixel(at % 64, at / 64);
            (0..LANES).map(move |k| p.u[k].hypot(p.v[k]))
        });
        // Half of the disc's area lies within a radius of the root of a half.
        let inner = all.filter(|r| *r < std::f32::consts::FRAC_1_SQRT_2).count();
        let share = inner as f64 / f64::from(64 * 64 * 16);
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }
}
