//! The coarse raster finds the raster tiles (8x8 pixels) that a primitive may touch (VR-Pipe, section
//! V-A).
//!
//! Input: primitives with edge functions. Output: raster tiles, row by row of screen tiles and row by row
//! within each. Rate: one raster tile per cycle; a primitive that touches none takes a cycle. The test
//! is conservative: each edge at the innermost corner of the tile, so tiles may turn out to be empty in
//! the fine raster. The coverage of a tile is computed here, for whole rows at once, and used by the
//! fine raster.

use crate::gpu::raster::screen::{SamplesOf, Screen};
use crate::gpu::tile_owner::TileOwner;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{RasterTile, SetUp};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::outline::raster_tiles;

spec! {
    /// Coarse raster.
    CoarseSpec in "coarse" {
        /// Primitives in the queue before it.
        queue: u64 = 2, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles per raster tile.
        cycles_per_tile: u64 = 1, 1..=1024, Assumed "one raster tile per cycle; bounded below by the published speedups";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// Statistics of the coarse raster.
    pub struct CoarseCounters {
        /// Primitives in.
        pub primitives_in: u64,
        /// Primitives that touch no raster tile of this GPC.
        pub primitives_missed: u64,
        /// Raster tiles out.
        pub tiles_out: u64,
    }
}

/// The coarse rasterizer.
#[derive(Debug)]
pub struct Coarse {
    cycles: u64,
    owner: TileOwner,
    /// Issue port.
    pub pipe: IssuePort,
    /// Statistics so far.
    pub counters: CoarseCounters,
}

impl Coarse {
    /// Creates an idle unit for the screen tiles of `owner`.
    pub fn new(spec: &CoarseSpec, owner: TileOwner) -> Self {
        Self {
            cycles: spec.cycles_per_tile,
            owner,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: CoarseCounters::default(),
        }
    }
}

impl Unit for Coarse {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("coarse", &mut self.pipe.activity);
        visitor.statistics("coarse", &self.counters);
    }
}

impl<M: Screen> Stage<M> for Coarse {
    type In = SetUp<M::Outline>;
    type Out = RasterTile<SamplesOf<M>>;

    fn accept(
        &mut self,
        item: Self::In,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Self::Out, M>,
    ) -> Cycle {
        self.counters.primitives_in += 1;
        let first_start = self.pipe.start(arrival);
        let mut start = first_start;
        let before = self.counters.tiles_out;
        let (owner, across) = (self.owner, state.tiles_across());
        let owns = |column, row| owner.owns(column, row);
        let visit = |[column, row]: [u32; 2], quarter, mask, samples: &_| {
            let tile = RasterTile {
                primitive: item.primitive,
                tile: row * across + column,
                quarter,
                mask,
                samples: *samples,
            };
            self.counters.tiles_out += 1;
            self.pipe.issue(tile, start, self.cycles, state, next);
            start = self.pipe.free();
        };
        raster_tiles(&item.outline, item.bounds, owns, visit);
        if self.counters.tiles_out == before {
            self.counters.primitives_missed += 1;
            self.pipe.work(start, 1);
        }
        first_start
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
