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
#[path = "tests/harmonics.rs"]
mod tests;
