//! Hi-Z: drops raster tiles that lie behind everything in front of them.
//!
//! In and out: raster tiles, in order. Rate: one a cycle. Splats have one depth each and are drawn
//! without a depth buffer unless one is given; then the greatest depth of each raster tile decides.

use crate::pipeline::packets::RasterTile;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Pipe, Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::raster::outline::{SamplesOf, Screen, TileCover};

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

/// The unit.
#[derive(Debug)]
pub struct HiZ {
    cycles: u64,
    /// Issue port.
    pub pipe: Pipe,
    /// Raster tiles in.
    pub tiles_in: u64,
    /// Raster tiles dropped: all of them hidden.
    pub hidden: u64,
    /// Pixels covered in them.
    pub hidden_fragments: u64,
    /// Quads with coverage in them.
    pub hidden_quads: u64,
}

impl HiZ {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &HiZSpec) -> Self {
        Self {
            cycles: spec.cycles_per_tile,
            pipe: Pipe::new(spec.latency_cycles),
            tiles_in: 0,
            hidden: 0,
            hidden_fragments: 0,
            hidden_quads: 0,
        }
    }
}

impl<M: Screen> Stage<M> for HiZ {
    type In = RasterTile<SamplesOf<M>>;
    type Out = RasterTile<SamplesOf<M>>;

    fn accept(
        &mut self,
        item: Self::In,
        arrival: Cycle,
        machine: &mut M,
        next: &mut impl Sink<Self::Out, M>,
    ) -> Cycle {
        self.tiles_in += 1;
        let start = self.pipe.start(arrival);
        if machine.hides(&item) {
            self.hidden += 1;
            self.hidden_fragments += item.samples.fragments(item.mask);
            self.hidden_quads += item.samples.covered_quads(item.mask);
            self.pipe.work(start, self.cycles);
        } else {
            self.pipe.issue(item, start, self.cycles, machine, next);
        }
        start
    }

    fn drain(&mut self, at: Cycle, _machine: &mut M, _next: &mut impl Sink<Self::Out, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}
