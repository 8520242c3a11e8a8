//! Peak signal-to-noise ratio, and the differences it is computed from.

use super::planes::Pair;
use crate::math::whole;

/// The percentile reported beside the largest difference. Two correct renderers may differ in a few
/// pixels at the edge of a splat, and the maximum alone would hide the rest.
const HIGH_PERCENTILE: f64 = 99.9;

/// Differences of colour of a pair with at least one pixel that counts, in units of 1.0: the mean square over all
/// pixels that count and all channels; and over these pixels, of the largest of the three channels, the maximum and the
/// 99.9th percentile.
pub(super) fn differences(pair: &Pair) -> [f64; 3] {
    let [a, b] = &pair.colours;
    let peak = f64::from(pair.peak);
    let mut largest = vec![0.0_f64; a[0].len()];
    let mut squares = 0.0;
    for (a, b) in a.iter().zip(b) {
        for ((&p, &q), largest) in a.iter().zip(b).zip(&mut largest) {
            let difference = (f64::from(p) - f64::from(q)).abs();
            squares += difference * difference;
            *largest = largest.max(difference);
        }
    }
    if pair.mask.is_some() {
        let inside = largest
            .iter()
            .enumerate()
            .filter(|(at, _)| pair.counts(*at));
        largest = inside.map(|(_, difference)| *difference).collect();
    }
    // Pixels that do not count add nothing.
    let mse = squares / (largest.len() as f64 * 3.0 * peak * peak);
    let max_abs = largest.iter().copied().fold(0.0, f64::max) / peak;
    [
        mse,
        max_abs,
        percentile(&mut largest, HIGH_PERCENTILE) / peak,
    ]
}

/// `10 log10(1 / mse)` in decibels, for a peak of 1.0; `None` when there is no difference.
pub(super) fn psnr_db(mse: f64) -> Option<f64> {
    (mse > 0.0).then(|| -10.0 * mse.log10())
}

/// A percentile, interpolated linearly between the two nearest ranks (definition 7 of Hyndman & Fan
/// 1996, the default of `numpy.percentile`). Reorders the values.
fn percentile(values: &mut [f64], percent: f64) -> f64 {
    let last = values.len() - 1;
    let position = percent / 100.0 * last as f64;
    let rank = whole::<usize>(position.floor()).min(last);
    let (_, &mut low, above) = values.select_nth_unstable_by(rank, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (high - low) * (position - position.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_between_ranks() {
        let mut values: Vec<f64> = (0..=1000).rev().map(f64::from).collect();
        assert!((percentile(&mut values, 99.9) - 999.0).abs() < 1e-9);
        let mut values: Vec<f64> = (0..=10).map(f64::from).collect();
        assert!((percentile(&mut values, 99.9) - 9.99).abs() < 1e-12);
        assert_eq!(percentile(&mut [7.0], 99.9), 7.0);
    }
}
