//! Structural similarity: Wang et al. 2004, as the authors of 3D Gaussian splatting measure it (`utils/loss_utils.py`).

use fearless_simd::{Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;

use super::planes::Pair;
use super::separable::{Border, LANES};
use super::windows::{C1, C2, HALF, REACH, Vertical, WindowSimilarity, Windows, window};
use crate::math::SimdLevel;

/// Mean structural similarity over the pixels that count and three channels: -1 to 1, and 1 for equal pictures. In f64,
/// since variances are small differences of large means; levels of vector instructions differ by less than 1e-12.
///
/// Without a `border`, pixels whose windows reach beyond the edge are left out; if no pixel is left, the border is zero.
pub(super) fn ssim(pair: &Pair, border: Option<Border>, level: SimdLevel) -> f64 {
    let counted = Counted { pair, margin: if border.is_none() { REACH } else { 0 } };
    let border = border.unwrap_or(Border::Zero);
    let count: usize = (0..pair.height).map(|y| counted.of_row(y)).sum();
    if count == 0 {
        return ssim(pair, Some(border), level);
    }
    let window = window();
    let [a, b] = &pair.colours;
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        let Pair { width, height, .. } = *pair;
        let windows =
            Windows { pictures: [a, b], width, height, channels: 1, border, weights: &window };
        let rows = (0..height).into_par_iter().map_init(
            || (windows.vertical(), vec![0.0; width.next_multiple_of(LANES)]),
            |(means, weights), y| {
                counted.weights(y, weights);
                dispatch!(level.level(), simd => row_sum(simd, &windows, means, y, weights, pair.peak))
            },
        );
        // Summed in the order of the rows, so that threads do not change the result.
        sum += rows.collect::<Vec<f64>>().iter().sum::<f64>();
    }
    sum / (3.0 * count as f64)
}

/// Mean similarity of pictures with a mean `difference`, without the rounding of its sum: 1 if they are equal, and never
/// outside of -1 to 1.
pub(super) fn within_range(difference: f64, similarity: impl FnOnce() -> f64) -> f64 {
    if difference == 0.0 { 1.0 } else { similarity().clamp(-1.0, 1.0) }
}

struct Counted<'a> {
    pair: &'a Pair,
    /// Pixels at each edge that do not count.
    margin: usize,
}

impl Counted<'_> {
    fn of_row(&self, y: usize) -> usize {
        let columns = self.columns(y);
        let mask = self.pair.mask.as_ref();
        mask.map_or(columns.len(), |mask| {
            let row = &mask[y * self.pair.width..][columns.clone()];
            row.iter().filter(|counts| **counts).count()
        })
    }

    fn columns(&self, y: usize) -> std::ops::Range<usize> {
        let Pair { width, height, .. } = *self.pair;
        if y < self.margin || y + self.margin >= height || 2 * self.margin >= width {
            return 0..0;
        }
        self.margin..width - self.margin
    }

    /// Writes 1 for each counted pixel of row `y`, 0 for the others.
    fn weights(&self, y: usize, weights: &mut [f64]) {
        let columns = self.columns(y);
        weights.fill(0.0);
        weights[columns.clone()].fill(1.0);
        if let Some(mask) = &self.pair.mask {
            let row = &mask[y * self.pair.width..][..self.pair.width];
            for x in columns {
                weights[x] = f64::from(u8::from(row[x]));
            }
        }
    }
}

/// Sum of the similarities of row `y`, each times its weight.
#[inline(always)]
fn row_sum<S: Simd>(
    simd: S,
    windows: &Windows<'_>,
    means: &mut Vertical,
    y: usize,
    weights: &[f64],
    peak: f32,
) -> f64 {
    // Scaling the constants is cheaper than scaling the values, and similarity is the same in any unit.
    let constants = [C1, C2].map(|c| c * f64::from(peak) * f64::from(peak));
    windows.average_rows(simd, y, means);
    let mut sum = f64x8::splat(simd, 0.0);
    for (block, weights) in weights.chunks_exact(HALF).enumerate() {
        let similarity = WindowSimilarity::of(windows.means(simd, means, block * HALF), constants);
        sum = similarity.value().mul_add(f64x8::from_slice(simd, weights), sum);
    }
    <[f64; HALF]>::from(sum).iter().sum()
}
