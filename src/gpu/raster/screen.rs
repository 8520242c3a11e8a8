//! What the raster units ask of the state that all units of a draw share.

use crate::pipeline::packets::RasterTile;
use crate::raster::geometry::{PixelRect, PrimitiveShape};
use crate::raster::outline::Outline;

/// What the raster units ask of the state that all units of a draw share.
pub trait Screen {
    /// Outlines of its primitives.
    type Outline: Outline;

    /// The outline of a primitive; `None` when it has no area.
    fn outline(&self, shape: &PrimitiveShape) -> Option<Self::Outline>;

    /// The picture.
    fn rect(&self) -> PixelRect;

    /// Screen tiles per row.
    fn tiles_across(&self) -> u32;

    /// Whether all of a raster tile is known to be hidden.
    fn hides(&self, tile: &RasterTile<SamplesOf<Self>>) -> bool;
}

/// What raster tiles of a machine carry.
pub type SamplesOf<M> = <<M as Screen>::Outline as Outline>::Samples;
