//! Choice of the origin that positions are stored relative to.
//!
//! Coordinates of maps are millions of metres, where the step of f32 is half a metre. Readers keep positions in double
//! precision until they know their middle, and store them relative to it if they lie close together and far from zero.

use quadrille_base::math::narrow;

/// Minimum distance of the middle from zero, in spreads, for an origin other than zero (assumed). Nearer meshes lose
/// at most 4 of the 24 bits of f32, and keep the values of the file.
const FAR_SPREADS: f64 = 16.0;
/// Steps of f32 per spread below which rounding is visible (assumed: half a pixel in a thousand) and a warning is added.
const LEAST_STEPS: f64 = 1024.0;
/// Largest coordinate of an origin, so that differences from it stay within the range of f32.
const LARGEST_ORIGIN: f64 = 1e30;
const SAMPLES: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Middle {
    /// Medians of the coordinates, rounded to whole units.
    centre: [f64; 3],
    spread: f64,
}

impl Middle {
    pub(super) fn of(positions: &[[f64; 3]]) -> Option<Self> {
        let step = positions.len().div_ceil(SAMPLES).max(1);
        let sampled = || positions.iter().step_by(step);
        let centre = [0, 1, 2].map(|axis| median(sampled().map(|p| p[axis]).collect()));
        let [Some(x), Some(y), Some(z)] = centre else { return None };
        let centre = [x, y, z].map(f64::round);
        let distance = |p: &[f64; 3]| largest([0, 1, 2].map(|axis| p[axis] - centre[axis]));
        let spread = median(sampled().map(distance).collect())?;
        Some(Self { centre, spread })
    }

    /// Origin for the positions: their middle, or zero if they are not far from zero.
    fn origin(&self) -> [f64; 3] {
        let distance = largest(self.centre);
        match distance > FAR_SPREADS * self.spread && distance <= LARGEST_ORIGIN {
            true => self.centre,
            false => [0.0; 3],
        }
    }

    pub(super) fn origin_of(positions: &[[f64; 3]]) -> [f64; 3] {
        Self::of(positions).map_or([0.0; 3], |middle| middle.origin())
    }

    /// Warning if single precision, in which the file holds the positions, is too coarse for them.
    pub(super) fn warning(&self) -> Option<String> {
        let distance = narrow(largest(self.centre));
        let step = f64::from(distance.next_up()) - f64::from(distance);
        let [x, y, z] = self.centre;
        (distance > 0.0 && self.spread < LEAST_STEPS * step).then(|| {
            format!(
                "positions around ({x}, {y}, {z}) in single precision are rounded to steps of {step:.2e}, and half of \
                 them lie within {:.2e}: keep such a mesh in a PLY with x, y and z of type double or in an OBJ, or move \
                 it to the origin before it is stored",
                self.spread
            )
        })
    }
}

fn largest(values: [f64; 3]) -> f64 {
    values.map(f64::abs).into_iter().fold(0.0, f64::max)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    let is_empty = values.is_empty();
    (!is_empty).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_far_from_zero_and_close_together_have_an_origin() {
        let around = |x: f64| [[x - 1.0, 0.0, 0.0], [x, 1.0, 0.0], [x + 1.0, 0.0, 1.0]];
        let origin = |positions: &[[f64; 3]]| Middle::of(positions).unwrap().origin();
        assert_eq!(origin(&around(0.0)), [0.0; 3]);
        assert_eq!(origin(&around(16.0)), [0.0; 3]);
        assert_eq!(origin(&around(17.0)), [17.0, 0.0, 0.0]);
        assert_eq!(origin(&around(-4_512_345.25)), [-4_512_345.0, 0.0, 0.0]);
        assert_eq!(origin(&around(1e31)), [0.0; 3]);
        // A stray vertex does not move the middle.
        let [a, b, c] = around(500_000.0);
        assert_eq!(origin(&[[0.0; 3], a, b, c]), [500_000.0, 0.0, 0.0]);
        assert_eq!(Middle::of(&[]), None);
    }

    #[test]
    fn single_precision_is_too_coarse_far_away() {
        let warning = |x: f64| {
            let positions = [[x - 1.0, 0.0, 0.0], [x, 1.0, 0.0], [x + 1.0, 0.0, 1.0]];
            Middle::of(&positions).unwrap().warning()
        };
        assert_eq!(warning(8000.0), None);
        assert!(warning(500_000.0).unwrap().contains("3.12e-2"));
        // Equal positions at zero have no detail to lose.
        assert_eq!(Middle::of(&[[0.0; 3]]).unwrap().warning(), None);
    }
}
