//! The exponential and the sigmoid of a block of lanes.
//!
//! They are plain loops in f64, which the compiler vectorises. The standard library's `exp` takes one
//! number at a time, and a scene needs four per splat.

use std::f64::consts::{LN_2, LOG2_E};

use super::splats::{BLOCK, Lanes};
use crate::math::narrow;

/// Bound of the arguments. Beyond it the result is 0 or infinity in f32: e^-104 is below half of the
/// least denormal, and e^89 above the largest float.
const EXP_RANGE: f32 = 128.0;

/// 1.5 * 2^52: adding it leaves the nearest integer in the low bits of the sum.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Bits of the mantissa of an f64.
const MANTISSA_BITS: u32 = 52;

/// 1/k! for k = 8 down to 0. With |r| <= ln 2 / 2, the first omitted term is below 2.1e-10 relative,
/// 1/280 of an f32 ulp.
const EXP_TERMS: [f64; 9] = [
    1.0 / 40320.0,
    1.0 / 5040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// e^x with a relative error of 2.2e-10; x is clamped to -128..=128. NaN gives an arbitrary value.
#[inline(always)]
pub(super) fn exp(x: &Lanes) -> [f64; BLOCK] {
    let mut result = [0.0; BLOCK];
    for (result, x) in result.iter_mut().zip(x) {
        let x = if *x < -EXP_RANGE { -EXP_RANGE } else { *x };
        let x = f64::from(if x > EXP_RANGE { EXP_RANGE } else { x });
        let shifted = x * LOG2_E + ROUNDER;
        let n = shifted - ROUNDER;
        let r = x - n * LN_2;
        let mut power = EXP_TERMS[0];
        for term in &EXP_TERMS[1..] {
            power = power * r + term;
        }
        // The low bits of `shifted` hold n; shifted to the exponent, they give 2^n.
        let bits = (shifted.to_bits() << MANTISSA_BITS).wrapping_add(1f64.to_bits());
        *result = power * f64::from_bits(bits);
    }
    result
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(super) fn sigmoid(x: &Lanes) -> Lanes {
    let (mut negative, mut result) = ([0.0; BLOCK], [0.0; BLOCK]);
    for i in 0..BLOCK {
        negative[i] = -x[i];
    }
    let exp = exp(&negative);
    for i in 0..BLOCK {
        result[i] = narrow(1.0 / (1.0 + exp[i]));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place.
    fn ulps(a: f32, b: f32) -> u32 {
        a.to_bits().abs_diff(b.to_bits())
    }

    /// Every 1009th f32: 4 million arguments of either sign and every exponent.
    fn arguments() -> impl Iterator<Item = f32> {
        (0..=u32::MAX)
            .step_by(1009)
            .map(f32::from_bits)
            .filter(|v| !v.is_nan())
    }

    #[test]
    fn exp_is_within_an_ulp_of_the_exact_result() {
        let worst = arguments()
            .map(|x| ulps(narrow(exp(&[x; BLOCK])[3]), narrow(f64::from(x).exp())))
            .max();
        assert!(worst <= Some(1), "{worst:?}");
    }

    #[test]
    fn sigmoid_is_within_an_ulp_of_the_exact_result() {
        let exact = |x: f32| narrow(1.0 / (1.0 + (-f64::from(x)).exp()));
        let worst = arguments()
            .map(|x| ulps(sigmoid(&[x; BLOCK])[0], exact(x)))
            .max();
        assert!(worst <= Some(1), "{worst:?}");
        assert_eq!(sigmoid(&[-104.0; BLOCK])[0], 0.0);
        assert_eq!(sigmoid(&[20.0; BLOCK])[0], 1.0);
    }
}
