//! The functions between the raw values of files and the values that are drawn.

use quadrille_base::math::narrow;

/// Range of logits. The sigmoid of the ends is 0 and 1 in f32, so opacities of 0 and 1, whose logits
/// are infinite, are preserved.
pub(crate) const LOGIT_RANGE: (f64, f64) = (-104.0, 20.0);

/// 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The inverse of the sigmoid, in a range whose ends stand for opacities of 0 and 1.
pub fn logit(opacity: f64) -> f32 {
    narrow(
        (opacity / (1.0 - opacity))
            .ln()
            .clamp(LOGIT_RANGE.0, LOGIT_RANGE.1),
    )
}

/// The logarithm of a scale. The scale of a flat splat counts as the least normal float.
pub fn log_scale(scale: f32) -> f32 {
    narrow(f64::from(scale.max(f32::MIN_POSITIVE)).ln())
}
