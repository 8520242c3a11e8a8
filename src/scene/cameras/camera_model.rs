//! Projections that the user can choose in place of the one in the camera file.

use super::picture_size::PictureSize;
use crate::camera::Camera;
use crate::projection::Projection;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};

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
        /// Distance from the centre proportional to the angle from the axis, without distortion
        Fisheye = "fisheye",
        /// Panorama over longitude and latitude
        Equirectangular = "equirectangular",
    }
}

impl CameraModel {
    /// True if the model does not use the field of view of the view search, which places pinholes.
    pub(super) fn has_own_fov(self) -> bool {
        self != Self::Pinhole
    }

    pub(super) fn applied(
        self,
        camera: Camera,
        fov_degrees: Option<f64>,
        size: PictureSize,
    ) -> Result<Camera> {
        match self {
            Self::Pinhole => Ok(camera.as_pinhole()),
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
            None | Some(Self::Pinhole) => fov_degrees > 0.0 && fov_degrees < PINHOLE_FOV_DEGREES,
        };
        let expected = "an angle between 0 and 180 degrees, or up to 340 degrees for a fisheye";
        Error::refuse_if(!is_valid, "fov", expected, fov_degrees)
    }
}
