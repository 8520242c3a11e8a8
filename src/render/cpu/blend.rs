//! Blends a splat into the 16 pixels of a block: falloff, cut, blend and stop rule, in lanes.
//!
//! [`shading`](quadrille_base::shading) defines the rules in f64; tests compare the two.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use super::layer_sink::BlendedLanes;
use super::tile::{CORNER_PX, PixelBlock, PixelLanes};
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
use quadrille_base::math::lanes::{GROUP, exp2_where};
use quadrille_base::math::narrow;
use quadrille_base::shading::StopRule;

/// Lower bound of the transmittance, so that no denormal arises where no rule stops a pixel. A
/// smaller transmittance would not change an f32 picture.
const LEAST_TRANSMITTANCE: f32 = 1e-30;

/// Kinds of [`StopRule`] as constants, so that each one has its own inner loop.
pub(super) const NEVER: u8 = 0;
pub(super) const BEFORE: u8 = 1;
pub(super) const BEFORE_OR_AT: u8 = 2;
pub(super) const AFTER: u8 = 3;

/// The kind of a rule, and its threshold as a transmittance.
pub(super) fn stop_kind(rule: StopRule) -> (u8, f32) {
    match rule {
        StopRule::Never => (NEVER, 0.0),
        StopRule::Before(transmittance) => (BEFORE, narrow(transmittance)),
        StopRule::BeforeOrAt(transmittance) => (BEFORE_OR_AT, narrow(transmittance)),
        StopRule::After(alpha) => (AFTER, narrow(1.0 - alpha)),
    }
}

/// Alpha cap and stop threshold of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlendLimits {
    pub(super) alpha_cap: f32,
    pub(super) stop_at: f32,
}

/// Fragments of a splat in a block: the pixels above the alpha cut, and their alpha (0 elsewhere).
#[derive(Clone, Copy)]
pub(super) struct Fragments<S: Simd> {
    pub(super) over_cut: mask32x16<S>,
    alpha: f32x16<S>,
}

/// Shades the fragments of four splats, each in its own block: `blocks` of the tile whose first block has its pixels at
/// `first_block` (x and y from the picture's centre). The result does not depend on the pixels' state, so the four
/// computations overlap.
#[inline(always)]
pub(super) fn shade<S: Simd>(
    simd: S,
    alpha_cap: f32,
    splats: [&ProjectedSplat; GROUP],
    (first_block, blocks): ([f32x16<S>; 2], &[u8; GROUP]),
) -> [Fragments<S>; GROUP] {
    let lane = |v: f32| f32x16::splat(simd, v);
    let mut u = [lane(0.0); GROUP];
    let mut v = u;
    for i in 0..GROUP {
        let (s, block) = (splats[i], usize::from(blocks[i]));
        let x = first_block[0] + lane(CORNER_PX[0][block]);
        let y = first_block[1] + lane(CORNER_PX[1][block]);
        u[i] = (-y).mul_add(lane(s.u_per_y), lane(s.u_at_centre));
        u[i] = x.mul_add(lane(s.u_per_x), u[i]);
        v[i] = y.mul_add(lane(s.v_per_y), lane(s.v_at_centre));
    }
    let mut exponent = v;
    for i in 0..GROUP {
        exponent[i] = (-v[i]).mul_add(v[i], lane(splats[i].log2_opacity));
    }
    for i in 0..GROUP {
        exponent[i] = (-u[i]).mul_add(u[i], exponent[i]);
    }
    let mut over_cut = [exponent[0].simd_ge(lane(LOG2_ALPHA_CUT)); GROUP];
    for i in 1..GROUP {
        over_cut[i] = exponent[i].simd_ge(lane(LOG2_ALPHA_CUT));
    }
    let alpha = exp2_where(simd, over_cut, exponent);
    let mut fragments = [Fragments {
        over_cut: over_cut[0],
        alpha: alpha[0],
    }; GROUP];
    for i in 0..GROUP {
        fragments[i] = Fragments {
            over_cut: over_cut[i],
            alpha: alpha[i].min(lane(alpha_cap)),
        };
    }
    fragments
}

/// Blends fragments of a splat's `colour` into their block. Pixels refuse a fragment if they were closed
/// before, or if the fragment closes them.
#[inline(always)]
pub(super) fn blend<S: Simd, const STOP: u8>(
    simd: S,
    stop_at: f32,
    fragments: &Fragments<S>,
    colour: [f32; 3],
    block: &mut PixelBlock,
) -> BlendedLanes<S> {
    let lane = |v: f32| f32x16::splat(simd, v);
    let load = |v: &PixelLanes| f32x16::load_array_ref(simd, v);
    let (alpha, zero, stop_at) = (fragments.alpha, lane(0.0), lane(stop_at));
    let before = load(&block.transmittance);
    // Where alpha is 0, this is exactly `before`.
    let mut left = (-before).mul_add(alpha, before);
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
    // The sign bit marks a closed pixel, so a block needs no mask of its own.
    refused
        .select(-before.abs(), left)
        .store_array(&mut block.transmittance);
    let weight = refused.select(zero, before * alpha);
    for (sum, colour) in block.colour.iter_mut().zip(colour) {
        weight.mul_add(lane(colour), load(sum)).store_array(sum);
    }
    BlendedLanes {
        over_cut: fragments.over_cut,
        refused,
        before,
        weight,
    }
}
