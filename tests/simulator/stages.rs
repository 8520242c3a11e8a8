//! One contract for every unit of the emulated pipeline: nothing is lost, order is kept, all of it
//! comes out, twice the same; times follow from rates and latencies to the cycle; a unit that is
//! held up loses nothing, says so, and holds up what comes before it; and every cycle is accounted
//! for.
use arrayvec::ArrayVec;
use std::fmt::Debug;

use quadrille::DepthTest;
use quadrille::StencilTest;
use quadrille::gpu::coalesce::quad_reorder::QuadReorder;
use quadrille::gpu::coalesce::tile_coalescing::TileCoalescing;
use quadrille::gpu::coalesce::tile_grid_coalescing::TileGridCoalescing;
use quadrille::gpu::coalesce::warp_packing::WarpPacking;
use quadrille::gpu::config::Config;
use quadrille::gpu::crop::unit::Crop;
use quadrille::gpu::draw_state::DrawState;
use quadrille::gpu::geometry::assembly::Assembly;
use quadrille::gpu::geometry::vertex::VertexShading;
use quadrille::gpu::raster::coarse::Coarse;
use quadrille::gpu::raster::fine::Fine;
use quadrille::gpu::raster::hi_z::HiZ;
use quadrille::gpu::raster::setup::Setup;
use quadrille::gpu::tile_owner::TileOwner;
use quadrille::gpu::warp::cores::Cores;
use quadrille::gpu::warp::launch::Launch;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::gpu::zrop::prop::Prop;
use quadrille::gpu::zrop::unit::Zrop;
use quadrille::machine::packets::Beat;
use quadrille::machine::packets::ColourQuad;
use quadrille::machine::packets::Primitive;
use quadrille::machine::packets::Quad;
use quadrille::machine::packets::RasterTile;
use quadrille::machine::packets::SetUp;
use quadrille::machine::packets::ShadedWarp;
use quadrille::machine::packets::Warp;
use quadrille::machine::stage::Stage;
use quadrille::machine::timing::StallReason;
use quadrille::machine::unit::Unit;
use quadrille::raster::geometry::PixelRect;
use quadrille::raster::geometry::PrimitiveShape;
use quadrille::raster::geometry::Vertex;
use quadrille::raster::tiles::TileLayout;
use quadrille_base::shading::CompareOp;

use crate::support::contract::{Blocks, Contract, Trace, Trail, activities};
use crate::support::gpu::{machine, numbered_draw};

/// Side of the picture, in pixels: 4 by 4 screen tiles, one tile grid.
const SIDE: u32 = 64;
/// Screen tiles of it.
const TILES: u32 = 16;
/// Items that each unit is given.
const ITEMS: u32 = 48;

/// What to try on a unit of the emulated pipeline.
struct Case<S: Stage<DrawState<'static>>> {
    /// Changed so that a slow sink is felt soon.
    config: Config,
    tests: Tests,
    unit: fn(&Config) -> S,
    items: Vec<S::In>,
    trail_in: fn(&S::In) -> Trail,
    trail_out: fn(&S::Out) -> Trail,
    gone: fn(&S) -> u64,
    latency: u64,
    blocks: Blocks,
}

impl<S: Stage<DrawState<'static>> + Unit + 'static> Case<S>
where
    S::In: Clone + Debug,
    S::Out: Debug + 'static,
{
    fn contract(&self) -> Contract<DrawState<'static>, S> {
        let (config, tests) = (self.config.clone(), self.tests.clone());
        let (of, unit, trail_out) = (self.config.clone(), self.unit, self.trail_out);
        Contract {
            machine: Box::new(move || {
                // Kept for ever, so that units and machine need no lifetime.
                let draw = Box::leak(Box::new(numbered_draw(SIDE, ITEMS)));
                machine(draw, &config, &tests, false)
            }),
            unit: Box::new(move || unit(&of)),
            items: self.items.clone(),
            trail_in: self.trail_in,
            trail_out: Box::new(move |out, _| trail_out(out)),
            gone: self.gone,
            latency: self.latency,
            blocks: self.blocks,
        }
    }

    fn check(&self) {
        self.contract().check();
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
        primitive: n,
        shape: PrimitiveShape::Rectangle([vertex_at(x, y), vertex_at(x + 2, y + 2)]),
        bounds: PixelRect { x0: bounds[0], y0: bounds[1], x1: bounds[2], y1: bounds[3] },
    }
}

