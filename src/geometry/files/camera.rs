//! Cameras that a file places in the scene.

use nalgebra::{Matrix3, Vector3};

use quadrille_base::error::Result;
use quadrille_scene::{Camera, Intrinsics};

/// Perspective camera that a file places in the scene.
#[derive(Debug, Clone, PartialEq)]
pub struct FileCamera {
    /// Name, unique within the file.
    pub name: String,
    /// Rotation from world space to view space: x right, y down, z forward.
    pub view_from_world: Matrix3<f64>,
    /// Position in world space.
    pub eye: [f64; 3],
    /// Vertical field of view in radians, above 0 and below pi.
    pub vertical_fov: f64,
    /// Ratio of width to height of the picture, if the file states it.
    pub aspect: Option<f64>,
    /// Distance of the near plane in world units, above 0.
    pub near: f64,
}

impl FileCamera {
    /// Camera with a picture of `width` x `height` pixels and the vertical field of view of the file.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) for a size of 0 or a field of view not between 0 and pi.
    pub fn with_size(&self, width: u32, height: u32) -> Result<Camera> {
        let lens = Intrinsics::from_vertical_fov(width, height, self.vertical_fov);
        let translation = -(self.view_from_world * Vector3::from(self.eye));
        Camera::new(&self.name, lens, self.view_from_world, translation)
    }
}
