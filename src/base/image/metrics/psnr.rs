//! Peak signal-to-noise ratio, and the differences it is computed from.

use rayon::prelude::*;

use super::planes::Pair;
use super::separable::LANES;
use crate::math::SimdLevel;
use crate::math::order::quantile;

/// Percentile reported beside the maximum, which depends on a few pixels at edges of splats even in correct renderers.
const HIGH_PERCENTILE: f64 = 99.9;

/// Differences of colour over the pixels that count, at least one, in units of 1.0: mean square of all channels; maximum
/// and 99.9th percentile of each pixel's largest channel difference.
pub(super) fn differences(pair: &Pair) -> [f64; 3] {
    let peak = f64::from(pair.peak);
    let mut largest = vec![0.0_f64; pair.width * pair.height];
    let level = SimdLevel::best();
    let rows = largest.par_chunks_mut(pair.width).enumerate();
    let rows = rows.map(|(y, largest)| level.run(|| row_differences(pair, y, largest)));
    // Summed in the order of the rows, so that threads do not change the result.
    let squares: f64 = rows.collect::<Vec<f64>>().iter().sum();
    if pair.mask.is_some() {
        let inside = largest.iter().enumerate().filter(|(at, _)| pair.counts(*at));
        largest = inside.map(|(_, difference)| *difference).collect();
    }
    // Pixels that do not count are black in both pictures and add nothing to the sum.
    let mse = squares / (largest.len() as f64 * 3.0 * peak * peak);
    let max_abs = largest.iter().copied().fold(0.0, f64::max) / peak;
    [mse, max_abs, quantile(&mut largest, HIGH_PERCENTILE / 100.0) / peak]
}

/// Writes each pixel's largest channel difference to the zeroed `largest`; returns the sum of all squares.
#[inline(always)]
fn row_differences(pair: &Pair, y: usize, largest: &mut [f64]) -> f64 {
    let row = y * pair.width..(y + 1) * pair.width;
    let mut sums = [0.0; LANES];
    for (a, b) in pair.colours[0].iter().zip(&pair.colours[1]) {
        let pixels = a[row.clone()].chunks(LANES).zip(b[row.clone()].chunks(LANES));
        for ((a, b), largest) in pixels.zip(largest.chunks_mut(LANES)) {
            for (lane, sum) in sums.iter_mut().enumerate().take(a.len()) {
                let difference = (f64::from(a[lane]) - f64::from(b[lane])).abs();
                *sum += difference * difference;
                largest[lane] = largest[lane].max(difference);
            }
        }
    }
    sums.iter().sum()
}

/// `10 log10(1 / mse)` in decibels, for a peak of 1.0; `None` when there is no difference.
pub(super) fn psnr_db(mse: f64) -> Option<f64> {
    (mse > 0.0).then(|| -10.0 * mse.log10())
}
