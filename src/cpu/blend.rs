//! A splat into the 16 pixels of a block: falloff, cut, blend, stop, in lanes.
//!
//! The rules are those of [`shading`](crate::shading), which defines them in f64; tests hold the
//! two together.

use fearless_simd::{f32x16, prelude::*};

use super::tile::{BLOCK_PX, PixelBlock};
use crate::math::lanes::exp2;
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
use crate::shading::StopRule;

/// Exponents are raised to this before exponentiation: far below the cut, far above denormals.
const LEAST_EXPONENT: f32 = -32.0;

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

/// Alpha cap and stop threshold of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlendLimits {
    pub(super) alpha_cap: f32,
    /// Transmittance at which the stop rule acts.
    pub(super) stop_at: f32,
}

/// A splat set up for one tile: its falloff over the lanes of the tile's first block.
pub(super) struct Brush<S: Simd> {
    u: f32x16<S>,
    v: f32x16<S>,
    u_per_x: f32x16<S>,
    u_per_y: f32x16<S>,
    v_per_y: f32x16<S>,
    log2_opacity: f32x16<S>,
    colour: [f32x16<S>; 3],
}

/// What a splat did to a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockResult {
    /// Fragments blended.
    pub(super) blended: u32,
    /// Whether any pixel is still open.
    pub(super) open: bool,
}

impl<S: Simd> Brush<S> {
    /// Sets up `splat` for the tile whose first pixel's centre is at `origin`.
    #[inline(always)]
    #[allow(clippy::cast_precision_loss, reason = "small integers")]
    pub(super) fn new(simd: S, splat: &ProjectedSplat, origin: [f32; 2]) -> Self {
        let lane = |v: f32| f32x16::splat(simd, v);
        let x = f32x16::from_fn(simd, |i| (i % BLOCK_PX) as f32) + origin[0];
        let y = f32x16::from_fn(simd, |i| (i / BLOCK_PX) as f32) + origin[1];
        let (u_per_x, u_per_y, v_per_y) = (
            lane(splat.u_per_x),
            lane(splat.u_per_y),
            lane(splat.v_per_y),
        );
        Self {
            u: x.mul_add(u_per_x, (-y).mul_add(u_per_y, lane(splat.u_at_centre))),
            v: y.mul_add(v_per_y, lane(splat.v_at_centre)),
            u_per_x,
            u_per_y,
            v_per_y,
            log2_opacity: lane(splat.log2_opacity),
            colour: splat.colour.map(lane),
        }
    }

    /// Blends the splat into the block whose first pixel lies `offset` pixels from the tile's.
    #[inline(always)]
    pub(super) fn blend<const STOP: u8>(
        &self,
        simd: S,
        limits: BlendLimits,
        offset: [f32; 2],
        block: &mut PixelBlock,
    ) -> BlockResult {
        let lane = |v: f32| f32x16::splat(simd, v);
        let [dx, dy] = offset.map(lane);
        let u = dx.mul_add(self.u_per_x, (-dy).mul_add(self.u_per_y, self.u));
        let v = dy.mul_add(self.v_per_y, self.v);
        let exponent = (-u).mul_add(u, (-v).mul_add(v, self.log2_opacity));
        let over_cut = exponent.simd_ge(lane(LOG2_ALPHA_CUT));
        let alpha = exp2(simd, exponent.max(lane(LEAST_EXPONENT))).min(lane(limits.alpha_cap));

        let before = f32x16::load_array_ref(simd, &block.transmittance);
        let mut left = (-before).mul_add(alpha, before);
        let stop_at = lane(limits.stop_at);
        let zero = lane(0.0);
        let keep = over_cut
            & match STOP {
                BEFORE => left.simd_ge(stop_at),
                BEFORE_OR_AT => left.simd_gt(stop_at),
                _ => before.simd_gt(zero),
            };
        if STOP == NEVER {
            left = left.max(lane(LEAST_TRANSMITTANCE));
        }
        let weight = keep.select(before * alpha, zero);
        for (sum, colour) in block.colour.iter_mut().zip(self.colour) {
            weight
                .mul_add(colour, f32x16::load_array_ref(simd, sum))
                .store_array(sum);
        }
        let after = match STOP {
            NEVER => keep.select(left, before),
            AFTER => {
                let closing = keep & left.simd_le(stop_at);
                closing.select(-left, keep.select(left, before))
            }
            _ => over_cut.select(keep.select(left, -before.abs()), before),
        };
        after.store_array(&mut block.transmittance);
        BlockResult {
            blended: keep.to_bitmask().count_ones(),
            open: after.simd_ge(zero).any_true(),
        }
    }
}
