//! Projects sixteen splats at once, in the same steps as [`exact`](super::exact). It computes in f32,
//! but positions and depths stay in f64 until they are relative to the picture's centre.

/// Evaluates an expression for each item of an array. The closures of `array::map` and `array::from_fn` are not inlined
/// once several sources of splats share this code, and then lack the vector instructions of the function around them.
macro_rules! each {
    ([$($item:expr),*], |$name:ident| $body:expr) => {
        [$({
            let $name = $item;
            $body
        }),*]
    };
}

mod bounds;
mod chain;
mod colour_chain;
mod covariance;

use fearless_simd::{f32x16, prelude::*, u32x16};

pub(crate) use self::chain::{PlaneLanes, WorldLanes, chain};
pub(crate) use self::colour_chain::colour_chain;

use self::bounds::{fallback_lanes, pixel_range, trusted_lanes};
use self::covariance::{Covariance, InView, covariance};
use super::projected::LOG2_ALPHA_CUT;
use super::source::Coefficients;
use super::view_transform::ViewTransform;
use quadrille_base::math::lanes::{F64Lanes, log2, rsqrt};
use quadrille_base::math::{SH_C0, narrow, sh_colour};
use quadrille_base::shading::OpacityFactor;
use quadrille_scene::SplatBlock;

/// Margins of half extents in pixels and as a fraction, so that rounding never loses a pixel.
const EXTENT_MARGIN_PX: f32 = 1e-3;
const EXTENT_MARGIN_FRACTION: f32 = 1e-5;

/// sqrt(log2(e) / 2): converts standard deviations to the units of u and v.
const K: f32 = 0.849_321_8;

/// Lower bound of squared radii that keeps their reciprocal roots finite.
const LEAST_RADIUS_SQUARED: f32 = 1e-12;

pub(super) struct ProjectedLanes<S: Simd> {
    /// The sixteen fields of `ProjectedSplat` in order, `index` as bits.
    pub(super) fields: [f32x16<S>; 16],
    /// First and last column, `x0 | x1 << 16`.
    pub(super) columns: u32x16<S>,
    /// First and last row, `y0 | y1 << 16`.
    pub(super) rows: u32x16<S>,
    /// Bits of the depths, which order like the (positive) depths.
    pub(super) depth_key: u32x16<S>,
    /// Per lane, whether the footprint may touch the picture.
    pub(super) visible: u64,
    /// Per lane, whether f32 is too inaccurate and the exact path decides.
    pub(super) fallback: u64,
}

/// Directions from the camera to the splats, and the inverses of their distances.
#[inline(always)]
fn directions<S: Simd>(
    simd: S,
    view: &ViewTransform,
    block: &SplatBlock,
) -> ([f32x16<S>; 3], f32x16<S>) {
    let [x, y, z] = each!([0, 1, 2], |i| {
        let mean = F64Lanes::widen(f32x16::simd_from(simd, block.mean[i]));
        mean.minus(F64Lanes::splat(simd, view.eye[i])).narrow()
    });
    let norm = x.mul_add(x, y.mul_add(y, z * z)).sqrt();
    let inverse = f32x16::splat(simd, 1.0) / norm.max(f32x16::splat(simd, f32::MIN_POSITIVE));
    ([x * inverse, y * inverse, z * inverse], inverse)
}

#[inline(always)]
fn colour<S: Simd>(
    simd: S,
    view: &ViewTransform,
    degree: u8,
    block: &SplatBlock,
    sh: &Coefficients<'_>,
) -> [f32x16<S>; 3] {
    let half = f32x16::splat(simd, 0.5);
    let c0 = f32x16::splat(simd, narrow(SH_C0));
    let mut colour =
        each!([0, 1, 2], |c| f32x16::simd_from(simd, sh.constant[c]).mul_add(c0, half));
    if degree > 0 {
        let per_channel = sh.rest.len() / 3;
        let (direction, _) = directions(simd, view, block);
        colour = sh_colour(
            degree,
            direction,
            colour,
            #[inline(always)]
            |k| {
                each!([0, 1, 2], |channel| {
                    f32x16::simd_from(simd, sh.rest[channel * per_channel + k])
                })
            },
        );
    }
    // Must be finite, since 0 times the colour is added to pixels of a block outside the footprint.
    let (zero, most) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, f32::MAX));
    each!([0, 1, 2], |c| colour[c].max(zero).min(most))
}

