//! Samples of all pixels, with positions in the pixel, on the lens and in time, arranged in lanes.

use arrayvec::ArrayVec;
use rayon::prelude::*;

use super::sobol;
use quadrille_base::choice;
use quadrille_base::error::Result;
use quadrille_base::math::narrow;
use quadrille_base::raster::samples::SamplePattern;

/// Period of the pattern in pixels, along both axes.
pub const SIDE_PX: usize = 64;
/// Samples that are tested at once, and the largest number of samples per pixel.
pub const LANES: usize = 16;
/// Lanes per pixel in a group of samples.
pub const PIXEL_LANES: usize = 4;
/// Largest number of sample groups per block of 2x2 pixels.
pub const GROUPS: usize = LANES / PIXEL_LANES;
const UNITS_PER_PIXEL: f32 = 256.0;

choice! {
    /// Positions of samples in the pixel.
    #[derive(Default)]
    pub enum PixelPattern {
        /// First two dimensions of the Sobol sequence, different in each pixel.
        #[default]
        Sobol = "sobol",
        /// Direct3D's standard positions, the same in all pixels.
        Standard = "standard",
    }
}

/// A sample of a pixel in five dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PixelSample {
    /// Column and row, from the top left corner of the pixel, in pixels.
    pub xy: [f32; 2],
    /// Position on the unit disc of the lens.
    pub uv: [f32; 2],
    /// Time from 0, when the shutter opens, to 1, when it closes.
    pub t: f32,
}

/// Samples that are tested together: [`PIXEL_LANES`] samples of each pixel of a block of 2x2 pixels, consecutive in time.
/// Lanes are in row order of the pixels. Lanes without a sample repeat the first sample of their pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub struct SampleGroup {
    /// Horizontal positions from the left border of the pixel, in pixels.
    pub x: [f32; LANES],
    /// Vertical positions from the top border of the pixel, in pixels.
    pub y: [f32; LANES],
    /// Horizontal positions on the unit disc of the lens.
    pub u: [f32; LANES],
    /// Vertical positions on the unit disc of the lens.
    pub v: [f32; LANES],
    /// Times from 0, when the shutter opens, to 1.
    pub t: [f32; LANES],
}

/// Samples of a block of 2x2 pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockSamples {
    /// Samples by time. With `n` groups in use, group `k` holds the times from `k / n` to `(k + 1) / n`.
    pub groups: [SampleGroup; GROUPS],
    /// Index of each sample in the block: pixel index, row by row, times samples per pixel, plus the index in the pixel.
    pub numbers: [[u8; LANES]; GROUPS],
}

/// Samples of all pixels of a picture, in a pattern that repeats every [`SIDE_PX`] pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct StochasticPattern {
    count: u32,
    blocks: Vec<BlockSamples>,
}

impl StochasticPattern {
    /// Creates the pattern of `count` samples per pixel.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) if `count` is not 1, 2, 4, 8 or 16.
    pub fn new(count: u32, pattern: PixelPattern, seed: u64) -> Result<Self> {
        let standard = SamplePattern::standard(count)?;
        let points = sobol::points();
        let points = &points[..count as usize];
        let standard = standard.lanes_f32().map(|axis| axis.map(|v| v / UNITS_PER_PIXEL));
        let pixel = |at: [u32; 2]| -> ArrayVec<PixelSample, LANES> {
            let scrambles: [u32; sobol::DIMENSIONS] = std::array::from_fn(|dimension| {
                sobol::scramble(seed, at, u32::try_from(dimension).unwrap_or(u32::MAX))
            });
            let samples = points.iter().enumerate().map(|(sample, point)| {
                let value = |dimension| unit_interval(point[dimension] ^ scrambles[dimension]);
                PixelSample {
                    xy: match pattern {
                        PixelPattern::Sobol => [value(0), value(1)],
                        PixelPattern::Standard => standard.map(|axis| axis[sample]),
                    },
                    uv: disc([value(2), value(3)]),
                    t: value(4),
                }
            });
            samples.collect()
        };
        let side = u32::try_from(SIDE_PX / 2).unwrap_or(u32::MAX);
        let block = |at: u32| {
            let [x, y] = [at % side * 2, at / side * 2];
            BlockSamples::new(&[[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]].map(pixel))
        };
        Ok(Self { count, blocks: (0..side * side).into_par_iter().map(block).collect() })
    }

    /// Samples per pixel.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Number of sample groups in use per block.
    #[inline]
    pub fn groups(&self) -> usize {
        (self.count as usize).div_ceil(PIXEL_LANES)
    }

    /// Mask of the lanes of a group that are in use.
    #[inline]
    pub fn lanes(&self) -> u16 {
        let pixel = 0xf >> 4_u32.saturating_sub(self.count);
        pixel * 0x1111
    }

    /// Samples of the block of 2x2 pixels that contains the pixel.
    #[inline]
    pub fn block(&self, [x, y]: [u32; 2]) -> &BlockSamples {
        let [x, y] = [x, y].map(|v| v as usize % SIDE_PX / 2);
        &self.blocks[y * (SIDE_PX / 2) + x]
    }

    /// Sample `sample` of a pixel, in the order of the sequence.
    pub fn sample(&self, [x, y]: [u32; 2], sample: u32) -> PixelSample {
        let block = self.block([x, y]);
        let number = (y % 2 * 2 + x % 2) * self.count + sample;
        let places = (0..self.groups()).flat_map(|group| (0..LANES).map(move |lane| (group, lane)));
        let mut used = places.filter(|(_, lane)| self.lanes() >> lane & 1 == 1);
        let (group, lane) = used
            .find(|(group, lane)| u32::from(block.numbers[*group][*lane]) == number)
            .unwrap_or((0, 0));
        block.groups[group].sample(lane)
    }
}

