//! Flags of commands that draw meshes, about light and exposure.

use super::input::MeshInput;
use super::options::parse_checker;
use crate::cli::choice::one_of;
use crate::cli::console::Verbosity;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;
use quadrille_mesh::camera::MeshCamera;
use quadrille_mesh::files::PunctualLight;
use quadrille_mesh::grid::GridSource;
use quadrille_mesh::shade::{Lighting, ShadeSettings, Shader, Textures};

/// Largest exposure in stops, to either side.
const MAX_STOPS: f32 = 32.0;

choice! {
    /// A value of `--light`.
    enum LightChoice {
        /// The lights of the file if it has any, else the headlight
        Auto = "auto",
        /// The lights of the file (KHR_lights_punctual of glTF), without ambient light
        File = "file",
        /// Three lights that stand with the camera, and a little ambient light
        Headlight = "headlight",
        /// A sky, the ground and a sun at the upper left of the front
        Sky = "sky",
    }
}

/// Flags about light.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Light")]
pub(in crate::cli) struct LookFlags {
    /// Light of the scene
    #[arg(long, value_name = "LIGHT", value_parser = one_of::<LightChoice>(), default_value = "auto")]
    light: LightChoice,
    /// Brighten by this many stops, each a factor of 2; negative ones darken. A white surface that faces
    /// a light of pi lux is white at 0
    #[arg(long, value_name = "STOPS", allow_hyphen_values = true, default_value = "0", value_parser = parse_stops)]
    exposure: f32,
    /// Colour surfaces without a texture with a checkerboard of this many checks per unit of texture
    /// space
    #[arg(long, value_name = "CHECKS", value_parser = parse_checker)]
    checker: Option<f32>,
}

/// Light and colours of a scene.
pub(in crate::cli) struct Look<'a> {
    settings: ShadeSettings,
    lights: Option<&'a [PunctualLight]>,
}

impl LookFlags {
    /// Chooses the light of a scene; `up` is the direction that a flag gives.
    pub(in crate::cli) fn of<'a>(
        &self,
        input: &'a MeshInput,
        up: Option<[f64; 3]>,
        verbosity: Verbosity,
    ) -> Result<Look<'a>> {
        let lights = input.lights();
        let is_lit = match self.light {
            LightChoice::Auto => !lights.is_empty(),
            LightChoice::File => true,
            LightChoice::Headlight | LightChoice::Sky => false,
        };
        if is_lit && lights.is_empty() {
            let expected = "auto, headlight or sky for a file without lights";
            return Err(Error::argument("--light", expected, "file"));
        }
        if is_lit {
            let count = lights.len();
            verbosity.remark(&format!(
                "lit by {count} lights of the file alone (--light headlight for others)"
            ));
        }
        let mut settings = ShadeSettings::with_checker(self.checker);
        settings.exposure_stops = self.exposure;
        if self.light == LightChoice::Sky {
            let up = input.orientation(up).up;
            let up = up.map(narrow).into();
            settings.lighting = Lighting::Sky { up };
        }
        Ok(Look {
            settings,
            lights: is_lit.then_some(lights),
        })
    }
}

impl Look<'_> {
    /// The shader of a view.
    pub(in crate::cli) fn shader<'s>(
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

fn parse_stops(text: &str) -> std::result::Result<f32, String> {
    let stops = text.parse().ok();
    let stops = stops.filter(|stops| (-MAX_STOPS..=MAX_STOPS).contains(stops));
    stops.ok_or_else(|| format!("expected a number from -{MAX_STOPS} to {MAX_STOPS}"))
}
