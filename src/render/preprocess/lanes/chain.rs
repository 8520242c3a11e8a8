//! Derivatives of a loss by sixteen splats in world space, given those in the picture plane.
//!
//! With `r` the axes of a splat projected to the picture plane, `s` its scales and W the factor of the whitened offsets
//! (u, v), the loss depends on the shape by a symmetric form on the axes,
//!
//! ```text
//! form[i][j] = (W r[i])^T M (W r[j]), M the moments of the offsets
//! d loss / d s[j] = s[j] form[j][j]
//! d loss / d (turn about axis k) = form[i][j] (s[i]² - s[j]²)
//! ```
//!
//! which needs no inverse and does not cancel for long thin splats.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use super::bounds::{accurate_lanes, trusted_lanes};
use super::covariance::{Covariance, InView, covariance, dot, gradient_row, unit_axes};
use crate::preprocess::view_transform::ViewTransform;
use quadrille_base::math::lanes::rsqrt;
use quadrille_base::math::narrow;
use quadrille_base::shading::OpacityFactor;
use quadrille_scene::SplatBlock;

/// Derivatives of a loss by sixteen splats in the picture plane.
#[derive(Clone, Copy)]
pub(crate) struct PlaneLanes<S: Simd> {
    /// By the centre, per pixel.
    pub(crate) mean2d: [f32x16<S>; 2],
    /// By the logarithm of the opacity.
    pub(crate) log_opacity: f32x16<S>,
    /// Weighted moments uu, uv and vv of the whitened offsets.
    pub(crate) moments: [f32x16<S>; 3],
    /// By the depth.
    pub(crate) depth: f32x16<S>,
}

/// Derivatives of a loss by sixteen splats in world space.
#[derive(Clone, Copy)]
pub(crate) struct WorldLanes<S: Simd> {
    /// By the centre, without its direction from the camera.
    pub(crate) mean: [f32x16<S>; 3],
    pub(crate) scale: [f32x16<S>; 3],
    /// By the unit quaternion.
    pub(crate) rotation: [f32x16<S>; 4],
    /// By the covariance: xx, xy, xz, yy, yz, zz.
    pub(crate) covariance: [f32x16<S>; 6],
    pub(crate) opacity: f32x16<S>,
    /// By the position in view space.
    pub(crate) in_view: [f32x16<S>; 3],
    /// By the rotation of the view, without the part through the position in view space.
    pub(crate) view_rotation: [[f32x16<S>; 3]; 3],
    /// Mask of the lanes for which f32 is too inaccurate.
    pub(crate) inexact: u64,
}

/// Factor of the moments of u and v in the form: 4 ln² 2, since alpha is a power of 2, times log2(e) / 2, the square of the
/// constant in u and v.
const MOMENTS_SCALE: f32 = 2.0 * std::f32::consts::LN_2;

#[inline(always)]
fn cross2<S: Simd>(a: [f32x16<S>; 2], b: [f32x16<S>; 2]) -> f32x16<S> {
    a[0].mul_sub(b[1], a[1] * b[0])
}

#[inline(always)]
fn dot2<S: Simd>(a: [f32x16<S>; 2], b: [f32x16<S>; 2]) -> f32x16<S> {
    a[0].mul_add(b[0], a[1] * b[1])
}

/// Derivatives by the entries of the 2D covariance through the opacity factor: by its trace, and by its determinant before
/// the low-pass filter.
#[inline(always)]
fn by_factor<S: Simd>(
    simd: S,
    view: &ViewTransform,
    covariance: &Covariance<S>,
    log_opacity: f32x16<S>,
) -> [f32x16<S>; 2] {
    let zero = f32x16::splat(simd, 0.0);
    let OpacityFactor::Determinants { floor } = view.opacity_factor else { return [zero; 2] };
    let (before, after) = (covariance.determinant_before, covariance.determinant);
    let is_free = (before / after).simd_gt(f32x16::splat(simd, narrow(floor)));
    let half = log_opacity * 0.5;
    let blur = narrow(view.low_pass_px2);
    [
        is_free.select(-half * blur / after, zero),
        is_free.select(half * ((after - before) / (before * after)), zero),
    ]
}

