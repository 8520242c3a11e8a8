use nalgebra::Vector3;
use serde::Deserialize;

use crate::checks::{finite, within};
use quadrille_base::error::{Error, Result};
#[cfg(feature = "cli")]
use quadrille_base::parse::{number, point};
use quadrille_deferred::camera::lens::Lens;
use quadrille_scene::Camera;

/// Height of a full-frame sensor (36 mm x 24 mm) in world units, where a world unit is a metre.
const SENSOR_HEIGHT: f64 = 0.024;

/// Settings of a thin lens: keys of suites, flags of `render` and `deferred`, and arguments of Python's `Blur`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Blur"))]
pub struct LensSettings {
    /// Radius of the aperture in world units
    #[cfg_attr(feature = "cli", arg(long, value_name = "RADIUS", value_parser = number::<f64>))]
    pub aperture: Option<f64>,
    /// F-number of the lens, such as 2.8, instead of an aperture: its focal length divided by the diameter of the aperture
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = number::<f64>))]
    pub f_stop: Option<f64>,
    /// Height of the sensor in world units, from which --f-stop takes the focal length [default: 0.024, a full-frame
    /// sensor in a world of metres]
    #[cfg_attr(feature = "cli", arg(long, value_name = "HEIGHT", value_parser = number::<f64>))]
    pub sensor_height: Option<f64>,
    /// Diameter in pixels of the circle of confusion of points infinitely far away, instead of an aperture
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", value_parser = number::<f64>))]
    pub coc_px: Option<f64>,
    /// Distance in focus, along the view axis, in world units [default: the distance of the centre of the mesh or, for
    /// splats, the median depth in the middle of the picture]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DISTANCE", value_parser = number::<f64>))]
    pub focus: Option<f64>,
    /// Point in focus, in world coordinates
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub focus_at: Option<[f64; 3]>,
}

impl LensSettings {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::Argument`] for a value outside its range, for two sizes of the aperture, and for two focuses.
    pub fn check(&self) -> Result<()> {
        let (positive, above) = (f64::MIN_POSITIVE..=f64::MAX, "a number above 0");
        finite("focus_at", self.focus_at.as_ref().map_or(&[], |numbers| numbers))?;
        let radius = "a finite number of at least 0";
        within("aperture", self.aperture, 0.0..=f64::MAX, radius)?;
        within("coc_px", self.coc_px, 0.0..=f64::MAX, radius)?;
        within("f_stop", self.f_stop, positive.clone(), above)?;
        within("sensor_height", self.sensor_height, positive.clone(), above)?;
        within("focus", self.focus, positive, above)?;
        let both = [
            ("aperture", self.aperture.is_some() && self.coc_px.is_some(), "coc_px"),
            ("f_stop", self.f_stop.is_some() && self.aperture.is_some(), "aperture"),
            ("f_stop", self.f_stop.is_some() && self.coc_px.is_some(), "coc_px"),
            ("focus", self.focus.is_some() && self.focus_at.is_some(), "focus_at"),
        ];
        if let Some((setting, _, other)) = both.into_iter().find(|(_, are_given, _)| *are_given) {
            return Err(Error::conflict(setting, other));
        }
        match self.sensor_height.is_some() && self.f_stop.is_none() {
            true => Err(Error::needs("sensor_height", "f_stop")),
            false => Ok(()),
        }
    }

    /// Whether all points are sharp.
    pub fn is_pinhole(&self) -> bool {
        let sizes = [self.aperture, self.coc_px].into_iter().flatten();
        self.f_stop.is_none() && sizes.into_iter().all(|size| size == 0.0)
    }

    /// Returns the lens of `camera`. `focus` is called for a distance in focus if the settings have none.
    ///
    /// # Errors
    /// Those of `focus`, and [`Error::Argument`] for a point in focus behind the camera.
    pub fn of(&self, camera: &Camera, focus: impl FnOnce() -> Result<f64>) -> Result<Lens> {
        let distance =
            |point: Vector3<f64>| (camera.view_from_world * point + camera.translation_in_view).z;
        let focus = match (self.focus, self.focus_at) {
            (Some(focus), _) => focus,
            (None, Some(point)) => {
                let focus = distance(point.into());
                let found = format!("a point {} units behind it", -focus);
                let expected = "a point in front of the camera";
                Error::refuse_if(focus <= 0.0, "focus_at", expected, found)?;
                focus
            }
            (None, None) if self.is_pinhole() => return Ok(Lens::PINHOLE),
            (None, None) => focus()?,
        };
        if let Some(px) = self.coc_px {
            return Lens::from_blur_at_infinity(px, camera.focal_px[0], focus);
        }
        let of_stop = self.f_stop.map(|stop| {
            let per_pixel =
                self.sensor_height.unwrap_or(SENSOR_HEIGHT) / f64::from(camera.height.max(1));
            camera.focal_px[1] * per_pixel / (2.0 * stop)
        });
        Lens::new(of_stop.or(self.aperture).unwrap_or(0.0), focus)
    }
}

#[cfg(test)]
#[path = "tests/lens_settings.rs"]
mod tests;
