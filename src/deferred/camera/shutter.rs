//! Views when the shutter opens and closes, and projection relative to the picture's centre.

use nalgebra::Vector3;

use super::lens::{Lens, LensShear};
use super::motion::{CameraMotion, Placement, RigidMotion, SceneMotion};
use quadrille_base::error::Result;
use quadrille_geometry::camera::MeshCamera;
use quadrille_scene::Camera;

/// Camera with a lens, and the motion of camera and draws while the shutter is open.
#[derive(Debug, Clone)]
pub struct ShutterView {
    /// Views when the shutter opens and when it closes.
    ends: [MeshCamera; 2],
    middle: MeshCamera,
    lens: Lens,
    shear: LensShear,
    motion: SceneMotion,
}

/// Homogeneous point relative to the picture's centre: column and row in pixels times `Z`, and `Z`.
pub(crate) type CentredPoint = [f64; 3];

impl ShutterView {
    /// Creates the view of a camera with a near plane at distance `near`.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) for motion that is not finite.
    pub fn new(camera: &Camera, near: f64, lens: Lens, motion: SceneMotion) -> Result<Self> {
        motion.validate()?;
        let at = |time| MeshCamera::new(motion.camera.camera_at(camera, time), near);
        Ok(Self {
            ends: [at(0.0), at(1.0)],
            middle: at(0.5),
            lens,
            shear: lens.shear(camera.focal_px),
            motion,
        })
    }

    /// Converts the view for a scene whose positions are relative to `origin`.
    #[must_use]
    pub fn relative_to(mut self, origin: [f64; 3]) -> Self {
        self.ends = self.ends.map(|end| end.relative_to(origin));
        self.middle = self.middle.relative_to(origin);
        for (_, motion) in &mut self.motion.draws {
            motion.centre -= Vector3::from(origin);
        }
        self
    }

    /// View half-way through the exposure.
    pub fn middle(&self) -> &MeshCamera {
        &self.middle
    }

    /// Aperture and focus of the lens.
    pub fn lens(&self) -> Lens {
        self.lens
    }

    /// Shear of the lens on the picture, from which blur follows.
    pub fn shear(&self) -> &LensShear {
        &self.shear
    }

    /// Width and height of the picture in pixels.
    pub fn size(&self) -> [u32; 2] {
        [self.middle.camera.width, self.middle.camera.height]
    }

    /// Column and row of the picture's centre, in pixels.
    pub fn centre_px(&self) -> [f64; 2] {
        self.size().map(|px| f64::from(px) / 2.0)
    }

    /// Distance of the near plane in world units.
    pub fn near(&self) -> f64 {
        self.middle.near
    }

    /// Placements of a draw when the shutter opens, half-way, and when it closes.
    pub fn placements(&self, draw: u32) -> [Placement; 3] {
        let motion: RigidMotion = self.motion.of(draw);
        [0.0, 0.5, 1.0].map(|time| motion.until(time))
    }

    /// Whether neither the camera nor any draw moves.
    pub(crate) fn is_still(&self) -> bool {
        self.motion.camera == CameraMotion::NONE
            && self.motion.draws.iter().all(|(_, m)| m.is_none())
    }

    /// Projects a point of a draw through the centre of the lens, when the shutter opens and when it closes.
    #[inline]
    pub fn project(&self, placements: &[Placement; 3], position: [f32; 3]) -> [CentredPoint; 2] {
        let p = Vector3::from(position.map(f64::from));
        let end = |view: &MeshCamera, placement: &Placement| {
            let camera = &view.camera;
            let p = camera.view_from_world * placement.point(p) + camera.translation_in_view;
            let [x, y] = [
                camera.principal_px[0] - f64::from(camera.width) / 2.0,
                camera.principal_px[1] - f64::from(camera.height) / 2.0,
            ];
            [camera.focal_px[0] * p.x + x * p.z, camera.focal_px[1] * p.y + y * p.z, p.z]
        };
        [end(&self.ends[0], &placements[0]), end(&self.ends[1], &placements[2])]
    }
}
