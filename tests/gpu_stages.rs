//! One contract for every unit of the emulated pipeline: nothing is lost, order is kept, all of it
//! comes out, twice the same; times follow from rates and latencies to the cycle; a unit that is
//! held up loses nothing, says so, and holds up what comes before it; and every cycle is accounted
//! for.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::collections::HashMap;
use std::fmt::Debug;

use quadrille::gpu::coalesce::qru::QuadReorder;
use quadrille::gpu::coalesce::tc::TileCoalescing;
use quadrille::gpu::coalesce::tgc::TileGridCoalescing;
use quadrille::gpu::config::Config;
use quadrille::gpu::crop::cache::CropCache;
use quadrille::gpu::crop::unit::Crop;
use quadrille::gpu::geometry::assembly::{Assembly, TileOwner};
use quadrille::gpu::geometry::vertex::VertexShading;
use quadrille::gpu::machine::Machine;
use quadrille::gpu::packets::{
    Beat, ColourQuad, Few, Primitive, Quad, RasterTile, SetUp, ShadedWarp, Shape, Warp,
};
use quadrille::gpu::raster::coarse::Coarse;
use quadrille::gpu::raster::fine::Fine;
use quadrille::gpu::raster::hi_z::HiZ;
use quadrille::gpu::raster::polygon::{PixelRect, Vertex};
use quadrille::gpu::raster::setup::Setup;
use quadrille::gpu::stage::{Link, Sink, Stage};
use quadrille::gpu::timing::{Activity, Cycle, Idle};
use quadrille::gpu::warp::cores::Cores;
use quadrille::gpu::warp::launch::Launch;
use quadrille::gpu::zrop::prop::Prop;
use quadrille::gpu::zrop::surface::Tests;
use quadrille::gpu::zrop::unit::Zrop;
use quadrille::gpu::zrop::zcache::ZCache;
use quadrille::shading::{Comparison, DepthTest, StencilTest};

use support::gpu::{Collector, machine, numbered_draw};

/// Side of the picture, in pixels: 4 by 4 screen tiles, one tile grid.
const SIDE: u32 = 64;
/// Screen tiles of it.
const TILES: u32 = 16;
/// Items that each unit is given.
const ITEMS: u32 = 48;
/// When the first of them is offered: away from the edges of memory's windows at 0.
const FIRST: Cycle = 96;
/// Cycles between two items that a slow sink takes.
const SLOW: u64 = 16;

/// What a packet is about, one entry a thing that may be neither lost nor doubled: where in the
/// picture it is (things of one place keep their order) and the splat it belongs to.
type Trail = Vec<(u32, u32)>;

/// What to try on a unit.
struct Case<S: Stage<Machine<'static>>> {
    /// Changed so that a slow sink is felt soon.
    config: Config,
    tests: Tests,
    unit: fn(&Config) -> S,
    items: Vec<S::In>,
    trail_in: fn(&S::In) -> Trail,
    trail_out: fn(&S::Out) -> Trail,
    /// Things dropped or taken out of the pipeline for good, as the unit counts them.
    gone: fn(&S) -> u64,
    activities: fn(&mut S) -> Vec<&mut Activity>,
    /// Cycles from an item's arrival in an empty unit until it is offered to the next.
    latency: u64,
    /// Whether the next unit can hold it up, and whether that holds up what comes before.
    blocks: Blocks,
}

#[derive(Clone, Copy, PartialEq)]
enum Blocks {
    /// The next unit's not taking is passed on.
    Through,
    /// Its input is not held up.
    OutputOnly,
    /// There is no next unit.
    Never,
}

/// What a run left behind.
struct Trace<S: Stage<Machine<'static>>> {
    unit: S,
    entered: Vec<Cycle>,
    sink: Collector<S::Out>,
}

