use crate::cli::layer_files::{LayerPngFlags, NamedLayers};
use quadrille_base::choice;
use quadrille_base::image::{Layer, LayerPicture};
use quadrille_mesh::frame::{Shading, VisibleFrame};

choice! {
    /// Layer that `--aov` writes.
    enum MeshLayer {
        /// Mean distance along the line of sight, over the samples that show the mesh
        Depth = "depth",
        /// Mean normal over all samples, turned towards the camera: x right, y down, z forward
        Normal = "normal",
        /// Index, in order of submission, of the triangle that most samples show; 4294967295 for none
        Id = "id",
        /// Share of the samples that show the mesh, 0 to 1
        Coverage = "coverage",
        /// Shader executions at the pixel; with reyes, vertices in the pixel
        ShadingRate = "shading-rate",
    }
}

impl MeshLayer {
    fn layer(self) -> Layer {
        match self {
            Self::Depth => Layer::Depth,
            Self::Normal => Layer::Normal,
            Self::Id => Layer::Id,
            Self::Coverage => Layer::Alpha,
            Self::ShadingRate => Layer::Count,
        }
    }
}

/// Flag for layers of meshes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Layers")]
pub(super) struct AovFlags {
    /// Layers to write beside the colours, separated by commas. An .exr file holds all layers; with .npy, or .png
    /// for greys of 16 bits that viewers show, "{aov}" in the name is replaced by the layer, and by rgba for the picture
    #[arg(
        long = "aov",
        value_name = "LAYERS",
        value_delimiter = ',',
        requires = "output",
        conflicts_with_all = ["crop", "versus"]
    )]
    layers: Vec<MeshLayer>,
    #[command(flatten)]
    png: LayerPngFlags,
}

impl AovFlags {
    pub(super) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    pub(super) fn named(&self) -> NamedLayers {
        let names = self.layers.iter().map(|layer| layer.name()).collect();
        NamedLayers { names, png: self.png }
    }

    pub(super) fn pictures(
        &self,
        visible: &VisibleFrame,
        shading: Option<&Shading>,
    ) -> Vec<LayerPicture> {
        let wanted: Vec<_> = self.layers.iter().map(|layer| layer.layer()).collect();
        let mut pictures = visible.layers(&wanted).into_iter();
        let layers = self.layers.iter().filter_map(|layer| match layer {
            MeshLayer::ShadingRate => Some(shading_rate(visible, shading)),
            _ => pictures.next(),
        });
        layers.collect()
    }
}

fn shading_rate(visible: &VisibleFrame, shading: Option<&Shading>) -> LayerPicture {
    let size = visible.settings.size;
    let counts = match shading {
        None => visible.vertices_per_pixel(),
        Some(shading) => {
            let counts = visible.fragments_per_shading_pixel(shading);
            let side = visible.settings.pattern.side_px().cast_unsigned();
            let across = visible.settings.shading_area().x1.cast_unsigned();
            let pixels = (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| [x, y]));
            pixels.map(|[x, y]| counts[(y / side * across + x / side) as usize]).collect()
        }
    };
    LayerPicture::from_bits(Layer::Count, size, counts)
}
