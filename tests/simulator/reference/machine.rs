//! The clocked machine: all units, wired by queues and run cycle by cycle.

use quadrille::gpu::config::Config;
use quadrille::gpu::variant::Variant;

use super::coarse::Coarse;
use super::cores::Cores;
use super::crop::Crop;
use super::front::{Simple, Vertex};
use super::grids::GridCoalescing;
use super::observed::Observed;
use super::pack::{Packing, QuadReorder};
use super::packets::{Beat, ColourQuad, Primitive, RasterTile, Scene, Warp};
use super::queue::{Cycle, Fifo};
use super::ratio;
use super::tiles::TileCoalescing;
use super::zrop::Zrop;

/// Cycles after which a draw of the tests has hung.
const TOO_LONG: Cycle = 2_000_000;

/// All units and the queues before them. A variant without tile-grid coalescing or quad reordering
/// does without the unit and its queue.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    scene: &'a Scene,
    variant: Variant,
    vertex: Vertex,
    /// Primitives whose positions are fetched, which takes no time.
    fetched: Fifo<Primitive>,
    vpo_in: Fifo<Primitive>,
    vpo: Simple<Primitive>,
    grids_in: Fifo<Primitive>,
    grids: GridCoalescing,
    fetched_again: Fifo<Primitive>,
    setup_in: Fifo<Primitive>,
    setup: Simple<Primitive>,
    coarse_in: Fifo<Primitive>,
    coarse: Coarse,
    hi_z_in: Fifo<RasterTile>,
    hi_z: Simple<RasterTile>,
    fine_in: Fifo<RasterTile>,
    fine: Simple<RasterTile>,
    tiles_in: Fifo<RasterTile>,
    tiles: TileCoalescing,
    prop_in: Fifo<Beat>,
    prop: Simple<Beat>,
    quads_per_prop_slot: u64,
    zrop_in: Fifo<Beat>,
    zrop: Zrop,
    reorder_in: Fifo<Beat>,
    reorder: QuadReorder,
    packing_in: Fifo<Beat>,
    packing: Packing,
    launch_in: Fifo<Warp>,
    launch: Simple<Warp>,
    cores: Cores,
    crop_in: Fifo<Vec<ColourQuad>>,
    crop: Crop,
}

impl<'a> Machine<'a> {
    pub(super) fn new(scene: &'a Scene, c: &Config, variant: Variant) -> Self {
        let prop = ratio(c.prop.quads_in_per_cycle);
        let quads_per_prop_slot = prop.quads_per_slot();
        // The clock runs at 1 GHz: a nanosecond is a cycle.
        let memory = (c.l2.latency_ns + c.dram.latency_ns) as u64;
        Self {
            scene,
            variant,
            vertex: Vertex::new(&c.vertex, memory, scene),
            fetched: Fifo::new(c.vertex.fetch_queue),
            vpo_in: Fifo::new(c.vpo.queue),
            vpo: Simple::new(ratio(c.vpo.primitives_per_cycle), c.vpo.latency_cycles),
            grids_in: Fifo::new(c.tgc.queue),
            grids: GridCoalescing::new(&c.tgc, scene),
            fetched_again: Fifo::new(c.tgc.fetch_queue),
            setup_in: Fifo::new(c.setup.queue),
            setup: Simple::new(ratio(c.setup.primitives_per_cycle), c.setup.latency_cycles),
            coarse_in: Fifo::new(c.coarse.queue),
            coarse: Coarse::new(&c.coarse),
            hi_z_in: Fifo::new(c.hi_z.queue),
            hi_z: Simple::new(ratio(c.hi_z.tiles_per_cycle), c.hi_z.latency_cycles),
            fine_in: Fifo::new(c.fine.queue),
            fine: Simple::new(ratio(c.fine.tiles_per_cycle), c.fine.latency_cycles),
            tiles_in: Fifo::new(c.tc.queue),
            tiles: TileCoalescing::new(&c.tc),
            prop_in: Fifo::new(c.prop.queue),
            prop: Simple::new(prop.of_groups(quads_per_prop_slot), c.prop.latency_cycles),
            quads_per_prop_slot,
            zrop_in: Fifo::new(c.zrop.queue),
            zrop: Zrop::new(&c.zrop, variant.het(), scene),
            reorder_in: Fifo::new(c.qru.queue),
            reorder: QuadReorder::new(&c.qru),
            packing_in: Fifo::new(c.pack.queue),
            packing: Packing::new(c.pack.latency_cycles, ratio(c.prop.quads_out_per_cycle)),
            launch_in: Fifo::new(c.launch.queue),
            launch: Simple::new(ratio(c.launch.warps_per_cycle), c.launch.latency_cycles),
            cores: Cores::new(&c.cores, c.vertex.instructions, variant.qru()),
            crop_in: Fifo::new(c.crop.queue),
            crop: Crop::new(c, variant.het(), scene),
        }
    }