impl<S: Stage<Machine<'static>>> Case<S>
where
    S::In: Clone + Debug,
    S::Out: Debug,
{
    /// Offers `items`, each as soon as the one before has entered a queue of two.
    fn run(&self, items: &[S::In], every: u64) -> Trace<S> {
        // Kept for ever, so that units and machine need no lifetime.
        let draw = Box::leak(Box::new(numbered_draw(SIDE, ITEMS)));
        let mut machine = machine(draw, &self.config, &self.tests, false);
        let mut link = Link::new(2, (self.unit)(&self.config), Collector::new(every));
        let mut at = FIRST;
        let mut entered = Vec::new();
        for item in items {
            at = link.offer(item.clone(), at, &mut machine);
            entered.push(at);
        }
        link.end(at, &mut machine);
        Trace {
            unit: link.stage,
            entered,
            sink: link.next,
        }
    }

    fn check(&self) {
        let free = self.run(&self.items, 0);
        self.nothing_is_lost(&free);
        self.order_is_kept(&free);
        self.times_follow(&free);
        let again = self.run(&self.items, 0);
        assert_eq!(free.entered, again.entered, "not the same twice");
        let (one, other) = (format!("{:?}", free.sink), format!("{:?}", again.sink));
        assert_eq!(one, other, "not the same twice");
        self.one_item_is_on_time();
        self.held_up(&free);
        self.cycles_add_up(free);
    }

    fn nothing_is_lost(&self, trace: &Trace<S>) {
        let count = |trails: &mut dyn Iterator<Item = Trail>| {
            let mut counts: HashMap<(u32, u32), i64> = HashMap::new();
            for thing in trails.flatten() {
                *counts.entry(thing).or_default() += 1;
            }
            counts
        };
        let mut left = count(&mut self.items.iter().map(self.trail_in));
        for (thing, number) in count(&mut trace.sink.values().map(self.trail_out)) {
            *left.entry(thing).or_default() -= number;
        }
        let mut missing = 0;
        for (thing, number) in left {
            assert!(number >= 0, "{thing:?} came out of nothing");
            missing += number;
        }
        assert_eq!(missing.unsigned_abs(), (self.gone)(&trace.unit), "lost");
        assert!(trace.sink.ended.is_some(), "the end was not passed on");
    }

    fn order_is_kept(&self, trace: &Trace<S>) {
        let mut last: HashMap<u32, u32> = HashMap::new();
        for (place, splat) in trace.sink.values().flat_map(self.trail_out) {
            let before = last.insert(place, splat).unwrap_or(0);
            assert!(before <= splat, "{splat} overtook {before} at {place}");
        }
    }

    /// Offers come in order, none before its item could have passed; arrivals come in order.
    fn times_follow(&self, trace: &Trace<S>) {
        assert!(trace.entered.is_sorted());
        assert!(trace.sink.times().is_sorted(), "offers go back in time");
        for (item, offered, _) in &trace.sink.items {
            let splats = (self.trail_out)(item);
            let Some(last) = splats.iter().map(|(_, splat)| splat).max() else {
                continue;
            };
            let holds = |i: &S::In| (self.trail_in)(i).iter().any(|(_, s)| s == last);
            let source = self.items.iter().position(holds).unwrap();
            // Coalescing units write first, then hand on what is full.
            let least = trace.entered[source] + self.latency.min(577) - 1;
            assert!(*offered >= least, "{item:?} at {offered}, before {least}");
        }
        let last = trace.sink.items.last().map_or(0, |(_, _, taken)| *taken);
        assert!(trace.sink.ended >= Some(last), "ended before the last item");
    }

    /// Not ready a cycle before its latency has passed, ready then.
    fn one_item_is_on_time(&self) {
        let trace = self.run(&self.items[..1], 0);
        let ready = match self.blocks {
            Blocks::Never => trace.sink.ended.unwrap(),
            _ => trace.sink.times()[0],
        };
        assert_eq!(ready, FIRST + self.latency, "latency of one item");
    }

    fn held_up(&self, free: &Trace<S>) {
        if self.blocks == Blocks::Never {
            return;
        }
        let mut slow = self.run(&self.items, SLOW);
        self.nothing_is_lost(&slow);
        self.order_is_kept(&slow);
        self.times_follow(&slow);
        let taken = |trace: &Trace<S>| trace.sink.items.last().unwrap().2;
        assert!(taken(&slow) > taken(free), "the sink was not slow");
        let blocked = |trace: &mut Trace<S>| {
            let activities = (self.activities)(&mut trace.unit);
            activities
                .iter()
                .map(|a| a.idle[Idle::Blocked as usize])
                .sum::<u64>()
        };
        assert!(blocked(&mut slow) > 0, "held up, and does not say so");
        if self.blocks == Blocks::Through {
            let last = self.items.len() - 1;
            assert!(
                slow.entered[last] > free.entered[last],
                "held up, and does not hold up what comes before"
            );
        }
        self.cycles_add_up(slow);
    }

    fn cycles_add_up(&self, mut trace: Trace<S>) {
        let end = trace.sink.ended.unwrap();
        for activity in (self.activities)(&mut trace.unit) {
            assert!(activity.total() <= end, "worked after the end");
            activity.idle_until(end, Idle::Drained);
            assert_eq!(activity.busy + activity.idle.iter().sum::<u64>(), end);
        }
    }
}

