//! Hi-Z: drops raster tiles that lie behind everything in front of them.
//!
//! In and out: raster tiles, in order. Rate: one a cycle. Splats have one depth each and are drawn
//! without a depth buffer unless one is given; then the greatest depth of each raster tile decides.

use crate::gpu::machine::Machine;
use crate::gpu::packets::RasterTile;
use crate::gpu::spec::spec;
use crate::gpu::stage::{Pipe, Sink, Stage};
use crate::gpu::timing::Cycle;

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
        }
    }
}

impl Stage for HiZ {
    type In = RasterTile;
    type Out = RasterTile;

    fn accept(
        &mut self,
        item: RasterTile,
        arrival: Cycle,
        machine: &mut Machine<'_>,
        next: &mut impl Sink<RasterTile>,
    ) -> Cycle {
        self.tiles_in += 1;
        let start = self.pipe.start(arrival);
        let depth = machine.draw.splats[item.splat as usize].depth;
        if machine.surface.hides(item.tile, item.quarter, depth) {
            self.hidden += 1;
            self.hidden_fragments += u64::from(item.mask.count_ones());
            self.pipe.work(start, self.cycles);
        } else {
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
