//! A splat into the 16 pixels of a block: falloff, cut, blend, stop, in lanes.
//!
//! The rules are those of [`shading`](crate::shading), which defines them in f64; tests hold the
//! two together.

use fearless_simd::{f32x16, prelude::*};

use super::tile::{PixelBlock, PixelLanes};
use crate::math::lanes::exp2_where;
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
use crate::shading::StopRule;

/// Transmittance never falls below this, so that no denormal arises where no rule stops a pixel;
/// what it would still let through is beyond the precision of any f32 picture.
const LEAST_TRANSMITTANCE: f32 = 1e-30;

/// Kinds of [`StopRule`] as constants, so that each gets its own inner loop.
pub(super) const NEVER: u8 = 0;
pub(super) const BEFORE: u8 = 1;
pub(super) const BEFORE_OR_AT: u8 = 2;
pub(super) const AFTER: u8 = 3;

/// The kind of a rule and its threshold as transmittance.
#[allow(clippy::cast_possible_truncation, reason = "lanes are f32")]
pub(super) fn stop_kind(rule: StopRule) -> (u8, f32) {
    match rule {
        StopRule::Never => (NEVER, 0.0),
        StopRule::Before(transmittance) => (BEFORE, transmittance as f32),
        StopRule::BeforeOrAt(transmittance) => (BEFORE_OR_AT, transmittance as f32),
        StopRule::After(alpha) => (AFTER, (1.0 - alpha) as f32),
    }
}

/// The alpha cap in f32, rounded down.
///
/// Two fragments at a cap of 0.99 leave 1e-4, the very threshold of the usual stop rule: rounded to
/// the nearest, 0.99 is above itself and they would leave less, so that the second one, which may
/// show with a hundredth of its colour, would be refused where the definition accepts it.
#[allow(clippy::cast_possible_truncation, reason = "lanes are f32")]
pub(super) fn cap_rounded_down(cap: f64) -> f32 {
    let nearest = cap as f32;
    if f64::from(nearest) > cap {
        nearest.next_down()
    } else {
        nearest
    }
}

/// Alpha cap and stop threshold of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlendLimits {
    pub(super) alpha_cap: f32,
    /// Transmittance at which the stop rule acts.
    pub(super) stop_at: f32,
}

/// What a splat did to a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockResult {
    /// Fragments blended.
    pub(super) blended: u32,
    /// Whether every pixel was closed already, or is now.
    pub(super) closed: bool,
}

/// Blends `splat` into a block whose pixels lie at `x`, `y` from the picture's centre.
#[inline(always)]
pub(super) fn blend<S: Simd, const STOP: u8>(
    simd: S,
    limits: BlendLimits,
    splat: &ProjectedSplat,
    [x, y]: [&PixelLanes; 2],
    block: &mut PixelBlock,
) -> BlockResult {
    let lane = |v: f32| f32x16::splat(simd, v);
    let load = |v: &PixelLanes| f32x16::load_array_ref(simd, v);
    let (x, y, zero) = (load(x), load(y), lane(0.0));
    let u = x.mul_add(
        lane(splat.u_per_x),
        (-y).mul_add(lane(splat.u_per_y), lane(splat.u_at_centre)),
    );
    let v = y.mul_add(lane(splat.v_per_y), lane(splat.v_at_centre));
    let exponent = (-u).mul_add(u, (-v).mul_add(v, lane(splat.log2_opacity)));
    let over_cut = exponent.simd_ge(lane(LOG2_ALPHA_CUT));
    // Zero below the cut, so that such a pixel's transmittance stays what it is.
    let alpha = exp2_where(simd, over_cut, exponent).min(lane(limits.alpha_cap));

    let before = load(&block.transmittance);
    let mut left = (-before).mul_add(alpha, before);
    let stop_at = lane(limits.stop_at);
    let refused = match STOP {
        BEFORE => left.simd_lt(stop_at),
        BEFORE_OR_AT => left.simd_le(stop_at),
        _ => before.simd_lt(zero),
    };
    if STOP == NEVER {
        left = left.max(lane(LEAST_TRANSMITTANCE));
    }
    if STOP == AFTER {
        left = left.simd_le(stop_at).select(-left.abs(), left);
    }
    refused
        .select(-before.abs(), left)
        .store_array(&mut block.transmittance);
    let weight = refused.select(zero, before * alpha);
    for (sum, colour) in block.colour.iter_mut().zip(splat.colour) {
        weight.mul_add(lane(colour), load(sum)).store_array(sum);
    }
    BlockResult {
        blended: (over_cut & !refused).to_bitmask().count_ones(),
        closed: refused.all_true(),
    }
}
