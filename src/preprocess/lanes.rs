//! Sixteen splats at once through the same steps as [`exact`](super::exact), in f32 where that is
//! enough: positions and depths stay in f64 until they are relative to the picture's centre.

use fearless_simd::{f32x16, mask32x16, prelude::*, u32x16};

use super::projected::LOG2_ALPHA_CUT;
use super::view::View;
use crate::math::lanes::{F64Lanes, log2, rsqrt};
use crate::math::{SH_C0, sh_colour};
use crate::scene::{Lanes, SplatBlock};
use crate::shading::OpacityFactor;

/// Safety added to half extents, in pixels and as a fraction, so that rounding never hides a pixel.
const EXTENT_MARGIN_PX: f32 = 1e-3;
const EXTENT_MARGIN_FRACTION: f32 = 1e-5;

/// Beyond these, in pixels, f32 no longer places an ellipse well and a splat goes through
/// [`exact`](super::exact): distance of its centre from the picture's, and its standard deviation.
const WILD_MEAN_PX: f32 = 8192.0;
const WILD_SIGMA_PX: f32 = 8192.0;

/// sqrt(log2(e) / 2): from standard deviations to the units of u and v.
const K: f32 = 0.849_321_8;

/// Squared radii are at least this, so that their roots exist.
const LEAST_RADIUS_SQUARED: f32 = 1e-12;

/// Fraction by which a wild splat's box is trusted when it clearly misses the picture.
const WILD_EXTENT_FRACTION: f32 = 1.01;

/// How far a quaternion's squared norm may be from 1: rounding four components to f32 makes 3e-7.
const NORM_SLACK: f32 = 1e-5;

/// Depths from here on are not trusted to f32, which overflows at the square of 2e19.
const MAX_DEPTH: f32 = 1e18;

/// What the steps yield for sixteen splats.
pub(super) struct ProjectedLanes<S: Simd> {
    /// The sixteen fields of `ProjectedSplat`, in its order, `index` as bits.
    pub(super) fields: [f32x16<S>; 16],
    /// First and last column, `x0 | x1 << 16`.
    pub(super) columns: u32x16<S>,
    /// First and last row, `y0 | y1 << 16`.
    pub(super) rows: u32x16<S>,
    /// Depth's bits: they order as the depths do, since depths are positive.
    pub(super) depth_key: u32x16<S>,
    /// Bit a lane: the footprint may touch the picture.
    pub(super) visible: u64,
    /// Bit a lane: f32 cannot tell, ask the exact path.
    pub(super) wild: u64,
}

/// Position in view space (f64) and 1/z.
struct InView<S: Simd> {
    p: [F64Lanes<S>; 3],
    inverse_z: F64Lanes<S>,
    in_front: mask32x16<S>,
}

/// Covariance with low-pass filter, its determinant, and the determinant before the filter.
struct Covariance<S: Simd> {
    xx: f32x16<S>,
    xy: f32x16<S>,
    yy: f32x16<S>,
    determinant: f32x16<S>,
    determinant_before: f32x16<S>,
}

#[inline(always)]
fn to_view<S: Simd>(simd: S, view: &View, block: &SplatBlock) -> InView<S> {
    let mean = block
        .mean
        .map(|m| F64Lanes::widen(f32x16::simd_from(simd, m)));
    let p = std::array::from_fn(|r| {
        let row = view.rotation[r].map(|v| F64Lanes::splat(simd, v));
        let sum = mean[2].mul_add(row[2], F64Lanes::splat(simd, view.translation_in_view[r]));
        mean[0].mul_add(row[0], mean[1].mul_add(row[1], sum))
    });
    let above_near = p[2].minus(F64Lanes::splat(simd, view.near)).narrow();
    InView {
        p,
        inverse_z: p[2].recip(simd),
        in_front: above_near.simd_gt(f32x16::splat(simd, 0.0)),
    }
}

