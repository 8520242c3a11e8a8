use super::CameraMotionSettings;
use quadrille_base::error::{Error, Result};
use quadrille_base::shading::Profile;
use quadrille_scene::{Camera, ReadoutDirection};

/// Settings of a rolling shutter: flags of `sim`, and a part of the blur of `render`.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Blur"))]
pub struct RollingShutterSettings {
    /// Motion of the camera.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub camera: CameraMotionSettings,
    /// Read the rows or columns of a picture one after another while the camera moves; needs --profile gsplat-ut
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIRECTION"))]
    pub rolling_shutter: Option<ReadoutDirection>,
}

impl RollingShutterSettings {
    /// Checks all values.
    ///
    /// # Errors
    /// Those of the motion, and [`Error::Argument`] for a rolling shutter without a motion.
    pub fn check(&self) -> Result<()> {
        self.camera.check()?;
        if self.rolling_shutter.is_some() && self.camera == CameraMotionSettings::default() {
            let moves = "shutter, camera_move or camera_turn";
            return Err(Error::needs("rolling_shutter", moves));
        }
        Ok(())
    }

    /// Returns the cameras with their rolling shutter; the same cameras without one. `all` returns the list in which the next
    /// view is found.
    ///
    /// # Errors
    /// Those of the motion and of `all`, and [`Error::Argument`] for a profile without points of splats.
    pub fn rolled(
        &self,
        cameras: Vec<Camera>,
        profile: &Profile,
        all: impl FnOnce() -> Result<Vec<Camera>>,
    ) -> Result<Vec<Camera>> {
        let Some(direction) = self.rolling_shutter else { return Ok(cameras) };
        let found = profile.name;
        let expected = "gsplat-ut, for a rolling shutter";
        Error::refuse_if(!profile.is_unscented, "profile", expected, found)?;
        let motions = self.camera.motions(&cameras, all)?;
        let rolled = cameras
            .iter()
            .zip(motions)
            .map(|(camera, motion)| camera.rolling_to(&motion.camera_at(camera, 1.0), direction));
        Ok(rolled.collect())
    }
}
