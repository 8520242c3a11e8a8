//! Derivatives of a loss by the spherical harmonics of sixteen splats, and by their directions from the camera.

use fearless_simd::{f32x16, prelude::*};

use super::covariance::dot;
use super::directions;
use crate::preprocess::source::Coefficients;
use crate::preprocess::view_transform::ViewTransform;
use quadrille_base::math::{Dual, SH_C0, narrow, sh_terms};
use quadrille_scene::{Lanes, SplatBlock};

/// Differentiates the colours of sixteen splats. Writes the derivatives by their coefficients to `by_coefficients`, the
/// constant ones first, of red, green and blue in turn; returns those by their centres.
#[inline(always)]
pub(crate) fn colour_chain<S: Simd>(
    simd: S,
    view: &ViewTransform,
    degree: u8,
    block: &SplatBlock,
    sh: &Coefficients<'_>,
    by_colour: [f32x16<S>; 3],
    by_coefficients: &mut [Lanes],
) -> [f32x16<S>; 3] {
    let zero = f32x16::splat(simd, 0.0);
    for (lanes, by) in by_coefficients.iter_mut().zip(by_colour) {
        (by * narrow(SH_C0)).store_array(lanes);
    }
    if degree == 0 {
        return [zero; 3];
    }
    let (direction, inverse) = directions(simd, view, block);
    let per_channel = sh.rest.len() / 3;
    let mut by_direction = [zero; 3];
    sh_terms(
        degree,
        Dual::components(direction),
        #[inline(always)]
        |k, basis| {
            let coefficient =
                each!([0, 1, 2], |c| f32x16::simd_from(simd, sh.rest[c * per_channel + k]));
            let by_basis = dot(coefficient, by_colour);
            for (sum, by) in by_direction.iter_mut().zip(basis.by) {
                *sum = by_basis.mul_add(by, *sum);
            }
            for (lanes, by) in by_coefficients[3 * (k + 1)..].iter_mut().zip(by_colour) {
                (by * basis.value).store_array(lanes);
            }
        },
    );
    let along = dot(direction, by_direction);
    each!([0, 1, 2], |c| (-direction[c]).mul_add(along, by_direction[c]) * inverse)
}