/// Rows of the splat's axes in world space, each scaled: `R S`, column by column.
#[inline(always)]
fn scaled_axes<S: Simd>(simd: S, block: &SplatBlock) -> [[f32x16<S>; 3]; 3] {
    let [w, x, y, z] = block.rotation.map(|q| f32x16::simd_from(simd, q));
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let one = f32x16::splat(simd, 1.0);
    let columns = [
        [
            one - y.mul_add(y2, z * z2),
            x.mul_add(y2, w * z2),
            x.mul_sub(z2, w * y2),
        ],
        [
            x.mul_sub(y2, w * z2),
            one - x.mul_add(x2, z * z2),
            y.mul_add(z2, w * x2),
        ],
        [
            x.mul_add(z2, w * y2),
            y.mul_sub(z2, w * x2),
            one - x.mul_add(x2, y * y2),
        ],
    ];
    std::array::from_fn(|j| {
        let scale = f32x16::simd_from(simd, block.scale[j]);
        columns[j].map(|v| v * scale)
    })
}

/// Row `axis` of `J W R S`.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "constants rounded to the lanes' precision"
)]
fn factor_row<S: Simd>(
    simd: S,
    view: &View,
    inside: &InView<S>,
    inverse_z: f32x16<S>,
    axes: &[[f32x16<S>; 3]; 3],
    axis: usize,
) -> [f32x16<S>; 3] {
    let [low, high] = view.slope_limits[axis];
    let slope = inside.p[axis].times(inside.inverse_z).narrow();
    let slope = slope
        .max(f32x16::splat(simd, low as f32))
        .min(f32x16::splat(simd, high as f32));
    let focal_over_z = inverse_z * view.focal_px[axis] as f32;
    let mut gradient = [f32x16::splat(simd, 0.0); 3];
    for (c, g) in gradient.iter_mut().enumerate() {
        let [along, depth] = [view.rotation[axis][c], view.rotation[2][c]];
        *g = (f32x16::splat(simd, along as f32) - slope * depth as f32) * focal_over_z;
    }
    let mut row = gradient;
    for (sum, a) in row.iter_mut().zip(axes) {
        *sum = gradient[0].mul_add(a[0], gradient[1].mul_add(a[1], gradient[2] * a[2]));
    }
    row
}

#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "constants rounded to the lanes' precision"
)]
fn covariance<S: Simd>(
    simd: S,
    view: &View,
    inside: &InView<S>,
    block: &SplatBlock,
) -> Covariance<S> {
    let axes = scaled_axes(simd, block);
    let inverse_z = inside.inverse_z.narrow();
    let t = factor_row(simd, view, inside, inverse_z, &axes, 0);
    let b = factor_row(simd, view, inside, inverse_z, &axes, 1);
    let dot =
        |p: [f32x16<S>; 3], q: [f32x16<S>; 3]| p[0].mul_add(q[0], p[1].mul_add(q[1], p[2] * q[2]));
    let cross = [
        t[1].mul_sub(b[2], t[2] * b[1]),
        t[2].mul_sub(b[0], t[0] * b[2]),
        t[0].mul_sub(b[1], t[1] * b[0]),
    ];
    let blur = f32x16::splat(simd, view.low_pass_px2 as f32);
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

#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "constants rounded to the lanes' precision"
)]
fn colour<S: Simd>(
    simd: S,
    view: &View,
    degree: u8,
    block: &SplatBlock,
    sh_rest: &[Lanes],
) -> [f32x16<S>; 3] {
    let half = f32x16::splat(simd, 0.5);
    let c0 = f32x16::splat(simd, SH_C0 as f32);
    let mut colour = block
        .sh_constant
        .map(|c| f32x16::simd_from(simd, c).mul_add(c0, half));
    if degree > 0 {
        let to_splat: [f32x16<S>; 3] = std::array::from_fn(|i| {
            let mean = F64Lanes::widen(f32x16::simd_from(simd, block.mean[i]));
            mean.minus(F64Lanes::splat(simd, view.eye[i])).narrow()
        });
        let [x, y, z] = to_splat;
        let norm = x.mul_add(x, y.mul_add(y, z * z)).sqrt();
        let inverse = f32x16::splat(simd, 1.0) / norm.max(f32x16::splat(simd, f32::MIN_POSITIVE));
        let per_channel = sh_rest.len() / 3;
        colour = sh_colour(degree, to_splat.map(|v| v * inverse), colour, |k| {
            std::array::from_fn(|channel| {
                f32x16::simd_from(simd, sh_rest[channel * per_channel + k])
            })
        });
    }
    // Finite, since pixels of a block that the footprint leaves out gain 0 times the colour.
    let (zero, most) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, f32::MAX));
    colour.map(|c| c.max(zero).min(most))
}

