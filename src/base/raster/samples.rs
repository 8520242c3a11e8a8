//! Sample patterns, and the nearest sample of a set to the centre.
//!
//! The rasterizer works on shading pixels: a shading pixel is shaded once and is a pixel or,
//! with coarse shading, a block of 2x2 pixels with the samples of all four.

use std::sync::LazyLock;

use crate::error::{Error, Result};
use crate::raster::geometry::SUBPIXEL_BITS;

/// Maximum number of samples per shading pixel: the coverage of four shading pixels fits 64 bits.
pub(crate) const MAX_SAMPLES: usize = 16;

const PIXEL: i32 = 1 << SUBPIXEL_BITS;

/// Positions of D3D's standard patterns in 1/16 px: x and y as hexadecimal digits.
const STANDARD: [&[u8]; 5] = [
    &[0x88],
    &[0x44, 0xcc],
    &[0x62, 0xe6, 0x2a, 0xae],
    &[0x95, 0x7b, 0xd9, 0x53, 0x3d, 0x17, 0xbf, 0xf1],
    &[
        0x99, 0x75, 0x5a, 0xc7, 0x36, 0xad, 0xdb, 0xb3, 0x6e, 0x81, 0x42, 0x2c, 0x08, 0xf4, 0xef,
        0x10,
    ],
];

const NO_RANK: u8 = u8::MAX;

/// Positions of the samples of a shading pixel.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplePattern {
    per_pixel: u32,
    side_px: i32,
    /// Offsets from the shading pixel's top left corner, in 1/256 px; entries past `count` repeat the first.
    offsets: [[i32; 2]; MAX_SAMPLES],
    lanes_f32: [[f32; MAX_SAMPLES]; 2],
    count: u32,
    /// Masks over a quad: the last sample of each shading pixel, and all other samples.
    last_and_others: [u64; 2],
    /// Mask of two bits at the first sample of the first and of the third shading pixel.
    pairs: u64,
    samples_of: [u64; 16],
    /// Samples by their distance from the shading pixel's centre, nearest first, equal ones in order.
    by_distance: [u8; MAX_SAMPLES],
    /// For each four samples and each set of them: the least rank by distance, or [`NO_RANK`].
    least_rank: [[u8; 16]; MAX_SAMPLES / 4],
}

impl SamplePattern {
    /// The standard pattern of 1, 2, 4, 8 or 16 samples per pixel; a shading pixel is a pixel.
    ///
    /// # Errors
    /// [`Error::Argument`] for another number of samples.
    pub fn standard(samples: u32) -> Result<Self> {
        let positions = STANDARD
            .iter()
            .find(|p| p.len() == samples as usize)
            .ok_or_else(|| Error::argument("samples per pixel", "1, 2, 4, 8 or 16", samples))?;
        let offsets: Vec<_> = positions
            .iter()
            .map(|&p| [p >> 4, p & 15].map(|v| i32::from(v) * PIXEL / 16))
            .collect();
        Ok(Self::new(samples, 1, &offsets))
    }

    /// The pattern of a shading pixel of 2x2 pixels with 1, 2 or 4 samples per pixel, pixel by pixel in row order.
    ///
    /// # Errors
    /// [`Error::Argument`] for another number of samples.
    pub fn coarse(samples: u32) -> Result<Self> {
        if samples > 4 {
            return Err(Error::argument(
                "samples per pixel with coarse shading",
                "1, 2 or 4, since a coarse pixel has four times as many samples, at most 16",
                samples,
            ));
        }
        let pixel = Self::standard(samples)?;
        let corners = [[0, 0], [PIXEL, 0], [0, PIXEL], [PIXEL, PIXEL]];
        let offsets: Vec<_> = corners
            .iter()
            .flat_map(|c| pixel.offsets().iter().map(|o| [c[0] + o[0], c[1] + o[1]]))
            .collect();
        Ok(Self::new(samples, 2, &offsets))
    }

