//! Blends a splat into the 16 pixels of a block: falloff, cut, blend and stop rule, in lanes.
//!
//! [`shading`](quadrille_base::shading) defines the rules in f64; tests compare the two.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use super::layer_sink::BlendedLanes;
use super::tile::PixelBlock;
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
use quadrille_base::math::lanes::{exp2_where, keep};
use quadrille_base::math::narrow;
use quadrille_base::shading::StopRule;

/// Lower bound of the transmittance without a stop rule. It avoids denormals; an f32 picture does not show it.
pub(super) const LEAST_TRANSMITTANCE: f32 = 1e-30;

/// [`StopRule`] kinds as constants, so that each has its own inner loop.
pub(super) const NEVER: u8 = 0;
pub(super) const BEFORE: u8 = 1;
pub(super) const BEFORE_OR_AT: u8 = 2;
pub(super) const AFTER: u8 = 3;

/// Evaluates an expression with a kind of [`StopRule`] as the constant `$stop`.
macro_rules! with_stop_kind {
    ($kind:expr, $stop:ident => $body:expr) => {{
        use $crate::cpu::blend::{AFTER, BEFORE, BEFORE_OR_AT, NEVER};
        match $kind {
            NEVER => {
                const $stop: u8 = NEVER;
                $body
            }
            BEFORE => {
                const $stop: u8 = BEFORE;
                $body
            }
            BEFORE_OR_AT => {
                const $stop: u8 = BEFORE_OR_AT;
                $body
            }
            _ => {
                const $stop: u8 = AFTER;
                $body
            }
        }
    }};
}
pub(super) use with_stop_kind;