/// Differentiates the projection of sixteen splats.
#[inline(always)]
pub(crate) fn chain<S: Simd>(
    simd: S,
    view: &ViewTransform,
    block: &SplatBlock,
    plane: &PlaneLanes<S>,
) -> WorldLanes<S> {
    let lane = |v: f32| f32x16::splat(simd, v);
    let inside = InView::of(simd, view, block);
    let inverse = inside.inverse.narrow();
    let axes = unit_axes(simd, block);
    let scales = each!([0, 1, 2], |j| f32x16::simd_from(simd, block.scale[j]));
    let covariance = covariance(simd, view, &inside, block);
    // Rows of the Jacobian times the view's rotation, with the limits of the slopes.
    let (base_x, slope_x, free_x) = gradient_row(simd, view, &inside, inverse, 0);
    let (base_y, slope_y, free_y) = gradient_row(simd, view, &inside, inverse, 1);
    let base = [base_x, base_y];
    let (slopes, is_free) = ([slope_x, slope_y], [free_x, free_y]);
    // Axes in the picture plane, of length 1 in world space.
    let r = each!([0, 1, 2], |j| [dot(base[0], axes[j]), dot(base[1], axes[j])]);

    // The factor of the whitened offsets, without its constant.
    let inverse_sigma_y = rsqrt(simd, covariance.yy);
    let u_per_x = covariance.yy * inverse_sigma_y * rsqrt(simd, covariance.determinant);
    let u_per_y = u_per_x * (covariance.xy * (inverse_sigma_y * inverse_sigma_y));
    let v_per_y = inverse_sigma_y;
    let whitened =
        each!([0, 1, 2], |j| [u_per_x.mul_sub(r[j][0], u_per_y * r[j][1]), v_per_y * r[j][1]]);
    let [uu, uv, vv] = each!([0, 1, 2], |m| plane.moments[m] * MOMENTS_SCALE);
    let moved = each!([0, 1, 2], |j| {
        let [u, v] = whitened[j];
        [uu.mul_add(u, uv * v), uv.mul_add(u, vv * v)]
    });
    let [by_trace, by_before] = by_factor(simd, view, &covariance, plane.log_opacity);
    let (by_trace, by_before) = (by_trace + by_trace, by_before + by_before);
    let squares = each!([0, 1, 2], |j| scales[j] * scales[j]);
    let adjugate = adjugate_form(&r, &squares);
    let form = |i: usize, j: usize, pair: usize| {
        let plain = dot2(whitened[i], moved[j]);
        by_before.mul_add(adjugate[pair], by_trace.mul_add(dot2(r[i], r[j]), plain))
    };
    let diagonal = [form(0, 0, 0), form(1, 1, 3), form(2, 2, 5)];
    let scale = each!([0, 1, 2], |j| scales[j] * diagonal[j]);
    // Differences of squares, without the rounding of the squares.
    let difference = |i: usize, j: usize| (scales[i] - scales[j]) * (scales[i] + scales[j]);
    let turn = [
        form(1, 2, 4) * difference(1, 2),
        form(0, 2, 2) * difference(2, 0),
        form(0, 1, 1) * difference(0, 1),
    ];
    let rotation = by_quaternion(simd, block, turn);

    // By the 2D covariance, entries xx, xy and yy of the symmetric matrix, times two.
    let xx = uu * u_per_x * u_per_x;
    let xy = u_per_x * (uv * v_per_y - uu * u_per_y);
    let yy = u_per_y.mul_add(uu * u_per_y - uv * v_per_y * 2.0, vv * v_per_y * v_per_y);
    let blur = narrow(view.low_pass_px2);
    let twice = [
        by_before.mul_add(covariance.yy - blur, xx + by_trace),
        (-by_before).mul_add(covariance.xy, xy),
        by_before.mul_add(covariance.xx - blur, yy + by_trace),
    ];
    let by_base = by_base(
        simd,
        &axes,
        &squares,
        &r,
        [u_per_x, u_per_y, v_per_y],
        &moved,
        [by_trace, by_before],
    );
    // Increase of the divisor per depth.
    let per_z = narrow(view.divisor[0]);
    let focal = each!([0, 1], |axis| inverse * narrow(view.focal_px[axis]));
    let w = each!([0, 1, 2], |row| each!([0, 1, 2], |c| lane(narrow(view.rotation[row][c]))));
    let mut in_view = [focal[0] * plane.mean2d[0], focal[1] * plane.mean2d[1], plane.depth];
    let mut by_z = lane(0.0);
    for axis in 0..2 {
        // The position in the plane is the focal length times the slope without limits.
        in_view[2] -= focal[axis] * slopes[axis][1] * plane.mean2d[axis] * per_z;
        let slope = slopes[axis][0];
        let by_scale = dot(by_base[axis], w[axis]);
        let by_shear = dot(by_base[axis], w[2]) * per_z;
        by_z += focal[axis] * (by_scale - slope * by_shear);
        let by_slope = is_free[axis].select(-focal[axis] * by_shear, lane(0.0));
        in_view[axis] += by_slope * inverse;
        by_z += by_slope * slope;
    }
    in_view[2] -= by_z * inverse * per_z;
    let mean = each!([0, 1, 2], |c| {
        in_view[0].mul_add(w[0][c], in_view[1].mul_add(w[1][c], in_view[2] * w[2][c]))
    });
    let view_rotation = [
        each!([0, 1, 2], |c| focal[0] * by_base[0][c]),
        each!([0, 1, 2], |c| focal[1] * by_base[1][c]),
        each!([0, 1, 2], |c| {
            let by_row =
                focal[0] * slopes[0][0] * by_base[0][c] + focal[1] * slopes[1][0] * by_base[1][c];
            by_row * -per_z
        }),
    ];
    let exact: mask32x16<S> = trusted_lanes(simd, block, &inside)
        & accurate_lanes(simd, inside.mean_from_centre(simd, view), &covariance);
    WorldLanes {
        mean,
        scale,
        rotation,
        covariance: by_covariance(&base, twice),
        opacity: plane.log_opacity / f32x16::simd_from(simd, block.opacity),
        in_view,
        view_rotation,
        inexact: !exact.to_bitmask() & 0xffff,
    }
}

