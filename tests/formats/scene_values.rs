//! Values of splats: activation, invalid rows, statistics.

use std::path::Path;

use quadrille::{Dropped, Scene, SceneInput, SceneStatistics, Splat, Splats, load};

use crate::scene_headers::{PLAIN, file};

/// A valid row of the properties [`PLAIN`].
const GOOD: [f32; 14] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0];
/// Columns of [`PLAIN`].
const OPACITY: usize = 6;
const SCALE: usize = 7;
const ROTATION: usize = 10;

/// Reads a binary file of `rows`, whose properties are called `names`.
fn read(names: &str, rows: &[impl AsRef<[f32]>]) -> Scene {
    let values = rows.iter().flat_map(|row| row.as_ref());
    let body: Vec<u8> = values.flat_map(|v| v.to_le_bytes()).collect();
    let count = rows.len().to_string();
    let file = file("binary_little_endian", &count, names, &body);
    load(SceneInput::bytes(&file).named(Path::new("values.ply"))).unwrap()
}

/// [`PLAIN`] and the coefficients of degree 1.
fn names_of_degree_1() -> String {
    let rest = (0..9).map(|i| format!(" f_rest_{i}"));
    PLAIN.to_owned() + &rest.collect::<String>()
}

/// Asserts that the lanes after the last splat are zero, as in a scene made of single splats.
fn assert_padding_is_zero(splats: &Splats) {
    assert!(*splats == Splats::from_splats(splats.sh_degree(), splats.iter()));
}

#[test]
fn valid_rows_are_activated() {
    let scene = read(PLAIN, &[GOOD; 3]);
    assert_eq!(scene.dropped, Dropped::default());
    for splat in scene.splats.iter() {
        assert_eq!((splat.scale, splat.opacity), ([1.0; 3], 0.5));
        assert_eq!(splat.rotation, [0.5, 0.5, 0.5, -0.5]);
    }
    assert_padding_is_zero(&scene.splats);
}

#[test]
fn invalid_rows_are_counted_by_reason() {
    let good = [&GOOD[..], &[0.0; 9]].concat();
    let mut rows = vec![good; 16];
    rows[0][1] = f32::NAN;
    rows[1][OPACITY] = f32::INFINITY;
    rows[2][ROTATION + 2] = f32::NEG_INFINITY;
    rows[3][PLAIN.split(' ').count() + 8] = f32::NAN;
    rows[4][ROTATION..ROTATION + 4].fill(0.0);
    rows[5][SCALE + 1] = 89.0;
    rows[6][SCALE + 1] = -1e30;
    for component in &mut rows[6][ROTATION..ROTATION + 4] {
        *component *= 1e-42;
    }
    rows[7][SCALE] = f32::INFINITY;
    rows[8][SCALE + 2] = f32::NEG_INFINITY;
    let scene = read(&names_of_degree_1(), &rows);
    let counts = scene.dropped.by_reason().map(|(_, count)| count);
    assert_eq!(counts, [2, 2, 1, 1, 0]);
    assert_eq!(scene.splats.len(), 10);
    assert_eq!(scene.splats.splat(0).opacity, 1.0, "an infinite logit");
    let valid = scene.splats.splat(1);
    assert_eq!(valid.scale[1], 0.0, "far below the range is flat");
    assert_eq!(valid.rotation[0], 0.5, "denormal quaternions are valid");
    let flat = scene.splats.splat(2);
    assert_eq!(flat.scale[2], 0.0, "the logarithm of a scale of 0");
}

#[test]
fn counts_of_invalid_rows_in_words() {
    let mut dropped = Dropped::default();
    assert_eq!(dropped.to_string(), "0 rows");
    dropped.infinite = 1;
    assert_eq!(dropped.to_string(), "1 row: 1 infinite");
    dropped.nan = 2;
    assert_eq!(dropped.to_string(), "3 rows: 2 not a number, 1 infinite");
}

#[test]
fn valid_rows_close_the_gaps_in_order() {
    let names = names_of_degree_1();
    for count in [0, 1, 16, 17, 4095, 4096, 4100, 9000] {
        for bad in [1, 2, 3, 16, 4096] {
            let row = |row: usize| {
                let mut values = [&GOOD[..], &[0.0; 9]].concat();
                values[0] = if row.is_multiple_of(bad) { f32::NAN } else { row as f32 };
                for (slot, value) in values[GOOD.len()..].iter_mut().enumerate() {
                    *value = (row + slot) as f32;
                }
                values
            };
            let rows: Vec<Vec<f32>> = (0..count).map(row).collect();
            let scene = read(&names, &rows);
            let kept: Vec<usize> = (0..count).filter(|row| !row.is_multiple_of(bad)).collect();
            assert_eq!(scene.splats.len(), kept.len());
            assert_eq!(scene.dropped.nan, (count - kept.len()) as u64);
            for (splat, row) in scene.splats.iter().zip(kept) {
                assert_eq!(splat.mean[0], row as f32);
                assert_eq!(splat.sh[3][2], (row + 8) as f32);
            }
            assert_padding_is_zero(&scene.splats);
        }
    }
}

#[test]
fn the_3d_filter_widens_and_dims() {
    let row = [&GOOD[..], &[0.75]].concat();
    let scene = read(&format!("{PLAIN} filter_3D"), &[row]);
    let splat = scene.splats.splat(0);
    assert_eq!(splat.scale[0], 1.25);
    assert_eq!(splat.opacity, 0.5 / (1.25f32 * 1.25 * 1.25));
}

