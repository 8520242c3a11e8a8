//! Lenses with distortion: the models of `OpenCV` and COLMAP beyond fisheyes with a polynomial alone.

use std::f64::consts::{FRAC_PI_2, PI};

use super::fisheye::{FisheyeLens, MAX_FISHEYE_ANGLE};
use super::plane_point::{PlanePoint, growing_until};
use crate::choice;
use crate::error::{Error, Result};

/// Largest number of coefficients of a model.
const MAX_COEFFICIENTS: usize = 12;
/// Bound on the coefficients; those of real lenses are below 1000.
const MAX_COEFFICIENT: f64 = 1e6;
/// Largest angle from the axis at which a perspective lens is examined for folds, just below 90 degrees.
const MAX_PERSPECTIVE_ANGLE: f64 = FRAC_PI_2 - 1e-3;
/// Steps of the search for a fold. Files have a lens per frame, and 4096 steps took five times as long as the rest of a
/// frame; folds between two steps are still found at each point.
const FOLD_STEPS: u32 = 512;
/// Square of the argument below which the series of the arc tangent is exact in f64.
const SMALL_SQUARE: f64 = 1e-4;

choice! {
    /// Model of a lens with distortion. It starts from the slopes `x = X/Z` and `y = Y/Z` or, for fisheyes, from the point
    /// at the distance of the angle from the axis, and multiplies by a factor of `s = x^2 + y^2`.
    pub enum DistortionModel {
        /// k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4: the factor
        /// `(1 + k1 s + k2 s^2 + k3 s^3) / (1 + k4 s + k5 s^2 + k6 s^3)`, and shifts
        OpenCv = "opencv",
        /// The angle w: `atan(2 r tan(w / 2)) / (r w)`, r the root of s
        FieldOfView = "fov",
        /// k: `2 / (1 + sqrt(1 - 4 k s))`
        Division = "division",
        /// a, b: `1 / (a sqrt(b s + 1) + 1 - a)`
        Unified = "eucm",
        /// k1, k2, p1, p2, k3, k4, sx1, sy1: `1 + k1 s + k2 s^2 + k3 s^3 + k4 s^4` of a fisheye, and shifts
        ThinPrismFisheye = "thin-prism-fisheye",
        /// k0 to k5, p0, p1, s0 to s3: `1 + k0 s + ... + k5 s^6` of a fisheye, and shifts of the point after this factor
        RadTanThinPrismFisheye = "rad-tan-thin-prism-fisheye",
    }
}

/// Lens with distortion. With the point (x, y) of its base, a factor, and shifts by tangential coefficients and thin prisms,
/// a point is drawn at these distances from the principal point, in focal lengths:
///
/// ```text
/// x factor + 2 p1 x y + p2 (s + 2 x^2) + s1 s + s2 s^2,    s = x^2 + y^2
/// y factor + 2 p2 x y + p1 (s + 2 y^2) + s3 s + s4 s^2
/// ```
///
/// where [`DistortionModel::RadTanThinPrismFisheye`] shifts by the terms of the point after its factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistortedLens {
    model: DistortionModel,
    coefficients: [f64; MAX_COEFFICIENTS],
    /// Largest distance of the base at which the distance after the factor still grows.
    max_distance: f64,
}

/// Shifts of a point: p1, p2, and s1 to s4.
type Shifts = ([f64; 2], [f64; 4]);

impl DistortionModel {
    fn coefficients(self) -> usize {
        match self {
            Self::FieldOfView | Self::Division => 1,
            Self::Unified => 2,
            Self::ThinPrismFisheye => 8,
            Self::OpenCv | Self::RadTanThinPrismFisheye => MAX_COEFFICIENTS,
        }
    }

    /// Whether the model distorts slopes, in place of angles.
    pub fn is_perspective(self) -> bool {
        !matches!(self, Self::ThinPrismFisheye | Self::RadTanThinPrismFisheye)
    }
}

