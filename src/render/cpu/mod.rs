//! Rendering on the CPU: [`mod@reference`] defines a frame, and [`Renderer`] computes the same frame fast.
//!
//! ```text
//! Projected (splats on the picture plane)
//!   -> bin: for every tile of 32x32 pixels, the splats whose bounds touch it
//!   -> sort: each tile's list by depth
//!   -> raster, tile by tile: coverage (which 4x4 blocks) -> blend (16 pixels at once)
//! ```
//!
//! If the lists would take too much memory, the last three steps run once per band of tiles.

mod bands;
mod batches;
mod bin;
mod blend;
mod channel_spread;
pub mod channels;
mod clock;
mod coverage;
mod discs;
mod layer_sink;
mod layers;
mod order;
mod places;
mod probe;
mod raster;
pub mod reference;
mod renderer;
mod replay;
mod runs;
mod saved;
pub mod surfaces;
mod tile;
mod tile_cotangents;
mod tile_layers;
mod tile_rows;
mod tile_surfaces;

pub use batches::{DrawnView, KEPT_BYTES};
pub use clock::RenderTimes;
pub(crate) use layers::LEAST_ALPHA;
pub use probe::{PixelFragment, PixelProbe};
pub use renderer::{FrameSource, Renderer, render};
pub use saved::{PictureCotangents, RasterSums, SavedPicture};

use quadrille_base::image::Layer;
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::Profile;
use quadrille_base::{Error, Result};
use quadrille_scene::{Camera, Projection};

/// Settings of a renderer.
#[derive(Debug, Clone, Copy, Default)]
pub struct RenderSettings {
    /// Constants of the renderer whose pictures are reproduced.
    pub profile: Profile,
    /// Vector instructions to use; the reference renderer ignores this.
    pub level: SimdLevel,
}

impl RenderSettings {
    /// Checks that the profile can draw pictures of `camera`.
    pub(crate) fn check(&self, camera: &Camera) -> Result<()> {
        let (profile, projection) = (&self.profile, &camera.projection);
        let is_other = profile.is_disc && !projection.is_pinhole();
        let expected = format_args!("a pinhole camera, for profile {}", profile.name);
        Error::refuse_if(is_other, "camera", expected, "another projection")?;
        // Points on both sides of the joined edges have no mean.
        let is_panorama = profile.is_unscented && *projection == Projection::Equirectangular;
        let expected = format_args!("a camera other than a panorama, for profile {}", profile.name);
        Error::refuse_if(is_panorama, "camera", expected, "a panorama")?;
        let is_refused = camera.rolling_shutter.is_some() && !profile.is_unscented;
        let expected = format_args!("gsplat-ut, for the rolling shutter of view {:?}", camera.name);
        Error::refuse_if(is_refused, "profile", expected, profile.name)
    }
}

/// Layers to render beside the colours of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayerSettings {
    /// Layers to render, without duplicates.
    pub layers: Vec<Layer>,
    /// Whether depth is the distance of a splat's centre from the camera instead of its coordinate along the line of sight.
    pub is_distance: bool,
}

impl LayerSettings {
    fn needs_geometry(&self) -> bool {
        let depth = [Layer::Depth, Layer::DepthSum, Layer::DepthInverse, Layer::DepthMedian];
        let has_depth = self.layers.iter().any(|layer| depth.contains(layer));
        self.layers.contains(&Layer::Normal) || (self.is_distance && has_depth)
    }

    fn top_count(&self) -> usize {
        let counts = self.layers.iter().map(|layer| match layer {
            Layer::TopId(_) | Layer::TopWeight(_) => layer.planes(),
            _ => 0,
        });
        counts.max().unwrap_or(0)
    }
}

/// Counters of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Splats whose footprint's bounding box touches the picture.
    pub splats_in_frustum: u64,
    /// Fragments blended into pixels: above the alpha cut, and not refused by the stop rule.
    pub fragments_blended: u64,
}
