//! Colours from spherical harmonics, and their derivatives by the direction.

use nalgebra::Vector3;

use quadrille_base::math::{Dual, SH_C0, sh_terms};

/// Red, green and blue before the lower bound 0, and the derivatives of each by the unit direction. `sh` holds the
/// coefficients from the constant one on.
pub(super) fn unbounded_colour(
    sh_degree: u8,
    direction: Vector3<f64>,
    sh: &[[f64; 3]],
) -> ([f64; 3], [Vector3<f64>; 3]) {
    let coefficient = |k: usize| sh.get(k).copied().unwrap_or_default();
    let mut colour = coefficient(0).map(|c| c * SH_C0 + 0.5);
    let mut by_direction = [Vector3::zeros(); 3];
    sh_terms(sh_degree, Dual::components(direction.into()), |k, basis| {
        let sums = colour.iter_mut().zip(&mut by_direction);
        for ((sum, by), coefficient) in sums.zip(coefficient(k + 1)) {
            *sum += coefficient * basis.value;
            *by += Vector3::from(basis.by) * coefficient;
        }
    });
    (colour, by_direction)
}
