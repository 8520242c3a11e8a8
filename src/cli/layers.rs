//! Layers beside the colours of a picture, and the colour space of its file.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};

use super::layer_files::{
    COLOURS, LayerPngFlags, prepare_layers, require_float_format, require_layer_format,
    write_with_layers,
};
use super::outputs::{AOV, Background, Output, Outputs, VIEW};
use quadrille_base::choice;
use quadrille_base::choice::{flag_parser, possible_values};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::PictureFormat;
use quadrille_base::image::{Frame, Layer, LayerPicture, TopCount};
use quadrille_render::cpu::LayerSettings;
use quadrille_scene::Camera;
use quadrille_suite::unique;

const TOP: &str = "top:";

/// Flags for layers, and for the colour space of float formats.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Layers")]
pub(super) struct LayerFlags {
    /// Layers to write beside the colours, separated by commas. An .exr file holds all layers; with .npy, or .png
    /// for greys of 16 bits that viewers show, "{aov}" in the name is replaced by the layer, and by rgba for the picture
    #[arg(
        long = "aov",
        value_name = "LAYERS",
        value_parser = LayerChoiceParser,
        value_delimiter = ',',
        hide_possible_values = false
    )]
    layers: Vec<LayerChoice>,
    #[command(flatten)]
    png: LayerPngFlags,
    /// Measure depth as the distance of a splat's centre from the camera, instead of along the line of
    /// sight
    #[arg(long, requires = "layers", conflicts_with = "pixels")]
    distance: bool,
    /// Colour space of the values in an .exr or .npy file
    #[arg(long, default_value_t = ColourChoice::Display)]
    colour: ColourChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LayerChoice {
    One(Layer),
    Top(TopCount),
}

impl LayerChoice {
    fn layers(self) -> Vec<Layer> {
        match self {
            Self::One(layer) => vec![layer],
            Self::Top(count) => vec![Layer::TopId(count), Layer::TopWeight(count)],
        }
    }
}

#[derive(Debug, Clone)]
struct LayerChoiceParser;

impl TypedValueParser for LayerChoiceParser {
    type Value = LayerChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> std::result::Result<Self::Value, clap::Error> {
        if !value.to_str().is_some_and(|text| text.starts_with(TOP)) {
            let layer = flag_parser::<Layer>().parse_ref(command, argument, value);
            return layer.map(LayerChoice::One);
        }
        let parse = |text: &str| {
            let count = text.strip_prefix(TOP).and_then(|count| count.parse().ok());
            let expected = || format!("expected {TOP}1 to {TOP}{}", TopCount::MAX);
            count.and_then(TopCount::new).map(LayerChoice::Top).ok_or_else(expected)
        };
        TypedValueParser::parse_ref(&parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let help = "Indices and weights of the K splats with the largest weights, such as top:8; \
                    two layers, top-id and top-weight";
        Some(Box::new(possible_values::<Layer>().chain([PossibleValue::new("top:K").help(help)])))
    }
}

choice! {
    /// Colour space of the values in an .exr or .npy file.
    enum ColourChoice {
        /// Display values in sRGB, on which scenes are trained
        Display = "display",
        /// Linear light, as compositing programs expect
        Linear = "linear",
    }
}

impl LayerFlags {
    pub(super) fn settings(&self) -> LayerSettings {
        let layers = unique(self.layers.iter().flat_map(|choice| choice.layers()));
        LayerSettings { layers, is_distance: self.distance }
    }

    pub(super) fn placeholders(&self) -> &'static [&'static str] {
        if self.layers.is_empty() { &[VIEW] } else { &[VIEW, AOV] }
    }

    pub(super) fn prepare(
        &self,
        output: &Output,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
    ) -> Result<()> {
        let tops: Vec<_> =
            self.layers.iter().filter(|choice| matches!(choice, LayerChoice::Top(_))).collect();
        let is_wrong = tops.windows(2).any(|pair| pair[0] != pair[1]);
        Error::refuse_if(
            is_wrong,
            "--aov top",
            "the same number of splats in all top layers",
            "different numbers",
        )?;
        if !self.layers.is_empty() {
            require_layer_format(output.format)?;
            self.png.check(output.format, &self.names().collect::<Vec<_>>())?;
        }
        if self.colour == ColourChoice::Linear {
            require_float_format("--colour linear", output.format)?;
        }
        let template = &output.template;
        if self.is_one_file(output) {
            return template.prepare(outputs, cameras, &[String::new()]);
        }
        template.require(AOV, 2, "files of each view")?;
        prepare_layers(template, &self.names().collect::<Vec<_>>(), outputs, cameras)
    }

    fn is_one_file(&self, output: &Output) -> bool {
        self.layers.is_empty() || output.format == Some(PictureFormat::Exr)
    }

    pub(super) fn files(&self, output: &Output, view: &str) -> Vec<PathBuf> {
        let path = |name| output.template.filled(&[(AOV, name), (VIEW, view)]);
        let count = if self.is_one_file(output) { 1 } else { usize::MAX };
        self.names().take(count).map(path).collect()
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let names: Vec<_> = self.settings().layers.iter().map(|layer| layer.name()).collect();
        [COLOURS].into_iter().chain(names)
    }

    pub(super) fn picture<'a>(
        &self,
        output: &Output,
        frame: &'a Frame,
        background: Option<Background>,
    ) -> Cow<'a, Frame> {
        let composed = output.composed(frame, background);
        match self.colour {
            ColourChoice::Display => composed,
            ColourChoice::Linear => Cow::Owned(composed.to_linear().into_owned()),
        }
    }

    pub(super) fn save(
        &self,
        output: &Output,
        frame: &Frame,
        layers: &[LayerPicture],
        view: &str,
        background: Option<Background>,
        tell: &dyn Fn(&str),
    ) -> Result<String> {
        if layers.is_empty() && self.colour == ColourChoice::Display {
            return output.save(frame, [view, ""], background);
        }
        let picture = self.picture(output, frame, background);
        if layers.is_empty() {
            return output.write(&picture, [view, ""]);
        }
        let path = |name: &str| output.template.filled(&[(AOV, name), (VIEW, view)]);
        let names = layers.iter().map(|layer| layer.layer.name());
        let main = write_with_layers(output.format, &picture, layers, names, path, self.png, tell)?;
        Ok(main.display().to_string())
    }
}
