//! Mean absolute difference and structural similarity of pictures, with their gradient: the loss of trainers.

use fearless_simd::{Simd, dispatch, f32x16, f64x8, prelude::*};
use rayon::prelude::*;

use super::separable::{Border, LANES, load, padded};
use super::ssim::within_range;
use super::windows::{
    C1, C2, HALF, REACH, Vertical, WINDOW_PIXELS, WindowSimilarity, Windows, window,
};
use crate::choice;
use crate::error::{Error, Result};
use crate::math::{SimdLevel, narrow};

choice! {
    /// Pixels over which the similarity of a loss is averaged.
    #[derive(Default)]
    pub enum LossPadding {
        /// All pixels, with zeros beyond the edge, as in the trainer of Kerbl et al. 2023 (`utils/loss_utils.py`).
        #[default]
        Same = "same",
        /// Pixels whose windows lie within the picture, as in the trainer of gsplat (`fused_ssim`).
        Valid = "valid",
    }
}

/// Two stacks of pictures of one size, with any number of channels and a peak value of 1.
#[derive(Debug, Clone, Copy)]
pub struct LossPictures<'a> {
    /// One picture after the other, row by row from the top, with the channels of a pixel side by side.
    pub a: &'a [f32],
    /// As `a`, of the same length.
    pub b: &'a [f32],
    /// Pixels per row.
    pub width: usize,
    /// Rows per picture.
    pub height: usize,
    /// Values per pixel.
    pub channels: usize,
    /// Pixels over which the similarity is averaged.
    pub padding: LossPadding,
}

/// Two measures of all pictures; or the factors of a loss, which is a weighted sum of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossTerms {
    /// Mean absolute difference of all values.
    pub mean_absolute: f64,
    /// Mean structural similarity over pixels, channels and pictures, as in [`Comparison`](super::Comparison).
    pub ssim: f64,
}

/// Maps that the gradient is convolved from: derivatives of the similarity of each window.
///
/// With the means ma, mb of a and b, s of a^2 + b^2 and p of a b, the derivative by a pixel of a is the sum over its
/// windows of `by_mean + 2 a by_s + b by_p`. In this form, large numbers cancel where the pictures are alike.
/// `by_mean + a excess + (b - a) by_p` with `excess = by_p + 2 by_s` is equal, and f32 is accurate enough for it.
const MAPS: usize = 3;