/// `1 + c[0] s + c[1] s^2 + ...`, and its derivative.
fn polynomial(coefficients: &[f64], s: f64) -> (f64, f64) {
    let (mut value, mut slope) = (0.0, 0.0);
    for coefficient in coefficients.iter().rev() {
        slope = slope * s + value;
        value = value * s + coefficient;
    }
    (1.0 + s * value, value + s * slope)
}

/// Product of two matrices of two columns and rows.
fn product(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    a.map(|row| [0, 1].map(|c| row[0] * b[0][c] + row[1] * b[1][c]))
}

/// Shift of a point, and its derivatives.
fn shift_of(([p1, p2], [s1, s2, s3, s4]): Shifts, [x, y]: [f64; 2]) -> ([f64; 2], [[f64; 2]; 2]) {
    let s = x * x + y * y;
    let shift = [
        2.0 * p1 * x * y + p2 * (s + 2.0 * x * x) + s * (s1 + s2 * s),
        2.0 * p2 * x * y + p1 * (s + 2.0 * y * y) + s * (s3 + s4 * s),
    ];
    let prism = [2.0 * (s1 + 2.0 * s2 * s), 2.0 * (s3 + 2.0 * s4 * s)];
    let across = 2.0 * (p1 * x + p2 * y);
    let derivative = [
        [2.0 * p1 * y + 6.0 * p2 * x + prism[0] * x, across + prism[0] * y],
        [across + prism[1] * x, 2.0 * p2 * x + 6.0 * p1 * y + prism[1] * y],
    ];
    (shift, derivative)
}

impl DistortedLens {
    /// Creates a lens with the first coefficients of a model; the others are 0.
    ///
    /// # Errors
    /// [`Error::Argument`] for more coefficients than the model has, if one is not a number from -1e6 to 1e6, and if an angle
    /// of view is not above 0 and below 180 degrees.
    pub fn new(model: DistortionModel, coefficients: &[f64]) -> Result<Self> {
        let (most, what) = (model.coefficients(), format!("distortion of the lens {model}"));
        let is_valid = coefficients.iter().all(|k| k.abs() <= MAX_COEFFICIENT);
        let expected =
            format_args!("up to {most} numbers from -{MAX_COEFFICIENT} to {MAX_COEFFICIENT}");
        let is_refused = coefficients.len() > most || !is_valid;
        Error::refuse_if(is_refused, &what, expected, format_args!("{coefficients:?}"))?;
        let mut all = [0.0; MAX_COEFFICIENTS];
        all[..coefficients.len()].copy_from_slice(coefficients);
        if model == DistortionModel::FieldOfView {
            let is_angle = all[0] > 0.0 && all[0] < PI;
            Error::refuse_if(!is_angle, what, "an angle above 0 and below pi", all[0])?;
        }
        let end = if model.is_perspective() { MAX_PERSPECTIVE_ANGLE } else { MAX_FISHEYE_ANGLE };
        let mut lens = Self { model, coefficients: all, max_distance: 0.0 };
        let max_angle = growing_until(end, FOLD_STEPS, |angle| {
            let distance = lens.base_distance(angle);
            let (value, slope) = lens.factor(distance * distance);
            value > 0.0 && value + 2.0 * distance * distance * slope > 0.0
        });
        lens.max_distance = lens.base_distance(max_angle);
        Ok(lens)
    }

    /// Model of the lens.
    pub fn model(&self) -> DistortionModel {
        self.model
    }

