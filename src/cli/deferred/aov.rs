//! Layers of blurred pictures.

use crate::cli::layer_files::{
    COLOURS, DepthRangeFlag, prepare_layers, require_layer_format, write_with_layers,
};
use crate::cli::outputs::{AOV, METHOD, Output, Outputs, VIEW};
use quadrille_base::choice;
use quadrille_base::error::Result;
use quadrille_base::image::files::PictureFormat;
use quadrille_base::image::{Frame, Layer, LayerPicture};
use quadrille_scene::Camera;
use quadrille_suite::each_once;

choice! {
    /// Layer of a blurred picture.
    enum BlurredLayer {
        /// Mean distance along the line of sight, over the samples that show an opaque surface
        Depth = "depth",
        /// Share of the samples that show an opaque surface, 0 to 1
        Coverage = "coverage",
    }
}

impl BlurredLayer {
    fn layer(self) -> Layer {
        match self {
            Self::Depth => Layer::Depth,
            Self::Coverage => Layer::Alpha,
        }
    }
}

/// Flag for layers of blurred pictures.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Layers")]
pub(super) struct AovFlags {
    /// Layers to write beside the colours, separated by commas: means over the samples of a pixel, in time and over the
    /// lens. An .exr file holds all layers; with .npy, or .png for greys of 16 bits that viewers show, "{aov}" in the
    /// name is replaced by the layer, and by rgba for the picture
    #[arg(long = "aov", value_name = "LAYERS", value_delimiter = ',', requires = "output")]
    layers: Vec<BlurredLayer>,
    #[command(flatten)]
    depths: DepthRangeFlag,
}

impl AovFlags {
    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    pub(super) fn layers(&self) -> Vec<Layer> {
        self.layers.iter().map(|layer| layer.layer()).collect()
    }

    pub(super) fn placeholders(&self) -> &'static [&'static str] {
        if self.is_empty() { &[VIEW, METHOD] } else { &[VIEW, METHOD, AOV] }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.layers.iter().map(|layer| layer.name())
    }

    pub(super) fn check(&self, output: Option<&Output>) -> Result<()> {
        let Some(output) = output.filter(|_| !self.is_empty()) else { return Ok(()) };
        each_once("aov", &self.names().collect::<Vec<_>>())?;
        require_layer_format(output.format)?;
        match output.format {
            Some(PictureFormat::Exr) => Ok(()),
            _ => output.template.require(AOV, 2, "files of each picture"),
        }
    }

    pub(super) fn prepare(
        &self,
        output: &Output,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
    ) -> Result<()> {
        if self.is_empty() || output.format == Some(PictureFormat::Exr) {
            return output.template.prepare(outputs, cameras, &[METHOD.to_owned()]);
        }
        let names: Vec<_> = [COLOURS].into_iter().chain(self.names()).collect();
        prepare_layers(&output.template, &names, outputs, cameras)
    }

    pub(super) fn save(
        &self,
        output: &Output,
        picture: &Frame,
        layers: &[LayerPicture],
        [view, variant]: [&str; 2],
        tell: &dyn Fn(&str),
    ) -> Result<()> {
        let path =
            |name: &str| output.template.filled(&[(AOV, name), (METHOD, variant), (VIEW, view)]);
        let (names, depths) = (self.names(), self.depths);
        write_with_layers(output.format, picture, layers, names, path, depths, tell).map(drop)
    }
}
