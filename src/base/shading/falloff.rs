//! Falloff in f32, operation by operation as in the emulated fragment shader.
//!
//! [`fragment_alpha`](super::fragment_alpha) defines the falloff. This form works in the (u, v) of a splat's Cholesky
//! factor, where the quadratic form has no cancellation. No multiply-add is fused, so all SIMD levels give the same bits.

use crate::math::narrow;
use crate::math::unfused::exp2;

/// Alpha's logarithm to base 2 at (u, v), before the cap: `log2_opacity - u^2 - v^2`.
#[inline(always)]
pub fn falloff_exponent(u: f32, v: f32, log2_opacity: f32) -> f32 {
    (log2_opacity - u * u) - v * v
}

/// `min(cap, 2^exponent)`, relative error below 3e-7; exponents are clamped to -126 to 126, and NaN counts as -126.
#[inline(always)]
pub fn falloff_alpha(exponent: f32, cap: f32) -> f32 {
    let alpha = exp2(exponent);
    if alpha < cap { alpha } else { cap }
}

/// The alpha cap in f32, rounded down.
///
/// Two fragments at a cap of 0.99 leave a transmittance of 1e-4, which is the threshold of the usual stop rule. The f32
/// nearest to 0.99 is larger than 0.99, so that the second fragment would be refused where the definition accepts it.
pub fn cap_rounded_down(cap: f64) -> f32 {
    let nearest = narrow(cap);
    if f64::from(nearest) > cap { nearest.next_down() } else { nearest }
}
