//! Several GPCs: the crossbar worked by hand, tile-grid coalescing of a GPC's own tiles, block sizes of
//! the tile mapping, and scaling.
use std::cell::RefCell;
use std::rc::Rc;

use quadrille::gpu::coalesce::tile_grid_coalescing::TileGridCoalescing;
use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::draw_state::DrawState;
use quadrille::gpu::geometry::assembly::Assembly;
use quadrille::gpu::geometry::crossbar::Crossbar;
use quadrille::gpu::geometry::distributor::{Distributor, GeometryUnits};
use quadrille::gpu::geometry::vertex::VertexShading;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::machine::UnitCycles;
use quadrille::machine::packets::Primitive;
use quadrille::machine::stage::{Link, Sink};
use quadrille::machine::timing::Cycle;
use quadrille::raster::geometry::{PixelRect, PrimitiveShape, Vertex};
use quadrille::raster::tiles::TileLayout;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::support::emulated::config;
use crate::support::gpu::{Collector, machine};

/// Primitives as a GPC receives them, and the cycle at which the draw ends for it.
#[derive(Debug, Default)]
struct Received {
    primitives: Vec<(u32, Cycle)>,
    end: Cycle,
}

/// Notes the primitives that a GPC receives, and when.
#[derive(Debug)]
struct Notes(Rc<RefCell<Received>>);

impl Sink<Primitive, DrawState<'_>> for Notes {
    fn offer(&mut self, item: Primitive, at: Cycle, _state: &mut DrawState<'_>) -> Cycle {
        self.0.borrow_mut().primitives.push((item.primitive, at));
        at
    }

    fn end(&mut self, at: Cycle, _state: &mut DrawState<'_>) {
        self.0.borrow_mut().end = at;
    }
}

/// What each GPC receives of a draw from the geometry units of all.
fn distributed(config: &Config, draw: &Draw) -> Vec<Received> {
    let mut state = machine(draw, config, &Tests::default(), false);
    let map = config.gpu.tile_map();
    let received: Vec<_> = map.owners().map(|_| Rc::default()).collect();
    let geometry = map.owners().map(|owner| {
        let vertex = VertexShading::new(&config.vertex).in_gpc(owner.gpc as usize);
        let assembly = Assembly::new(&config.vpo);
        GeometryUnits::new(1, vertex, config.vpo.queue, assembly)
    });
    let sinks = received.iter().map(|notes| Notes(Rc::clone(notes)));
    let crossbar = Crossbar::new(&config.crossbar, map, sinks);
    let batch = config.distributor.warps_per_batch * config.vertex.splats_per_warp;
    let mut chain = Distributor::new(&config.distributor, batch, geometry, crossbar);
    (0..draw.len()).for_each(|splat| _ = chain.offer(splat, 0, &mut state));
    chain.end(0, &mut state);
    drop(chain);
    let taken = received.into_iter().map(|notes: Rc<RefCell<Received>>| notes.take());
    taken.collect()
}

/// Six rectangles in three batches on two GPCs, of which the first owns tile 0 and the second tile 1.
/// Vertices take one cycle from cycle 0 on, assembly 4, the crossbar 20.
///
/// | batch | GPC | rectangle | tiles | shaded | sent |
/// |---|---|---|---|---|---|
/// | 0 | 0 | 0, 1 | 0; 0 | 1, 2 | 5, 6 |
/// | 1 | 1 | 2, 3 | 1; 0 and 1 | 2, 3 | 6, 7 |
/// | 2 | 0 | 4, 5 | 0; 1 | 3, 4 | 7, 8 |
///
/// GPC 1 learns at 26 that batch 0 holds nothing for it, which takes the cycle in which rectangle 2
/// arrives.
///
/// With queues of one primitive, rectangle 1 is sent when 0 has left its queue at 25, and both GPCs learn
/// of the end of batch 0 at 45: rectangle 2 enters at 46, which frees the place of 3, sent at 46. Assembly
/// holds 4 and 5 behind 1: 4 is sent when 1 has left its queue at 45, and 5, into another queue, in the
/// next cycle. Both arrive before rectangle 3 has entered at 66.
#[test]
fn the_crossbar_delivers_in_draw_order() {
    let rectangles =
        [[0, 0, 2, 2], [4, 0, 2, 2], [16, 0, 2, 2], [14, 0, 4, 2], [8, 0, 2, 2], [20, 0, 2, 2]];
    let draw = Draw::rectangles(32, 16, &rectangles, [1.0; 3], 0.5);
    let common = [
        "gpu.gpcs=2",
        "vertex.splats_per_warp=2",
        "vertex.bytes_per_splat=0",
        "vertex.position_bytes=0",
        "vertex.attribute_bytes=0",
        "vertex.latency_cycles=1",
        "l2.latency_ns=0",
        "dram.latency_ns=0",
    ];
    let deep = config(&common);
    let [first, second] = &distributed(&deep, &draw)[..] else { panic!("two GPCs") };
    assert_eq!(first.primitives, [(0, 25), (1, 26), (3, 27), (4, 28)]);
    assert_eq!(second.primitives, [(2, 27), (3, 28), (5, 29)]);
    // The last sources are done at 8, but the ports send until 29 and 30.
    assert_eq!([first.end, second.end], [29, 30]);

    let shallow = deep.with("crossbar.queue=1").unwrap();
    let [first, second] = &distributed(&shallow, &draw)[..] else { panic!("two GPCs") };
    assert_eq!(first.primitives, [(0, 25), (1, 45), (3, 66), (4, 67)]);
    assert_eq!(second.primitives, [(2, 46), (3, 66), (5, 67)]);

    // One GPC: assembly's 4 cycles, and nothing else.
    let one = deep.with("gpu.gpcs=1").unwrap();
    let [only] = &distributed(&one, &draw)[..] else { panic!("one GPC") };
    let times = only.primitives.iter().map(|(_, at)| *at);
    assert_eq!(times.collect::<Vec<_>>(), [5, 6, 7, 8, 9, 10]);
}

