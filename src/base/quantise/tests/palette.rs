//! Palettes of clusters, on every level.

use super::*;

#[test]
fn sizes_are_powers_of_two_of_1024() {
    for (rows, size) in [(1_500_000, 65_536), (38_347, 32_768), (2000, 1024), (600, 512), (1, 1)] {
        assert_eq!(palette_size(rows), size, "{rows}");
    }
}

/// Rows of `count` clusters with a little noise around each centre.
fn clustered(rows: u32, count: u32, noise: f32) -> Vec<Vec<f32>> {
    let hash = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 16_777_216.0 - 0.5;
    let value = |row: u32, dimension: u32| {
        hash(row % count * 64 + dimension) + noise * hash(row * 64 + dimension + 7)
    };
    (0..9).map(|d| (0..rows).map(|row| value(row, d)).collect()).collect()
}

#[test]
fn few_distinct_rows_are_kept_exactly() {
    let columns = clustered(3000, 700, 0.0);
    let palette = palette(&columns, SimdLevel::best(), &Task::NEVER).unwrap();
    assert_eq!(palette.centroids.len(), 700);
    for (row, label) in palette.labels.iter().enumerate() {
        let centroid = &palette.centroids[usize::from(*label)];
        assert!(columns.iter().zip(centroid).all(|(column, v)| column[row] == *v));
    }
}

#[test]
fn clusters_are_found_on_every_level() {
    // More rows than the palette has, so that they are clustered.
    let rows = 9001;
    let columns = clustered(rows, 500, 0.02);
    let mut first = None;
    for level in SimdLevel::all() {
        let palette = palette(&columns, level, &Task::NEVER).unwrap();
        assert_eq!(palette.centroids.len(), 8192);
        let error = |(row, label): (usize, &u16)| -> f32 {
            let centroid = &palette.centroids[usize::from(*label)];
            columns.iter().zip(centroid).map(|(c, v)| (c[row] - v).powi(2)).sum()
        };
        let sum: f32 = palette.labels.iter().enumerate().map(error).sum();
        // Noise of uniform +-0.01 in nine dimensions around the centres.
        let bound = rows as f32 * 9.0 * 0.02f32.powi(2) / 12.0;
        assert!(sum < bound, "{sum} {bound}");
        let labels = first.get_or_insert(palette.labels.clone());
        assert_eq!(*labels, palette.labels, "levels differ");
    }
}
