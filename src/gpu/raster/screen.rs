//! Interface of the shared state to the raster units.

use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape};
use quadrille_base::raster::outline::Outline;
use quadrille_machine::RasterTile;

/// The shared state as the raster units see it.
pub trait Screen {
    /// Edge functions of a primitive.
    type Outline: Outline;

    /// Edge functions of a primitive; `None` if it has no area.
    fn outline(&self, shape: &PrimitiveShape) -> Option<Self::Outline>;

    /// Bounds of a primitive's outline; `None` if it has no area.
    fn bounds(&self, shape: &PrimitiveShape) -> Option<PixelRect> {
        self.outline(shape).map(|outline| outline.bounds())
    }

    /// Bounds of the picture.
    fn rect(&self) -> PixelRect;

    /// Screen tiles per row.
    fn tiles_across(&self) -> u32;

    /// Whether the frame was cancelled. Checked within a primitive too, since one may cover the whole screen.
    fn is_cancelled(&self) -> bool;

    /// Whether a raster tile is hidden as a whole.
    fn hides(&self, tile: &RasterTile<SamplesOf<Self>>) -> bool;
}

/// Sample coverage that raster tiles carry over state `M`.
pub type SamplesOf<M> = <<M as Screen>::Outline as Outline>::Samples;