    fn new(per_pixel: u32, side_px: i32, positions: &[[i32; 2]]) -> Self {
        let offsets: [[i32; 2]; MAX_SAMPLES] =
            std::array::from_fn(|k| positions[k % positions.len()]);
        let lanes_f32 = [0, 1].map(|axis| offsets.map(|o| o[axis] as f32));
        let centre = side_px * PIXEL / 2;
        let distance = |k: u8| {
            let [x, y] = positions[usize::from(k)];
            (x - centre).pow(2) + (y - centre).pow(2)
        };
        let mut order: Vec<u8> = (0..).take(positions.len()).collect();
        order.sort_by_key(|&k| (distance(k), k));
        let all = [0, 1, 2, 3]
            .map(|pixel| (u64::MAX >> (64 - positions.len())) << (pixel * positions.len()));
        let last = all.iter().fold(0, |last, samples| last | 1 << samples.ilog2());
        Self {
            per_pixel,
            side_px,
            offsets,
            lanes_f32,
            count: u32::try_from(positions.len()).unwrap_or(0),
            last_and_others: [last, all.iter().sum::<u64>() - last],
            pairs: 3 | 3 << (2 * positions.len()),
            samples_of: std::array::from_fn(|mask| {
                (0..4)
                    .filter(|pixel| mask >> pixel & 1 == 1)
                    .fold(0, |samples, pixel: usize| samples | all[pixel])
            }),
            by_distance: std::array::from_fn(|k| order[k % order.len()]),
            least_rank: std::array::from_fn(|four| {
                std::array::from_fn(|set| {
                    let has = |k: u8| usize::from(k) / 4 == four && set >> (k % 4) & 1 == 1;
                    (0..).zip(&order).find(|&(_, &k)| has(k)).map_or(NO_RANK, |(rank, _)| rank)
                })
            }),
        }
    }

