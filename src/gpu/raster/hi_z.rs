//! Hi-Z drops raster tiles that fail the depth test as a whole.
//!
//! Input and output: raster tiles in order. Rate: tiles of one primitive per cycle. Splats have one depth each, which is
//! compared with the depth range of a raster tile. Without a depth buffer, no tile of splats is dropped.

use crate::raster::screen::{SamplesOf, Screen};
use quadrille_base::raster::outline::TileCover;
use quadrille_machine::{IssuePort, Process, RasterTile, Rate, Rigid, RigidUnit, spec, statistics};

spec! {
    /// Configuration of Hi-Z, the hierarchical depth test, which drops raster tiles whose pixels are all hidden.
    HiZSpec in "hi_z" {
        /// Capacity of the input queue, in raster tiles.
        queue: u64 = 5, 1..=65_536, Assumed "as in public GPGPU graphics simulators";
        /// Raster tiles per cycle.
        tiles_per_cycle: Rate = Rate::new(2, 1), Rate::LEAST..=Rate::MOST, Calibrated "VR-Pipe's speedup of 2.78, out of reach with 1 in most scenes; default of the Emerald simulator, gpu-sim.cc, whose example configuration has 1";
        /// Maximum number of primitives per cycle.
        primitives_per_cycle: u64 = 1, 1..=32, Assumed "one primitive in work at a time, as in public GPGPU graphics simulators";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// Statistics of Hi-Z.
    pub struct HiZCounters {
        /// Raster tiles received.
        pub tiles_in: u64,
        /// Raster tiles dropped because all their pixels are hidden.
        pub hidden: u64,
        /// Covered pixels of the dropped tiles.
        pub hidden_fragments: u64,
        /// Covered quads of the dropped tiles.
        pub hidden_quads: u64,
    }
}

/// Hi-Z unit, between the coarse and the fine raster.
pub type HiZ = RigidUnit<HiZSpec>;

impl Rigid for HiZSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = HiZCounters;

    fn groups_per_cycle(&self) -> u64 {
        self.primitives_per_cycle
    }

    fn port(&self) -> IssuePort {
        IssuePort::new(self.tiles_per_cycle, self.latency_cycles)
    }
}

impl<M: Screen> Process<M> for HiZSpec {
    type In = RasterTile<SamplesOf<M>>;
    type Out = RasterTile<SamplesOf<M>>;

    fn group(tile: &Self::In) -> u32 {
        tile.primitive
    }

    fn tile(tile: &Self::In) -> Option<u32> {
        Some(tile.tile)
    }

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
        (1, (!hidden).then_some(tile))
    }
}
