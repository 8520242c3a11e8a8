//! Definition of falloff and front-to-back blending, in f64.

use super::profile::{ALPHA_CUT, StopRule};

/// Alpha of a fragment at offset `d` (pixels) from the projected centre, for the inverse 2D covariance `conic` (xx, xy,
/// yy): `min(cap, opacity * exp(-d^T conic d / 2))`, or `None` if the exponent is positive or alpha is below `ALPHA_CUT`.
pub fn fragment_alpha(conic: [f64; 3], d: [f64; 2], opacity: f64, cap: f64) -> Option<f64> {
    let power = -0.5 * (conic[0] * d[0] * d[0] + conic[2] * d[1] * d[1]) - conic[1] * d[0] * d[1];
    falloff_at(power, opacity, cap)
}

/// `min(cap, opacity * exp(power))`, or `None` if the exponent is positive or alpha is below `ALPHA_CUT`.
pub fn falloff_at(power: f64, opacity: f64, cap: f64) -> Option<f64> {
    let alpha = (opacity * power.exp()).min(cap);
    (power <= 0.0 && alpha >= ALPHA_CUT).then_some(alpha)
}

/// State of a pixel during front-to-back blending.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accumulated {
    /// Premultiplied colour.
    pub colour: [f64; 3],
    /// Transmittance, 1 to 0.
    pub transmittance: f64,
    /// Whether the stop rule has closed the pixel.
    pub stopped: bool,
}

/// Outcome of offering a fragment to a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blended {
    /// The fragment was blended.
    Yes,
    /// The fragment was not blended, since the stop rule has closed the pixel.
    No,
}

impl Default for Accumulated {
    fn default() -> Self {
        Self { colour: [0.0; 3], transmittance: 1.0, stopped: false }
    }
}

impl Accumulated {
    /// Blends a fragment unless `stop` closes the pixel: `C += T alpha c; T *= 1 - alpha`.
    pub fn offer(&mut self, alpha: f64, colour: [f64; 3], stop: StopRule) -> Blended {
        if self.stopped {
            return Blended::No;
        }
        let left = self.transmittance * (1.0 - alpha);
        self.stopped = stop.is_reached(left);
        if self.stopped && !matches!(stop, StopRule::After(_)) {
            return Blended::No;
        }
        let weight = self.transmittance * alpha;
        for (sum, c) in self.colour.iter_mut().zip(colour) {
            *sum += weight * c;
        }
        self.transmittance = left;
        Blended::Yes
    }
}
