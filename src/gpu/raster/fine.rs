//! Fine raster: which pixels of a raster tile the primitive covers, as 2x2 quads (VR-Pipe, section
//! V-A).
//!
//! In: raster tiles. Out: those with a covered pixel, in order. Rate: one raster tile a cycle, up to
//! 16 quads.

use serde::Serialize;

use crate::gpu::machine::Machine;
use crate::gpu::packets::RasterTile;
use crate::gpu::raster::spans::tile_quads;
use crate::gpu::spec::spec;
use crate::gpu::stage::{Pipe, Sink, Stage};
use crate::gpu::timing::Cycle;

spec! {
    /// Fine raster.
    FineSpec in "fine" {
        /// Raster tiles in the queue before it.
        queue: u64 = 5, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles a raster tile.
        cycles_per_tile: u64 = 1, 1..=1024, Assumed "one raster tile a cycle, up to 16 quads";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

/// What the unit found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FineCounters {
    /// Raster tiles in.
    pub tiles_in: u64,
    /// Raster tiles dropped: no pixel covered.
    pub tiles_empty: u64,
    /// Quads out.
    pub quads: u64,
    /// Fragments out: covered pixels.
    pub fragments: u64,
}

/// The unit.
#[derive(Debug)]
pub struct Fine {
    cycles: u64,
    /// Issue port.
    pub pipe: Pipe,
    /// Counters.
    pub counters: FineCounters,
}

impl Fine {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &FineSpec) -> Self {
        Self {
            cycles: spec.cycles_per_tile,
            pipe: Pipe::new(spec.latency_cycles),
            counters: FineCounters::default(),
        }
    }
}

impl Stage for Fine {
    type In = RasterTile;
    type Out = RasterTile;

    fn accept(
        &mut self,
        item: RasterTile,
        arrival: Cycle,
        machine: &mut Machine<'_>,
        next: &mut impl Sink<RasterTile>,
    ) -> Cycle {
        self.counters.tiles_in += 1;
        let start = self.pipe.start(arrival);
        if item.mask == 0 {
            self.counters.tiles_empty += 1;
            self.pipe.work(start, self.cycles);
        } else {
            self.counters.quads += tile_quads(item.mask).len() as u64;
            self.counters.fragments += u64::from(item.mask.count_ones());
            self.pipe.issue(item, start, self.cycles, machine, next);
        }
        start
    }

    fn drain(
        &mut self,
        at: Cycle,
        _machine: &mut Machine<'_>,
        _next: &mut impl Sink<RasterTile>,
    ) -> Cycle {
        at.max(self.pipe.done())
    }
}