fn vertex_at(x: u32, y: u32) -> Vertex {
    let [x, y] = [x, y].map(|px| i32::try_from(px * 256).unwrap());
    Vertex { x, y }
}

/// Where splat `n`'s quad is: tiles in turns.
fn tile_of(n: u32) -> u32 {
    n % TILES
}

/// One quad of each splat.
fn primitive(n: u32) -> Primitive {
    let (x, y) = (tile_of(n) % 4 * 16, tile_of(n) / 4 * 16);
    let bounds = [x, y, x + 2, y + 2].map(|px| i32::try_from(px).unwrap());
    Primitive {
        splat: n,
        shape: Shape::Rectangle([vertex_at(x, y), vertex_at(x + 2, y + 2)]),
        bounds: PixelRect {
            x0: bounds[0],
            y0: bounds[1],
            x1: bounds[2],
            y1: bounds[3],
        },
    }
}

fn raster_tile(n: u32, mask: u64) -> RasterTile {
    RasterTile {
        splat: n,
        tile: tile_of(n),
        quarter: 0,
        mask,
        samples: (),
    }
}

/// Eight quads of one tile, two splats and so four positions each; every beat ends its flush.
fn quads(beat: u32) -> Few<Quad, 8> {
    let quads: Vec<_> = (0..8_u8)
        .map(|i| Quad {
            splat: beat,
            position: i % 4,
            mask: 15,
        })
        .collect();
    Few::from_slice(&quads)
}

fn beat(n: u32) -> Beat {
    Beat {
        tile: tile_of(n),
        quads: quads(n),
        last: true,
    }
}

fn warp(n: u32) -> Warp {
    Warp {
        tile: tile_of(n),
        quads: quads(n),
        merge: 0,
    }
}

fn shaded_warp(n: u32) -> ShadedWarp {
    let quad = ColourQuad {
        position: 0,
        mask: 15,
        colour: [[0.25; 4]; 4],
    };
    ShadedWarp {
        tile: tile_of(n),
        quads: Few::from_slice(&[quad; 8]),
    }
}

fn items<T>(item: impl FnMut(u32) -> T) -> Vec<T> {
    (0..ITEMS).map(item).collect()
}

fn of_quads(tile: u32, quads: &[Quad]) -> Trail {
    let entry = |q: &Quad| (tile * 64 + u32::from(q.position), q.splat);
    quads.iter().map(entry).collect()
}

fn of_primitive(p: &Primitive) -> Trail {
    vec![(0, p.splat)]
}

fn of_tile(t: &RasterTile) -> Trail {
    vec![(0, t.splat)]
}

fn of_beat(b: &Beat) -> Trail {
    of_quads(b.tile, &b.quads)
}

fn of_warp(w: &Warp) -> Trail {
    of_quads(w.tile, &w.quads)
}

