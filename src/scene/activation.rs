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

/// Logit of an opacity beyond 0 to 1: a NaN by whose bits the reason for dropping its row is told.
pub(crate) const BEYOND_RANGE: f32 = f32::from_bits(0x7fc0_0b0e);

/// Rounding that a linear opacity may have: a few units in the last place at 1.
const OPACITY_ROUNDING: f32 = 4.0 * f32::EPSILON;

/// Converts linear opacities to logits. Values beyond 0 to 1 by rounding are clamped; others become [`BEYOND_RANGE`], with
/// a warning.
pub(crate) fn take_linear_opacities(opacities: &mut [f32]) -> Option<String> {
    let range = -OPACITY_ROUNDING..=1.0 + OPACITY_ROUNDING;
    let is_beyond = |v: &f32| v.is_finite() && !range.contains(v);
    let beyond: Vec<f32> = opacities.iter().copied().filter(is_beyond).collect();
    for value in &mut *opacities {
        *value = match *value {
            v if is_beyond(&v) => BEYOND_RANGE,
            v => logit(f64::from(v.clamp(0.0, 1.0))),
        };
    }
    let least = beyond.iter().copied().reduce(f32::min)?;
    let most = beyond.iter().copied().fold(least, f32::max);
    let hint = match 2 * beyond.len() > opacities.len() {
        true => ": it may store logits of opacities, as a PLY does",
        false => "",
    };
    Some(format!(
        "opacities beyond 0 to 1, whose splats are dropped: {} (from {least} to {most}){hint}",
        beyond.len()
    ))
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
