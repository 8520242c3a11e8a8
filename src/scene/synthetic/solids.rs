//! Bodies put together from surfaces.

use nalgebra::Vector3;

use super::light::Occluder;
use super::surface::Quad;

/// An upright box, turned about the vertical.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Middle of its lower face.
    pub(super) base: Vector3<f32>,
    /// Width, height and depth.
    pub(super) size: Vector3<f32>,
    /// Unit direction of its width, level.
    pub(super) facing: Vector3<f32>,
}

impl Block {
    /// A block whose width runs along x.
    pub(super) fn straight(base: [f32; 3], size: [f32; 3]) -> Self {
        Self {
            base: Vector3::from(base),
            size: Vector3::from(size),
            facing: Vector3::x(),
        }
    }

    /// Its axes, as long as it is.
    pub(super) fn edges(&self) -> [Vector3<f32>; 3] {
        let depth = self.facing.cross(&Vector3::y());
        [
            self.facing * self.size.x,
            Vector3::y() * self.size.y,
            depth * self.size.z,
        ]
    }

    /// Its four sides: front, back, left, right, outward.
    pub(super) fn sides(&self) -> [Quad; 4] {
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

    /// Its upper face.
    pub(super) fn top(&self) -> Quad {
        let [w, h, d] = self.edges();
        Quad {
            corner: self.base - w / 2.0 - d / 2.0 + h,
            u: d,
            v: w,
        }
    }

    /// Its sides and its upper face.
    pub(super) fn faces(&self) -> Vec<Quad> {
        let mut faces = self.sides().to_vec();
        faces.push(self.top());
        faces
    }

    /// What it keeps away of the light.
    pub(super) fn occluder(&self) -> Occluder {
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