    /// Returns a static copy of the pattern; equal patterns share one.
    pub fn shared(&self) -> &'static Self {
        static ALL: LazyLock<Vec<SamplePattern>> = LazyLock::new(|| {
            let standard = [1, 2, 4, 8, 16].map(SamplePattern::standard);
            standard.into_iter().chain([1, 2, 4].map(SamplePattern::coarse)).flatten().collect()
        });
        let found = ALL.iter().find(|p| *p == self);
        // Every pattern is in `ALL`; another one would be leaked.
        found.unwrap_or_else(|| Box::leak(Box::new(self.clone())))
    }

    /// Samples of a shading pixel: 1 to 16.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Samples per pixel: 1, 2, 4, 8 or 16.
    pub fn per_pixel(&self) -> u32 {
        self.per_pixel
    }

    /// Pixels along the side of a shading pixel: 1, or 2 with coarse shading.
    pub fn side_px(&self) -> i32 {
        self.side_px
    }

    /// Subpixel units along the side of a shading pixel.
    pub fn side_units(&self) -> i32 {
        self.side_px * PIXEL
    }

    /// Sample positions in 1/256 px from the shading pixel's top left corner.
    pub fn offsets(&self) -> &[[i32; 2]] {
        &self.offsets[..self.count as usize]
    }

    /// Sample positions as two arrays, x and y, of sixteen entries: entries past [`Self::count`] repeat the first ones.
    pub fn lanes(&self) -> [[i32; MAX_SAMPLES]; 2] {
        [0, 1].map(|axis| self.offsets.map(|o| o[axis]))
    }

    /// As [`Self::lanes`], in floating point.
    #[inline]
    pub fn lanes_f32(&self) -> &[[f32; MAX_SAMPLES]; 2] {
        &self.lanes_f32
    }

    /// Mask of all samples of a shading pixel.
    pub fn full_pixel(&self) -> u16 {
        u16::MAX >> (16 - self.count)
    }

    /// Mask of all samples of a quad of shading pixels. Shading pixel `c` of a quad (0 top left, 1 top right, 2 bottom
    /// left, 3 bottom right) has the bits from `c * count` on.
    pub fn full_quad(&self) -> u64 {
        u64::MAX >> (64 - 4 * self.count)
    }

    /// The samples of shading pixel `pixel` in the coverage of a quad.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "at most 16 bits are kept")]
    pub fn pixel(&self, coverage: u64, pixel: usize) -> u16 {
        (coverage >> (self.count as usize * pixel)) as u16 & self.full_pixel()
    }

    /// Mask of the shading pixels of a quad that have a sample in `coverage`: bit `c` for shading pixel `c`.
    #[inline]
    pub fn covered_pixels(&self, coverage: u64) -> u8 {
        (0..4).fold(0, |mask, c| mask | u8::from(self.pixel(coverage, c) != 0) << c)
    }

    /// Mask of the shading pixels of a quad that have some but not all of their samples in `coverage`.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "four bits are kept")]
    pub fn partial_pixels(&self, coverage: u64) -> u8 {
        let step = self.count - 1;
        let partial = self.lasts_of_partial(coverage) >> step;
        // The bits of the second and fourth shading pixel move next to the bits of the first and third, then
        // the pairs together.
        let pairs = (partial | partial >> step) & self.pairs;
        (pairs | pairs >> (2 * step)) as u8 & 15
    }

    /// Whether a shading pixel of a quad has some of its samples in `coverage` but not all.
    #[inline]
    pub fn has_partial_pixel(&self, coverage: u64) -> bool {
        self.lasts_of_partial(coverage) != 0
    }

    /// The last samples of the shading pixels of a quad that have some of their samples in `coverage` but not all.
    #[inline]
    fn lasts_of_partial(&self, coverage: u64) -> u64 {
        let [last, others] = self.last_and_others;
        // A carry out of the other samples reaches the last one unless all of them are 0.
        let any = |samples: u64| (((samples & others) + others) | samples) & last;
        any(coverage) & any(!coverage)
    }

    /// Coverage mask of a quad with all samples of the shading pixels in the mask `pixels`.
    #[inline]
    pub fn samples_of(&self, pixels: u8) -> u64 {
        self.samples_of[usize::from(pixels % 16)]
    }

    /// The sample of `samples` nearest to the shading pixel's centre, and its rank among all samples of the pattern (0 is
    /// the nearest); `None` without samples. Ties go to the first sample.
    #[inline]
    pub fn nearest_to_centre(&self, samples: u16) -> Option<(u8, u8)> {
        let [a, b, c, d] = &self.least_rank;
        let of = |ranks: &[u8; 16], shift: u32| ranks[usize::from(samples >> shift & 15)];
        let rank = of(a, 0).min(of(b, 4)).min(of(c, 8)).min(of(d, 12));
        let sample = self.by_distance.get(usize::from(rank));
        sample.map(|&sample| (sample, rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_as_large_as_asked_for_and_inside_the_cell() {
        for samples in [1, 2, 4, 8, 16] {
            let pattern = SamplePattern::standard(samples).unwrap();
            assert_eq!(pattern.count(), samples);
            let mut seen = pattern.offsets().to_vec();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), samples as usize);
            assert!(seen.iter().flatten().all(|v| (0..256).contains(v)));
        }
        for samples in [0, 3, 32] {
            assert!(SamplePattern::standard(samples).is_err());
        }
        assert!(SamplePattern::coarse(8).is_err());
        let coarse = SamplePattern::coarse(4).unwrap();
        assert_eq!(coarse.count(), 16);
        assert_eq!(coarse.offsets()[15], [256 + 160, 256 + 224]);
    }

    #[test]
    fn partial_pixels_have_some_samples_but_not_all() {
        let standard = [1, 2, 4, 8, 16].map(SamplePattern::standard);
        let coarse = [1, 2, 4].map(SamplePattern::coarse);
        for pattern in standard.into_iter().chain(coarse).map(Result::unwrap) {
            let (count, full) = (pattern.count(), pattern.full_pixel());
            // None, one, all but one, or all samples of each shading pixel.
            let sets = [0, 1, 1 << (count - 1), full ^ 1, full & (full >> 1), full];
            for k in 0..6_usize.pow(4) {
                let pixels = [k % 6, k / 6 % 6, k / 36 % 6, k / 216].map(|set| sets[set]);
                let with = |is_in: &dyn Fn(u16) -> bool| {
                    (0..4).fold(0, |mask, c| mask | u8::from(is_in(pixels[c])) << c)
                };
                let coverage = (0..)
                    .zip(pixels)
                    .fold(0, |all, (c, samples)| all | u64::from(samples) << (c * count));
                let partial = with(&|samples| samples != 0 && samples != full);
                assert_eq!(pattern.partial_pixels(coverage), partial);
                assert_eq!(pattern.has_partial_pixel(coverage), partial != 0);
                let whole = pixels.map(|samples| if samples == full { full } else { 0 });
                if whole == pixels {
                    assert_eq!(pattern.samples_of(with(&|samples| samples == full)), coverage);
                }
            }
        }
    }

    #[test]
    fn nearest_samples() {
        let sixteen = SamplePattern::standard(16).unwrap();
        assert_eq!(sixteen.nearest_to_centre(u16::MAX), Some((0, 0)));
        // (.625, .8125) against (0, .5): 0.1133 and 0.25.
        assert_eq!(sixteen.nearest_to_centre(1 << 5 | 1 << 12).unwrap().0, 5);
        assert_eq!(sixteen.nearest_to_centre(0), None);
        // Any set yields its first sample in order of distance; bits beyond the pattern's samples are ignored.
        for pattern in [1, 2, 4, 8, 16].map(|n| SamplePattern::standard(n).unwrap()) {
            let order = &pattern.by_distance[..pattern.count() as usize];
            for samples in 0..=u16::MAX {
                let first = (0..).zip(order).find(|&(_, &k)| samples >> k & 1 == 1);
                let expected = first.map(|(rank, &sample)| (sample, rank));
                assert_eq!(pattern.nearest_to_centre(samples), expected);
            }
        }
        assert_eq!(sixteen.full_quad(), u64::MAX);
        let four = SamplePattern::standard(4).unwrap();
        assert_eq!((four.full_pixel(), four.full_quad()), (15, 0xffff));
        assert_eq!((four.pixel(0x0420, 1), four.covered_pixels(0x0420)), (2, 0b0110));
    }
}