    /// Runs the draw to its end.
    pub(super) fn run(mut self) -> Observed {
        let mut seen = Observed::default();
        let mut now = 0;
        loop {
            self.begin_cycle(now);
            // Signals settle: units move packets until none can, from the last unit to the first, as
            // the last ones make room for those before them.
            while self.settle(now, &mut seen) {}
            self.end_cycle(now);
            if self.has_ended(now) {
                break;
            }
            now += 1;
            assert!(now < TOO_LONG, "hangs");
        }
        self.report(&mut seen);
        seen
    }

    fn begin_cycle(&mut self, now: Cycle) {
        self.vertex.begin_cycle();
        self.vpo.pipe.port.begin_cycle();
        self.grids.begin_cycle(now);
        self.setup.pipe.port.begin_cycle();
        self.coarse.begin_cycle();
        self.hi_z.pipe.port.begin_cycle();
        self.fine.pipe.port.begin_cycle();
        self.tiles.begin_cycle(now);
        self.prop.pipe.port.begin_cycle();
        self.zrop.begin_cycle();
        self.reorder.begin_cycle();
        self.packing.begin_cycle();
        self.launch.pipe.port.begin_cycle();
        self.cores.begin_cycle();
        self.crop.begin_cycle();
    }

    fn end_cycle(&mut self, now: Cycle) {
        self.vertex.pipe.port.end_cycle(now);
        self.vpo.pipe.port.end_cycle(now);
        self.grids.end_cycle(now);
        self.setup.pipe.port.end_cycle(now);
        self.coarse.end_cycle(now);
        self.hi_z.pipe.port.end_cycle(now);
        self.fine.pipe.port.end_cycle(now);
        self.tiles.end_cycle(now);
        self.prop.pipe.port.end_cycle(now);
        self.zrop.end_cycle(now);
        self.reorder.end_cycle(now);
        self.packing.end_cycle(now);
        self.launch.pipe.port.end_cycle(now);
        self.cores.end_cycle(now);
        self.crop.end_cycle(now);
    }

    /// Lets every unit move what it can, from the last to the first; whether any did.
    fn settle(&mut self, now: Cycle, seen: &mut Observed) -> bool {
        let scene = self.scene;
        self.cores.add_vertex_warps(self.vertex.arrived(now));
        let mut moved = self.crop.step(now, &mut self.crop_in, &mut self.zrop.updates);
        // Warps pass from launch into slots of the cores, which have no queue before them.
        let mut slots = Fifo::new(self.cores.room() as u64);
        moved |= self.cores.step(now, scene, &mut slots, &mut self.crop_in);
        slots = Fifo::new(self.cores.room() as u64);
        let one = |_: &Warp| 0;
        moved |=
            (self.launch).step(now, &mut self.launch_in, &mut slots, one, |warp| (1, Some(warp)));
        moved |= self.cores.step(now, scene, &mut slots, &mut self.crop_in);
        moved |= (self.packing).step(now, &mut self.packing_in, &mut self.launch_in);
        if self.variant.qru() {
            moved |= (self.reorder).step(now, &mut self.reorder_in, &mut self.packing_in);
        }
        moved |= self.step_tests(now, seen);
        moved |= self.step_raster(now, seen);
        moved | self.step_geometry(now)
    }

