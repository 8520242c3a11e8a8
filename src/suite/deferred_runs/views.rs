//! Views of a mesh while the shutter is open.

use super::DeferredFrames;
use crate::mesh_input::MeshInput;
use crate::messages::Messages;
use quadrille_base::error::{Error, Result};
use quadrille_deferred::camera::shutter::ShutterView;
use quadrille_scene::Camera;

/// Rotation in radians above which linear vertex motion is a poor approximation.
const LARGE_TURN: f64 = std::f64::consts::FRAC_PI_2;

impl DeferredFrames {
    /// Returns the views with their motion and lens. With `shutter`, a camera moves towards its successor in the list that
    /// `all` returns. Without a focus, the centre of the mesh is in focus.
    ///
    /// # Errors
    /// Errors of the settings, of `all` and of reading the motion, and [`Error::Argument`] for a focus behind the camera.
    pub(super) fn views(
        &self,
        cameras: &[Camera],
        all: impl FnOnce() -> Result<Vec<Camera>>,
        input: &MeshInput,
        messages: &dyn Messages,
    ) -> Result<Vec<(Camera, ShutterView)>> {
        let motions = self.camera.motions(cameras, all)?;
        let file = self.mesh.file()?;
        let views = cameras.iter().zip(motions).map(|(camera, motion)| {
            let motion = self.mesh.of_view(camera, motion, file.as_ref(), input);
            if motion.largest_turn() > LARGE_TURN {
                messages.warn(
                    "the camera or the mesh turns by more than 90 degrees: vertices move along straight \
                     lines, which are far from arcs",
                );
            }
            let lens = self.lens.of(camera, || {
                let centre = camera.view_from_world * input.centre() + camera.translation_in_view;
                let expected = "a distance, since the centre of the mesh is behind the camera";
                Error::refuse_if(centre.z <= 0.0, "focus", expected, "none")?;
                Ok(centre.z)
            })?;
            let view = ShutterView::new(camera, input.near(camera), lens, motion)?;
            Ok((camera.clone(), view.relative_to(input.origin())))
        });
        views.collect()
    }
}
