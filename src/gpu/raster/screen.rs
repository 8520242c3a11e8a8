//! Interface through which the raster units read the shared state of a draw.

use crate::zrop::tile_stencil::TileStencilTest;
use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape};
use quadrille_base::raster::outline::Outline;
use quadrille_machine::{Cycle, RasterTile};

/// Shared state of a draw that the raster units read.
pub trait Screen {
    /// Edge functions of a primitive, which setup computes.
    type Outline: Outline;

    /// Computes the edge functions of a primitive; `None` if it has no area.
    fn outline(&self, shape: &PrimitiveShape) -> Option<Self::Outline>;

    /// Pixel bounds of a primitive; `None` if it has no area.
    fn bounds(&self, shape: &PrimitiveShape) -> Option<PixelRect> {
        self.outline(shape).map(|outline| outline.bounds())
    }

    /// Bounds of the picture in pixels.
    fn rect(&self) -> PixelRect;

    /// Screen tiles per row.
    fn tiles_across(&self) -> u32;

    /// Whether the frame was cancelled. Checked within a primitive too, since one may cover the whole screen.
    fn is_cancelled(&self) -> bool;

    /// Tests the stencil of a screen tile as a whole at cycle `now`.
    fn test_tile(&self, _tile: u32, _now: Cycle) -> TileStencilTest {
        TileStencilTest::Passes
    }

    /// Whether all pixels of a raster tile fail the depth test.
    fn hides(&self, tile: &RasterTile<SamplesOf<Self>>) -> bool;
}

/// Type of the sample coverage of a raster tile in a draw with state `M`.
pub type SamplesOf<M> = <<M as Screen>::Outline as Outline>::Samples;