    /// Tile coalescing, PROP and ZROP.
    fn step_tests(&mut self, now: Cycle, seen: &mut Observed) -> bool {
        let next = if self.variant.qru() { &mut self.reorder_in } else { &mut self.packing_in };
        let before = next.entered;
        let mut moved = self.zrop.step(now, &mut self.zrop_in, next);
        for beat in next.last(next.entered - before) {
            seen.beats.push((now, beat.tile, beat.quads.len()));
        }
        let width = self.quads_per_prop_slot;
        let slots = |beat: Beat| {
            let count = (beat.quads.len() as u64).div_ceil(width).max(1);
            (count, Some(beat))
        };
        let one = |_: &Beat| 0;
        moved |= (self.prop).step(now, &mut self.prop_in, &mut self.zrop_in, one, slots);
        let ended = self.fine_has_ended();
        moved | (self.tiles).step(now, &mut self.tiles_in, &mut self.prop_in, ended)
    }

    /// Setup, coarse raster, Hi-Z, fine raster.
    fn step_raster(&mut self, now: Cycle, seen: &mut Observed) -> bool {
        let splat = |tile: &RasterTile| tile.splat;
        let before = self.tiles_in.entered;
        let mut moved =
            (self.fine).step(now, &mut self.fine_in, &mut self.tiles_in, splat, |tile| {
                (1, (!tile.quads.is_empty()).then_some(tile))
            });
        for tile in self.tiles_in.last(self.tiles_in.entered - before) {
            seen.tiles.push((now, tile.splat, tile.tile, tile.quads.len()));
        }
        moved |= (self.hi_z)
            .step(now, &mut self.hi_z_in, &mut self.fine_in, splat, |tile| (1, Some(tile)));
        moved |= (self.coarse).step(now, self.scene, &mut self.coarse_in, &mut self.hi_z_in);
        let one = |_: &Primitive| 0;
        moved
            | (self.setup).step(now, &mut self.setup_in, &mut self.coarse_in, one, |p| (1, Some(p)))
    }

    /// Vertex shading, primitive assembly, tile-grid coalescing.
    fn step_geometry(&mut self, now: Cycle) -> bool {
        let scene = self.scene;
        let mut moved = false;
        let next = if self.variant.tgc() {
            let ended = self.vpo_has_ended();
            moved |= self.fetched_again.pass(&mut self.setup_in);
            moved |= (self.grids).step(now, &mut self.grids_in, &mut self.fetched_again, ended);
            &mut self.grids_in
        } else {
            &mut self.setup_in
        };
        let one = |_: &Primitive| 0;
        moved |= (self.vpo).step(now, &mut self.vpo_in, next, one, |p| {
            let bounds = scene.splats[p.splat].outline.bounds();
            let bounds = bounds.map(|bounds| bounds.within(scene.rect()));
            let seen = bounds.filter(|bounds| !bounds.is_empty());
            (1, seen.map(|bounds| Primitive { bounds, ..p }))
        });
        moved |= self.fetched.pass(&mut self.vpo_in);
        moved | self.vertex.step(now, &mut self.fetched)
    }

    fn vpo_has_ended(&self) -> bool {
        self.vertex.has_ended()
            && self.fetched.is_empty()
            && self.vpo_in.is_empty()
            && self.vpo.pipe.is_idle()
    }

    fn fine_has_ended(&self) -> bool {
        let grids = self.grids_in.is_empty() && (!self.variant.tgc() || self.grids.has_ended());
        let raster = self.fetched_again.is_empty()
            && self.setup_in.is_empty()
            && self.setup.pipe.is_idle()
            && self.coarse_in.is_empty()
            && self.coarse.has_ended()
            && self.hi_z_in.is_empty()
            && self.hi_z.pipe.is_idle()
            && self.fine_in.is_empty()
            && self.fine.pipe.is_idle();
        self.vpo_has_ended() && grids && raster
    }