    /// Coefficients in the order of the model.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients[..self.model.coefficients()]
    }

    /// Largest angle from the axis that is drawn, in radians.
    pub fn max_angle(&self) -> f64 {
        if self.model.is_perspective() { self.max_distance.atan() } else { self.max_distance }
    }

    /// Distance of the largest angle from the principal point in focal lengths, without shifts.
    pub fn reach(&self) -> f64 {
        self.max_distance * self.factor(self.max_distance * self.max_distance).0
    }

    fn base_distance(&self, angle: f64) -> f64 {
        if self.model.is_perspective() { angle.tan() } else { angle }
    }

    /// The factor and its derivative by `s`; not a number where there is none.
    fn factor(&self, s: f64) -> (f64, f64) {
        let k = &self.coefficients;
        match self.model {
            DistortionModel::OpenCv => {
                let (n, dn) = polynomial(&[k[0], k[1], k[4]], s);
                let (d, dd) = polynomial(&k[5..8], s);
                let value = if d > 0.0 { n / d } else { f64::NAN };
                (value, (dn - value * dd) / d)
            }
            DistortionModel::FieldOfView => {
                let c = 2.0 * (k[0] / 2.0).tan();
                let square = c * c * s;
                if square < SMALL_SQUARE {
                    let value = 1.0 + square * (-1.0 / 3.0 + square * (0.2 - square / 7.0));
                    let slope = -1.0 / 3.0 + square * (0.4 - square * (3.0 / 7.0));
                    return (c / k[0] * value, c / k[0] * c * c * slope);
                }
                let r = s.sqrt();
                let value = (c * r).atan() / (k[0] * r);
                (value, (c / (k[0] * (1.0 + square)) - value) / (2.0 * s))
            }
            DistortionModel::Division => {
                let root = (1.0 - 4.0 * k[0] * s).sqrt();
                let sum = 1.0 + root;
                (2.0 / sum, 4.0 * k[0] / (root * sum * sum))
            }
            DistortionModel::Unified => {
                let root = (k[1] * s + 1.0).sqrt();
                let value = 1.0 / (k[0] * root + 1.0 - k[0]);
                (value, -k[0] * k[1] / (2.0 * root) * value * value)
            }
            DistortionModel::ThinPrismFisheye => polynomial(&[k[0], k[1], k[4], k[5]], s),
            DistortionModel::RadTanThinPrismFisheye => polynomial(&k[..6], s),
        }
    }

    fn shifts(&self) -> Shifts {
        let k = &self.coefficients;
        match self.model {
            DistortionModel::OpenCv => ([k[2], k[3]], [k[8], k[9], k[10], k[11]]),
            DistortionModel::ThinPrismFisheye => ([k[2], k[3]], [k[6], 0.0, k[7], 0.0]),
            // The first of its tangential coefficients is that of x, the second one of `OpenCV`.
            DistortionModel::RadTanThinPrismFisheye => ([k[7], k[6]], [k[8], k[9], k[10], k[11]]),
            _ => ([0.0; 2], [0.0; 4]),
        }
    }

    pub(crate) fn point(&self, p: [f64; 3]) -> Option<PlanePoint> {
        let base = if self.model.is_perspective() {
            PlanePoint::of_slopes(p)?
        } else {
            FisheyeLens::EQUIDISTANT.point(p)?
        };
        let PlanePoint { at: [x, y], gradient } = base;
        let s = x * x + y * y;
        if s >= self.max_distance * self.max_distance {
            return None;
        }
        let (factor, slope) = self.factor(s);
        let scaled = [x * factor, y * factor];
        let across = 2.0 * x * y * slope;
        let by_factor =
            [[factor + 2.0 * x * x * slope, across], [across, factor + 2.0 * y * y * slope]];
        let is_after = self.model == DistortionModel::RadTanThinPrismFisheye;
        let (shift, by_shift) = shift_of(self.shifts(), if is_after { scaled } else { [x, y] });
        let by_shift = if is_after { product(by_shift, by_factor) } else { by_shift };
        let total = [0, 1].map(|r| [0, 1].map(|c| by_factor[r][c] + by_shift[r][c]));
        // Beyond a fold, directions would be drawn mirrored.
        let is_unfolded = total[0][0] * total[1][1] - total[0][1] * total[1][0] > 0.0;
        is_unfolded.then(|| PlanePoint {
            at: [scaled[0] + shift[0], scaled[1] + shift[1]],
            gradient: total
                .map(|row| [0, 1, 2].map(|c| row[0] * gradient[0][c] + row[1] * gradient[1][c])),
        })
    }
}
