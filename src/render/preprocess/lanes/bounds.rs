//! Bounding boxes of sixteen footprints, and the test whether f32 is accurate enough for them.

use fearless_simd::{f32x16, i32x16, mask32x16, prelude::*, u32x16};

use super::covariance::{Covariance, InView};
use crate::preprocess::view_transform::ViewTransform;
use quadrille_scene::SplatBlock;

/// Beyond this distance from the picture's centre, or this standard deviation, in pixels, f32 is too inaccurate and
/// [`exact`](crate::preprocess::exact) projects the splat.
const FALLBACK_MEAN_PX: f32 = 8192.0;
const FALLBACK_SIGMA_PX: f32 = 8192.0;

/// Factor on the extent of a splat beyond these limits in the test whether it misses the picture.
const FALLBACK_EXTENT_FRACTION: f32 = 1.01;

/// Tolerance of a quaternion's squared norm; rounding four components to f32 changes it by 3e-7.
const NORM_SLACK: f32 = 1e-5;

/// Depth limit of the f32 path, whose squares overflow at 2e19.
const MAX_DEPTH: f32 = 1e18;

/// First and last pixel along one axis, packed as `first | last << 16`, and whether there is any pixel.
#[inline(always)]
pub(super) fn pixel_range<S: Simd>(
    simd: S,
    size: u32,
    mean_from_centre: f32x16<S>,
    half_extent: f32x16<S>,
) -> (u32x16<S>, mask32x16<S>) {
    let last_px = size as f32 - 1.0;
    let centre = mean_from_centre + last_px / 2.0;
    let zero = f32x16::splat(simd, 0.0);
    let (low, high) = (f32x16::splat(simd, -1.0), f32x16::splat(simd, last_px + 1.0));
    // Clamped before the conversion, so that every float has an integer.
    let first = (centre - half_extent).ceil().max(zero).min(high);
    let last = (centre + half_extent).floor().max(low).min(f32x16::splat(simd, last_px));
    let some = first.simd_le(last);
    // Many levels have no conversion to unsigned integers.
    let [first, last] = each!([first, last.max(zero)], |px| px.to_int::<i32x16<S>>());
    let packed = first | (last << 16);
    (packed.bitcast(), some)
}

/// Lanes that have the invariants of [`SplatBlock`] on which the formulas rely (a unit quaternion, an opacity of 0 to 1),
/// and a depth that is not NaN and whose square fits f32. Lanes of opacity 0, such as padding, always count.
#[inline(always)]
pub(super) fn trusted_lanes<S: Simd>(
    simd: S,
    block: &SplatBlock,
    inside: &InView<S>,
) -> mask32x16<S> {
    let [w, x, y, z] = each!([0, 1, 2, 3], |q| f32x16::simd_from(simd, block.rotation[q]));
    let norm2 = w.mul_add(w, x.mul_add(x, y.mul_add(y, z * z)));
    let opacity = f32x16::simd_from(simd, block.opacity);
    let zero = f32x16::splat(simd, 0.0);
    let unit = (norm2 - 1.0).abs().simd_lt(f32x16::splat(simd, NORM_SLACK));
    let ranged = opacity.simd_ge(zero) & opacity.simd_le(f32x16::splat(simd, 1.0));
    let near_enough = inside.p[2].narrow().simd_lt(f32x16::splat(simd, MAX_DEPTH));
    (unit & ranged & near_enough) | opacity.simd_eq(zero)
}

/// Lanes for which f32 is accurate enough; not those of NaN.
#[inline(always)]
pub(super) fn accurate_lanes<S: Simd>(
    simd: S,
    mean: [f32x16<S>; 2],
    covariance: &Covariance<S>,
) -> mask32x16<S> {
    let distance = mean[0].abs().max(mean[1].abs());
    let variance = covariance.xx.max(covariance.yy);
    distance.simd_lt(f32x16::splat(simd, FALLBACK_MEAN_PX))
        & variance.simd_lt(f32x16::splat(simd, FALLBACK_SIGMA_PX * FALLBACK_SIGMA_PX))
}

/// Lanes where f32 is too inaccurate (or NaN) and that do not clearly miss the picture.
#[inline(always)]
pub(super) fn fallback_lanes<S: Simd>(
    simd: S,
    view: &ViewTransform,
    mean: [f32x16<S>; 2],
    half_extent: [f32x16<S>; 2],
    covariance: &Covariance<S>,
) -> mask32x16<S> {
    let accurate = accurate_lanes(simd, mean, covariance);
    let size = [view.width, view.height];
    let [beside, above] = each!([0, 1], |axis| {
        let reach = half_extent[axis].mul_add(
            f32x16::splat(simd, FALLBACK_EXTENT_FRACTION),
            f32x16::splat(simd, size[axis] as f32 / 2.0 + 2.0),
        );
        mean[axis].abs().simd_gt(reach)
    });
    !(accurate | beside | above)
}
