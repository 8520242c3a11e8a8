//! Colour conversions of FLIP in lanes; [`flip_colour`](super::flip_colour) defines them for one pixel.

use fearless_simd::{Simd, f32x16, i32x16, prelude::*, u32x16};

use super::flip_colour::{
    HUNT_SCALE, LAB_DELTA, LUMINANCE_SCALE, RGB_FROM_XYZ, WHITE_XYZ, XYZ_FROM_RGB,
};
use crate::math::lanes::{exp2, log2};
use crate::math::narrow;

/// Three coordinates of 16 colours.
pub(super) type Colours<S> = [f32x16<S>; 3];

const LEAST_EXPONENT: f32 = -126.0;

/// Bits whose third starts the cube root: two thirds of the exponent's bias, corrected for a guess within 4 %.
const CUBE_ROOT_BITS: f32 = 709_921_077.0;

/// Matrices between linear RGB and XYZ relative to white.
pub(super) struct Matrices {
    xyz_from_rgb: [[f32; 3]; 3],
    rgb_from_xyz: [[f32; 3]; 3],
}

impl Matrices {
    pub(super) fn new() -> Self {
        let axes = [0, 1, 2];
        Self {
            xyz_from_rgb: axes.map(|i| XYZ_FROM_RGB[i].map(|weight| narrow(weight / WHITE_XYZ[i]))),
            rgb_from_xyz: RGB_FROM_XYZ.map(|row| axes.map(|i| narrow(row[i] * WHITE_XYZ[i]))),
        }
    }
}

#[inline(always)]
pub(super) fn ycxcz_from_rgb<S: Simd>(simd: S, matrices: &Matrices, rgb: Colours<S>) -> Colours<S> {
    let [x, y, z] = product(simd, &matrices.xyz_from_rgb, rgb);
    [y * narrow(LUMINANCE_SCALE) - 16.0, (x - y) * 500.0, (y - z) * 200.0]
}

/// `YCxCz` to Hunt-adjusted L*a*b*, by way of linear RGB clamped to `[0, 1]`.
#[inline(always)]
pub(super) fn hunt_lab_from_ycxcz<S: Simd>(
    simd: S,
    matrices: &Matrices,
    [luminance, cx, cz]: Colours<S>,
) -> Colours<S> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let scale = narrow(LUMINANCE_SCALE);
    let y = (luminance + 16.0) * (1.0 / scale);
    let x = cx.mul_add(splat(1.0 / 500.0), y);
    let z = cz.mul_add(splat(-1.0 / 200.0), y);
    let mut rgb = product(simd, &matrices.rgb_from_xyz, [x, y, z]);
    for c in &mut rgb {
        *c = c.max(splat(0.0)).min(splat(1.0));
    }
    let mut xyz = product(simd, &matrices.xyz_from_rgb, rgb);
    for t in &mut xyz {
        *t = lab_curve(simd, *t);
    }
    let [x, y, z] = xyz;
    let lightness = y * scale - 16.0;
    let hunt = lightness * narrow(HUNT_SCALE);
    [lightness, hunt * 500.0 * (x - y), hunt * 200.0 * (y - z)]
}

#[inline(always)]
pub(super) fn hyab<S: Simd>(p: Colours<S>, q: Colours<S>) -> f32x16<S> {
    let (l, a, b) = (p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    l.abs() + (a * a + b * b).sqrt()
}

/// `base^exponent` for a base from 0 to 1e38 and an exponent from 0 to 1, with a relative error below 3e-6; 0^0 is 1.
#[inline(always)]
pub(super) fn power<S: Simd>(simd: S, base: f32x16<S>, exponent: f32x16<S>) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let logarithm = (log2(simd, base) * exponent).max(f32x16::splat(simd, LEAST_EXPONENT));
    let is_zero = base.simd_le(zero) & exponent.simd_gt(zero);
    is_zero.select(zero, exp2(simd, logarithm))
}

