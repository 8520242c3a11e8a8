//! Projections that replace the projection of cameras.

use super::picture_size::PictureSize;
use crate::camera::Camera;
use crate::projection::Projection;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};

/// Width and height of panoramas without a requested size.
const PANORAMA_PX: [u32; 2] = [2048, 1024];
/// Vertical field of view of a fisheye without a requested one.
const FISHEYE_FOV_DEGREES: f64 = 180.0;
/// Largest field of view of a fisheye: its projection ends there.
const MAX_FOV_DEGREES: f64 = 340.0;
/// Upper bound of the field of view of a pinhole.
const PINHOLE_FOV_DEGREES: f64 = 180.0;

choice! {
    /// A projection.
    pub enum CameraModel {
        /// Straight lines stay straight
        Pinhole = "pinhole",
        /// The angle from the axis is the distance from the centre, without distortion
        Fisheye = "fisheye",
        /// A panorama: longitude and latitude
        Equirectangular = "equirectangular",
    }
}

impl CameraModel {
    /// Whether its field of view differs from the field of view of the pinhole cameras of the view search.
    pub(super) fn has_own_fov(self) -> bool {
        self != Self::Pinhole
    }

    /// The camera with this projection.
    pub(super) fn applied(
        self,
        camera: Camera,
        fov_degrees: Option<f64>,
        size: PictureSize,
    ) -> Result<Camera> {
        match self {
            Self::Pinhole => Ok(camera.as_pinhole()),
            Self::Fisheye => {
                let fov = fov_degrees.unwrap_or(FISHEYE_FOV_DEGREES);
                Ok(camera.through_fisheye(fov.to_radians()))
            }
            Self::Equirectangular => {
                let [width, height] = size.of(PANORAMA_PX)?;
                Ok(camera.resized(width, height)?.with_projection(Projection::Equirectangular))
            }
        }
    }

    /// Checks the vertical field of view of a projection; `None` stands for the projection of a file.
    pub(super) fn check_fov(model: Option<Self>, fov_degrees: f64) -> Result<()> {
        let expected = match model {
            Some(Self::Equirectangular) => {
                "none beside a camera model equirectangular, which shows all directions"
            }
            Some(Self::Fisheye) if fov_degrees > 0.0 && fov_degrees <= MAX_FOV_DEGREES => {
                return Ok(());
            }
            None | Some(Self::Pinhole)
                if fov_degrees > 0.0 && fov_degrees < PINHOLE_FOV_DEGREES =>
            {
                return Ok(());
            }
            _ => "degrees between 0 and 180, or up to 340 of a fisheye",
        };
        Err(Error::argument("fov", expected, fov_degrees.to_string()))
    }
}
