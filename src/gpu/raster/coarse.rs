//! The coarse raster finds the raster tiles (8x8 pixels) that a primitive may touch (VR-Pipe, section V-A).
//!
//! Input: primitives with edge functions. Output: raster tiles, row by row of screen tiles and row by row within each. The
//! unit walks over the screen tiles of the bounding box that the GPC owns, tests them at one configured rate and emits
//! their raster tiles at another. The next screen tile is tested when the raster tiles of the previous one have been
//! issued, so empty screen tiles cost time as well. A primitive takes at least a cycle, and by default two primitives share
//! none. With `zrop.tile_stencil`, the raster tiles of a screen tile whose pixels are all terminated or fail the stencil test
//! are dropped, and the screen tile takes the time of an empty one. The test of edges is conservative: it evaluates each edge at the innermost corner of the tile, so the fine raster may find
//! tiles empty. The coverage of a tile is computed here, for whole rows at once, and used by the fine raster.

use crate::raster::screen::{SamplesOf, Screen};
use crate::tile_owner::TileOwner;
use crate::zrop::tile_stencil::TileStencilTest;
use quadrille_base::raster::outline::{TileCover, TileVisitor, raster_tiles};
use quadrille_machine::{
    Cycle, CycleGroups, IssuePort, RasterTile, Rate, RateClock, SetUp, Sink, Stage, Unit, Visitor,
    spec, statistics,
};

spec! {
    /// Configuration of the coarse raster.
    CoarseSpec in "coarse" {
        /// Capacity of the input queue, in primitives.
        queue: u64 = 2, 1..=65_536, Assumed "as in public GPGPU graphics simulators";
        /// Raster tiles emitted per cycle.
        tiles_per_cycle: Rate = Rate::new(2, 1), Rate::LEAST..=Rate::MOST, Calibrated "VR-Pipe's speedup of 2.78, out of reach with 1 in most scenes; default of the Emerald simulator, gpu-sim.cc, whose example configuration has 1";
        /// Maximum number of primitives per cycle.
        primitives_per_cycle: u64 = 1, 1..=32, Assumed "one primitive in work at a time, as in public GPGPU graphics simulators";
        /// Screen tiles of a primitive's bounding box tested per cycle.
        screen_tiles_tested_per_cycle: Rate = Rate::new(2, 1), Rate::LEAST..=Rate::MOST, Assumed "the walk keeps up with raster tiles that lie in different screen tiles";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// Statistics of the coarse raster.
    pub struct CoarseCounters {
        /// Primitives received.
        pub primitives_in: u64,
        /// Primitives that touch no raster tile of this GPC.
        pub primitives_missed: u64,
        /// Raster tiles emitted.
        pub tiles_out: u64,
        /// Screen tiles tested.
        pub screen_tiles: u64,
        /// Screen tiles tested that contain no touched raster tile.
        pub screen_tiles_empty: u64,
        /// Raster tiles dropped by the stencil test of whole screen tiles.
        pub tiles_dropped: u64,
        /// Fragments of dropped raster tiles whose pixels are terminated.
        pub fragments_terminated: u64,
        /// Quads of dropped raster tiles whose pixels are terminated.
        pub quads_terminated: u64,
        /// Fragments of dropped raster tiles whose pixels fail the stencil test.
        pub fragments_failed: u64,
    }
}

impl CoarseCounters {
    /// Counts a raster tile that the stencil test of its screen tile drops.
    fn drop_tile<S: TileCover>(&mut self, tile: &RasterTile<S>, test: TileStencilTest) {
        self.tiles_dropped += 1;
        let fragments = tile.samples.fragments(tile.mask);
        if test == TileStencilTest::Terminated {
            self.fragments_terminated += fragments;
            self.quads_terminated += tile.samples.quads(tile.mask);
        } else {
            self.fragments_failed += fragments;
        }
    }
}

/// Coarse raster unit: emits the raster tiles of a primitive.
#[derive(Debug)]
pub struct Coarse {
    owner: TileOwner,
    /// Primitives that share the cycle in which the current one began or the last one ended.
    primitives: CycleGroups,
    walk: RateClock,
    /// Largest rate at which screen tiles are tested.
    tested: Rate,
    /// Output port for raster tiles.
    pub pipe: IssuePort,
    /// Counts of primitives and tiles so far.
    pub counters: CoarseCounters,
}

impl Coarse {
    /// Creates an idle unit for the screen tiles of `owner`.
    pub fn new(spec: &CoarseSpec, owner: TileOwner) -> Self {
        Self {
            owner,
            primitives: CycleGroups::new(spec.primitives_per_cycle),
            walk: RateClock::new(spec.screen_tiles_tested_per_cycle),
            tested: spec.screen_tiles_tested_per_cycle,
            pipe: IssuePort::new(spec.tiles_per_cycle, spec.latency_cycles),
            counters: CoarseCounters::default(),
        }
    }
}

impl Unit for Coarse {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.pipe.activity.least = self.primitives.least_cycles();
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
        if self.primitives.are_full() {
            self.pipe.end_cycle();
        }
        let first_start = self.pipe.start(arrival);
        self.primitives.begin_in(first_start);
        self.walk.wait_until(first_start);
        let touched = |counters: &CoarseCounters| counters.tiles_out + counters.tiles_dropped;
        let (before, touched_before) = (self.counters.tiles_out, touched(&self.counters));
        let tested_before = self.counters.screen_tiles;
        let mut walk = Walk {
            primitive: item.primitive,
            across: state.tiles_across(),
            tested: first_start,
            test: TileStencilTest::Passes,
            is_empty: false,
            unit: self,
            state,
            next,
        };
        raster_tiles(&item.outline, item.bounds, &mut walk);
        self.counters.primitives_missed += u64::from(touched(&self.counters) == touched_before);
        let emitted = self.pipe.activity.least_cycles_of(self.counters.tiles_out - before);
        let tested = self.tested.cycles_for(self.counters.screen_tiles - tested_before);
        self.primitives.count(emitted.max(tested).max(1));
        let end = self.walk.whole_cycle().max(first_start + 1);
        // The next primitive does not begin before the last screen tile of this one is tested.
        self.pipe.work_until(self.walk.cycle());
        let is_shared = self.pipe.is_mid_cycle()
            || self.walk.cycle() == self.pipe.port_free() && self.walk.is_mid_cycle();
        self.primitives.move_to(self.pipe.port_free(), is_shared);
        if self.primitives.are_full() {
            self.pipe.work_until(end);
        } else {
            self.pipe.activity.busy_until(end);
        }
        first_start
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}

struct Walk<'a, M, N> {
    unit: &'a mut Coarse,
    state: &'a mut M,
    next: &'a mut N,
    primitive: u32,
    across: u32,
    tested: Cycle,
    test: TileStencilTest,
    is_empty: bool,
}

