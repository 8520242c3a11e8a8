//! Tests of the module `harmonics`.

use super::*;

fn directions() -> impl Iterator<Item = Vec3> {
    let count = 20_000;
    (0..count).map(move |i| {
        let z = 1.0 - 2.0 * (i as f32 + 0.5) / count as f32;
        let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new(r * cos, r * sin, z)
    })
}

#[test]
fn a_lobe_is_brightest_along_its_axis() {
    let mut sh = [[0.0; 3]; BASIS];
    let axis = Vec3::new(0.6, 0.0, 0.8);
    add_lobe(&mut sh, axis, 0.5, Vec3::new(1.0, 0.5, 0.0));
    let value = |d: Vec3| -> f32 { sh.iter().zip(basis(d)).map(|(c, y)| c[0] * y).sum() };
    // 1 + 3/2 + 5/4 + 7/8 along the axis.
    assert!((value(axis) - 4.625).abs() < 1e-3);
    assert!(directions().all(|d| value(d) <= value(axis) + 1e-3));
    let mean: f32 = directions().map(value).sum::<f32>() / 20_000.0;
    assert!((mean - 1.0).abs() < 1e-2, "{mean}");
}