/// Random rectangles of `sizes` pixels a side.
fn scattered(side: u32, count: u32, sizes: std::ops::Range<u32>) -> Draw {
    let mut random = Pcg32::seed_from_u64(7);
    let rectangle = |_| {
        let [w, h] = [0; 2].map(|_| random.random_range(sizes.clone()));
        let [x, y] = [w, h].map(|size| random.random_range(0..=side - size));
        [x, y, w, h]
    };
    let rectangles: Vec<_> = (0..count).map(rectangle).collect();
    Draw::rectangles(side, side, &rectangles, [1.0, 0.5, 0.25], 0.3)
}

/// Each GPC receives the primitives that own one of its tiles, in draw order.
#[test]
fn each_gpc_receives_its_primitives_in_draw_order() {
    let draw = scattered(256, 500, 1..40);
    for gpcs in [1, 2, 5, 16] {
        let config = config(&[&format!("gpu.gpcs={gpcs}"), "crossbar.queue=3"]);
        let received = distributed(&config, &draw);
        assert_eq!(received.len(), gpcs);
        for (gpc, received) in received.iter().enumerate() {
            let numbers = received.primitives.iter().map(|(number, _)| *number);
            assert!(numbers.is_sorted_by(|a, b| a < b), "{gpc} of {gpcs}");
            let times = received.primitives.iter().map(|(_, at)| *at);
            assert!(times.is_sorted_by(|a, b| a < b), "{gpc} of {gpcs}");
            assert!(received.end >= received.primitives.last().map_or(0, |(_, at)| *at));
        }
    }
}

/// Tile-grid coalescing of a GPC enters a primitive into the bins of those grids in which the GPC owns a
/// tile of its box, and into no other, so that all its tiles of the box are drawn once.
#[test]
fn bins_hold_parts_with_a_tile_of_the_gpc() {
    const SIDE: i32 = 256;
    let draw = Draw::rectangles(256, 256, &[[0, 0, 2, 2]], [1.0; 3], 0.5);
    let corner = |x: i32, y: i32| Vertex { x, y };
    let shape = PrimitiveShape::Rectangle([corner(0, 0), corner(256 * SIDE, 256 * SIDE)]);
    let mut random = Pcg32::seed_from_u64(11);
    for (gpcs, block) in [(2, 1), (4, 1), (16, 1), (2, 4), (16, 4)] {
        let config = config(&[&format!("gpu.gpcs={gpcs}"), &format!("gpu.tile_block={block}")]);
        let mut state = machine(&draw, &config, &Tests::default(), false);
        for owner in config.gpu.tile_map().owners() {
            let layout = TileLayout::new(256, 256);
            let unit = TileGridCoalescing::new(&config.tgc, true, layout, owner);
            let mut chain = Link::new(2, unit, Collector::new(0));
            let mut tiles = 0;
            for primitive in 0..50 {
                let [x0, y0] = [0; 2].map(|_| random.random_range(0..SIDE));
                let [x1, y1] = [x0, y0].map(|from| random.random_range(from + 1..=SIDE));
                let bounds = PixelRect { x0, y0, x1, y1 };
                if !owner.owns_any(bounds) {
                    continue;
                }
                let item = Primitive { primitive, shape, bounds };
                tiles += owned_tiles(owner, bounds);
                chain.offer(item, 0, &mut state);
            }
            chain.end(0, &mut state);
            let parts = || chain.next.values().map(|part| part.bounds);
            assert!(parts().all(|part| owner.owns_any(part)), "{gpcs} {block}");
            let drawn: usize = parts().map(|part| owned_tiles(owner, part)).sum();
            assert_eq!(drawn, tiles, "{gpcs} {block}");
        }
    }
}

/// Number of screen tiles of an owner in a box.
fn owned_tiles(owner: quadrille::gpu::tile_owner::TileOwner, bounds: PixelRect) -> usize {
    let tiles = (bounds.y0 / 16..=(bounds.y1 - 1) / 16)
        .flat_map(|y| (bounds.x0 / 16..=(bounds.x1 - 1) / 16).map(move |x| (x, y)));
    let owned = tiles.filter(|(x, y)| owner.owns(*x as u32, *y as u32));
    owned.count()
}