/// Form of the adjugate of the 2D covariance on the axes, for the pairs 00, 01, 02, 11, 12, 22: sums over the axes k of
/// `s[k]² (r[i] x r[k]) (r[j] x r[k])`.
#[inline(always)]
fn adjugate_form<S: Simd>(r: &[[f32x16<S>; 2]; 3], squares: &[f32x16<S>; 3]) -> [f32x16<S>; 6] {
    let [c01, c02, c12] = [cross2(r[0], r[1]), cross2(r[0], r[2]), cross2(r[1], r[2])];
    let [s0, s1, s2] = *squares;
    [
        (s1 * c01).mul_add(c01, s2 * c02 * c02),
        s2 * c02 * c12,
        -(s1 * c01 * c12),
        (s0 * c01).mul_add(c01, s2 * c12 * c12),
        s0 * c01 * c02,
        (s0 * c02).mul_add(c02, s1 * c12 * c12),
    ]
}

/// Derivatives by the rows of the Jacobian times the view's rotation.
#[inline(always)]
fn by_base<S: Simd>(
    simd: S,
    axes: &[[f32x16<S>; 3]; 3],
    squares: &[f32x16<S>; 3],
    r: &[[f32x16<S>; 2]; 3],
    [u_per_x, u_per_y, v_per_y]: [f32x16<S>; 3],
    moved: &[[f32x16<S>; 2]; 3],
    [by_trace, by_before]: [f32x16<S>; 2],
) -> [[f32x16<S>; 3]; 2] {
    let mut by_base = [[f32x16::splat(simd, 0.0); 3]; 2];
    for j in 0..3 {
        let [mu, mv] = moved[j];
        let mut along = [u_per_x * mu, v_per_y.mul_sub(mv, u_per_y * mu)];
        // The derivative of the determinant turns the other axes by a right angle.
        let mut turned = [f32x16::splat(simd, 0.0); 2];
        for k in 0..3 {
            let weight = squares[k] * cross2(r[j], r[k]);
            turned[0] += weight * r[k][1];
            turned[1] -= weight * r[k][0];
        }
        for axis in 0..2 {
            along[axis] =
                by_before.mul_add(turned[axis], by_trace.mul_add(r[j][axis], along[axis]));
            along[axis] *= squares[j];
            for c in 0..3 {
                by_base[axis][c] = along[axis].mul_add(axes[j][c], by_base[axis][c]);
            }
        }
    }
    by_base
}

/// Derivatives by the entries of a covariance, given twice those by the 2D covariance. An entry off the diagonal stands
/// for both entries of the symmetric matrix.
#[inline(always)]
fn by_covariance<S: Simd>(
    base: &[[f32x16<S>; 3]; 2],
    [xx, xy, yy]: [f32x16<S>; 3],
) -> [f32x16<S>; 6] {
    let [x, y] = base;
    let entry = |i: usize, j: usize| {
        let diagonal = (xx * x[i]).mul_add(x[j], yy * y[i] * y[j]);
        xy.mul_add(x[i].mul_add(y[j], x[j] * y[i]), diagonal)
    };
    [entry(0, 0) * 0.5, entry(0, 1), entry(0, 2), entry(1, 1) * 0.5, entry(1, 2), entry(2, 2) * 0.5]
}

/// Derivatives by a unit quaternion, given those by turns about the axes of the splat.
#[inline(always)]
fn by_quaternion<S: Simd>(simd: S, block: &SplatBlock, turn: [f32x16<S>; 3]) -> [f32x16<S>; 4] {
    let [w, x, y, z] = each!([0, 1, 2, 3], |q| f32x16::simd_from(simd, block.rotation[q]));
    let [a, b, c] = each!([0, 1, 2], |k| turn[k] + turn[k]);
    [
        -(x.mul_add(a, y.mul_add(b, z * c))),
        w.mul_add(a, y.mul_sub(c, z * b)),
        w.mul_add(b, z.mul_sub(a, x * c)),
        w.mul_add(c, x.mul_sub(b, y * a)),
    ]
}
