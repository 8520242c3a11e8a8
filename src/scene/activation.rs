//! The functions between the raw values of files and the values that are drawn.

use quadrille_base::math::narrow;

/// The sigmoid of the ends is 0 and 1 in f32, so opacities of 0 and 1, whose logits are infinite, are preserved.
pub(crate) const LOGIT_RANGE: (f64, f64) = (-104.0, 20.0);

/// 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The inverse of the sigmoid, in a range whose ends stand for opacities of 0 and 1.
pub fn logit(opacity: f64) -> f32 {
    narrow((opacity / (1.0 - opacity)).ln().clamp(LOGIT_RANGE.0, LOGIT_RANGE.1))
}

/// Logarithm of a scale without its sign, which no covariance keeps; 0 counts as the least normal float, NaN as NaN.
pub fn log_scale(scale: f32) -> f32 {
    let size = scale.abs();
    let size = if size < f32::MIN_POSITIVE { f32::MIN_POSITIVE } else { size };
    narrow(f64::from(size).ln())
}

/// Converts linear scales to logarithms. Mostly negative scales are logarithms already: they stay, with a warning.
pub(crate) fn take_linear_scales(scales: &mut [Vec<f32>; 3]) -> Option<String> {
    let negative = scales.iter().flatten().filter(|v| **v < 0.0).count();
    let least = scales.iter().flatten().copied().fold(0.0, f32::min);
    if 2 * negative > scales.iter().map(Vec::len).sum() {
        return Some(format!(
            "most of its scales are negative (down to {least}); they are read as logarithms, which splat-transform \
             wrote before June 2026"
        ));
    }
    scales.iter_mut().flatten().for_each(|value| *value = log_scale(*value));
    None
}
