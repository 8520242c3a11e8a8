//! Definition of falloff and front-to-back blending, in f64.

use super::profile::{ALPHA_CUT, StopRule};

/// Alpha of a fragment at offset `d` (pixels) from the projected centre, for the inverse 2D
/// covariance `conic` (xx, xy, yy): `min(cap, opacity * exp(-d^T conic d / 2))`, or `None` if the
/// exponent is positive or alpha is below `ALPHA_CUT`.
pub fn fragment_alpha(conic: [f64; 3], d: [f64; 2], opacity: f64, cap: f64) -> Option<f64> {
    let power = -0.5 * (conic[0] * d[0] * d[0] + conic[2] * d[1] * d[1]) - conic[1] * d[0] * d[1];
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

/// Outcome of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blended {
    /// Blended.
    Yes,
    /// Not blended, since the pixel is closed.
    No,
}

impl Default for Accumulated {
    fn default() -> Self {
        Self {
            colour: [0.0; 3],
            transmittance: 1.0,
            stopped: false,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two fragments of alpha 0.9: worked by hand, T = 1 -> 0.1 -> 0.01.
    #[test]
    fn blends_front_to_back() {
        let mut pixel = Accumulated::default();
        assert_eq!(
            pixel.offer(0.9, [1.0, 0.0, 0.0], StopRule::Never),
            Blended::Yes
        );
        assert_eq!(
            pixel.offer(0.9, [0.0, 1.0, 0.0], StopRule::Never),
            Blended::Yes
        );
        assert!((pixel.colour[0] - 0.9).abs() < 1e-15 && (pixel.colour[1] - 0.09).abs() < 1e-15);
        assert!((pixel.transmittance - 0.01).abs() < 1e-15);
    }

    /// Stop rules on powers of one half, which are exact: T = 1, 1/2, 1/4, 1/8, ...
    #[test]
    fn stop_rules_at_their_exact_thresholds() {
        let blended = |stop| {
            let mut pixel = Accumulated::default();
            (0..10)
                .filter(|_| pixel.offer(0.5, [0.0; 3], stop) == Blended::Yes)
                .count()
        };
        assert_eq!(blended(StopRule::Never), 10);
        // Leaving exactly 1/8 is allowed, 1/16 is not.
        assert_eq!(blended(StopRule::Before(0.125)), 3);
        assert_eq!(blended(StopRule::BeforeOrAt(0.125)), 2);
        // The fragment that reaches alpha 7/8 counts.
        assert_eq!(blended(StopRule::After(0.875)), 3);
        assert_eq!(blended(StopRule::After(0.874)), 3);
        assert_eq!(blended(StopRule::After(0.876)), 4);
    }

    #[test]
    fn falloff_is_cut_and_capped() {
        let conic = [1.0, 0.0, 1.0];
        assert_eq!(fragment_alpha(conic, [0.0, 0.0], 1.0, 0.99), Some(0.99));
        // exp(-x^2/2) = 1/255 at x = sqrt(2 ln 255) = 3.3290.
        assert!(fragment_alpha(conic, [3.328, 0.0], 1.0, 0.99).is_some());
        assert!(fragment_alpha(conic, [3.330, 0.0], 1.0, 0.99).is_none());
        // An indefinite form would grow: skipped.
        assert!(fragment_alpha([1.0, -2.0, 1.0], [1.0, 1.0], 0.5, 0.99).is_none());
    }
}
