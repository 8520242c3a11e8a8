//! Functions with the same bits on every SIMD level and in scalar code: nothing fused, no level-specific instructions.

use fearless_simd::{f32x16, prelude::*, u32x16};

use super::lanes::{EXP2, ROUND_MAGIC};

/// Domain to which x is clamped: 2^x is a normal f32 there.
const DOMAIN: [f32; 2] = [-126.0, 126.0];

/// 2^x, with x clamped to -126..=126 (NaN to -126), relative error below 3e-7: the definition of [`exp2_lanes`].
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    // Comparisons instead of `clamp`, since they treat NaN as the vector instructions do.
    let x = if x > DOMAIN[0] { x } else { DOMAIN[0] };
    let x = if x < DOMAIN[1] { x } else { DOMAIN[1] };
    let shifted = x + ROUND_MAGIC;
    let f = x - (shifted - ROUND_MAGIC);
    let mut p = EXP2[5];
    for &c in EXP2[..5].iter().rev() {
        p = p * f + c;
    }
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// [`exp2`] of each lane.
#[inline(always)]
pub fn exp2_lanes<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let lane = |v: f32| f32x16::splat(simd, v);
    let x = x.max(lane(DOMAIN[0])).min(lane(DOMAIN[1]));
    let shifted = x + lane(ROUND_MAGIC);
    let f = x - (shifted - lane(ROUND_MAGIC));
    let mut p = lane(EXP2[5]);
    for &c in EXP2[..5].iter().rev() {
        // Not `mul_add`, which only some levels fuse.
        p = p * f + lane(c);
    }
    let exponent = shifted.bitcast::<u32x16<S>>() << 23;
    (p.bitcast::<u32x16<S>>() + exponent).bitcast()
}
