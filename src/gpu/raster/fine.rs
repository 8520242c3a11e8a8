//! The fine raster cuts raster tiles into 2x2 quads (VR-Pipe, section V-A).
//!
//! Input: raster tiles. Output: tiles with a covered pixel, or with several samples per pixel those that
//! the primitive touches, in order. Rate: one raster tile per cycle, up to 16 quads.

use crate::gpu::raster::screen::{SamplesOf, Screen};
use crate::pipeline::packets::RasterTile;
use crate::pipeline::rigid_unit::{Process, Rigid, RigidUnit};
use crate::pipeline::spec::spec;
use crate::pipeline::statistics::statistics;
use crate::raster::outline::TileCover;

spec! {
    /// Fine raster.
    FineSpec in "fine" {
        /// Raster tiles in the queue before it.
        queue: u64 = 5, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles per raster tile.
        cycles_per_tile: u64 = 1, 1..=1024, Assumed "one raster tile per cycle, up to 16 quads";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// Statistics of the fine raster.
    pub struct FineCounters {
        /// Raster tiles in.
        pub tiles_in: u64,
        /// Raster tiles dropped because no pixel is covered.
        pub tiles_empty: u64,
        /// Quads out.
        pub quads: u64,
        /// Fragments out: covered pixels.
        pub fragments: u64,
    }
}

/// The fine rasterizer.
pub type Fine = RigidUnit<FineSpec>;

impl Rigid for FineSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = FineCounters;

    fn latency_cycles(&self) -> u64 {
        self.latency_cycles
    }
}

impl<M: Screen> Process<M> for FineSpec {
    type In = RasterTile<SamplesOf<M>>;
    type Out = RasterTile<SamplesOf<M>>;

    fn process(
        &self,
        tile: Self::In,
        counters: &mut FineCounters,
        _state: &M,
    ) -> (u64, Option<Self::Out>) {
        counters.tiles_in += 1;
        let quads = tile.samples.quads(tile.mask);
        if quads == 0 {
            counters.tiles_empty += 1;
        } else {
            counters.quads += quads;
            counters.fragments += tile.samples.fragments(tile.mask);
        }
        (self.cycles_per_tile, (quads != 0).then_some(tile))
    }
}
