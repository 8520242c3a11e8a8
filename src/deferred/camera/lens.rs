//! Thin lens: aperture, focus and circle of confusion.

use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;

/// Aperture and focus of a thin lens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lens {
    radius: f64,
    focus: f64,
}

/// Displacement of a point on the picture per unit of the lens coordinates, times the point's distance `Z`: `a Z + b`
/// along each axis, in pixels times world units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LensShear {
    /// Coefficients of `Z` along x and y, in pixels.
    pub a: [f32; 2],
    /// Constants along x and y, in pixels times world units.
    pub b: [f32; 2],
}

impl Lens {
    /// A pinhole, through which all points are sharp.
    pub const PINHOLE: Self = Self { radius: 0.0, focus: f64::INFINITY };

    /// Creates a lens from the radius of its aperture and the distance in focus, which may be infinite, in world units.
    ///
    /// # Errors
    /// [`Error::Argument`] for a radius below 0 or not finite, and for a focus that is not in front of the
    /// camera.
    pub fn new(radius: f64, focus: f64) -> Result<Self> {
        let is_wrong = !(radius >= 0.0 && radius.is_finite());
        Error::refuse_if(is_wrong, "aperture", "a finite radius of at least 0", radius)?;
        Error::refuse_if(focus.is_nan() || focus <= 0.0, "focus", "a distance above 0", focus)?;
        Ok(Self { radius, focus })
    }

    /// Creates a lens with a circle of confusion of `diameter_px` pixels for infinitely distant points.
    ///
    /// # Errors
    /// [`Error::Argument`] for a diameter below 0 or not finite, for a focus that is not in front of the
    /// camera, and for an infinite focus, with which far points are sharp.
    pub fn from_blur_at_infinity(diameter_px: f64, focal_px: f64, focus: f64) -> Result<Self> {
        if focus.is_infinite() && diameter_px > 0.0 {
            return Err(Error::needs("blur at infinity", "a finite focus"));
        }
        if !(diameter_px >= 0.0 && diameter_px.is_finite()) {
            let expected = "a finite number of pixels of at least 0";
            return Err(Error::argument("blur at infinity", expected, diameter_px));
        }
        if diameter_px == 0.0 {
            return Self::new(0.0, focus);
        }
        Self::new(diameter_px * focus / (2.0 * focal_px), focus)
    }

    /// Radius of the aperture in world units.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Distance in focus, in world units; may be infinite.
    pub fn focus(&self) -> f64 {
        self.focus
    }

    /// Shear on the picture of a camera with these focal lengths in pixels.
    pub fn shear(&self, focal_px: [f64; 2]) -> LensShear {
        LensShear {
            a: focal_px.map(|f| narrow(f * self.radius / self.focus)),
            b: focal_px.map(|f| narrow(-f * self.radius)),
        }
    }
}

impl LensShear {
    /// Shear of a point at distance `z` along x and y, in pixels times world units.
    #[inline]
    pub fn at(&self, z: f64) -> [f64; 2] {
        [0, 1].map(|k| f64::from(self.a[k]) * z + f64::from(self.b[k]))
    }

    /// Diameter in pixels of the circle of confusion of points at distance `z`, along x.
    pub fn coc_px(&self, z: f64) -> f64 {
        2.0 * (self.at(z)[0] / z).abs()
    }

    /// Whether all points are sharp.
    pub fn is_pinhole(&self) -> bool {
        *self == Self::default() || self.b == [0.0; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_of_confusion() {
        let shear = Lens::new(0.1, 4.0).unwrap().shear([500.0; 2]);
        assert!(shear.coc_px(4.0) < 1e-4, "in focus");
        // The diameter is 2 f R |1/F - 1/Z|.
        assert!((shear.coc_px(2.0) - 25.0).abs() < 1e-4);
        assert!((shear.coc_px(1e9) - 25.0).abs() < 1e-4);
        let same = Lens::from_blur_at_infinity(25.0, 500.0, 4.0).unwrap();
        assert!((same.radius() - 0.1).abs() < 1e-12);
        let far = Lens::new(0.1, f64::INFINITY).unwrap().shear([500.0; 2]);
        assert!((far.coc_px(5.0) - 20.0).abs() < 1e-4);
        assert!(far.coc_px(1e9) < 1e-6);
        assert!(Lens::PINHOLE.shear([500.0; 2]).is_pinhole());
        assert!(!shear.is_pinhole());
    }

    #[test]
    fn impossible_lenses_are_refused() {
        for (radius, focus) in
            [(-1.0, 1.0), (f64::NAN, 1.0), (1.0, 0.0), (1.0, -2.0), (1.0, f64::NAN)]
        {
            assert!(Lens::new(radius, focus).is_err(), "{radius} {focus}");
        }
        assert!(Lens::from_blur_at_infinity(4.0, 500.0, f64::INFINITY).is_err());
        assert!(Lens::from_blur_at_infinity(f64::INFINITY, 500.0, 1.0).is_err());
        let sharp = Lens::from_blur_at_infinity(0.0, 500.0, f64::INFINITY).unwrap();
        assert_eq!(sharp.shear([500.0; 2]), LensShear::default().b_zeroed());
    }

    impl LensShear {
        /// Pinhole shear with negative zeros made positive, for comparisons.
        fn b_zeroed(self) -> Self {
            Self { a: [0.0; 2], b: [0.0; 2] }
        }
    }
}
