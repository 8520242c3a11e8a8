use serde::{Deserialize, Serialize};

use super::input::MeshInput;
use crate::checks::within;
use crate::messages::Messages;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;
#[cfg(feature = "cli")]
use quadrille_base::parse::number;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::PunctualLight;
use quadrille_geometry::grid::GridSource;
use quadrille_mesh::shade::{Lighting, ShadeSettings, Shader, Textures};

pub(super) const MAX_STOPS: f32 = 32.0;

choice! {
    /// Light of a mesh.
    #[derive(Default)]
    pub enum LightChoice {
        /// The lights of the file if it has any, else the headlight
        #[default]
        Auto = "auto",
        /// The lights of the file (KHR_lights_punctual of glTF), without ambient light
        File = "file",
        /// Three lights fixed to the camera, and a little ambient light
        Headlight = "headlight",
        /// A sky, the ground, and a sun at the upper left in front of the mesh
        Sky = "sky",
    }
}

/// Settings of light and colours.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Light"))]
pub struct LookSettings {
    /// Light of the scene
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIGHT", default_value_t))]
    pub light: LightChoice,
    /// Brighten by this many stops, each a factor of 2; negative values darken [default: 0, or chosen from the lights
    /// of the file if they are far too bright or dark]. At 0, a white surface that faces a light of pi lux is white
    #[cfg_attr(feature = "cli", arg(long, value_name = "STOPS", allow_hyphen_values = true, value_parser = number::<f32>))]
    pub exposure: Option<f32>,
    /// Colour surfaces without a texture with a checkerboard of this many checks per unit of texture space
    #[cfg_attr(feature = "cli", arg(long, value_name = "CHECKS", value_parser = number::<f32>))]
    pub checker: Option<f32>,
}

/// Light and colours of a mesh.
#[derive(Debug)]
pub struct Look<'a> {
    settings: ShadeSettings,
    lights: Option<&'a [PunctualLight]>,
}

impl LookSettings {
    /// Checks all values.
    pub fn check(&self) -> Result<()> {
        let expected = format!("a number from -{MAX_STOPS} to {MAX_STOPS}");
        within("exposure", self.exposure, -MAX_STOPS..=MAX_STOPS, &expected)?;
        within("checker", self.checker, f32::MIN_POSITIVE..=f32::MAX, "a number above 0")
    }

    /// Chooses the light of a mesh. `up` is the up direction of the view's settings, if they have one.
    ///
    /// # Errors
    /// As [`Self::check`], and [`Error::Argument`] for the lights of a file without lights.
    pub fn of<'a>(
        &self,
        input: &'a MeshInput,
        up: Option<[f64; 3]>,
        messages: &dyn Messages,
    ) -> Result<Look<'a>> {
        self.check()?;
        let lights = input.lights();
        let is_lit = match self.light {
            LightChoice::Auto => !lights.is_empty(),
            LightChoice::File => true,
            LightChoice::Headlight | LightChoice::Sky => false,
        };
        let expected = "auto, headlight or sky for a file without lights";
        Error::refuse_if(is_lit && lights.is_empty(), "light", expected, "file")?;
        if is_lit {
            let count = lights.len();
            messages.remark(&format!(
                "only the lights of the file are used (number of lights: {count}; headlight and sky are other choices)"
            ));
        }
        let mut settings = ShadeSettings::with_checker(self.checker);
        settings.exposure_stops = match self.exposure {
            Some(stops) => stops,
            None if is_lit => input.exposure(messages),
            None => 0.0,
        };
        if self.light == LightChoice::Sky {
            settings.lighting = Lighting::Sky { up: input.orientation(up).up.map(narrow).into() };
        }
        Ok(Look { settings, lights: is_lit.then_some(lights) })
    }
}

impl Look<'_> {
    /// The shader of a view.
    pub fn shader<'s>(
        &self,
        source: &'s dyn GridSource,
        textures: &'s Textures,
        view: &MeshCamera,
    ) -> Shader<'s> {
        let shader = Shader::new(source.materials(), textures, view, self.settings);
        match self.lights {
            Some(lights) => shader.lit_by(lights),
            None => shader,
        }
    }
}