#[inline(always)]
fn lab_curve<S: Simd>(simd: S, t: f32x16<S>) -> f32x16<S> {
    let bend = f32x16::splat(simd, narrow(LAB_DELTA.powi(3)));
    let line = t * narrow(1.0 / (3.0 * LAB_DELTA.powi(2))) + 4.0 / 29.0;
    t.simd_gt(bend).select(cube_root(t.max(bend)), line)
}

/// Cube root of normal x > 0, with a relative error below 3e-7.
#[inline(always)]
fn cube_root<S: Simd>(x: f32x16<S>) -> f32x16<S> {
    let bits: f32x16<S> = x.bitcast::<i32x16<S>>().to_float();
    let guess = bits * (1.0 / 3.0) + CUBE_ROOT_BITS;
    let mut root = guess.to_int::<u32x16<S>>().bitcast::<f32x16<S>>();
    // Halley's iteration cubes the relative error: 4e-2, 3e-5, 1e-14.
    for _ in 0..2 {
        let cube = root * root * root;
        root *= (x * 2.0 + cube) / (cube * 2.0 + x);
    }
    root
}

#[inline(always)]
fn product<S: Simd>(simd: S, matrix: &[[f32; 3]; 3], v: Colours<S>) -> Colours<S> {
    let mut out = v;
    for (out, row) in out.iter_mut().zip(matrix) {
        let sum = v[0] * row[0];
        let sum = v[1].mul_add(f32x16::splat(simd, row[1]), sum);
        *out = v[2].mul_add(f32x16::splat(simd, row[2]), sum);
    }
    out
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::super::flip_colour;
    use super::*;
    use crate::math::SimdLevel;

    #[test]
    fn roots_and_powers_are_near_those_of_the_library() {
        for level in SimdLevel::all() {
            for step in 0..4000_u16 {
                let x = 1e-3 * 1.002_f32.powi(step.into());
                let [root, power] = dispatch!(level.level(), simd => {
                    let lanes = f32x16::splat(simd, x);
                    let exponent = f32x16::splat(simd, 0.7);
                    [cube_root(lanes)[0], super::power(simd, lanes, exponent)[0]]
                });
                assert!((root / x.cbrt() - 1.0).abs() < 3e-7, "{x}: {root}");
                assert!((power / x.powf(0.7) - 1.0).abs() < 3e-6, "{x}: {power}");
            }
            let powers = dispatch!(level.level(), simd => {
                let [zero, one] = [0.0, 1.0].map(|v| f32x16::splat(simd, v));
                [power(simd, zero, zero)[0], power(simd, zero, one)[0], power(simd, one, one)[0]]
            });
            assert!((powers[0] - 1.0).abs() < 3e-7 && powers[1] == 0.0, "{powers:?}");
            assert!((powers[2] - 1.0).abs() < 3e-7, "{powers:?}");
        }
    }

    #[test]
    fn colours_are_near_those_of_one_pixel() {
        let matrices = Matrices::new();
        for level in SimdLevel::all() {
            for step in 0..512_u16 {
                let rgb = [step & 7, step >> 3 & 7, step >> 6].map(|c| f32::from(c) / 7.0);
                let ycxcz = flip_colour::ycxcz_from_rgb(rgb.map(f64::from));
                let expected = flip_colour::rgb_from_ycxcz(ycxcz);
                let expected = flip_colour::hunt_lab_from_rgb(expected);
                let found: [f32; 3] = dispatch!(level.level(), simd => {
                    let rgb = rgb.map(|c| f32x16::splat(simd, c));
                    hunt_lab_from_ycxcz(simd, &matrices, ycxcz_from_rgb(simd, &matrices, rgb)).map(|lanes| lanes[0])
                });
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (f64::from(*found) - expected).abs() < 3e-4,
                        "{rgb:?}: {found} {expected}"
                    );
                }
            }
        }
    }
}