fn raster_tile(n: u32, mask: u64) -> RasterTile {
    RasterTile { primitive: n, tile: tile_of(n), quarter: 0, mask, samples: () }
}

/// Eight quads of one tile, two splats and so four positions each; every beat ends its flush.
fn quads(beat: u32) -> ArrayVec<Quad, 8> {
    let quads: Vec<_> =
        (0..8_u8).map(|i| Quad { primitive: beat, position: i % 4, mask: 15 }).collect();
    quads.into_iter().collect()
}

fn beat(n: u32) -> Beat {
    Beat { tile: tile_of(n), quads: quads(n), pairs: 0, last: true }
}

fn warp(n: u32) -> Warp {
    Warp { tile: tile_of(n), quads: quads(n), merge: 0, begins_flush: false }
}

fn shaded_warp(n: u32) -> ShadedWarp {
    let quad = ColourQuad { position: 0, mask: 15, colour: [[0.25; 4]; 4] };
    ShadedWarp { tile: tile_of(n), quads: [quad; 8].into_iter().collect() }
}

fn items<T>(item: impl FnMut(u32) -> T) -> Vec<T> {
    (0..ITEMS).map(item).collect()
}

fn of_quads(tile: u32, quads: &[Quad]) -> Trail {
    let entry = |q: &Quad| (tile * 64 + u32::from(q.position), q.primitive);
    quads.iter().map(entry).collect()
}

fn of_primitive(p: &Primitive) -> Trail {
    vec![(0, p.primitive)]
}

fn of_tile(t: &RasterTile) -> Trail {
    vec![(0, t.primitive)]
}

fn of_beat(b: &Beat) -> Trail {
    of_quads(b.tile, &b.quads)
}

fn of_warp(w: &Warp) -> Trail {
    of_quads(w.tile, &w.quads)
}

/// A stencil test that passes nowhere in the upper half of tiles' first quads.
fn stencil() -> Tests {
    let test = StencilTest { compare: CompareOp::Equal, reference: 1, ..StencilTest::default() };
    let values = (0..SIDE * SIDE).map(|i| u8::from(i / SIDE % 32 >= 16));
    Tests { stencil: Some((test, values.collect())), depth: None }
}

const OWNER: TileOwner = TileOwner::only();

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
        latency: 2 + 367 + 146 + 64,
        blocks: Blocks::OutputOnly,
    }
    .check();
}

/// The last items have no area, or lie off the picture.
#[test]
fn assembly() {
    Case::<Assembly> {
        config: Config::default().with("vpo.primitives_per_cycle=1/3").unwrap(),
        tests: Tests::default(),
        unit: |c| Assembly::new(&c.vpo),
        items: items(|n| match n {
            40..44 => {
                Primitive { shape: PrimitiveShape::Rectangle([vertex_at(3, 3); 2]), ..primitive(n) }
            }
            44.. => Primitive {
                shape: PrimitiveShape::Rectangle([vertex_at(SIDE, 0), vertex_at(SIDE + 2, 2)]),
                ..primitive(n)
            },
            _ => primitive(n),
        }),
        trail_in: of_primitive,
        trail_out: of_primitive,
        gone: |u| u.counters.degenerate + u.counters.off_screen,
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
        unit: |c| TileGridCoalescing::new(&c.tgc, true, TileLayout::new(SIDE, SIDE), OWNER),
        items: items(primitive),
        trail_in: of_primitive,
        trail_out: of_primitive,
        gone: |_| 0,
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
        trail_out: |s| vec![(0, s.primitive)],
        gone: |_| 0,
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
            SetUp { primitive: n, outline: primitive(n).shape.polygon().unwrap(), bounds }
        }),
        trail_in: |s| vec![(0, s.primitive)],
        trail_out: of_tile,
        gone: |u| u.counters.primitives_missed,
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// All of tiles 4 to 7 lies behind the stored depths: rectangles are at depth 0.
#[test]
fn hi_z() {
    let test = DepthTest { compare: CompareOp::GreaterOrEqual, ..DepthTest::default() };
    let depths = (0..SIDE * SIDE).map(|i| if i / SIDE / 16 == 1 { 1.0 } else { 0.0 });
    Case::<HiZ> {
        config: Config::default(),
        tests: Tests { stencil: None, depth: Some((test, depths.collect())) },
        unit: |c| HiZ::new(&c.hi_z),
        items: items(|n| raster_tile(n, 0x303)),
        trail_in: of_tile,
        trail_out: of_tile,
        gone: |u| {
            assert_eq!(u.counters.hidden, u64::from(ITEMS / 4));
            u.counters.hidden
        },
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
        latency: 1,
        blocks: Blocks::Through,
    }
    .check();
}