fn run(draw: &Draw, config: &Config, variant: Variant) -> SimulationResult {
    let simulator = Simulator::new(config, variant).unwrap();
    let result = simulator.run(draw, draw.shader(), &Tests::default());
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    result
}

/// Primitives per flush of tile-grid coalescing.
fn primitives_per_flush(result: &SimulationResult) -> f64 {
    result.tgc.items as f64 / result.tgc.total() as f64
}

/// VR-Pipe, section VI-B: primitives of large pictures "are distributed across GPCs, which reduces the
/// frequency of bin flushing". That holds where whole tile grids go to one GPC: two GPCs have two sets of
/// bins for the 256 grids of this picture, enough for all. Where neighbouring tiles go to different GPCs,
/// both need a bin for every grid, and bins are flushed as early as on one GPC.
#[test]
fn whole_grids_per_gpc_are_flushed_less_often() {
    let draw = scattered(1024, 6000, 20..60);
    let [one, diagonal, blocks] =
        [&["gpu.gpcs=1"][..], &["gpu.gpcs=2"], &["gpu.gpcs=2", "gpu.tile_block=4"]]
            .map(|fields| run(&draw, &config(fields), Variant::QM));
    let [of_one, of_diagonal, of_blocks] = [&one, &diagonal, &blocks].map(primitives_per_flush);
    println!("primitives per flush: {of_one:.2}, diagonal {of_diagonal:.2}, blocks {of_blocks:.2}");
    assert!(one.tgc.evicted > 1000 && diagonal.tgc.evicted > 1000);
    // All evictions are gone: flushed bins are full or left over at the end.
    assert_eq!(blocks.tgc.evicted, 0);
    assert!(of_blocks > 1.5 * of_one && of_diagonal < 1.1 * of_one);
    // Fuller bins merge more.
    assert!(blocks.quads.merged_pairs > diagonal.quads.merged_pairs);
}

/// Numbers of GPCs, cycles, and the port with the highest occupancy.
fn scaling(draw: &Draw, fields: &[&str]) -> Vec<(u64, u64, String)> {
    let of = |gpcs: u64| {
        let config = config(fields).with(&format!("gpu.gpcs={gpcs}")).unwrap();
        let result = run(draw, &config, Variant::BASELINE);
        let critical = UnitCycles::names(&result.critical_units()).unwrap_or_default();
        println!("{gpcs:2} GPCs: {:6} cycles, {critical}", result.cycles);
        (gpcs, result.cycles, critical)
    };
    [1, 2, 4, 8, 16].map(of).to_vec()
}

/// One quad per primitive: every unit takes about a cycle per primitive, the geometry units among them.
/// With memory that does not limit, a buffer of vertex results without a bound and batches of 32 primitives, 16 GPCs are more than 10 times as fast
/// as one. With batches of 8, each port of the crossbar takes 6,000 cycles for the ends of 6,000 batches,
/// more than for the 3,000 primitives of its GPC.
#[test]
fn the_geometry_units_scale() {
    let draw = scattered(512, 48_000, 2..3);
    let ample =
        ["l2.slice_bytes_per_cycle=1024", "dram.gb_per_s=100000", "vertex.buffer_is_bounded=false"];
    let of_8 = scaling(&draw, &ample);
    assert!(of_8[4].2.contains("crossbar"), "{}", of_8[4].2);
    assert!(of_8[4].1 >= 48_000 / 8);
    let of_32 = [&ample[..], &["distributor.warps_per_batch=4"]].concat();
    let ample = scaling(&draw, &of_32);
    for &(gpcs, at_gpcs, _) in &ample {
        let speedup = ample[0].1 as f64 / at_gpcs as f64;
        assert!(speedup > 0.65 * gpcs as f64, "{speedup} on {gpcs}");
    }
    // 48 bytes per splat at 167 per cycle: no more than 3.5 splats per cycle, however many GPCs. Vertex
    // shading waits for its data.
    let narrow = [
        "l2.slice_bytes_per_cycle=1024",
        "distributor.warps_per_batch=4",
        "vertex.buffer_is_bounded=false",
    ];
    let narrow = scaling(&draw, &narrow);
    assert!(narrow[4].2.contains("dram") || narrow[4].2.contains("vertex"), "{}", narrow[4].2);
    assert!(narrow[4].1 >= 48_000 * 48 / 167);
    // The table of the page.
    let page = include_str!("../../docs/simulator.md");
    for (at, (gpcs, ..)) in of_8.iter().enumerate() {
        let mut rows = page.lines().filter(|line| line.starts_with(&format!("| {gpcs} | ")));
        let row = rows.find(|line| line.split('|').count() == 9).unwrap();
        let cells: Vec<_> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        for (column, cells) in [&of_8, &ample, &narrow].into_iter().zip(cells[2..].chunks(2)) {
            let (_, cycles, ports) = &column[at];
            let shown = format!("{},{:03}", cycles / 1000, cycles % 1000);
            assert!(cells[0] == shown && ports.contains(&cells[1]), "{row}: {shown}, {ports}");
        }
    }
}
