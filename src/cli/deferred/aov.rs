//! Layers of blurred pictures.

use crate::cli::layer_files::{LayerPngFlags, NamedLayers};
use quadrille_base::choice;
use quadrille_base::image::Layer;

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
    png: LayerPngFlags,
}

impl AovFlags {
    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    pub(super) fn layers(&self) -> Vec<Layer> {
        self.layers.iter().map(|layer| layer.layer()).collect()
    }

    pub(super) fn named(&self) -> NamedLayers {
        let names = self.layers.iter().map(|layer| layer.name()).collect();
        NamedLayers { names, png: self.png }
    }
}
