//! Fine raster: which pixels of a raster tile the primitive covers, as 2x2 quads (VR-Pipe, section
//! V-A).
//!
//! In: raster tiles. Out: those with a covered pixel, or with samples those that the primitive
//! touches, in order. Rate: one raster tile a cycle, up to
//! 16 quads.

use crate::gpu::raster::screen::{SamplesOf, Screen};
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::RasterTile;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::outline::TileCover;

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

statistics! {
    /// What the unit found.
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
}

/// The unit.
#[derive(Debug)]
pub struct Fine {
    cycles: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: FineCounters,
}

impl Fine {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &FineSpec) -> Self {
        Self {
            cycles: spec.cycles_per_tile,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: FineCounters::default(),
        }
    }
}

impl Unit for Fine {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("fine", &mut self.pipe.activity);
        visitor.statistics("fine", &self.counters);
    }
}

impl<M: Screen> Stage<M> for Fine {
    type In = RasterTile<SamplesOf<M>>;
    type Out = RasterTile<SamplesOf<M>>;

    fn accept(
        &mut self,
        item: Self::In,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Self::Out, M>,
    ) -> Cycle {
        self.counters.tiles_in += 1;
        let start = self.pipe.start(arrival);
        let quads = item.samples.quads(item.mask);
        if quads == 0 {
            self.counters.tiles_empty += 1;
            self.pipe.work(start, self.cycles);
        } else {
            self.counters.quads += quads;
            self.counters.fragments += item.samples.fragments(item.mask);
            self.pipe.issue(item, start, self.cycles, state, next);
        }
        start
    }

    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Self::Out, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}