/// A stencil test that passes nowhere in the upper half of tiles' first quads.
fn stencil() -> Tests {
    let test = StencilTest {
        compare: Comparison::Equal,
        reference: 1,
        ..StencilTest::default()
    };
    let values = (0..SIDE * SIDE).map(|i| u8::from(i / SIDE % 32 >= 16));
    Tests {
        stencil: Some((test, values.collect())),
        depth: None,
    }
}

const OWNER: TileOwner = TileOwner { gpc: 0, count: 1 };

/// From dispatch to results: the last of 8 times 48 bytes passes DRAM's port, 167 bytes a cycle, in
/// the third cycle; then DRAM 367, L2 146, shading 64 cycles. (Later warps may find room in the same
/// window of the port, with nothing to add.)
#[test]
fn vertex_shading() {
    Case::<VertexShading> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| VertexShading::new(&c.vertex),
        items: items(|n| n),
        trail_in: |n| vec![(0, *n)],
        trail_out: of_primitive,
        gone: |_| 0,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 2 + 367 + 146 + 64,
        blocks: Blocks::OutputOnly,
    }
    .check();
}

/// The last items have no area, or lie off the picture.
#[test]
fn assembly() {
    Case::<Assembly> {
        config: Config::default()
            .with("vpo.cycles_per_primitive=3")
            .unwrap(),
        tests: Tests::default(),
        unit: |c| Assembly::new(&c.vpo),
        items: items(|n| match n {
            40..44 => Primitive {
                shape: Shape::Rectangle([vertex_at(3, 3); 2]),
                ..primitive(n)
            },
            44.. => Primitive {
                shape: Shape::Rectangle([vertex_at(SIDE, 0), vertex_at(SIDE + 2, 2)]),
                ..primitive(n)
            },
            _ => primitive(n),
        }),
        trail_in: of_primitive,
        trail_out: of_primitive,
        gone: |u| u.counters.degenerate + u.counters.off_screen,
        activities: |u| vec![&mut u.pipe.activity],
        // Three cycles of work, the last of which is the first of the latency.
        latency: 3 - 1 + 4,
        blocks: Blocks::Through,
    }
    .check();
}

/// Written in one cycle, read out in the next and there a latency of 1 later: 2 with the bin's own
/// cycle, since the draw ends as the item arrives.
#[test]
fn tile_grid_coalescing() {
    let two_bins = Config::default().with("tgc.bin_size=2").unwrap();
    let two_bins = two_bins.with("tgc.bins=2").unwrap();
    Case::<TileGridCoalescing> {
        config: two_bins,
        tests: Tests::default(),
        unit: |c| TileGridCoalescing::new(&c.tgc, true, SIDE, SIDE),
        items: items(primitive),
        trail_in: of_primitive,
        trail_out: of_primitive,
        gone: |_| 0,
        activities: |u| vec![&mut u.input, &mut u.output.activity],
        latency: 2,
        blocks: Blocks::Through,
    }
    .check();
}

#[test]
fn setup() {
    Case::<Setup> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| Setup::new(&c.setup),
        items: items(primitive),
        trail_in: of_primitive,
        trail_out: |s| vec![(0, s.splat)],
        gone: |_| 0,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 10,
        blocks: Blocks::Through,
    }
    .check();
}

