//! Solids composed of surfaces.

use nalgebra::Vector3;

use super::light::Occluder;
use super::surface::Quad;

/// An upright box, rotated about the vertical.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// Middle of its lower face.
    pub(crate) base: Vector3<f32>,
    /// Width, height and depth.
    pub(crate) size: Vector3<f32>,
    /// Unit direction of its width, level.
    pub(crate) facing: Vector3<f32>,
}

impl Block {
    /// A block whose width runs along x.
    pub(crate) fn straight(base: [f32; 3], size: [f32; 3]) -> Self {
        Self {
            base: Vector3::from(base),
            size: Vector3::from(size),
            facing: Vector3::x(),
        }
    }

    /// Vectors along its width, height and depth, with their lengths.
    pub(crate) fn edges(&self) -> [Vector3<f32>; 3] {
        let depth = self.facing.cross(&Vector3::y());
        [
            self.facing * self.size.x,
            Vector3::y() * self.size.y,
            depth * self.size.z,
        ]
    }

    /// Its four sides: front, back, left, right, outward.
    pub(crate) fn sides(&self) -> [Quad; 4] {
        let [w, h, d] = self.edges();
        let corner = self.base - w / 2.0 - d / 2.0;
        let quad = |corner, u, v| Quad { corner, u, v };
        [
            quad(corner + d, w, h),
            quad(corner + w, -w, h),
            quad(corner, d, h),
            quad(corner + w + d, -d, h),
        ]
    }

    pub(crate) fn top(&self) -> Quad {
        let [w, h, d] = self.edges();
        Quad::new(self.base - w / 2.0 - d / 2.0 + h, d, w)
    }

    /// The sides and the upper face.
    pub(crate) fn faces(&self) -> Vec<Quad> {
        let mut faces = self.sides().to_vec();
        faces.push(self.top());
        faces
    }

    /// The ellipsoid that blocks light for it.
    pub(crate) fn occluder(&self) -> Occluder {
        let [w, _, d] = self.edges();
        let half = (w.abs() + d.abs()) / 2.0;
        Occluder {
            centre: self.base + Vector3::y() * (self.size.y / 2.0),
            radii: Vector3::new(half.x, self.size.y / 2.0, half.z) * 1.15,
            // Corners are root three half edges from the middle.
            own: 1.6,
            strength: 1.0,
        }
    }
}
