//! Projections of cameras: from directions in view space to the picture plane.

use super::distortion::DistortedLens;
use super::fisheye::FisheyeLens;
use super::plane_point::PlanePoint;

/// Mapping of directions to the picture of a camera.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Projection {
    /// Perspective projection: `x / z` and `y / z`.
    #[default]
    Pinhole,
    /// Fisheye: the distance from the principal point depends on the angle from the axis.
    Fisheye(FisheyeLens),
    /// Lens with tangential or other distortion.
    Distorted(DistortedLens),
    /// Panorama of the whole sphere: longitude and latitude in radians; the left and right edges meet.
    Equirectangular,
    /// Orthographic projection: `x` and `y` in world units, at any depth; the focal lengths are pixels per world unit.
    Orthographic,
}

/// Longitude and latitude; `None` on the vertical axis, which has no longitude.
fn on_sphere([x, y, z]: [f64; 3]) -> Option<PlanePoint> {
    let across = x.hypot(z);
    let across_squared = across * across;
    let squared = across_squared + y * y;
    if !across_squared.is_normal() || !squared.is_finite() {
        return None;
    }
    let turn = y / (across * squared);
    Some(PlanePoint {
        at: [x.atan2(z), y.atan2(across)],
        gradient: [
            [z / across_squared, 0.0, -x / across_squared],
            [-x * turn, across / squared, -z * turn],
        ],
    })
}

impl Projection {
    /// Whether the derivatives of pictures are known: for projections onto a plane and for fisheyes.
    pub fn has_derivatives(&self) -> bool {
        self.is_planar() || matches!(self, Self::Fisheye(_))
    }

    /// Derivatives by the point `p` in view space of the sum of the entries of [`PlanePoint::gradient`], each times its entry
    /// of `by`; `None` for projections other than fisheyes.
    pub fn by_gradient(&self, p: [f64; 3], by: [[f64; 3]; 2]) -> Option<[f64; 3]> {
        match self {
            Self::Fisheye(lens) => Some(lens.by_gradient(p, by)),
            _ => None,
        }
    }

    /// Projects the point `p` in view space; `None` if the projection does not cover its direction.
    pub fn point(&self, p: [f64; 3]) -> Option<PlanePoint> {
        match self {
            Self::Pinhole => PlanePoint::of_slopes(p),
            Self::Fisheye(lens) => lens.point(p),
            Self::Distorted(lens) => lens.point(p),
            Self::Equirectangular => on_sphere(p),
            Self::Orthographic => {
                let [x, y, _] = p;
                Some(PlanePoint { at: [x, y], gradient: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] })
            }
        }
    }

    /// True for [`Self::Pinhole`].
    pub fn is_pinhole(&self) -> bool {
        *self == Self::Pinhole
    }

    /// Whether the projection is onto a plane: straight lines stay straight.
    pub fn is_planar(&self) -> bool {
        self.divisor().is_some()
    }

    /// Factor `a` and constant `b` of a projection onto a plane, which maps a point to `x / (a z + b)` and `y / (a z + b)`;
    /// `None` for fisheyes and panoramas.
    pub fn divisor(&self) -> Option<[f64; 2]> {
        match self {
            Self::Pinhole => Some([1.0, 0.0]),
            Self::Orthographic => Some([0.0, 1.0]),
            Self::Fisheye(_) | Self::Distorted(_) | Self::Equirectangular => None,
        }
    }

    /// Whether depths are along the axis, as for pinholes with or without distortion and for orthographic cameras; else they
    /// are distances, since the picture may include points beside and behind the camera.
    pub fn has_axial_depth(&self) -> bool {
        match self {
            Self::Pinhole | Self::Orthographic => true,
            Self::Distorted(lens) => lens.model().is_perspective(),
            Self::Fisheye(_) | Self::Equirectangular => false,
        }
    }

    /// Largest angle from the axis that a lens shows, in radians, and its distance from the principal point in focal lengths;
    /// `None` for projections that are not those of lenses.
    pub fn lens_limits(&self) -> Option<[f64; 2]> {
        match self {
            Self::Fisheye(lens) => Some([lens.max_angle(), lens.reach()]),
            Self::Distorted(lens) => Some([lens.max_angle(), lens.reach()]),
            _ => None,
        }
    }
}