/// log2 of the opacity with the profile's factor.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "constants rounded to the lanes' precision"
)]
fn log2_opacity<S: Simd>(
    simd: S,
    view: &View,
    block: &SplatBlock,
    covariance: &Covariance<S>,
) -> f32x16<S> {
    // A negative zero has no logarithm here; other negative lanes are not trusted anyway.
    let mut opacity = f32x16::simd_from(simd, block.opacity).abs();
    if let OpacityFactor::Determinants { floor } = view.opacity_factor {
        let ratio = covariance.determinant_before / covariance.determinant;
        // Where f32 overflows, the factor's upper bound: such a splat is wild.
        let finite = covariance
            .determinant
            .simd_lt(f32x16::splat(simd, f32::INFINITY));
        let ratio = finite.select(ratio, f32x16::splat(simd, 1.0));
        opacity *= ratio.max(f32x16::splat(simd, floor as f32)).sqrt();
    }
    log2(simd, opacity)
}

/// First and last pixel along one axis, packed, and whether there is one.
#[inline(always)]
#[allow(clippy::cast_precision_loss, reason = "sides are below 2^16")]
fn pixel_range<S: Simd>(
    simd: S,
    size: u32,
    mean_from_centre: f32x16<S>,
    half_extent: f32x16<S>,
) -> (u32x16<S>, mask32x16<S>) {
    let last_px = size as f32 - 1.0;
    let centre = mean_from_centre + last_px / 2.0;
    let zero = f32x16::splat(simd, 0.0);
    let (low, high) = (
        f32x16::splat(simd, -1.0),
        f32x16::splat(simd, last_px + 1.0),
    );
    // Clamped first, so that the integers below exist whatever the floats are.
    let first = (centre - half_extent).ceil().max(zero).min(high);
    let last = (centre + half_extent)
        .floor()
        .max(low)
        .min(f32x16::splat(simd, last_px));
    let some = first.simd_le(last);
    let packed = first.to_int::<u32x16<S>>() | (last.max(zero).to_int::<u32x16<S>>() << 16);
    (packed, some)
}

/// Sixteen splats onto the picture plane. `first_index` is the scene's index of lane 0.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "constants rounded to the lanes' precision"
)]
pub(super) fn project<S: Simd>(
    simd: S,
    view: &View,
    degree: u8,
    block: &SplatBlock,
    sh_rest: &[Lanes],
    first_index: u32,
) -> Option<ProjectedLanes<S>> {
    let inside = to_view(simd, view, block);
    if inside.in_front.all_false() {
        return None;
    }
    let covariance = covariance(simd, view, &inside, block);
    let log2_opacity = log2_opacity(simd, view, block, &covariance);
    let mean_f64: [F64Lanes<S>; 2] = std::array::from_fn(|axis| {
        inside.p[axis].times(inside.inverse_z).mul_add(
            F64Lanes::splat(simd, view.focal_px[axis]),
            F64Lanes::splat(simd, view.principal_from_centre_px[axis]),
        )
    });
    let mean = mean_f64.map(F64Lanes::narrow);
    // Squared radius in standard deviations: log2 units to nats.
    let zero = f32x16::splat(simd, 0.0);
    let radius2 = (log2_opacity - LOG2_ALPHA_CUT) * (2.0 * std::f32::consts::LN_2);
    let over_cut = radius2.simd_ge(zero);
    let radius2 = radius2.max(f32x16::splat(simd, LEAST_RADIUS_SQUARED));
    let radius = radius2 * rsqrt(simd, radius2);
    // Everything that needs a root or a quotient is a product of these.
    let inverse_sigma = [rsqrt(simd, covariance.xx), rsqrt(simd, covariance.yy)];
    let half = [
        radius * covariance.xx * inverse_sigma[0],
        radius * covariance.yy * inverse_sigma[1],
    ];
    let boxed = half.map(|h| {
        h.mul_add(
            f32x16::splat(simd, 1.0 + EXTENT_MARGIN_FRACTION),
            f32x16::splat(simd, EXTENT_MARGIN_PX),
        )
    });
    let (columns, some_column) = pixel_range(simd, view.width, mean[0], boxed[0]);
    let (rows, some_row) = pixel_range(simd, view.height, mean[1], boxed[1]);

    let trusted = trusted_lanes(simd, block, &inside);
    let drawable = inside.in_front & over_cut & trusted;
    let wild = drawable & wild_lanes(simd, view, mean, half, &covariance);
    let visible = drawable & some_column & some_row & !wild;
    let wild = wild | inside.in_front & !trusted;
    let (visible, wild) = (visible.to_bitmask(), wild.to_bitmask());
    if visible | wild == 0 {
        return None;
    }

    // u and v are the standard deviations times sqrt(log2(e) / 2).
    let inverse_root_determinant = rsqrt(simd, covariance.determinant);
    let sigma_y = covariance.yy * inverse_sigma[1];
    let u_per_x = sigma_y * inverse_root_determinant * K;
    let v_per_y = inverse_sigma[1] * K;
    let u_per_y = u_per_x * (covariance.xy * (inverse_sigma[1] * inverse_sigma[1]));
    let root_determinant = covariance.determinant * inverse_root_determinant;
    let x_per_u = root_determinant * inverse_sigma[1] * (1.0 / K);
    let tip = covariance.xy * radius * inverse_sigma[0];
    let colour = colour(simd, view, degree, block, sh_rest);
    let depth = inside.p[2].narrow();
    let lane_index = u32x16::from_fn(simd, |i| first_index + i as u32);
    let fields = [
        u_per_y.mul_sub(mean[1], u_per_x * mean[0]),
        -(v_per_y * mean[1]),
        u_per_x,
        u_per_y,
        v_per_y,
        log2_opacity,
        colour[0],
        colour[1],
        colour[2],
        x_per_u,
        mean[1] - tip,
        mean[1] + tip,
        mean[0],
        mean[1],
        depth,
        lane_index.bitcast(),
    ];
    Some(ProjectedLanes {
        fields,
        columns,
        rows,
        depth_key: depth.bitcast(),
        visible,
        wild,
    })
}

