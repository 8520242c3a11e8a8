//! Projections that the user can choose in place of the one in the camera file.

use nalgebra::Vector3;

use super::picture_size::PictureSize;
use crate::camera::Camera;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::lens::Projection;

const PANORAMA_PX: [u32; 2] = [2048, 1024];
const FISHEYE_FOV_DEGREES: f64 = 180.0;
/// Largest vertical field of view of a fisheye, at which its projection ends.
const MAX_FOV_DEGREES: f64 = 340.0;
const PINHOLE_FOV_DEGREES: f64 = 180.0;

choice! {
    /// Projection of a camera.
    pub enum CameraModel {
        /// Straight lines stay straight
        Pinhole = "pinhole",
        /// Parallel rays: straight lines stay straight, and distant content is not smaller
        Orthographic = "orthographic",
        /// Distance from the centre proportional to the angle from the axis, without distortion
        Fisheye = "fisheye",
        /// Panorama over longitude and latitude
        Equirectangular = "equirectangular",
    }
}

impl CameraModel {
    /// True if the model does not use the field of view of the view search, which places pinholes.
    pub(super) fn has_own_fov(self) -> bool {
        matches!(self, Self::Fisheye | Self::Equirectangular)
    }

    /// Camera of this model in place of `camera`, which looks at `target`.
    pub(super) fn applied(
        self,
        camera: Camera,
        fov_degrees: Option<f64>,
        size: PictureSize,
        target: Vector3<f64>,
    ) -> Result<Camera> {
        match self {
            Self::Pinhole => Ok(camera.as_pinhole()),
            Self::Orthographic => camera.as_pinhole().through_parallel_rays(target),
            Self::Fisheye => {
                Ok(camera.through_fisheye(fov_degrees.unwrap_or(FISHEYE_FOV_DEGREES).to_radians()))
            }
            Self::Equirectangular => {
                let [width, height] = size.of(PANORAMA_PX)?;
                Ok(camera.resized(width, height)?.with_projection(Projection::Equirectangular))
            }
        }
    }

    /// Checks the vertical field of view for a model, or for the projection in the file if `model` is `None`.
    pub(super) fn check_fov(model: Option<Self>, fov_degrees: f64) -> Result<()> {
        let is_valid = match model {
            Some(Self::Equirectangular) => {
                let other = "camera model equirectangular, which shows all directions";
                return Err(Error::conflict("fov", other));
            }
            Some(Self::Fisheye) => fov_degrees > 0.0 && fov_degrees <= MAX_FOV_DEGREES,
            None | Some(Self::Pinhole | Self::Orthographic) => {
                fov_degrees > 0.0 && fov_degrees < PINHOLE_FOV_DEGREES
            }
        };
        let expected = "an angle between 0 and 180 degrees, or up to 340 degrees for a fisheye";
        Error::refuse_if(!is_valid, "fov", expected, fov_degrees)
    }
}
