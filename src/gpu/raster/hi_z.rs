//! Hi-Z drops raster tiles that fail the depth test as a whole.
//!
//! Input and output: raster tiles in order. Rate: one per cycle. Splats have one depth each and are drawn
//! without a depth buffer unless one is given; then the depth range of each raster tile decides.

use crate::gpu::raster::screen::{SamplesOf, Screen};
use crate::pipeline::packets::RasterTile;
use crate::pipeline::rigid_unit::{Process, Rigid, RigidUnit};
use crate::pipeline::spec::spec;
use crate::pipeline::statistics::statistics;
use crate::raster::outline::TileCover;

spec! {
    /// Hi-Z, the hierarchical depth test: it drops raster tiles whose pixels are all hidden.
    HiZSpec in "hi_z" {
        /// Raster tiles in the queue before it.
        queue: u64 = 5, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles per raster tile.
        cycles_per_tile: u64 = 1, 1..=1024, Assumed "one raster tile per cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// Statistics of Hi-Z.
    pub struct HiZCounters {
        /// Raster tiles in.
        pub tiles_in: u64,
        /// Raster tiles dropped because all their pixels are hidden.
        pub hidden: u64,
        /// Covered pixels of the dropped tiles.
        pub hidden_fragments: u64,
        /// Covered quads of the dropped tiles.
        pub hidden_quads: u64,
    }
}

/// The Hi-Z unit.
pub type HiZ = RigidUnit<HiZSpec>;

impl Rigid for HiZSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = HiZCounters;

    fn latency_cycles(&self) -> u64 {
        self.latency_cycles
    }
}

impl<M: Screen> Process<M> for HiZSpec {
    type In = RasterTile<SamplesOf<M>>;
    type Out = RasterTile<SamplesOf<M>>;

    fn process(
        &self,
        tile: Self::In,
        counters: &mut HiZCounters,
        state: &M,
    ) -> (u64, Option<Self::Out>) {
        counters.tiles_in += 1;
        let hidden = state.hides(&tile);
        if hidden {
            counters.hidden += 1;
            counters.hidden_fragments += tile.samples.fragments(tile.mask);
            counters.hidden_quads += tile.samples.covered_quads(tile.mask);
        }
        (self.cycles_per_tile, (!hidden).then_some(tile))
    }
}
