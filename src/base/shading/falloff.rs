//! Falloff in f32, operation by operation as in the emulated fragment shader.
//!
//! [`fragment_alpha`](super::fragment_alpha) defines the falloff. This form works in the (u, v) of a
//! splat's Cholesky factor, where the quadratic form has no cancellation. No multiply-add is fused, so
//! all SIMD levels give the same bits.

use crate::math::unfused::exp2;

/// Alpha's logarithm to base 2 at (u, v), before the cap: `log2_opacity - u^2 - v^2`.
#[inline(always)]
pub fn falloff_exponent(u: f32, v: f32, log2_opacity: f32) -> f32 {
    (log2_opacity - u * u) - v * v
}

/// `min(cap, 2^exponent)`, relative error below 3e-7 for exponents of -126 to 126; other exponents
/// are clamped to that range, and NaN counts as -126.
#[inline(always)]
pub fn falloff_alpha(exponent: f32, cap: f32) -> f32 {
    let alpha = exp2(exponent);
    if alpha < cap { alpha } else { cap }
}

/// The alpha cap in f32, rounded down.
///
/// Two fragments at a cap of 0.99 leave a transmittance of 1e-4, which is the threshold of the usual stop
/// rule. The f32 nearest to 0.99 is larger than 0.99, so that the second fragment would be refused where
/// the definition accepts it.
#[allow(clippy::cast_possible_truncation, reason = "lanes are f32")]
pub fn cap_rounded_down(cap: f64) -> f32 {
    let nearest = cap as f32;
    if f64::from(nearest) > cap {
        nearest.next_down()
    } else {
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shading::fragment_alpha;

    /// A round splat: u = dx k / sigma with k^2 = log2(e) / 2.
    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "the drawn form is f32")]
    fn agrees_with_the_definition() {
        let (k, conic, opacity) = (
            (std::f64::consts::LOG2_E / 2.0).sqrt(),
            [0.25, 0.0, 1.0],
            0.8_f64,
        );
        for i in 0..200 {
            let d = [f64::from(i) * 0.02, f64::from(i % 7) * 0.1];
            let Some(exact) = fragment_alpha(conic, d, opacity, 0.75) else {
                continue;
            };
            let (u, v) = ((0.5 * k * d[0]) as f32, (k * d[1]) as f32);
            let exponent = falloff_exponent(u, v, opacity.log2() as f32);
            let alpha = f64::from(falloff_alpha(exponent, cap_rounded_down(0.75)));
            assert!((alpha / exact - 1.0).abs() < 1e-6, "{alpha} {exact}");
        }
    }

    #[test]
    fn caps() {
        assert_eq!(falloff_alpha(0.0, 0.99), 0.99);
        assert_eq!(falloff_alpha(f32::INFINITY, 0.99), 0.99);
        assert!(falloff_alpha(f32::NAN, 0.99) < 1e-37);
        assert!((falloff_alpha(-1.0, 0.99) - 0.5).abs() < 2e-7);
        assert!(f64::from(cap_rounded_down(0.99)) <= 0.99);
        assert_eq!(cap_rounded_down(0.5), 0.5);
    }
}
