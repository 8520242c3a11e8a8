//! Fisheye lenses.

use std::f64::consts::PI;

use super::plane_point::{PlanePoint, growing_until};
use crate::error::{Error, Result};

/// Largest angle from the axis of a fisheye that is drawn: 170 degrees. At 180 degrees, a point becomes a circle.
pub(crate) const MAX_FISHEYE_ANGLE: f64 = 170.0 * PI / 180.0;
/// Bound on the coefficients of fisheyes; real lenses stay below 10.
const MAX_COEFFICIENT: f64 = 1e4;
const SLOPE_STEPS: u32 = 4096;

/// Fisheye model of `OpenCV`, COLMAP and nerfstudio: a point at the angle `t` from the axis is drawn at the
/// distance `t (1 + k1 t^2 + k2 t^4 + k3 t^6 + k4 t^8)` from the principal point, in focal lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FisheyeLens {
    coefficients: [f64; 4],
    /// Largest angle at which the distortion is still monotonic, at most 170 degrees.
    max_angle: f64,
}

impl FisheyeLens {
    /// Lens without coefficients, for which the distance equals the angle.
    pub const EQUIDISTANT: Self = Self { coefficients: [0.0; 4], max_angle: MAX_FISHEYE_ANGLE };

    /// Creates a lens with the coefficients k1 to k4.
    ///
    /// # Errors
    /// [`Error::Argument`] if a coefficient is not a number from -10000 to 10000.
    pub fn new(coefficients: [f64; 4]) -> Result<Self> {
        if !coefficients.iter().all(|k| k.abs() <= MAX_COEFFICIENT) {
            return Err(Error::argument(
                "fisheye coefficients",
                format!("numbers from -{MAX_COEFFICIENT} to {MAX_COEFFICIENT}"),
                format!("{coefficients:?}"),
            ));
        }
        let mut lens = Self { coefficients, max_angle: MAX_FISHEYE_ANGLE };
        let grows = |angle| lens.distance(angle).1 > 0.0;
        lens.max_angle = growing_until(MAX_FISHEYE_ANGLE, SLOPE_STEPS, grows);
        Ok(lens)
    }

    /// Coefficients k1 to k4.
    pub fn coefficients(&self) -> [f64; 4] {
        self.coefficients
    }

    /// Largest angle from the axis that is drawn, in radians.
    pub fn max_angle(&self) -> f64 {
        self.max_angle
    }

    /// Distance from the principal point at `angle`, in focal lengths, and its derivative.
    fn distance(&self, angle: f64) -> (f64, f64) {
        let t = angle * angle;
        let [k1, k2, k3, k4] = self.coefficients;
        let value = 1.0 + t * (k1 + t * (k2 + t * (k3 + t * k4)));
        (angle * value, 1.0 + t * (3.0 * k1 + t * (5.0 * k2 + t * (7.0 * k3 + t * 9.0 * k4))))
    }

    /// Second derivative of [`Self::distance`] by the angle, over the angle.
    fn curvature(&self, angle: f64) -> f64 {
        let t = angle * angle;
        let [k1, k2, k3, k4] = self.coefficients;
        6.0 * k1 + t * (20.0 * k2 + t * (42.0 * k3 + t * 72.0 * k4))
    }

    /// Derivatives by the point `p` of the sum of the entries of [`PlanePoint::gradient`], each times its entry of `by`.
    pub(crate) fn by_gradient(&self, [x, y, z]: [f64; 3], by: [[f64; 3]; 2]) -> [f64; 3] {
        let across = x.hypot(y);
        let (angle, squared) = (across.atan2(z), across * across + z * z);
        let ((distance, slope), fourth) = (self.distance(angle), squared * squared);
        let (diagonal, mixed) = (by[0][0] + by[1][1], by[0][1] + by[1][0]);
        let depths = x * by[0][2] + y * by[1][2];
        // As in [`Self::point`]: the ratio has the derivatives bend times (x, y), and `along` by z. Those of `along` are
        // `turn` times (x, y), and `stretch` by z; those of the bend are `twist` times (x, y), and `turn` by z.
        let along = -slope / squared;
        let curvature = self.curvature(angle);
        let stretch = (across * angle * curvature + 2.0 * z * slope) / fourth;
        let per_across = if across > 0.0 { angle / across } else { 0.0 };
        let turn = (2.0 * slope - z * per_across * curvature) / fourth;
        let bend = (slope * z / squared - distance / across) / (across * across);
        let twist = (z * (z * per_across * curvature - 2.0 * slope) / fourth - 3.0 * bend)
            / (across * across);
        // On the axis, each of these stands beside a power of x or y.
        let [bend, twist] = [bend, twist].map(|value| if value.is_finite() { value } else { 0.0 });
        let products = x * x * by[0][0] + x * y * mixed + y * y * by[1][1];
        let both = diagonal * bend + products * twist + depths * turn;
        [
            x * both + (2.0 * x * by[0][0] + y * mixed) * bend + by[0][2] * along,
            y * both + (2.0 * y * by[1][1] + x * mixed) * bend + by[1][2] * along,
            diagonal * along + products * turn + depths * stretch,
        ]
    }

    /// Radius of the image circle in focal lengths: the distance of the largest angle from the principal point.
    pub fn reach(&self) -> f64 {
        self.distance(self.max_angle).0
    }

    pub(crate) fn point(&self, [x, y, z]: [f64; 3]) -> Option<PlanePoint> {
        let across = x.hypot(y);
        let angle = across.atan2(z);
        let squared = across * across + z * z;
        if !squared.is_normal() || angle.is_nan() || angle >= self.max_angle {
            return None;
        }
        let (distance, slope) = self.distance(angle);
        // `at` is `ratio` times (x, y), and the derivative of `ratio` by x and y is `bend` times (x, y).
        let (ratio, bend) = if across > 0.0 {
            let ratio = distance / across;
            let bend = (slope * z / squared - ratio) / (across * across);
            (ratio, if bend.is_finite() { bend } else { 0.0 })
        } else {
            (1.0 / z, 0.0)
        };
        let along = -slope / squared;
        Some(PlanePoint {
            at: [ratio * x, ratio * y],
            gradient: [
                [ratio + x * x * bend, x * y * bend, x * along],
                [x * y * bend, ratio + y * y * bend, y * along],
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives of the gradient are central differences of it, near the axis and at large angles.
    #[test]
    fn second_derivatives_are_central_differences() {
        let lenses =
            [FisheyeLens::EQUIDISTANT, FisheyeLens::new([0.08, -0.03, 0.01, -0.002]).unwrap()];
        let points = [
            [0.7, -0.4, 1.5],
            [2.0, 1.0, -0.5],
            [0.0, 0.0, 2.0],
            [1e-5, -2e-5, 1.0],
            [-0.3, 0.9, 0.1],
        ];
        let by = [[0.3, -1.1, 0.7], [0.9, 0.5, -0.8]];
        for (lens, p) in lenses.iter().flat_map(|lens| points.map(|p| (lens, p))) {
            let sum = |p: [f64; 3]| -> f64 {
                let gradient = lens.point(p).unwrap().gradient;
                gradient.iter().flatten().zip(by.iter().flatten()).map(|(a, b)| a * b).sum()
            };
            let found = lens.by_gradient(p, by);
            for axis in 0..3 {
                let moved = |step: f64| {
                    let mut moved = p;
                    moved[axis] += step;
                    sum(moved)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (found[axis] - expected).abs() < 2e-5,
                    "{p:?} {axis}: {} {expected}",
                    found[axis]
                );
            }
        }
    }
}
