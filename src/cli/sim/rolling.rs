//! `sim --rolling-shutter`: views whose camera moves while their picture is read.

use std::path::Path;

use super::Args;
use crate::cli::session::Session;
use quadrille_base::{Error, Result};
use quadrille_render::viewpoint;
use quadrille_scene::{Camera, Scene};

impl Args {
    /// Refuses a motion of the camera that nothing reads, since pictures of `sim` have no blur.
    pub(super) fn check_rolling(&self) -> Result<()> {
        let rolling = &self.rolling;
        rolling.check()?;
        let motions = [
            ("--shutter", rolling.camera.shutter.is_some()),
            ("--camera-move", rolling.camera.camera_move.is_some()),
            ("--camera-turn", rolling.camera.camera_turn.is_some()),
        ];
        match motions.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) if rolling.rolling_shutter.is_none() => {
                Err(Error::needs(flag, "--rolling-shutter"))
            }
            _ => Ok(()),
        }
    }

    /// The cameras with their rolling shutter. `is_sequence` means that they are frames, each of which moves to the next one.
    pub(super) fn rolled(
        &self,
        cameras: Vec<Camera>,
        (scene, path): (&Scene, &Path),
        is_sequence: bool,
        session: &Session,
    ) -> Result<Vec<Camera>> {
        if self.rolling.rolling_shutter.is_none() {
            return Ok(cameras);
        }
        let profile = self.flags.profile_of_ellipsoids(scene.profile_hint, session)?;
        let frames = (self.path.is_given() || is_sequence).then(|| cameras.clone());
        let all = || match frames {
            Some(frames) => Ok(frames),
            None => {
                let (all, splats) = (self.views.with_all(), || Ok(&scene.splats));
                Ok(viewpoint::views(&all, Some(path), splats, session.task)?.cameras)
            }
        };
        session.install(|| self.rolling.rolled(cameras, &profile, all))
    }
}