/// Kind of a rule, and its threshold as a transmittance.
pub(super) fn stop_kind(rule: StopRule) -> (u8, f32) {
    match rule {
        StopRule::Never => (NEVER, 0.0),
        StopRule::Before(transmittance) => (BEFORE, narrow(transmittance)),
        StopRule::BeforeOrAt(transmittance) => (BEFORE_OR_AT, narrow(transmittance)),
        // The threshold is below 1, so that a pixel without fragments is open.
        StopRule::After(alpha) => (AFTER, narrow(1.0 - alpha).min(1.0 - f32::EPSILON)),
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct BlendLimits {
    pub(super) alpha_cap: f32,
    pub(super) stop_at: f32,
}

/// Pixels above the alpha cut, and their alpha (0 elsewhere).
#[derive(Clone, Copy)]
pub(super) struct Fragments<S: Simd> {
    pub(super) over_cut: mask32x16<S>,
    pub(super) alpha: f32x16<S>,
}

impl<S: Simd> Fragments<S> {
    /// Restores fragments from stored alphas, which are positive exactly above the cut, since every cap is positive.
    #[inline(always)]
    pub(super) fn of_alpha(simd: S, alpha: f32x16<S>) -> Self {
        Self { over_cut: alpha.simd_gt(f32x16::splat(simd, 0.0)), alpha }
    }
}

/// Whitened offsets u and v from the centres of `N` splats in a block, at the distances `x` and `y` from the picture's
/// centre.
#[inline(always)]
pub(super) fn offsets<S: Simd, const N: usize>(
    simd: S,
    splats: [&ProjectedSplat; N],
    [x, y]: [f32x16<S>; 2],
) -> [[f32x16<S>; N]; 2] {
    let lane = |v: f32| f32x16::splat(simd, v);
    let mut u = [lane(0.0); N];
    let mut v = u;
    for i in 0..N {
        let s = splats[i];
        // Each step is done for all splats before the next: a single vector would wait for its own latency at
        // every step.
        u[i] = (-y).mul_add(lane(s.u_per_y), lane(s.u_at_centre));
        u[i] = x.mul_add(lane(s.u_per_x), u[i]);
        v[i] = y.mul_add(lane(s.v_per_y), lane(s.v_at_centre));
    }
    [u, v]
}

/// log2 of the uncut alphas of `N` splats in a block at their [`offsets`].
#[inline(always)]
pub(super) fn exponents<S: Simd, const N: usize>(
    simd: S,
    splats: [&ProjectedSplat; N],
    [u, v]: [[f32x16<S>; N]; 2],
) -> [f32x16<S>; N] {
    let lane = |v: f32| f32x16::splat(simd, v);
    let mut exponents = v;
    for i in 0..N {
        exponents[i] = (-v[i]).mul_add(v[i], lane(splats[i].log2_opacity));
    }
    for i in 0..N {
        exponents[i] = (-u[i]).mul_add(u[i], exponents[i]);
    }
    exponents
}

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
    // The exponential of pixels below the cut is masked, not skipped: at most half a per cent of visits
    // cover nothing, so a branch would not pay.
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

/// The pixels of a block, in registers.
///
/// The transmittance of an open pixel is a product of factors of at most 1. It never grows, so the product alone decides
/// which fragments a pixel takes, even if it continues past the fragment that closes the pixel. The transmittance is
/// stored separately, since a mask in the chain from fragment to fragment would double the chain's latency.
#[derive(Clone, Copy)]
pub(super) struct BlockLanes<S: Simd> {
    /// Product of all factors; negative where the pixel was already closed when loaded.
    product: f32x16<S>,
    transmittance: f32x16<S>,
    colour: [f32x16<S>; 3],
}

impl<S: Simd> BlockLanes<S> {
    #[inline(always)]
    pub(super) fn load(simd: S, block: &PixelBlock) -> Self {
        let [r, g, b] = &block.colour;
        let product = f32x16::load_array_ref(simd, &block.transmittance);
        Self {
            product,
            transmittance: product.abs(),
            colour: [
                f32x16::load_array_ref(simd, r),
                f32x16::load_array_ref(simd, g),
                f32x16::load_array_ref(simd, b),
            ],
        }
    }

    /// Stores the pixels; returns whether any is open.
    #[inline(always)]
    pub(super) fn store<const STOP: u8>(
        &self,
        simd: S,
        stop_at: f32,
        block: &mut PixelBlock,
    ) -> bool {
        let open = self.open::<STOP>(simd, stop_at);
        // The sign bit marks a closed pixel, so a block needs no mask of its own.
        open.select(self.transmittance, -self.transmittance).store_array(&mut block.transmittance);
        for (sum, lanes) in block.colour.iter_mut().zip(&self.colour) {
            lanes.store_array(sum);
        }
        open.to_bitmask() != 0
    }

    #[inline(always)]
    fn open<const STOP: u8>(&self, simd: S, stop_at: f32) -> mask32x16<S> {
        let stop_at = f32x16::splat(simd, stop_at);
        match STOP {
            BEFORE => self.product.simd_ge(stop_at),
            _ => self.product.simd_gt(stop_at),
        }
    }

    #[inline(always)]
    pub(super) fn is_open<const STOP: u8>(&self, simd: S, stop_at: f32) -> bool {
        self.open::<STOP>(simd, stop_at).to_bitmask() != 0
    }

    /// Updates the transmittance with the fragments that the stop rule admits; returns their weights for [`Self::add`].
    #[inline(always)]
    pub(super) fn cover<const STOP: u8>(
        &mut self,
        simd: S,
        stop_at: f32,
        fragments: &Fragments<S>,
    ) -> BlendedLanes<S> {
        let lane = |v: f32| f32x16::splat(simd, v);
        let alpha = fragments.alpha;
        let before = self.product;
        let was_open = self.open::<STOP>(simd, stop_at);
        // Where alpha is 0, this is exactly `before`.
        self.product = (-before).mul_add(alpha, before);
        if STOP == NEVER {
            self.product = was_open.select(self.product.max(lane(LEAST_TRANSMITTANCE)), before);
        }
        // The mask holds the pixels that take a fragment, so that weights and counts need no inversion.
        let open = match STOP {
            BEFORE | BEFORE_OR_AT => self.open::<STOP>(simd, stop_at),
            _ => was_open,
        };
        // This update is outside the chain of products, which takes 0.96 to 0.98 of the time of a
        // transmittance whose sign marks closed pixels.
        self.transmittance = open.select(self.product, self.transmittance);
        BlendedLanes {
            over_cut: fragments.over_cut,
            open,
            before,
            after: self.transmittance,
            weight: keep(simd, open, before * alpha),
            depth: None,
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, simd: S, weight: f32x16<S>, colour: [f32; 3]) {
        for (sum, colour) in self.colour.iter_mut().zip(colour) {
            *sum = weight.mul_add(f32x16::splat(simd, colour), *sum);
        }
    }
}