#[test]
fn two_scales_make_a_flat_splat() {
    let names = PLAIN.replace("scale_2 ", "");
    let scene = read(&names, &[[&GOOD[..9], &GOOD[10..]].concat()]);
    assert_eq!(scene.splats.splat(0).scale, [1.0, 1.0, 0.0]);
}

/// Distance in units of the last place.
fn ulps(a: f32, b: f32) -> u32 {
    a.to_bits().abs_diff(b.to_bits())
}

/// Every 1009th f32: 4 million arguments of either sign and every exponent.
#[test]
fn exp_and_sigmoid_are_within_an_ulp_of_the_exact_results() {
    let exp = |x: f32| f64::from(x).exp() as f32;
    let sigmoid = |x: f32| (1.0 / (1.0 + (-f64::from(x)).exp())) as f32;
    let all = (0..=u32::MAX).step_by(1009).map(f32::from_bits);
    let arguments: Vec<f32> = all.filter(|x| x.is_finite()).collect();
    for arguments in arguments.chunks(1 << 16) {
        let row = |&x: &f32| {
            let mut row = GOOD;
            row[OPACITY] = x;
            // A scale that overflows would make the row invalid.
            row[SCALE] = if exp(x).is_finite() { x } else { 0.0 };
            row
        };
        let rows: Vec<[f32; 14]> = arguments.iter().map(row).collect();
        let scene = read(PLAIN, &rows);
        assert_eq!(scene.dropped.total(), 0);
        for (splat, row) in scene.splats.iter().zip(&rows) {
            let (x, scale) = (row[OPACITY], row[SCALE]);
            assert!(ulps(splat.scale[0], exp(scale)) <= 1, "exp {scale:e}");
            assert!(ulps(splat.opacity, sigmoid(x)) <= 1, "sigmoid {x:e}");
        }
    }
    let opacity = |x: f32| {
        let mut row = GOOD;
        row[OPACITY] = x;
        read(PLAIN, &[row]).splats.splat(0).opacity
    };
    assert_eq!((opacity(-104.0), opacity(20.0)), (0.0, 1.0));
}

#[test]
fn scenes_return_the_splats_they_are_made_of() {
    let splat = |i: usize| {
        let v = i as f32;
        let mut sh = [[0.0; 3]; 25];
        for (k, rgb) in sh[..16].iter_mut().enumerate() {
            *rgb = [v + k as f32, v - k as f32, v * k as f32];
        }
        Splat {
            mean: [v, v + 1.0, v + 2.0],
            scale: [v + 3.0, v + 4.0, v + 5.0],
            rotation: [v + 6.0, v + 7.0, v + 8.0, v + 9.0],
            opacity: v + 10.0,
            sh,
        }
    };
    for len in [0, 1, 15, 16, 17, 40] {
        let scene = Splats::from_splats(3, (0..len).map(splat));
        assert_eq!(scene.len(), len);
        assert!(scene.iter().eq((0..len).map(splat)), "{len} splats");
    }
}

#[test]
fn statistics_of_a_known_scene() {
    let splat = |i: u16| Splat {
        mean: [f32::from(i), -f32::from(i), 5.0],
        scale: [1.0, 2.0, if i == 100 { 0.0 } else { 4.0 }],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity: f32::from(i) / 100.0,
        sh: [[0.0; 3]; 25],
    };
    let splats = Splats::from_splats(0, (0..=100).map(splat));
    let statistics = SceneStatistics::of(&splats);
    assert_eq!(statistics.bounds, Some([[0.0, -100.0, 5.0], [100.0, 0.0, 5.0]]));
    let central = [[1.0, -99.0, 5.0], [99.0, -1.0, 5.0]];
    assert_eq!(statistics.central_bounds, Some(central));
    let opacity = statistics.opacity.unwrap();
    assert_eq!(opacity.quantiles, [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0]);
    assert_eq!(opacity.counts, [13, 12, 13, 12, 13, 12, 13, 13]);
    let anisotropy = statistics.anisotropy.unwrap();
    assert_eq!(anisotropy.quantiles[..6], [4.0; 6]);
    assert_eq!(anisotropy.quantiles[6], f32::INFINITY);
    assert_eq!(anisotropy.counts.iter().sum::<u64>(), 101);
}

/// Splats as surfels have them: the ratio of their axes is infinite, also at the edges of the histogram.
#[test]
fn statistics_of_flat_splats() {
    let splat = |i: u16| Splat {
        mean: [f32::from(i), 0.0, 0.0],
        scale: [1.0, 2.0, 0.0],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity: 0.5,
        sh: [[0.0; 3]; 25],
    };
    let statistics = SceneStatistics::of(&Splats::from_splats(0, (0..20).map(splat)));
    let anisotropy = statistics.anisotropy.unwrap();
    assert_eq!(anisotropy.quantiles, [f32::INFINITY; 7]);
    assert!(anisotropy.edges.iter().all(|edge| edge.is_finite()));
    assert!(anisotropy.edges.is_sorted());
    assert_eq!(anisotropy.counts.iter().sum::<u64>(), 20);
}

#[test]
fn an_empty_scene_has_no_statistics() {
    let statistics = SceneStatistics::of(&Splats::from_splats(2, []));
    assert_eq!(statistics.bounds, None);
    assert_eq!(statistics.opacity, None);
}