/// Every third primitive's bounds leave it no raster tile.
#[test]
fn coarse() {
    Case::<Coarse> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| Coarse::new(&c.coarse, OWNER),
        items: items(|n| {
            let mut bounds = primitive(n).bounds;
            if n % 3 == 2 {
                (bounds.x0, bounds.x1) = (bounds.x0 + 8, bounds.x1 + 8);
            }
            SetUp {
                splat: n,
                outline: primitive(n).shape.polygon().unwrap(),
                bounds,
            }
        }),
        trail_in: |s| vec![(0, s.splat)],
        trail_out: of_tile,
        gone: |u| u.primitives_missed,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// All of tiles 4 to 7 lies behind what is there: rectangles are at depth 0.
#[test]
fn hi_z() {
    let test = DepthTest {
        compare: Comparison::GreaterOrEqual,
        ..DepthTest::default()
    };
    let depths = (0..SIDE * SIDE).map(|i| if i / SIDE / 16 == 1 { 1.0 } else { 0.0 });
    Case::<HiZ> {
        config: Config::default(),
        tests: Tests {
            stencil: None,
            depth: Some((test, depths.collect())),
        },
        unit: |c| HiZ::new(&c.hi_z),
        items: items(|n| raster_tile(n, 0x303)),
        trail_in: of_tile,
        trail_out: of_tile,
        gone: |u| {
            assert_eq!(u.hidden, u64::from(ITEMS / 4));
            u.hidden
        },
        activities: |u| vec![&mut u.pipe.activity],
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// The last eight raster tiles are empty.
#[test]
fn fine() {
    Case::<Fine> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| Fine::new(&c.fine),
        items: items(|n| raster_tile(n, if n < 40 { 0x303 } else { 0 })),
        trail_in: of_tile,
        trail_out: of_tile,
        gone: |u| u.counters.tiles_empty,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// Sixteen quads a raster tile, eight a cycle into bins of twelve, two bins for sixteen tiles.
#[test]
fn tile_coalescing() {
    let config = Config::default().with("tc.bin_size=12").unwrap();
    let case = Case::<TileCoalescing> {
        config: config.with("tc.bins=2").unwrap(),
        tests: Tests::default(),
        unit: |c| TileCoalescing::new(&c.tc, TILES as usize),
        items: items(|n| raster_tile(n / 3, u64::MAX)),
        trail_in: |t| {
            let position = |q: u32| q / 4 * 8 + q % 4;
            (0..16)
                .map(|q| (t.tile * 64 + position(q), t.splat))
                .collect()
        },
        trail_out: of_beat,
        gone: |_| 0,
        activities: |u| vec![&mut u.input, &mut u.output.activity],
        // Twelve quads fill the bin in the second cycle and leave at once, a latency of 1 later.
        latency: 2,
        blocks: Blocks::Through,
    };
    case.check();
    // One quad: in at 0, out at the end of the draw a cycle later, a latency of 1 later there.
    let one = Case {
        items: vec![raster_tile(0, 1)],
        trail_in: of_tile,
        ..case
    };
    one.one_item_is_on_time();
}

#[test]
fn prop() {
    Case::<Prop> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| Prop::new(&c.prop),
        items: items(beat),
        trail_in: of_beat,
        trail_out: of_beat,
        gone: |_| 0,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 4,
        blocks: Blocks::Through,
    }
    .check();
}

fn zrop_unit(config: &Config) -> Zrop {
    let lines = SIDE * SIDE / 128;
    let cache = ZCache::new(config.zrop.cache_bytes, lines as usize, 1 << 40);
    Zrop::new(&config.zrop, false, 0, cache)
}

/// Without tests: beats pass. With a stencil test, half of the tiles' quads are killed.
#[test]
fn zrop() {
    let case = |tests, passes_first: bool| Case::<Zrop> {
        config: Config::default().with("zrop.wait_queue=2").unwrap(),
        tests,
        unit: zrop_unit,
        items: items(|n| beat(if passes_first { n } else { n ^ 4 })),
        trail_in: of_beat,
        trail_out: of_beat,
        gone: |u| u.counters.quads.stencil_failed,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 2,
        blocks: Blocks::Through,
    };
    case(Tests::default(), true).check();
    case(stencil(), true).check();
    case(stencil(), false).check();
}

fn reorder(unit: fn(&Config) -> QuadReorder) {
    Case::<QuadReorder> {
        config: Config::default(),
        tests: Tests::default(),
        unit,
        items: items(beat),
        trail_in: of_beat,
        trail_out: of_warp,
        gone: |u| {
            let counters = &u.counters;
            assert_eq!(counters.quads_in, 2 * counters.pairs + counters.singles);
            0
        },
        activities: |u| vec![&mut u.input, &mut u.pipe.activity],
        // The eighth quad, which makes the warp full, is scanned in the second cycle.
        latency: 1 + 1,
        blocks: Blocks::Through,
    }
    .check();
}

#[test]
fn quad_reorder() {
    reorder(|c| QuadReorder::new(&c.qru, false, c.prop.quads_out_per_cycle));
    reorder(|c| QuadReorder::new(&c.qru, true, c.prop.quads_out_per_cycle));
}

#[test]
fn launch() {
    Case::<Launch> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| Launch::new(&c.launch),
        items: items(warp),
        trail_in: of_warp,
        trail_out: of_warp,
        gone: |_| 0,
        activities: |u| vec![&mut u.pipe.activity],
        latency: 20,
        blocks: Blocks::Through,
    }
    .check();
}

/// As many slots as the queue before the unit has places: two. Red is a quarter of the splat's
/// number plus 1.
#[test]
fn cores() {
    let config = Config::default().with("cores.cores=1").unwrap();
    let case = |merging: bool| Case::<Cores> {
        config: config.with("cores.warps_per_core=2").unwrap(),
        tests: Tests::default(),
        unit: if merging {
            |c| Cores::new(&c.cores, true)
        } else {
            |c| Cores::new(&c.cores, false)
        },
        items: items(warp),
        trail_in: of_warp,
        trail_out: |w| {
            let red = |q: &ColourQuad| 4.0 * f64::from(q.colour[0][0]);
            let is = |q: &ColourQuad, n: u32| (red(q) - f64::from(n + 1)).abs() < 0.1;
            let splat = |q: &ColourQuad| (0..ITEMS).find(|n| is(q, *n)).unwrap();
            let entry = |q: &ColourQuad| (w.tile * 64 + u32::from(q.position), splat(q));
            w.quads.iter().map(entry).collect()
        },
        gone: |u| u.counters.quads_pruned,
        activities: |u| u.schedule.activity.iter_mut().collect(),
        latency: if merging { 150 + 32 } else { 150 },
        blocks: Blocks::Through,
    };
    for merging in [false, true] {
        let case = case(merging);
        case.check_slow_enough();
    }
}

impl Case<Cores> {
    /// Two slots give a warp every 75 cycles: a sink that holds them up is slower than that.
    fn check_slow_enough(&self) {
        let free = self.run(&self.items, 0);
        self.nothing_is_lost(&free);
        self.order_is_kept(&free);
        self.times_follow(&free);
        self.one_item_is_on_time();
        let mut slow = self.run(&self.items, 200);
        self.nothing_is_lost(&slow);
        let idle = |trace: &mut Trace<Cores>, reason: Idle| {
            let activities = (self.activities)(&mut trace.unit);
            activities
                .iter()
                .map(|a| a.idle[reason as usize])
                .sum::<u64>()
        };
        assert!(idle(&mut slow, Idle::Blocked) > 0);
        assert!(slow.entered.last() > free.entered.last());
        let mut free = free;
        assert_eq!(idle(&mut free, Idle::Blocked), 0);
        assert!(idle(&mut free, Idle::Full) > 0, "slots were lacking");
        self.cycles_add_up(free);
        self.cycles_add_up(slow);
    }
}

/// Eight quads at one place, two a cycle: the last begins in the fourth and takes two cycles.
#[test]
fn crop() {
    Case::<Crop> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| {
            let lines = (TILES * 64 / 4) as usize;
            Crop::new(&c.crop, None, 0, CropCache::new(&c.crop, lines, 0))
        },
        items: items(shaded_warp),
        trail_in: |w| w.quads.iter().map(|_| (w.tile, 0)).collect(),
        trail_out: |()| Vec::new(),
        gone: |u| {
            assert_eq!(u.counters.fragments, 4 * u.counters.quads);
            u.counters.quads + u.counters.quads_dropped
        },
        activities: |u| vec![&mut u.activity],
        latency: 3 + 2,
        blocks: Blocks::Never,
    }
    .check();
}