/// Sixteen quads a raster tile, all in a cycle into bins of twelve, two bins for sixteen tiles.
#[test]
fn tile_coalescing() {
    let config = Config::default().with("tc.bin_size=12").unwrap();
    let case = Case::<TileCoalescing<_>> {
        config: config.with("tc.bins=2").unwrap(),
        tests: Tests::default(),
        unit: |c| TileCoalescing::new(&c.tc, c.tc.policy(), TILES as usize),
        items: items(|n| raster_tile(n / 3, u64::MAX)),
        trail_in: |t| {
            let position = |q: u32| q / 4 * 8 + q % 4;
            (0..16).map(|q| (t.tile * 64 + position(q), t.primitive)).collect()
        },
        trail_out: of_beat,
        gone: |_| 0,
        // Twelve quads fill the bin in the first cycle and leave at once, a latency of 1 later.
        latency: 1,
        blocks: Blocks::Through,
    };
    case.check();
    // One quad: in at 0, out at the end of the draw a cycle later, a latency of 1 later there.
    let one = Case { items: vec![raster_tile(0, 1)], trail_in: of_tile, latency: 2, ..case };
    one.contract().one_item_is_on_time();
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
        latency: 4,
        blocks: Blocks::Through,
    }
    .check();
}

fn zrop_unit(config: &Config) -> Zrop {
    let lines = SIDE * SIDE / 128;
    let first = 1 << 30;
    Zrop::new(&config.zrop, false, 0, first..first + lines)
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
        latency: 2,
        blocks: Blocks::Through,
    };
    case(Tests::default(), true).check();
    case(stencil(), true).check();
    case(stencil(), false).check();
}

#[test]
fn quad_reorder() {
    Case::<QuadReorder> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| QuadReorder::new(&c.qru, true),
        items: items(beat),
        trail_in: of_beat,
        trail_out: of_beat,
        gone: |u| {
            let counters = &u.counters;
            assert_eq!(counters.quads_in, 2 * counters.pairs + counters.singles);
            0
        },
        // The eighth quad, which makes the beat full, is scanned in the second cycle.
        latency: 1 + 1,
        blocks: Blocks::Through,
    }
    .check();
}

#[test]
fn warp_packing() {
    Case::<WarpPacking> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| WarpPacking::new(&c.pack, c.prop.quads_out_per_cycle),
        items: items(beat),
        trail_in: of_beat,
        trail_out: of_warp,
        gone: |_| 0,
        // The eighth quad, which makes the warp full, passes the port in the second cycle.
        latency: 1 + 1,
        blocks: Blocks::Through,
    }
    .check();
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
        gone: |u| u.counters.quads_survived[0],
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
        let contract = self.contract();
        let free = contract.run(&self.items, 0);
        contract.nothing_is_lost(&free);
        contract.order_is_kept(&free);
        contract.times_follow(&free);
        contract.one_item_is_on_time();
        let mut slow = contract.run(&self.items, 200);
        contract.nothing_is_lost(&slow);
        let idle = |trace: &mut Trace<DrawState<'static>, Cores>, reason: StallReason| {
            activities(&mut trace.unit).iter().map(|a| a.idle[reason as usize]).sum::<u64>()
        };
        assert!(idle(&mut slow, StallReason::Blocked) > 0);
        assert!(slow.entered.last() > free.entered.last());
        let mut free = free;
        assert_eq!(idle(&mut free, StallReason::Blocked), 0);
        assert!(idle(&mut free, StallReason::Full) > 0, "slots were lacking");
        contract.cycles_add_up(free);
        contract.cycles_add_up(slow);
    }
}

/// Eight quads at one place: each takes two cycles and begins when the one before it is done.
#[test]
fn crop() {
    Case::<Crop> {
        config: Config::default(),
        tests: Tests::default(),
        unit: |c| {
            let lines = 0..TILES * 64 / 4;
            Crop::new(&c.crop, None, 0, lines)
        },
        items: items(shaded_warp),
        trail_in: |w| w.quads.iter().map(|_| (w.tile, 0)).collect(),
        trail_out: |()| Vec::new(),
        gone: |u| {
            assert_eq!(u.counters.fragments, 4 * u.counters.quads);
            u.counters.quads + u.counters.quads_dropped
        },
        latency: 7 * 2 + 2,
        blocks: Blocks::Never,
    }
    .check();
}
