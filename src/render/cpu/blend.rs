//! Blends a splat into the 16 pixels of a block: falloff, cut, blend and stop rule, in lanes.
//!
//! [`shading`](quadrille_base::shading) defines the rules in f64; tests compare the two.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use super::layer_sink::BlendedLanes;
use super::tile::{CORNER_PX, PixelBlock, PixelLanes};
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
use quadrille_base::math::lanes::{exp2_where, keep};
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
    pub(super) alpha: f32x16<S>,
}

impl<S: Simd> Fragments<S> {
    /// The fragments whose alpha was kept: it is positive above the cut, since every cap is.
    #[inline(always)]
    pub(super) fn of_alpha(simd: S, alpha: f32x16<S>) -> Self {
        Self {
            over_cut: alpha.simd_gt(f32x16::splat(simd, 0.0)),
            alpha,
        }
    }
}

/// log2 of the alphas of some splats, before the cut and the cap, each in the pixels of its own block: `blocks` of the tile
/// whose first block has its pixels at `first_block` (x and y from the picture's centre). The vectors go through each
/// step together.
#[inline(always)]
pub(super) fn exponents<S: Simd, const N: usize>(
    simd: S,
    splats: [&ProjectedSplat; N],
    (first_block, blocks): ([f32x16<S>; 2], &[u8; N]),
) -> [f32x16<S>; N] {
    let lane = |v: f32| f32x16::splat(simd, v);
    let mut u = [lane(0.0); N];
    let mut v = u;
    for i in 0..N {
        let (s, block) = (splats[i], usize::from(blocks[i]));
        let x = first_block[0] + lane(CORNER_PX[0][block]);
        let y = first_block[1] + lane(CORNER_PX[1][block]);
        u[i] = (-y).mul_add(lane(s.u_per_y), lane(s.u_at_centre));
        u[i] = x.mul_add(lane(s.u_per_x), u[i]);
        v[i] = y.mul_add(lane(s.v_per_y), lane(s.v_at_centre));
    }
    let mut exponents = v;
    for i in 0..N {
        exponents[i] = (-v[i]).mul_add(v[i], lane(splats[i].log2_opacity));
    }
    for i in 0..N {
        exponents[i] = (-u[i]).mul_add(u[i], exponents[i]);
    }
    exponents
}

/// The fragments of exponents.
#[inline(always)]
pub(super) fn fragments<S: Simd, const N: usize>(
    simd: S,
    alpha_cap: f32,
    exponents: [f32x16<S>; N],
) -> [Fragments<S>; N] {
    let cut = f32x16::splat(simd, LOG2_ALPHA_CUT);
    let mut over_cut = [cut.simd_eq(cut); N];
    for i in 0..N {
        over_cut[i] = exponents[i].simd_ge(cut);
    }
    let alpha = exp2_where(simd, over_cut, exponents);
    let mut fragments = [Fragments::of_alpha(simd, cut); N];
    for i in 0..N {
        fragments[i] = Fragments {
            over_cut: over_cut[i],
            alpha: alpha[i].min(f32x16::splat(simd, alpha_cap)),
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
    let (alpha, stop_at) = (fragments.alpha, lane(stop_at));
    let before = load(&block.transmittance);
    // Where alpha is 0, this is exactly `before`.
    let mut left = (-before).mul_add(alpha, before);
    // What takes a fragment, not what refuses it: masks of weights and counts then need no inversion.
    let open = match STOP {
        BEFORE => left.simd_ge(stop_at),
        BEFORE_OR_AT => left.simd_gt(stop_at),
        _ => before.simd_ge(lane(0.0)),
    };
    if STOP == NEVER {
        left = left.max(lane(LEAST_TRANSMITTANCE));
    }
    if STOP == AFTER {
        left = left.simd_le(stop_at).select(-left.abs(), left);
    }
    // The sign bit marks a closed pixel, so a block needs no mask of its own.
    open.select(left, -before.abs())
        .store_array(&mut block.transmittance);
    let weight = keep(simd, open, before * alpha);
    for (sum, colour) in block.colour.iter_mut().zip(colour) {
        weight.mul_add(lane(colour), load(sum)).store_array(sum);
    }
    BlendedLanes {
        over_cut: fragments.over_cut,
        open,
        before,
        weight,
    }
}
