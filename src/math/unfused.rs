//! Functions whose results have the same bits on every SIMD level and in scalar code: they use no
//! fused multiply-add and no instructions of a single level.

use fearless_simd::{f32x16, prelude::*, u32x16};

use super::lanes::{EXP2, ROUND_MAGIC};

/// Domain to which x is clamped: 2^x is a normal f32 there.
const DOMAIN: [f32; 2] = [-126.0, 126.0];

/// 2^x, with x clamped to -126..=126 (NaN to -126) and a relative error below 3e-7. It defines
/// [`exp2_lanes`], operation by operation.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
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
pub(crate) fn exp2_lanes<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::SimdLevel;
    use fearless_simd::dispatch;

    #[test]
    fn exp2_keeps_its_bound() {
        let mut worst = 0.0_f64;
        for i in 0..1 << 20 {
            let x = -126.0 + i as f32 * (252.0 / (1 << 20) as f32);
            let exact = f64::from(x).exp2();
            worst = worst.max((f64::from(exp2(x)) / exact - 1.0).abs());
        }
        assert!(worst < 3e-7, "relative error {worst:e}");
    }

    #[test]
    fn ends_of_the_domain() {
        assert_eq!(exp2(f32::NAN).to_bits(), exp2(-126.0).to_bits());
        assert_eq!(exp2(f32::NEG_INFINITY).to_bits(), exp2(-126.0).to_bits());
        assert_eq!(exp2(f32::INFINITY).to_bits(), exp2(126.0).to_bits());
    }

    #[test]
    fn every_level_gives_the_scalar_bits() {
        const ODD: [f32; 4] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
        for level in SimdLevel::all() {
            for i in 0..1_u32 << 14 {
                let x: [f32; 16] = std::array::from_fn(|lane| {
                    if lane < 4 {
                        ODD[lane]
                    } else {
                        let hash =
                            (i * 16 + u32::try_from(lane).unwrap()).wrapping_mul(0x9e37_79b9);
                        hash as f32 / 16_777_216.0 - 130.0
                    }
                });
                let y = dispatch!(level.level(), simd =>
                    exp2_lanes(simd, f32x16::simd_from(simd, x)).to_array());
                assert_eq!(
                    x.map(|x| exp2(x).to_bits()),
                    y.map(f32::to_bits),
                    "{}",
                    level.name()
                );
            }
        }
    }
}