impl BlockSamples {
    /// Sorts the samples of a block's pixels by time.
    fn new(pixels: &[ArrayVec<PixelSample, LANES>; 4]) -> Self {
        let empty = SampleGroup {
            x: [0.0; LANES],
            y: [0.0; LANES],
            u: [0.0; LANES],
            v: [0.0; LANES],
            t: [0.0; LANES],
        };
        let mut block = Self { groups: [empty; GROUPS], numbers: [[0; LANES]; GROUPS] };
        for (pixel, samples) in pixels.iter().enumerate() {
            let mut order: ArrayVec<usize, LANES> = (0..samples.len()).collect();
            order.sort_unstable_by(|a, b| samples[*a].t.total_cmp(&samples[*b].t));
            for place in 0..LANES {
                let number = order.get(place).copied().unwrap_or(0);
                let (group, lane) =
                    (place / PIXEL_LANES, pixel * PIXEL_LANES + place % PIXEL_LANES);
                block.groups[group].set(lane, &samples[number]);
                let number = pixel * samples.len() + number;
                block.numbers[group][lane] = u8::try_from(number).unwrap_or(u8::MAX);
            }
        }
        block
    }
}

impl SampleGroup {
    /// Sample in a lane.
    pub fn sample(&self, lane: usize) -> PixelSample {
        PixelSample {
            xy: [self.x[lane], self.y[lane]],
            uv: [self.u[lane], self.v[lane]],
            t: self.t[lane],
        }
    }

    fn set(&mut self, lane: usize, sample: &PixelSample) {
        [self.x[lane], self.y[lane]] = sample.xy;
        [self.u[lane], self.v[lane]] = sample.uv;
        self.t[lane] = sample.t;
    }
}

/// Converts a fraction of 2^32 to a number below 1; keeps the upper 24 bits.
fn unit_interval(fraction: u32) -> f32 {
    (fraction >> 8) as f32 / 16_777_216.0
}

/// Area-preserving map of the unit square to the unit disc (Shirley and Chiu, "A Low Distortion Map Between Disk and
/// Square", 1997).
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
    [radius * cos, radius * sin].map(narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pattern: &StochasticPattern) -> impl Iterator<Item = ([u32; 2], PixelSample)> {
        (0..64 * 64).map(|at| [at % 64, at / 64]).flat_map(move |at| {
            (0..pattern.count()).map(move |number| (at, pattern.sample(at, number)))
        })
    }

    #[test]
    fn samples_lie_in_their_ranges_and_depend_on_pixel_and_seed() {
        let pattern = StochasticPattern::new(16, PixelPattern::Sobol, 1).unwrap();
        let other = StochasticPattern::new(16, PixelPattern::Sobol, 2).unwrap();
        for (at, sample) in all(&pattern) {
            let PixelSample { xy, uv, t } = sample;
            assert!(xy.iter().chain([&t]).all(|v| (0.0..1.0).contains(v)));
            assert!(uv[0].hypot(uv[1]) <= 1.0 + 1e-6);
            assert_eq!(pattern.block(at), pattern.block([at[0] + 64, at[1] + 128]));
        }
        for at in [[0, 0], [5, 7], [63, 63]] {
            assert_ne!(pattern.sample(at, 3), other.sample(at, 3));
        }
        assert_ne!(pattern.sample([0, 0], 0), pattern.sample([1, 0], 0));
        assert_eq!((pattern.lanes(), pattern.count()), (0xffff, 16));
        assert!(StochasticPattern::new(3, PixelPattern::Sobol, 1).is_err());
    }

    #[test]
    fn groups_hold_all_samples_by_time() {
        for count in [1, 2, 4, 8, 16] {
            let pattern = StochasticPattern::new(count, PixelPattern::Sobol, 5).unwrap();
            let groups = pattern.groups();
            for at in [[0, 0], [6, 62]] {
                let block = pattern.block(at);
                let mut numbers = Vec::new();
                for (k, group) in block.groups[..groups].iter().enumerate() {
                    let used = (0..LANES).filter(|lane| pattern.lanes() >> lane & 1 == 1);
                    for lane in used {
                        let number = u32::from(block.numbers[k][lane]);
                        assert_eq!(number / count, u32::try_from(lane / PIXEL_LANES).unwrap());
                        let time = f64::from(group.t[lane]) * groups as f64;
                        assert_eq!(time.floor(), k as f64);
                        numbers.push(number);
                    }
                }
                numbers.sort_unstable();
                assert_eq!(numbers, (0..4 * count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_disc_is_filled_evenly() {
        let pattern = StochasticPattern::new(16, PixelPattern::Standard, 1).unwrap();
        assert_eq!(pattern.sample([0, 0], 2).xy, pattern.sample([9, 4], 2).xy);
        assert_eq!(pattern.sample([3, 3], 0).xy[0], 0.5625);
        // Half of the disc's area lies within a radius of sqrt(1/2).
        let radii = all(&pattern).map(|(_, sample)| sample.uv[0].hypot(sample.uv[1]));
        let inner = radii.filter(|r| *r < std::f32::consts::FRAC_1_SQRT_2).count();
        let share = inner as f64 / f64::from(64 * 64 * 16);
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }
}