/// log2 of the opacity after the profile's correction.
#[inline(always)]
fn log2_opacity<S: Simd>(
    simd: S,
    view: &ViewTransform,
    block: &SplatBlock,
    covariance: &Covariance<S>,
) -> f32x16<S> {
    // `abs` is for negative zeros; lanes with other negative opacities are not trusted.
    let mut opacity = f32x16::simd_from(simd, block.opacity).abs();
    if let OpacityFactor::Determinants { floor } = view.opacity_factor {
        let ratio = covariance.determinant_before / covariance.determinant;
        // If f32 overflows, the factor takes its upper bound, and the exact path projects the splat.
        let finite = covariance.determinant.simd_lt(f32x16::splat(simd, f32::INFINITY));
        let ratio = finite.select(ratio, f32x16::splat(simd, 1.0));
        opacity *= ratio.max(f32x16::splat(simd, narrow(floor))).sqrt();
    }
    log2(simd, opacity)
}

/// Projects sixteen splats from scene index `first_index` on; `None` if no lane is visible or falls back. `sh`
/// returns the coefficients of the lanes in its mask. It is called once, unless the result is `None`.
#[inline(always)]
pub(super) fn project<'a, S: Simd>(
    simd: S,
    view: &ViewTransform,
    degree: u8,
    block: &SplatBlock,
    first_index: u32,
    sh: impl FnOnce(u64) -> Coefficients<'a>,
) -> Option<ProjectedLanes<S>> {
    let inside = InView::of(simd, view, block);
    if inside.in_front.all_false() {
        return None;
    }
    // There is no earlier cull by position and largest scale: it takes 0.87 of the time if 80 % of the splats
    // are out of view, but 1.08 if 80 % are in view.
    let covariance = covariance(simd, view, &inside, block);
    let log2_opacity = log2_opacity(simd, view, block, &covariance);
    let mean = inside.mean_from_centre(simd, view);
    // Squared radius in standard deviations, converted from log2 units to nats.
    let zero = f32x16::splat(simd, 0.0);
    let radius2 = (log2_opacity - LOG2_ALPHA_CUT) * (2.0 * std::f32::consts::LN_2);
    let over_cut = radius2.simd_ge(zero);
    let radius2 = radius2.max(f32x16::splat(simd, LEAST_RADIUS_SQUARED));
    // A reciprocal root with one Newton step instead of a root and a division: fewer instructions, though
    // memory limits the stage.
    let radius = radius2 * rsqrt(simd, radius2);
    // All other roots and quotients are products of these.
    let inverse_sigma = [rsqrt(simd, covariance.xx), rsqrt(simd, covariance.yy)];
    let half =
        [radius * covariance.xx * inverse_sigma[0], radius * covariance.yy * inverse_sigma[1]];
    let boxed = each!([0, 1], |axis| {
        half[axis].mul_add(
            f32x16::splat(simd, 1.0 + EXTENT_MARGIN_FRACTION),
            f32x16::splat(simd, EXTENT_MARGIN_PX),
        )
    });
    let (columns, some_column) = pixel_range(simd, view.width, mean[0], boxed[0]);
    let (rows, some_row) = pixel_range(simd, view.height, mean[1], boxed[1]);

    let trusted = trusted_lanes(simd, block, &inside);
    let mut drawable = inside.in_front & over_cut & trusted;
    if view.least_radius_px > 0.0 {
        let least = f32x16::splat(simd, narrow(view.least_radius_px));
        drawable &= half[0].ceil().simd_gt(least) | half[1].ceil().simd_gt(least);
    }
    let fallback = drawable & fallback_lanes(simd, view, mean, half, &covariance);
    let visible = drawable & some_column & some_row & !fallback;
    let fallback = fallback | inside.in_front & !trusted;
    let (visible, fallback) = (visible.to_bitmask(), fallback.to_bitmask());
    if visible | fallback == 0 {
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
    let sh = sh(visible);
    let colour = colour(simd, view, degree, block, &sh);
    let depth = inside.p[2].narrow();
    #[expect(clippy::cast_possible_truncation, reason = "below 16")]
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
        depth_key: if view.is_by_distance { inside.distance() } else { depth }.bitcast(),
        visible: visible & !sh.invalid,
        fallback,
    })
}
