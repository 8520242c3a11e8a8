use serde::Deserialize;

use crate::checks::{finite, within};
use crate::mesh_input::following;
use quadrille_base::error::Result;
#[cfg(feature = "cli")]
use quadrille_base::parse::{number, point};
use quadrille_deferred::camera::motion::CameraMotion;
use quadrille_scene::Camera;

/// Settings of the camera's motion while the shutter is open: keys of suites, and flags of `render` and `deferred`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Blur"))]
pub struct CameraMotionSettings {
    /// Move the camera this share of the way to the next view while the shutter is open
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", value_parser = number::<f64>))]
    pub shutter: Option<f64>,
    /// Move the camera to the right, down and forward, in world units
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub camera_move: Option<[f64; 3]>,
    /// Turn the camera to the right, up, and clockwise about its view axis, in degrees
    #[cfg_attr(feature = "cli", arg(long, value_name = "YAW,PITCH,ROLL", allow_hyphen_values = true, value_parser = point))]
    pub camera_turn: Option<[f64; 3]>,
}

impl CameraMotionSettings {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a share outside 0 to 1 and numbers that are not finite.
    pub fn check(&self) -> Result<()> {
        within("shutter", self.shutter, 0.0..=1.0, "a number from 0 to 1")?;
        finite("camera_move", self.camera_move.as_ref().map_or(&[], |numbers| numbers))?;
        finite("camera_turn", self.camera_turn.as_ref().map_or(&[], |numbers| numbers))
    }

    /// Returns the motion of each of `cameras`. With `shutter`, a camera moves towards its successor in the list that `all`
    /// returns; the last one goes on as from its predecessor.
    ///
    /// # Errors
    /// As [`Self::check`], errors of `all`, and [`Error::Argument`](quadrille_base::Error::Argument) for a `shutter` with
    /// one view.
    pub fn motions(
        &self,
        cameras: &[Camera],
        all: impl FnOnce() -> Result<Vec<Camera>>,
    ) -> Result<Vec<CameraMotion>> {
        self.check()?;
        let following = match self.shutter {
            None => Vec::new(),
            Some(_) => following(cameras, &all()?)?,
        };
        let motions = cameras.iter().enumerate().map(|(at, camera)| {
            let own = CameraMotion::in_view(
                camera,
                self.camera_move.unwrap_or_default(),
                self.camera_turn.unwrap_or_default(),
            );
            let Some((share, (next, is_behind))) = self.shutter.zip(following.get(at)) else {
                return own;
            };
            let share = if *is_behind { -share } else { share };
            CameraMotion::towards(camera, next, share).and(&own)
        });
        Ok(motions.collect())
    }
}
