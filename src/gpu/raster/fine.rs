//! The fine raster cuts raster tiles into 2x2 quads (VR-Pipe, section V-A).
//!
//! Input: raster tiles. Output, in order: tiles with a covered pixel; with several samples per pixel, tiles that the
//! primitive touches. Rate: raster tiles of one primitive per cycle, up to 16 quads each.

use crate::raster::screen::{SamplesOf, Screen};
use quadrille_base::raster::outline::TileCover;
use quadrille_machine::{IssuePort, Process, RasterTile, Rate, Rigid, RigidUnit, spec, statistics};

spec! {
    /// Configuration of the fine raster.
    FineSpec in "fine" {
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
    /// Statistics of the fine raster.
    pub struct FineCounters {
        /// Raster tiles received.
        pub tiles_in: u64,
        /// Raster tiles dropped because no pixel is covered.
        pub tiles_empty: u64,
        /// Quads emitted.
        pub quads: u64,
        /// Fragments emitted, one per covered pixel.
        pub fragments: u64,
    }
}

/// Fine raster unit, between Hi-Z and tile coalescing.
pub type Fine = RigidUnit<FineSpec>;

impl Rigid for FineSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = FineCounters;

    fn groups_per_cycle(&self) -> u64 {
        self.primitives_per_cycle
    }

    fn port(&self) -> IssuePort {
        IssuePort::new(self.tiles_per_cycle, self.latency_cycles)
    }
}

impl<M: Screen> Process<M> for FineSpec {
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
        (1, (quads != 0).then_some(tile))
    }
}
