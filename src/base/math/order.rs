//! Order statistics.

use super::whole;

/// The value below which `share` of the values lie, interpolated linearly between the two nearest ranks (definition 7 of
/// Hyndman & Fan 1996, the default of `numpy.quantile`); NaN without values. Reorders the values.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let position = share * last as f64;
    let rank = whole::<usize>(position.floor()).min(last);
    let (_, &mut low, above) = values.select_nth_unstable_by(rank, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (high - low) * (position - position.floor())
}

/// The median; `None` without values. Reorders the values.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    // Equal values are returned as they are, infinite ones included.
    let [low, high] = [values[last / 2], values[values.len() / 2]];
    Some(if low == high { low } else { f64::midpoint(low, high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_between_ranks() {
        let mut values: Vec<f64> = (0..=1000).rev().map(f64::from).collect();
        assert!((quantile(&mut values, 0.999) - 999.0).abs() < 1e-9);
        let mut values: Vec<f64> = (0..=10).map(f64::from).collect();
        assert!((quantile(&mut values, 0.999) - 9.99).abs() < 1e-12);
        assert_eq!(quantile(&mut [7.0], 0.999), 7.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }

    #[test]
    fn medians_of_even_and_odd_counts() {
        assert_eq!(median(&mut [8.0, 1.0, 4.0, 2.0]), Some(3.0));
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [f64::INFINITY, f64::INFINITY]), Some(f64::INFINITY));
        assert_eq!(median(&mut []), None);
    }
}
