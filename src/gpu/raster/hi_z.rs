//! Hi-Z: drops raster tiles that lie behind everything in front of them.
//!
//! In and out: raster tiles, in order. Rate: one a cycle. Splats have one depth each and are drawn
//! without a depth buffer unless one is given; then the greatest depth of each raster tile decides.

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
    /// Hi-Z.
    HiZSpec in "hi_z" {
        /// Raster tiles in the queue before it.
        queue: u64 = 5, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles a raster tile.
        cycles_per_tile: u64 = 1, 1..=1024, Assumed "one raster tile a cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// What the unit found.
    pub struct HiZCounters {
        /// Raster tiles in.
        pub tiles_in: u64,
        /// Raster tiles dropped: all of them hidden.
        pub hidden: u64,
        /// Pixels covered in them.
        pub hidden_fragments: u64,
        /// Quads with coverage in them.
        pub hidden_quads: u64,
    }
}

/// The unit.
#[derive(Debug)]
pub struct HiZ {
    cycles: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: HiZCounters,
}

impl HiZ {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &HiZSpec) -> Self {
        Self {
            cycles: spec.cycles_per_tile,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: HiZCounters::default(),
        }
    }
}

impl Unit for HiZ {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("hi_z", &mut self.pipe.activity);
        visitor.statistics("hi_z", &self.counters);
    }
}

impl<M: Screen> Stage<M> for HiZ {
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
        if state.hides(&item) {
            self.counters.hidden += 1;
            self.counters.hidden_fragments += item.samples.fragments(item.mask);
            self.counters.hidden_quads += item.samples.covered_quads(item.mask);
            self.pipe.work(start, self.cycles);
        } else {
            self.pipe.issue(item, start, self.cycles, state, next);
        }
        start
    }

    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Self::Out, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}
