//! Projections that flags ask for.

use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_scene::cameras::PictureSize;
use quadrille_scene::{Camera, Projection};

/// Width and height of panoramas without a requested size.
const PANORAMA_PX: [u32; 2] = [2048, 1024];
/// Vertical field of view of a fisheye without a requested one.
const FISHEYE_FOV_DEGREES: f64 = 180.0;
/// Largest field of view of a fisheye: beyond, its projection ends.
const MAX_FOV_DEGREES: f64 = 340.0;
/// Upper bound of the field of view of a pinhole.
const PINHOLE_FOV_DEGREES: f64 = 180.0;

choice! {
    /// A projection, as `--camera-model` names it.
    pub(super) enum CameraModel {
        /// Straight lines stay straight
        Pinhole = "pinhole",
        /// The angle from the axis is the distance from the centre, without distortion
        Fisheye = "fisheye",
        /// A panorama: longitude and latitude
        Equirectangular = "equirectangular",
    }
}

impl CameraModel {
    /// Whether its field of view differs from the pinhole cameras of the view search.
    pub(super) fn has_own_fov(self) -> bool {
        self != Self::Pinhole
    }

    /// The camera with this projection.
    pub(super) fn replace(
        self,
        camera: Camera,
        fov_degrees: Option<f64>,
        size: PictureSize,
    ) -> Result<Camera> {
        match self {
            Self::Pinhole => Ok(camera.as_pinhole()),
            Self::Fisheye => {
                let fov = fov_degrees.unwrap_or(FISHEYE_FOV_DEGREES);
                camera.through_fisheye(fov.to_radians())
            }
            Self::Equirectangular => {
                let [width, height] = size.of(PANORAMA_PX)?;
                let resized = camera.resized(width, height)?;
                resized.with_projection(Projection::Equirectangular)
            }
        }
    }

    /// The flag, after a blank.
    pub(super) fn flag(self) -> String {
        format!(" --camera-model {self}")
    }
}

/// Refuses fields of view that a projection does not have.
pub(super) fn check_fov(model: Option<CameraModel>, fov_degrees: Option<f64>) -> Result<()> {
    let Some(fov) = fov_degrees else {
        return Ok(());
    };
    let expected = match model {
        Some(CameraModel::Equirectangular) => {
            "none beside --camera-model equirectangular, which shows all directions"
        }
        None | Some(CameraModel::Pinhole) if fov >= PINHOLE_FOV_DEGREES => {
            "degrees below 180, or --camera-model fisheye"
        }
        _ => return Ok(()),
    };
    Err(Error::argument("--fov", expected, fov.to_string()))
}

/// Parses a field of view in degrees.
pub(super) fn parse_fov(text: &str) -> std::result::Result<f64, String> {
    let fov = text.parse().ok();
    let fov = fov.filter(|fov| *fov > 0.0 && *fov <= MAX_FOV_DEGREES);
    fov.ok_or_else(|| "expected degrees between 0 and 180, or up to 340 of a fisheye".to_owned())
}
