use super::view_blur::{DEFAULT_SAMPLES, ViewBlur};
use super::{CameraMotionSettings, LensSettings};
use quadrille_base::error::{Error, Result};
use quadrille_scene::Camera;

/// Settings of the blur of splats: flags of `render`.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Blur"))]
pub struct BlurSettings {
    /// Motion of the camera.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub camera: CameraMotionSettings,
    /// Lens of the camera.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub lens: LensSettings,
    /// Pictures that are averaged in linear light for a blurred picture, 1 to 4096 [default: 64]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub blur_samples: Option<u32>,
}

/// Blur of views.
#[derive(Debug, Clone, PartialEq)]
pub struct Blurs(Vec<(Camera, ViewBlur)>);

impl Blurs {
    /// Blur of the view of a camera; `None` for other cameras.
    pub fn of(&self, camera: &Camera) -> Option<&ViewBlur> {
        self.0.iter().find(|(other, _)| other == camera).map(|(_, blur)| blur)
    }
}

impl BlurSettings {
    /// Whether no setting is given.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks all values.
    ///
    /// # Errors
    /// Those of the motion and of the lens, and [`Error::Argument`] for settings that blur nothing.
    pub fn check(&self) -> Result<()> {
        self.camera.check()?;
        self.lens.check()?;
        let is_still = self.camera == CameraMotionSettings::default();
        let blurs = "aperture, f_stop, coc_px, shutter, camera_move or camera_turn";
        let idle = [
            ("focus", self.lens.focus.is_some(), "aperture, f_stop or coc_px"),
            ("focus_at", self.lens.focus_at.is_some(), "aperture, f_stop or coc_px"),
            ("blur_samples", self.blur_samples.is_some() && is_still, blurs),
        ];
        let idle = idle.iter().find(|(_, is_given, _)| *is_given && self.lens.is_pinhole());
        idle.map_or(Ok(()), |(setting, _, needed)| Err(Error::needs(setting, needed)))
    }

    /// Returns the blur of each of `cameras`. `all` returns the list in which the next view is found, and `focus` the distance
    /// in focus of a camera if the settings have none.
    ///
    /// # Errors
    /// Those of the motion, of the lens, of `all`, of `focus` and of [`ViewBlur::new`].
    pub fn of_views(
        &self,
        cameras: &[Camera],
        all: impl FnOnce() -> Result<Vec<Camera>>,
        mut focus: impl FnMut(&Camera) -> Result<f64>,
    ) -> Result<Blurs> {
        let motions = self.camera.motions(cameras, all)?;
        let blurs = cameras.iter().zip(motions).map(|(camera, motion)| {
            let lens = self.lens.of(camera, || focus(camera))?;
            let samples = self.blur_samples.unwrap_or(DEFAULT_SAMPLES);
            Ok((camera.clone(), ViewBlur::new(camera, motion, lens, samples)?))
        });
        blurs.collect::<Result<_>>().map(Blurs)
    }
}