/// Lanes that keep the promises of [`SplatBlock`] on which the formulas above rest: a unit
/// quaternion, an opacity of 0 to 1; and whose depth has a square in f32. A NaN keeps none; an
/// opacity of 0, as in padding lanes, needs none.
#[inline(always)]
fn trusted_lanes<S: Simd>(simd: S, block: &SplatBlock, inside: &InView<S>) -> mask32x16<S> {
    let [w, x, y, z] = block.rotation.map(|q| f32x16::simd_from(simd, q));
    let norm2 = w.mul_add(w, x.mul_add(x, y.mul_add(y, z * z)));
    let opacity = f32x16::simd_from(simd, block.opacity);
    let zero = f32x16::splat(simd, 0.0);
    let unit = (norm2 - 1.0).abs().simd_lt(f32x16::splat(simd, NORM_SLACK));
    let ranged = opacity.simd_ge(zero) & opacity.simd_le(f32x16::splat(simd, 1.0));
    let near_enough = inside.p[2].narrow().simd_lt(f32x16::splat(simd, MAX_DEPTH));
    (unit & ranged & near_enough) | opacity.simd_eq(zero)
}

/// Lanes that f32 does not place well and that do not clearly miss the picture. Written so that a
/// NaN counts as wild.
#[inline(always)]
#[allow(clippy::cast_precision_loss, reason = "sides are below 2^16")]
fn wild_lanes<S: Simd>(
    simd: S,
    view: &View,
    mean: [f32x16<S>; 2],
    half_extent: [f32x16<S>; 2],
    covariance: &Covariance<S>,
) -> mask32x16<S> {
    let distance = mean[0].abs().max(mean[1].abs());
    let variance = covariance.xx.max(covariance.yy);
    let tame = distance.simd_lt(f32x16::splat(simd, WILD_MEAN_PX))
        & variance.simd_lt(f32x16::splat(simd, WILD_SIGMA_PX * WILD_SIGMA_PX));
    let misses = |axis: usize, size: u32| {
        let reach = half_extent[axis].mul_add(
            f32x16::splat(simd, WILD_EXTENT_FRACTION),
            f32x16::splat(simd, size as f32 / 2.0 + 2.0),
        );
        mean[axis].abs().simd_gt(reach)
    };
    !(tame | misses(0, view.width) | misses(1, view.height))
}
