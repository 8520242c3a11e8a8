//! Tests of the module `sample`.

use super::*;

fn splat(scale: f32, opacity: f32) -> Splat {
    Splat {
        mean: [0.0; 3],
        scale: [scale, scale, 0.0],
        rotation: [1.0, 0.0, 0.0, 0.0],
        opacity,
        sh: [[0.0; 3]; 25],
    }
}

fn total_area(splats: &Splats) -> f64 {
    splats.iter().map(|s| f64::from(s.scale[0] * s.scale[1])).sum()
}

#[test]
fn a_sample_has_the_area_of_the_scene() {
    let sizes = (0..20_000_u16).map(|i| 0.01 + f32::from(i % 100) * 0.001);
    let large = [2.0, 3.0];
    let splats = Splats::from_splats(0, sizes.chain(large).map(|s| splat(s, 0.9)));
    let sample = SplatSample::of(&splats, 1000);
    assert!((900..1100).contains(&sample.splats.len()), "{}", sample.splats.len());
    let ratio = total_area(&sample.splats) / total_area(&splats);
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    // Large splats are unchanged, and the others are enlarged.
    let last = sample.splats.len() - 1;
    assert_eq!(sample.splats.splat(last).scale[0], 3.0);
    assert_eq!(sample.size_factor[last], 1.0);
    assert!(sample.size_factor[0] < 1.0);
}

#[test]
fn small_scenes_are_taken_whole_without_what_is_invisible() {
    let splats = Splats::from_splats(0, [0.5, 0.001, 0.9].map(|o| splat(0.1, o)));
    let sample = SplatSample::of(&splats, 1000);
    assert_eq!(sample.splats.len(), 2);
    assert_eq!(sample.size_factor, [1.0, 1.0]);
}