impl LossPictures<'_> {
    /// Measures the pictures. The result is the same on any number of threads.
    ///
    /// # Errors
    /// [`Error::Argument`] for slices of another length, pictures without values, pictures smaller than the window with
    /// [`LossPadding::Valid`], and values that are not finite.
    pub fn terms(&self) -> Result<LossTerms> {
        self.check()?;
        let loss = Loss::new(self, None);
        self.finite(loss.measure(&mut [], SimdLevel::best()))
    }

    /// Measures the pictures, and differentiates the sum of the measures times `factors` by the values of `a` and of `b`,
    /// as far as they are `wanted`; the others have no derivatives. The derivative of an absolute difference of 0 is 0.
    /// The result is the same on any number of threads.
    ///
    /// ```
    /// use quadrille_base::image::metrics::{LossPadding, LossPictures, LossTerms};
    ///
    /// let [a, b] = [13, 17].map(|n| Vec::from_iter((0..300_u16).map(|at| f32::from(at % n) / 16.0)));
    /// let [width, height, channels] = [20, 15, 1];
    /// let pictures = LossPictures { a: &a, b: &b, width, height, channels, padding: LossPadding::Same };
    /// // 0.8 L1 + 0.2 (1 - SSIM), as trainers weigh them.
    /// let factors = LossTerms { mean_absolute: 0.8, ssim: -0.2 };
    /// let (terms, [by_a, by_b]) = pictures.gradients(&factors, [true, false])?;
    /// assert!(terms.ssim < 1.0 && by_a.len() == a.len() && by_b.is_empty());
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::terms`].
    pub fn gradients(
        &self,
        factors: &LossTerms,
        wanted: [bool; 2],
    ) -> Result<(LossTerms, [Vec<f32>; 2])> {
        self.gradients_at(factors, wanted, SimdLevel::best())
    }

    pub(super) fn gradients_at(
        &self,
        factors: &LossTerms,
        wanted: [bool; 2],
        level: SimdLevel,
    ) -> Result<(LossTerms, [Vec<f32>; 2])> {
        self.check()?;
        // Both measures are symmetric.
        let exchanged = Self { a: self.b, b: self.a, ..*self };
        let (mut terms, mut by) = (None, [Vec::new(), Vec::new()]);
        for (at, pictures) in [self, &exchanged].into_iter().enumerate().filter(|of| wanted[of.0]) {
            let loss = Loss::new(pictures, Some(factors));
            let mut maps = vec![0.0_f32; loss.rows * MAPS * loss.padded];
            let measured = self.finite(loss.measure(&mut maps, level))?;
            terms.get_or_insert(measured);
            by[at] = loss.gradient(&maps, level);
        }
        Ok((terms.map_or_else(|| self.terms(), Ok)?, by))
    }

    fn check(&self) -> Result<()> {
        let Self { a, b, width, height, channels, .. } = *self;
        let values = width * height * channels;
        let is_other = values == 0 || a.is_empty() || !a.len().is_multiple_of(values);
        let expected = format_args!("pictures of {width} x {height} pixels, {channels} channels");
        Error::refuse_if(is_other, "a", expected, format_args!("{} values", a.len()))?;
        Error::refuse_if(b.len() != a.len(), "b", format_args!("{} values", a.len()), b.len())?;
        let is_small = self.padding == LossPadding::Valid && width.min(height) < WINDOW_PIXELS;
        let expected = format_args!("same below {WINDOW_PIXELS} x {WINDOW_PIXELS} pixels");
        let found = format_args!("valid for {width} x {height} pixels");
        Error::refuse_if(is_small, "padding", expected, found)
    }

    /// Refuses values that are not finite; a mean over such values is not finite either.
    fn finite(&self, terms: LossTerms) -> Result<LossTerms> {
        let is_wrong = |value: &&f32| !terms.mean_absolute.is_finite() && !value.is_finite();
        for (name, values) in [("a", self.a), ("b", self.b)] {
            if let Some(value) = values.iter().find(is_wrong) {
                return Err(Error::argument(name, "finite numbers", value));
            }
        }
        Ok(terms)
    }
}

struct Loss<'a> {
    pictures: &'a LossPictures<'a>,
    /// Number of rows of all pictures.
    rows: usize,
    /// Values per row.
    row: usize,
    /// Values per row of a map, in whole vectors.
    padded: usize,
    weights: [f64; WINDOW_PIXELS],
    /// Rows of a picture whose similarities count.
    counted: std::ops::Range<usize>,
    /// For each value of such a row, 1 if its similarity counts, else 0.
    counts: Vec<f64>,
    /// Number of similarities that count.
    similarities: f64,
    /// Derivatives of the loss by a similarity and by an absolute difference.
    by: [f64; 2],
}

impl<'a> Loss<'a> {
    fn new(pictures: &'a LossPictures<'a>, factors: Option<&LossTerms>) -> Self {
        let LossPictures { width, height, channels, .. } = *pictures;
        let margin = if pictures.padding == LossPadding::Valid { REACH } else { 0 };
        let row = width * channels;
        let padded = row.next_multiple_of(LANES);
        let counted = margin * channels..row - margin * channels;
        let counts = (0..padded).map(|x| f64::from(u8::from(counted.contains(&x)))).collect();
        let rows = pictures.a.len() / row;
        let counted_rows = rows / height * (height - 2 * margin);
        let similarities = (counted_rows * counted.len()) as f64;
        let values = pictures.a.len() as f64;
        Self {
            pictures,
            rows,
            row,
            padded,
            weights: window(),
            counted: margin..height - margin,
            counts,
            similarities,
            by: factors.map_or([0.0; 2], |f| [f.ssim / similarities, f.mean_absolute / values]),
        }
    }

    /// Values on each side of a value that its windows reach.
    fn reach(&self) -> usize {
        REACH * self.pictures.channels
    }

    /// The picture that row `row` of the stack belongs to, in the stack, and its rows.
    fn rows_of_picture(&self, row: usize) -> std::ops::Range<usize> {
        let first = row - row % self.pictures.height;
        first..first + self.pictures.height
    }

    fn windows(&self, row: usize) -> Windows<'_> {
        let rows = self.rows_of_picture(row);
        let of = |values: &'a [f32]| &values[rows.start * self.row..rows.end * self.row];
        Windows {
            pictures: [of(self.pictures.a), of(self.pictures.b)],
            width: self.row,
            height: self.pictures.height,
            channels: self.pictures.channels,
            border: Border::Zero,
            weights: &self.weights,
        }
    }

    /// Measures all rows, and writes the maps of each row unless `maps` is empty.
    fn measure(&self, maps: &mut [f32], level: SimdLevel) -> LossTerms {
        let work = || self.windows(0).vertical();
        let level = level.level();
        let measure = |work: &mut Vertical, row: usize, maps: &mut [f32]| dispatch!(level, simd => self.measure_row(simd, work, row, maps));
        let sums: Vec<[f64; 2]> = if maps.is_empty() {
            let rows = (0..self.rows).into_par_iter();
            rows.map_init(work, |work, row| measure(work, row, &mut [])).collect()
        } else {
            let rows = maps.par_chunks_exact_mut(MAPS * self.padded).enumerate();
            rows.map_init(work, |work, (row, maps)| measure(work, row, maps)).collect()
        };
        // Summed in the order of the rows, so that threads do not change the result.
        let sum = |of: usize| sums.iter().map(|sums| sums[of]).sum::<f64>();
        let mean_absolute = sum(0) / self.pictures.a.len() as f64;
        let ssim = within_range(mean_absolute, || sum(1) / self.similarities);
        LossTerms { mean_absolute, ssim }
    }

    /// Derivatives by the values of `a`, from the maps of all rows.
    fn gradient(&self, maps: &[f32], level: SimdLevel) -> Vec<f32> {
        let mut by_a = vec![0.0_f32; self.pictures.a.len()];
        let level = level.level();
        by_a.par_chunks_exact_mut(self.row).enumerate().for_each_init(
            || [(); MAPS].map(|()| vec![0.0; padded(self.row, self.reach())]),
            |work, (row, by_a)| {
                dispatch!(level, simd => self.gradient_row(simd, maps, work, row, by_a));
            },
        );
        by_a
    }

    /// Sums of the absolute differences and of the similarities of a row.
    #[inline(always)]
    fn measure_row<S: Simd>(
        &self,
        simd: S,
        work: &mut Vertical,
        row: usize,
        maps: &mut [f32],
    ) -> [f64; 2] {
        let windows = self.windows(row);
        let y = row % self.pictures.height;
        let [a, b] = windows.pictures.map(|values| &values[y * self.row..][..self.row]);
        let mut sums = [f64x8::splat(simd, 0.0); 2];
        for x in (0..self.row).step_by(LANES) {
            let (a, b) = (load(simd, a, x).widen(), load(simd, b, x).widen());
            sums[0] += (a.0 - b.0).abs() + (a.1 - b.1).abs();
        }
        if self.counted.contains(&y) {
            windows.average_rows(simd, y, work);
            for x in (0..self.row).step_by(LANES) {
                let mut halves = [[f64x8::splat(simd, 0.0); MAPS]; 2];
                for (half, x) in halves.iter_mut().zip([x, x + HALF]) {
                    let counts = f64x8::from_slice(simd, &self.counts[x..x + HALF]);
                    let window = WindowSimilarity::of(windows.means(simd, work, x), [C1, C2]);
                    sums[1] = window.value().mul_add(counts, sums[1]);
                    if !maps.is_empty() {
                        *half = derivatives(&window).map(|map| map * (counts * self.by[0]));
                    }
                }
                for (map, of) in maps.chunks_exact_mut(self.padded).zip(0..MAPS) {
                    halves[0][of].narrow(halves[1][of]).store_slice(&mut map[x..x + LANES]);
                }
            }
        }
        sums.map(|sum| <[f64; HALF]>::from(sum).iter().sum())
    }

    /// Writes the derivatives by the values of a row of `a`: the maps under the window, which is its own adjoint.
    #[inline(always)]
    fn gradient_row<S: Simd>(
        &self,
        simd: S,
        maps: &[f32],
        work: &mut [Vec<f32>; MAPS],
        row: usize,
        by_a: &mut [f32],
    ) {
        let Self { pictures, padded, .. } = *self;
        let (channels, reach) = (pictures.channels, self.reach());
        let weights = self.weights.map(narrow);
        let of_picture = self.rows_of_picture(row);
        let rows = Border::Zero.rows(row - of_picture.start, WINDOW_PIXELS, of_picture.len());
        let taps = rows.zip(weights).filter_map(|(row, weight)| {
            Some((&maps[(of_picture.start + row?) * MAPS * padded..][..MAPS * padded], weight))
        });
        let taps: Vec<(&[f32], f32)> = taps.collect();
        for (map, sums) in work.iter_mut().enumerate() {
            for x in (0..padded).step_by(LANES) {
                let mut sum = f32x16::splat(simd, 0.0);
                for (maps, weight) in &taps {
                    let values = f32x16::from_slice(simd, &maps[map * padded + x..][..LANES]);
                    sum = values.mul_add(f32x16::splat(simd, *weight), sum);
                }
                sum.store_slice(&mut sums[reach + x..reach + x + LANES]);
            }
        }
        let [a, b] = [pictures.a, pictures.b].map(|all| &all[row * self.row..][..self.row]);
        let by_difference = f32x16::splat(simd, narrow(self.by[1]));
        for x in (0..self.row).step_by(LANES) {
            let mut sums = [f32x16::splat(simd, 0.0); MAPS];
            for (tap, weight) in weights.into_iter().enumerate() {
                for (sum, row) in sums.iter_mut().zip(&*work) {
                    let values = f32x16::from_slice(simd, &row[x + tap * channels..][..LANES]);
                    *sum = values.mul_add(f32x16::splat(simd, weight), *sum);
                }
            }
            let (a, b) = (load(simd, a, x), load(simd, b, x));
            let [by_mean, excess, by_product] = sums;
            let by_similarity = (b - a).mul_add(by_product, a.mul_add(excess, by_mean));
            let zero = f32x16::splat(simd, 0.0);
            let below = a.simd_lt(b).select(-by_difference, zero);
            let sum = by_similarity + b.simd_lt(a).select(by_difference, below);
            let mut values = [0.0; LANES];
            sum.store_slice(&mut values);
            let end = self.row.min(x + LANES);
            by_a[x..end].copy_from_slice(&values[..end - x]);
        }
    }
}

/// The values of [`MAPS`] of eight windows: by the mean of a, the excess, and by the mean of a b.
#[inline(always)]
fn derivatives<S: Simd>(window: &WindowSimilarity<S>) -> [f64x8<S>; MAPS] {
    let WindowSimilarity { means: [a, b], luminance, contrast, denominators } = *window;
    let [per_luminance, per_contrast] = denominators.map(|denominator| 1.0 / denominator);
    let by_product = luminance * per_contrast * 2.0;
    let excess = by_product * (1.0 - contrast);
    let of_luminance = (1.0 - luminance) * contrast * per_luminance * 2.0;
    let of_means = luminance * contrast * (per_contrast - per_luminance) * 2.0;
    [b.mul_add(of_luminance - excess, (a - b) * of_means), excess, by_product]
}
