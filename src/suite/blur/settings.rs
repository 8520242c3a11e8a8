use super::view_blur::{DEFAULT_SAMPLES, ViewBlur};
use super::{CameraMotionSettings, LensSettings, RollingShutterSettings};
use quadrille_base::error::{Error, Result};
use quadrille_base::shading::Profile;
use quadrille_scene::{Camera, ReadoutDirection};

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
    /// Read the rows or columns of a picture one after another while the camera moves, in place of a blur; needs
    /// --profile gsplat-ut
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIRECTION"))]
    pub rolling_shutter: Option<ReadoutDirection>,
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

    /// Whether pictures are blurred.
    pub fn is_blurred(&self) -> bool {
        !self.is_default() && self.rolling_shutter.is_none()
    }

    /// Checks all values.
    ///
    /// # Errors
    /// Those of the motion and of the lens, and [`Error::Argument`] for settings that blur nothing, and for a rolling shutter
    /// with a blur.
    pub fn check(&self) -> Result<()> {
        self.rolling().check()?;
        self.lens.check()?;
        let is_still = self.camera == CameraMotionSettings::default();
        let blurs = "aperture, f_stop, coc_px, shutter, camera_move or camera_turn";
        let is_sampled = self.lens != LensSettings::default() || self.blur_samples.is_some();
        if self.rolling_shutter.is_some() && is_sampled {
            return Err(Error::conflict("rolling_shutter", "a lens or blur_samples"));
        }
        let idle = [
            ("focus", self.lens.focus.is_some(), "aperture, f_stop or coc_px"),
            ("focus_at", self.lens.focus_at.is_some(), "aperture, f_stop or coc_px"),
            ("blur_samples", self.blur_samples.is_some() && is_still, blurs),
        ];
        let idle = idle.iter().find(|(_, is_given, _)| *is_given && self.lens.is_pinhole());
        idle.map_or(Ok(()), |(setting, _, needed)| Err(Error::needs(setting, needed)))
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
        self.rolling().rolled(cameras, profile, all)
    }

    fn rolling(&self) -> RollingShutterSettings {
        let Self { camera, rolling_shutter, .. } = self.clone();
        RollingShutterSettings { camera, rolling_shutter }
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
