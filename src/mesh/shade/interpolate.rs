//! Perspective-correct attributes inside a triangle and beyond it.
//!
//! A point at depth `z` that projects to pixel (x, y) has the homogeneous coordinates `(x z, y z, z)`. On the triangle
//! these are the corners' coordinates weighted by the barycentric coordinates `b`, so with the corners as columns of `M`
//!
//! ```text
//! b / z = M^-1 (x, y, 1)        1 / z = the sum of b / z
//! ```
//!
//! Nothing is divided by a corner's `z`, so corners may lie behind the eye (Olano and Greer, "Triangle Scan Conversion
//! using 2D Homogeneous Coordinates"). `b / z` is linear in x and y outside the triangle too, as on a GPU.

use nalgebra::Vector3;

use quadrille_base::math::narrow;
use quadrille_geometry::camera::{HomogeneousPoint, MeshCamera};
use quadrille_geometry::grid::GridVertex;

/// Minimum determinant, relative to the product of the corners' lengths, of a triangle with area: a few rounding errors.
const LEAST_DETERMINANT: f64 = 1e-14;

/// Barycentrics and depth of a point on a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Barycentrics {
    /// Weights of the corners, with sum 1; outside the triangle some are negative.
    pub weights: [f64; 3],
    /// 1 / z, in inverse world units; zero or negative beyond the horizon of the triangle's plane.
    pub inverse_z: f64,
}

impl Barycentrics {
    /// Interpolates `N` components. Differences from the first corner keep large weights outside a triangle accurate.
    #[inline]
    pub fn mix<const N: usize>(&self, corners: [[f32; N]; 3]) -> [f32; N] {
        let [_, w1, w2] = self.weights.map(narrow);
        let [c0, c1, c2] = corners;
        std::array::from_fn(|k| c0[k] + (w1 * (c1[k] - c0[k]) + w2 * (c2[k] - c0[k])))
    }
}

/// Barycentric coordinates of a triangle as functions of the position on the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrianglePlanes {
    /// Origin of x and y, near the triangle for accuracy.
    origin_px: [f64; 2],
    /// `b / z` of each corner: coefficients of x, y and 1.
    rows: [Vector3<f64>; 3],
}

impl TrianglePlanes {
    /// Creates the planes of a triangle; `None` if it is edge-on, without area or entirely behind the eye.
    #[inline]
    pub fn new(vertices: [&GridVertex; 3], view: &MeshCamera) -> Option<Self> {
        Self::from_seen(vertices.map(|v| view.project(v.position)))
    }

    /// Creates the planes of a triangle from its projected corners; `None` as in [`TrianglePlanes::new`].
    #[inline]
    pub fn from_seen(corners: [HomogeneousPoint; 3]) -> Option<Self> {
        let farthest = corners.iter().fold(&corners[0], |far, c| if c.z > far.z { c } else { far });
        if farthest.z <= 0.0 {
            return None;
        }
        let origin_px = [farthest.xz / farthest.z, farthest.yz / farthest.z];
        let [a, b, c] = corners
            .map(|p| Vector3::new(p.xz - origin_px[0] * p.z, p.yz - origin_px[1] * p.z, p.z));
        let rows = [b.cross(&c), c.cross(&a), a.cross(&b)];
        let determinant = a.dot(&rows[0]);
        let scale = (a.dot(&a) * b.dot(&b) * c.dot(&c)).sqrt();
        // Also false for NaN.
        let has_area = determinant.abs() > LEAST_DETERMINANT * scale;
        has_area.then(|| Self { origin_px, rows: rows.map(|row| row / determinant) })
    }

    /// Barycentrics at a position on the picture, in pixels.
    #[inline]
    pub fn at(&self, x_px: f64, y_px: f64) -> Barycentrics {
        let (x, y) = (x_px - self.origin_px[0], y_px - self.origin_px[1]);
        let over_z = self.rows.map(|row| row.x * x + row.y * y + row.z);
        let inverse_z = over_z[0] + over_z[1] + over_z[2];
        let z = 1.0 / inverse_z;
        Barycentrics { weights: over_z.map(|v| v * z), inverse_z }
    }
}
