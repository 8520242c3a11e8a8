//! Sixteen splats in view space, and their 2D covariance.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use crate::preprocess::view_transform::ViewTransform;
use quadrille_base::math::lanes::F64Lanes;
use quadrille_base::math::narrow;
use quadrille_scene::SplatBlock;

/// Position in view space (f64) and the inverse of the projection's divisor, z for a pinhole.
pub(super) struct InView<S: Simd> {
    pub(super) p: [F64Lanes<S>; 3],
    pub(super) inverse: F64Lanes<S>,
    pub(super) in_front: mask32x16<S>,
}

impl<S: Simd> InView<S> {
    #[inline(always)]
    pub(super) fn of(simd: S, view: &ViewTransform, block: &SplatBlock) -> Self {
        let mean =
            each!([0, 1, 2], |axis| F64Lanes::widen(f32x16::simd_from(simd, block.mean[axis])));
        let p = each!([0, 1, 2], |r| {
            let row = each!([0, 1, 2], |c| F64Lanes::splat(simd, view.rotation[r][c]));
            let sum = mean[2].mul_add(row[2], F64Lanes::splat(simd, view.translation_in_view[r]));
            mean[0].mul_add(row[0], mean[1].mul_add(row[1], sum))
        });
        let above_near = p[2].minus(F64Lanes::splat(simd, view.near)).narrow();
        let mut in_front = above_near.simd_gt(f32x16::splat(simd, 0.0));
        if view.far < f64::INFINITY {
            let above_far = p[2].minus(F64Lanes::splat(simd, view.far)).narrow();
            in_front &= !above_far.simd_gt(f32x16::splat(simd, 0.0));
        }
        let [per_z, constant] = each!([0, 1], |i| F64Lanes::splat(simd, view.divisor[i]));
        Self { p, inverse: p[2].mul_add(per_z, constant).recip(simd), in_front }
    }

    /// Distances of the centres from the camera.
    #[inline(always)]
    pub(super) fn distance(&self) -> f32x16<S> {
        let [x, y, z] = self.p;
        x.mul_add(x, y.mul_add(y, z.times(z))).sqrt().narrow()
    }

    /// Centres in pixels from the picture's centre.
    #[inline(always)]
    pub(super) fn mean_from_centre(&self, simd: S, view: &ViewTransform) -> [f32x16<S>; 2] {
        each!([0, 1], |axis| {
            let mean = self.p[axis].times(self.inverse).mul_add(
                F64Lanes::splat(simd, view.focal_px[axis]),
                F64Lanes::splat(simd, view.principal_from_centre_px[axis]),
            );
            mean.narrow()
        })
    }
}

/// Filtered covariance, its determinant, and the unfiltered determinant.
pub(super) struct Covariance<S: Simd> {
    pub(super) xx: f32x16<S>,
    pub(super) xy: f32x16<S>,
    pub(super) yy: f32x16<S>,
    pub(super) determinant: f32x16<S>,
    pub(super) determinant_before: f32x16<S>,
}

/// Axes of unit length in world space: the columns of the rotation.
#[inline(always)]
pub(super) fn unit_axes<S: Simd>(simd: S, block: &SplatBlock) -> [[f32x16<S>; 3]; 3] {
    let [w, x, y, z] = each!([0, 1, 2, 3], |q| f32x16::simd_from(simd, block.rotation[q]));
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let one = f32x16::splat(simd, 1.0);
    [
        [one - y.mul_add(y2, z * z2), x.mul_add(y2, w * z2), x.mul_sub(z2, w * y2)],
        [x.mul_sub(y2, w * z2), one - x.mul_add(x2, z * z2), y.mul_add(z2, w * x2)],
        [x.mul_add(z2, w * y2), y.mul_sub(z2, w * x2), one - x.mul_add(x2, y * y2)],
    ]
}

/// Scaled axes in world space, `R S`, by column.
#[inline(always)]
fn scaled_axes<S: Simd>(simd: S, block: &SplatBlock) -> [[f32x16<S>; 3]; 3] {
    let columns = unit_axes(simd, block);
    each!([0, 1, 2], |j| {
        let scale = f32x16::simd_from(simd, block.scale[j]);
        each!([0, 1, 2], |i| columns[j][i] * scale)
    })
}

/// Derivatives of a pixel position along `axis` by the position in world space; the slope, the quotient of position and
/// divisor, after and before its limits; and where the limits do not apply. `inverse` is that of the divisor.
#[inline(always)]
pub(super) fn gradient_row<S: Simd>(
    simd: S,
    view: &ViewTransform,
    inside: &InView<S>,
    inverse: f32x16<S>,
    axis: usize,
) -> ([f32x16<S>; 3], [f32x16<S>; 2], mask32x16<S>) {
    let [low, high] = view.slope_limits[axis];
    let unlimited = inside.p[axis].times(inside.inverse).narrow();
    let slope =
        unlimited.max(f32x16::splat(simd, narrow(low))).min(f32x16::splat(simd, narrow(high)));
    let scale = inverse * narrow(view.focal_px[axis]);
    let mut gradient = [f32x16::splat(simd, 0.0); 3];
    for (c, g) in gradient.iter_mut().enumerate() {
        let [along, depth] = [view.rotation[axis][c], view.divisor[0] * view.rotation[2][c]];
        *g = (f32x16::splat(simd, narrow(along)) - slope * narrow(depth)) * scale;
    }
    (gradient, [slope, unlimited], slope.simd_eq(unlimited))
}

#[inline(always)]
fn factor_row<S: Simd>(
    simd: S,
    view: &ViewTransform,
    inside: &InView<S>,
    inverse: f32x16<S>,
    axes: &[[f32x16<S>; 3]; 3],
    axis: usize,
) -> [f32x16<S>; 3] {
    let (gradient, ..) = gradient_row(simd, view, inside, inverse, axis);
    let mut row = gradient;
    for (sum, a) in row.iter_mut().zip(axes) {
        *sum = gradient[0].mul_add(a[0], gradient[1].mul_add(a[1], gradient[2] * a[2]));
    }
    row
}

#[inline(always)]
pub(super) fn dot<S: Simd>(p: [f32x16<S>; 3], q: [f32x16<S>; 3]) -> f32x16<S> {
    p[0].mul_add(q[0], p[1].mul_add(q[1], p[2] * q[2]))
}

#[inline(always)]
pub(super) fn covariance<S: Simd>(
    simd: S,
    view: &ViewTransform,
    inside: &InView<S>,
    block: &SplatBlock,
) -> Covariance<S> {
    let axes = scaled_axes(simd, block);
    let inverse = inside.inverse.narrow();
    let t = factor_row(simd, view, inside, inverse, &axes, 0);
    let b = factor_row(simd, view, inside, inverse, &axes, 1);
    let cross = [
        t[1].mul_sub(b[2], t[2] * b[1]),
        t[2].mul_sub(b[0], t[0] * b[2]),
        t[0].mul_sub(b[1], t[1] * b[0]),
    ];
    let blur = f32x16::splat(simd, narrow(view.low_pass_px2));
    let (xx, yy) = (dot(t, t), dot(b, b));
    let determinant_before = dot(cross, cross);
    Covariance {
        xy: dot(t, b),
        determinant: (xx + yy + blur).mul_add(blur, determinant_before),
        determinant_before,
        xx: xx + blur,
        yy: yy + blur,
    }
}
