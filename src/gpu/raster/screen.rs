//! Interface of the shared state to the raster units.

use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape};
use quadrille_base::raster::outline::{Outline, TileCover, TileVisitor, raster_tiles};
use quadrille_machine::{Primitive, RasterTile};

/// Source of the raster tiles of a primitive behind setup.
pub trait TileSource: Copy {
    /// Coverage of the samples in a raster tile, beside the mask of covered pixels.
    type Samples: TileCover;

    /// Visits the raster tiles that the primitive touches inside `bounds`, which lie in the picture, as
    /// [`raster_tiles`] does.
    fn visit(&self, bounds: PixelRect, visitor: &mut impl TileVisitor<Self::Samples>);
}

impl<O: Outline> TileSource for O {
    type Samples = O::Samples;

    #[inline(always)]
    fn visit(&self, bounds: PixelRect, visitor: &mut impl TileVisitor<O::Samples>) {
        raster_tiles(self, bounds, visitor);
    }
}

/// The shared state as the raster units see it.
pub trait Screen {
    /// Edge functions of a primitive, or the raster tiles that follow from them.
    type Outline: TileSource;

    /// Computes the outline of a primitive; `None` if it has no area.
    fn outline(&self, primitive: &Primitive) -> Option<Self::Outline>;

    /// Computes the bounds of a primitive's outline; `None` if it has no area.
    fn bounds(&self, shape: &PrimitiveShape) -> Option<PixelRect>;

    /// Bounds of the picture.
    fn rect(&self) -> PixelRect;

    /// Screen tiles per row.
    fn tiles_across(&self) -> u32;

    /// Whether the frame has been cancelled, so that nothing more is drawn. A primitive may cover the whole screen,
    /// which takes long.
    fn is_cancelled(&self) -> bool;

    /// Whether a raster tile is hidden as a whole.
    fn hides(&self, tile: &RasterTile<SamplesOf<Self>>) -> bool;
}

/// Sample coverage that raster tiles carry over state `M`.
pub type SamplesOf<M> = <<M as Screen>::Outline as TileSource>::Samples;
