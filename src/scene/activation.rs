//! Conversions between the raw values of files and rendered values: logits of opacities, logarithms of scales.

use quadrille_base::math::narrow;

/// Range of stored logits. The sigmoid of its ends rounds to 0 and 1 in f32, which preserves these two opacities.
pub(crate) const LOGIT_RANGE: (f64, f64) = (-104.0, 20.0);

/// Opacity of the logit `x`: 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Inverse of [`sigmoid`], clamped to -104..=20; the ends stand for opacities of 0 and 1.
pub fn logit(opacity: f64) -> f32 {
    narrow((opacity / (1.0 - opacity)).ln().clamp(LOGIT_RANGE.0, LOGIT_RANGE.1))
}

/// Logarithm of the absolute scale, since covariances do not depend on its sign. 0 counts as the least normal f32.
pub fn log_scale(scale: f32) -> f32 {
    let size = scale.abs();
    let size = if size < f32::MIN_POSITIVE { f32::MIN_POSITIVE } else { size };
    narrow(f64::from(size).ln())
}

/// Converts linear scales to logarithms. If most are negative, they are logarithms already; a warning says so.
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
