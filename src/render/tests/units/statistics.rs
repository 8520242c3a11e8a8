//! Tests of the module `statistics`.

use super::*;

#[test]
fn quantiles_and_counts_are_those_of_sorted_values() {
    let hash = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 16_777_216.0 - 0.5;
    for length in [1, 2, 3, 8, 99, 100_000] {
        for steps in [2.0, 1e9] {
            let mut values: Vec<f32> =
                (0..length).map(|i| (hash(i) * steps).round() / steps).collect();
            values[0] = f32::INFINITY;
            let mut sorted = values.clone();
            sorted.sort_by(f32::total_cmp);
            let found = quantiles(&mut values, SceneStatistics::PROBABILITIES);
            let last = f64::from(length - 1);
            let expected =
                SceneStatistics::PROBABILITIES.map(|p| sorted[whole::<usize>((p * last).round())]);
            assert_eq!(found, expected, "{length} values, {steps} steps");
            let edges = [-1.0, -0.25, 0.0, 0.0, 0.5, 1.0];
            let below = |edge: f32| sorted.partition_point(|v| *v < edge) as u64;
            let mut cuts: Vec<u64> = edges[1..5].iter().map(|e| below(*e)).collect();
            cuts.insert(0, 0);
            cuts.push(sorted.len() as u64);
            let expected: Vec<u64> = cuts.windows(2).map(|w| w[1] - w[0]).collect();
            assert_eq!(counts(&values, &edges), expected);
        }
    }
    assert_eq!(quantiles(&mut [], [0.01, 0.99]), [0.0; 2]);
}