    fn has_ended(&self, now: Cycle) -> bool {
        self.fine_has_ended()
            && self.tiles_in.is_empty()
            && self.tiles.has_ended()
            && self.prop_in.is_empty()
            && self.prop.pipe.is_idle()
            && self.zrop_in.is_empty()
            && self.zrop.has_ended()
            && self.reorder_in.is_empty()
            && self.reorder.has_ended()
            && self.packing_in.is_empty()
            && self.packing.has_ended()
            && self.launch_in.is_empty()
            && self.launch.pipe.is_idle()
            && self.cores.has_ended()
            && self.crop_in.is_empty()
            && self.crop.has_ended(now)
    }

    fn report(&self, seen: &mut Observed) {
        let ends = [
            self.vertex.pipe.end(),
            self.vpo.pipe.end(),
            self.grids.input.end,
            self.grids.output.end(),
            self.setup.pipe.end(),
            self.coarse.end,
            self.coarse.pipe.end(),
            self.hi_z.pipe.end(),
            self.fine.pipe.end(),
            self.tiles.input.end,
            self.tiles.output.end(),
            self.prop.pipe.end(),
            self.zrop.pipe.end(),
            self.reorder.scan.end,
            self.reorder.pipe.end(),
            self.packing.pipe.end(),
            self.launch.pipe.end(),
            self.cores.end,
            self.crop.end,
        ];
        let cycles = ends.into_iter().max().unwrap_or(0);
        seen.terminated_at = self.zrop.terminated_at.clone();
        seen.colour = self.crop.colour.clone();
        seen.counts = vec![
            ("vertex warps", self.vertex.warps),
            ("vertex busy", self.vertex.pipe.port.busy),
            ("vpo busy", self.vpo.pipe.port.busy),
            ("setup busy", self.setup.pipe.port.busy),
            ("coarse busy", self.coarse.busy),
            ("hi_z busy", self.hi_z.pipe.port.busy),
            ("fine busy", self.fine.pipe.port.busy),
            ("tc busy", self.tiles.input.taken),
            ("tc full", self.tiles.bins.flushes.full),
            ("tc evicted", self.tiles.bins.flushes.evicted),
            ("tc timeout", self.tiles.bins.flushes.timeout),
            ("tc end", self.tiles.bins.flushes.end),
            ("tc quads", self.tiles.bins.flushes.items),
            ("tc_out busy", self.tiles.output.port.busy),
            ("prop busy", self.prop.pipe.port.busy),
            ("zrop busy", self.zrop.pipe.port.busy),
            ("fragments terminated", self.zrop.terminated),
            ("updates", self.zrop.updates_performed),
            ("pack busy", self.packing.input.taken),
            ("pack_out busy", self.packing.pipe.port.busy),
            ("warps", self.packing.warps),
            ("launch busy", self.launch.pipe.port.busy),
            ("cores busy", self.cores.busy),
            ("fragments shaded", self.cores.shaded),
            ("fragments pruned", self.cores.pruned),
            ("fragments merged", self.cores.merged),
            ("crop busy", self.crop.blend.taken),
            ("quads blended", self.crop.quads),
            ("fragments blended", self.crop.fragments),
            ("fragments late", self.crop.late),
            ("terminations", self.crop.terminations),
            ("cycles", cycles),
        ];
        if self.variant.tgc() {
            let flushes = &self.grids.bins.flushes;
            seen.counts.extend([
                ("tgc busy", self.grids.input.taken),
                ("tgc full", flushes.full),
                ("tgc evicted", flushes.evicted),
                ("tgc end", flushes.end),
                ("tgc primitives", flushes.items),
                ("tgc_out busy", self.grids.output.port.busy),
            ]);
        }
        if self.variant.qru() {
            seen.counts.extend([
                ("qru busy", self.reorder.scan.taken),
                ("qru_out busy", self.reorder.pipe.port.busy),
                ("pairs", self.reorder.pairs),
                ("singles", self.reorder.singles),
            ]);
        }
    }
}