impl<M: Screen, N: Sink<RasterTile<SamplesOf<M>>, M>> TileVisitor<SamplesOf<M>> for Walk<'_, M, N> {
    #[inline]
    fn enter(&mut self, column: u32, row: u32) -> bool {
        let unit = &mut *self.unit;
        if !unit.owner.owns(column, row) || self.state.is_cancelled() {
            return false;
        }
        self.tested = unit.walk.cycle();
        self.test = self.state.test_tile(row * self.across + column, self.tested);
        unit.walk.pass_one();
        self.is_empty = true;
        unit.counters.screen_tiles += 1;
        unit.counters.screen_tiles_empty += 1;
        true
    }

    #[inline]
    fn touch(&mut self, [column, row]: [u32; 2], quarter: u8, mask: u64, samples: &SamplesOf<M>) {
        let tile = RasterTile {
            primitive: self.primitive,
            tile: row * self.across + column,
            quarter,
            mask,
            samples: *samples,
        };
        let unit = &mut *self.unit;
        unit.counters.screen_tiles_empty -= u64::from(std::mem::take(&mut self.is_empty));
        if self.test != TileStencilTest::Passes {
            unit.counters.drop_tile(&tile, self.test);
            return;
        }
        unit.counters.tiles_out += 1;
        let start = (unit.pipe).issue_after_work(tile, self.tested, 1, self.state, self.next);
        // The next screen tile is tested when this one's raster tiles have been issued.
        unit.walk.wait_until(start);
    }
}
