//! Camera with a near plane: projection of meshes to the picture.

use nalgebra::Vector3;

use quadrille_scene::Camera;

/// Camera with a near plane, for positions that are relative to an origin.
#[derive(Debug, Clone)]
pub struct MeshCamera {
    /// Position, orientation and lens, relative to the origin of the positions.
    pub camera: Camera,
    origin: [f64; 3],
    /// Distance of the near plane in world units, above zero.
    pub near: f64,
}

/// Point in homogeneous picture coordinates, which is valid behind the camera too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HomogeneousPoint {
    /// Column in pixels, times `z`.
    pub xz: f64,
    /// Row in pixels, times `z`.
    pub yz: f64,
    /// Distance along the view axis in world units; negative behind the camera.
    pub z: f64,
}

impl MeshCamera {
    /// Adds a near plane at the distance `near` to a camera in world space.
    pub fn new(camera: Camera, near: f64) -> Self {
        Self { camera, origin: [0.0; 3], near }
    }

    /// The same view for positions relative to `origin` instead of the current origin.
    #[must_use]
    pub fn relative_to(mut self, origin: [f64; 3]) -> Self {
        let by = [0, 1, 2].map(|axis| origin[axis] - self.origin[axis]);
        self.camera = self.camera.relative_to(by).into_owned();
        Self { origin, ..self }
    }

    /// Camera of a part of the picture enlarged by `scale`: `width` x `height` pixels from the enlarged pixel `corner` on.
    #[must_use]
    pub fn enlarged(&self, scale: u32, corner: [u32; 2], [width, height]: [u32; 2]) -> Self {
        let mut part = self.clone();
        let [scale, x, y] = [scale, corner[0], corner[1]].map(f64::from);
        let camera = &mut part.camera;
        (camera.width, camera.height) = (width, height);
        camera.focal_px = camera.focal_px.map(|focal| focal * scale);
        let [column, row] = camera.principal_px.map(|px| px * scale);
        camera.principal_px = [column - x, row - y];
        part
    }

    /// The camera relative to the origin of the world.
    pub fn in_world(&self) -> Camera {
        self.camera.relative_to(self.origin.map(|axis| -axis)).into_owned()
    }

    /// Projects a point relative to the origin.
    #[inline]
    pub fn project(&self, position: [f32; 3]) -> HomogeneousPoint {
        let camera = &self.camera;
        let p = camera.view_from_world * Vector3::from(position.map(f64::from))
            + camera.translation_in_view;
        HomogeneousPoint {
            xz: camera.focal_px[0] * p.x + camera.principal_px[0] * p.z,
            yz: camera.focal_px[1] * p.y + camera.principal_px[1] * p.z,
            z: p.z,
        }
    }

    /// Position of a point in the picture, in pixels. Points nearer than the near plane count as points on it.
    #[inline]
    pub fn position_px(&self, position: [f32; 3]) -> [f64; 2] {
        let point = self.project(position);
        let z = point.z.max(self.near);
        [point.xz / z, point.yz / z]
    }

    /// True if all points are beyond one side of the picture or nearer than the near plane, which hides their hull.
    pub fn misses(&self, positions: impl IntoIterator<Item = [f32; 3]>) -> bool {
        let size = [self.camera.width, self.camera.height].map(f64::from);
        let mut beyond_all = 0b1_1111_u8;
        for position in positions {
            let HomogeneousPoint { xz, yz, z } = self.project(position);
            let beyond = [z < self.near, xz < 0.0, yz < 0.0, xz > size[0] * z, yz > size[1] * z];
            for (bit, is_beyond) in beyond.into_iter().enumerate() {
                beyond_all &= !(u8::from(!is_beyond) << bit);
            }
            if beyond_all == 0 {
                return false;
            }
        }
        true
    }

    /// [`Self::misses`] for the corners of a box, given by its least and greatest corner.
    pub(crate) fn misses_box(&self, bounds: [[f32; 3]; 2]) -> bool {
        self.misses(
            (0..8)
                .map(|corner: usize| std::array::from_fn(|axis| bounds[corner >> axis & 1][axis])),
        )
    }

    /// Position of the camera relative to the origin of the positions.
    pub fn eye(&self) -> [f64; 3] {
        let camera = &self.camera;
        (camera.view_from_world.transpose() * -camera.translation_in_view).into()
    }

    /// Position of the camera in the world.
    pub fn eye_in_world(&self) -> [f64; 3] {
        let eye = self.eye();
        [0, 1, 2].map(|axis| eye[axis] + self.origin[axis])
    }
}
