//! Spherical harmonics in the order and with the signs of the reference trainer.

use super::random::Vec3;
use quadrille_base::math::{narrow, sh_basis};

/// Constant basis function. The last bit is wrong, but keeps the repository's generated scene reproducible.
pub(crate) const Y00: f32 = 0.282_094_79;

pub(crate) const BASIS: usize = 16;

/// Basis functions of bands 0 to 3 in the unit direction `d` from camera to splat.
pub(crate) fn basis(d: Vec3) -> [f32; BASIS] {
    let [_, rest @ ..] = sh_basis::<BASIS>(3, d.map(f64::from).into()).map(narrow);
    std::array::from_fn(|i| i.checked_sub(1).map_or(Y00, |k| rest[k]))
}

pub(crate) fn band(index: usize) -> u8 {
    match index {
        0 => 0,
        1..=3 => 1,
        4..=8 => 2,
        _ => 3,
    }
}

/// Adds a lobe around the unit direction `axis` to `sh`: the sum over bands l of `(2l + 1) g^l P_l(cos)`, of mean 1,
/// times `rgb`; a larger `g` in 0 to 1 is narrower (Henyey and Greenstein's function, by the addition theorem).
pub(crate) fn add_lobe(sh: &mut [[f32; 3]], axis: Vec3, g: f32, rgb: Vec3) {
    for (index, (coefficient, y)) in sh.iter_mut().zip(basis(axis)).enumerate() {
        let weight = 4.0 * std::f32::consts::PI * g.powi(i32::from(band(index))) * y;
        for channel in 0..3 {
            coefficient[channel] += weight * rgb[channel];
        }
    }
}

#[cfg(test)]
mod tests {
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
}
