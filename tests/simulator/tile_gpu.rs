//! The tile-based GPU: pictures against the pipeline's, lists and bytes of small draws by hand, and overflows.
use quadrille::Simulation;
use quadrille::gpu::coalesce::binning::TileListCounters;
use quadrille::gpu::coalesce::bins::Flushes;
use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::estimates::energy;
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::outcome::Outcome;
use quadrille::gpu::relief::relief;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::sensitivity::varied_fields;
use quadrille::gpu::tile_gpu::TileMethod;
use quadrille::gpu::tile_gpu::tile_buffer::TileTrafficCounters;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::warp::tile_fetch::TileFetchCounters;
use quadrille::gpu::wiring::{Simulator, Watch};
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::{Camera, Splats, Task};

use crate::support::emulated::{config, prepared, run};
use crate::support::scenes::{self, Random};

fn random_scene(seed: u64, size: [u32; 2], len: usize) -> (Splats, Camera) {
    let random = &mut Random::new(seed);
    let camera = scenes::camera(random, size[0], size[1]);
    (scenes::splats(random, &camera, len, 1), camera)
}

fn tiled(view: &PreparedView<'_>, config: &Config, method: TileMethod) -> SimulationResult {
    let machine = Machine::new(config, Method::Tiles(method), Watch::default()).unwrap();
    let outcome = machine.run(view, &Task::NEVER).unwrap().outcome;
    assert_eq!(outcome.method().to_string(), method.name());
    let result = outcome.into_pipeline().unwrap();
    check(&result);
    result
}

/// Draws without a scene: rectangles of alpha 0.5.
fn drawn(size: [u32; 2], rectangles: &[[u32; 4]], config: &Config) -> SimulationResult {
    let draw = Draw::rectangles(size[0], size[1], rectangles, [1.0; 3], 0.5);
    let simulator = Simulator::tile_based(config, TileMethod::Plain).unwrap();
    let result = simulator.run(&draw, draw.shader(), &Tests::default());
    check(&result);
    result
}

/// What is written is read, what is binned is drawn, and all counts add up.
fn check(result: &SimulationResult) {
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    let lists: TileListCounters = result.statistics.of();
    assert_eq!(lists.bytes_read, lists.bytes_written);
    assert_eq!(lists.primitives, result.raster.primitives - result.raster.culled);
    assert_eq!(lists.entries, result.raster.set_up);
    let flushes: Flushes = result.statistics.of_unit("binning");
    assert_eq!(flushes.items, lists.entries);
    let tiles: TileTrafficCounters = result.statistics.of();
    assert_eq!(tiles.tiles_written, lists.tiles);
    let bytes = u64::from(result.framebuffer.format.bytes_per_pixel());
    let colour = result.traffic.colour;
    assert_eq!(colour.dram_written_bytes, tiles.pixels_written * bytes);
    assert_eq!(colour.dram_read_bytes, tiles.pixels_loaded * bytes);
    let marked = result.framebuffer.stencil().iter().filter(|value| **value != 0).count();
    assert_eq!(result.terminations, marked as u64);
}

/// Blending in the order of each pixel gives the picture of the baseline, bit for bit, in the tile buffer and in the shader,
/// for every side of a tile and after overflows.
#[test]
fn pictures_are_those_of_the_baseline() {
    for (seed, side) in [(1, 1), (2, 2), (3, 3), (4, 4)] {
        let (splats, camera) = random_scene(seed, [150, 90], 1200);
        let view = prepared(&splats, &camera);
        let baseline = run(&view, &config(&[]), Variant::BASELINE);
        let side = format!("binning.tile_side={side}");
        for more in ["binning.bins=128", "binning.parameter_bytes=65536"] {
            let config = config(&[&side, more]);
            for method in [TileMethod::Plain, TileMethod::FramebufferFetch] {
                let result = tiled(&view, &config, method);
                let name = method.name();
                assert!(
                    result.framebuffer.colours() == baseline.framebuffer.colours(),
                    "{name} {side} {more}"
                );
                assert_eq!(result.fragments, baseline.fragments, "{name} {side} {more}");
                let overflows = result.statistics.of::<TileListCounters>().overflows;
                assert_eq!(overflows > 0, more.contains("65536"), "{name} {side} {more}");
            }
        }
    }
}

/// Termination without latency keeps the fragments up to the threshold, in whatever order tiles are drawn. With latency, the
/// picture has at most more of them. Merged quads round once less.
#[test]
fn additions_change_the_picture_as_in_the_pipeline() {
    let (splats, camera) = random_scene(5, [150, 90], 2000);
    let view = prepared(&splats, &camera);
    let ideal = config(&["zrop.feedback=ideal"]);
    let pipeline = run(&view, &ideal, Variant::HET);
    let tiles = tiled(&view, &ideal, TileMethod::Het);
    assert!(tiles.framebuffer.colours() == pipeline.framebuffer.colours());
    assert_eq!(tiles.fragments.blended, pipeline.fragments.blended);
    assert!(tiles.terminations > 0);
    let config = config(&[]);
    let baseline = run(&view, &config, Variant::BASELINE).frame();
    for (method, bound) in
        [(TileMethod::Het, 0.005), (TileMethod::Qm, 0.004), (TileMethod::HetQm, 0.009)]
    {
        let result = tiled(&view, &config, method);
        let name = method.name();
        let frame = result.frame();
        let differences = frame
            .pixels()
            .iter()
            .zip(baseline.pixels())
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max));
        let most = differences.fold(0.0, f32::max);
        assert!(most < bound, "{name}: {most}");
        assert_eq!(result.terminations > 0, method.variant().het(), "{name}");
        assert_eq!(result.quads.merged_pairs > 0, method.variant().qru(), "{name}");
    }
}

/// Counts of five draws by hand, with tiles of 32 pixels, entries of 4 bytes, and 127 of them with a link in a block.
#[test]
fn lists_of_small_draws_are_those_by_hand() {
    let counts = |size, rectangles: &[[u32; 4]], config: &Config| {
        let result = drawn(size, rectangles, config);
        let lists: TileListCounters = result.statistics.of();
        let tiles: TileTrafficCounters = result.statistics.of();
        let flushes: Flushes = result.statistics.of_unit("binning");
        (
            [lists.entries, lists.blocks, lists.bytes_written],
            [tiles.tiles_written, tiles.pixels_written, tiles.pixels_loaded],
            [flushes.full, flushes.evicted, flushes.end],
        )
    };
    let default = config(&[]);
    // A rectangle inside one tile.
    let one = counts([64, 64], &[[4, 4, 8, 8]], &default);
    assert_eq!(one, ([1, 1, 4], [1, 1024, 0], [0, 0, 1]));
    // One around the corner of four tiles.
    let four = counts([64, 64], &[[30, 30, 4, 4]], &default);
    assert_eq!(four, ([4, 4, 16], [4, 4096, 0], [0, 0, 4]));
    // At the corner of a picture of 40 by 36 pixels, the tile has 8 by 4.
    let corner = counts([40, 36], &[[34, 33, 4, 2]], &default);
    assert_eq!(corner, ([1, 1, 4], [1, 32, 0], [0, 0, 1]));
    // 130 rectangles in a tile: 16 full bins, and two entries at the end; the second block has three entries.
    let many = counts([64, 64], &[[4, 4, 8, 8]; 130], &default);
    assert_eq!(many, ([130, 2, 130 * 4 + 4], [1, 1024, 0], [16, 0, 1]));
    // One bin on the chip for two tiles in turn: every entry but the last evicts the one before.
    let turns: Vec<_> = (0..6).map(|n| [4 + 32 * (n % 2), 4, 8, 8]).collect();
    let turns = counts([64, 64], &turns, &config(&["binning.bins=1"]));
    assert_eq!(turns, ([6, 2, 24], [2, 2048, 0], [0, 5, 1]));
}

/// A parameter buffer of 64 KB is full with the vertex results of 397 splats, at 160 bytes each, and the four blocks of 512
/// bytes that their list has by then. Each splat behind that number makes the unit draw the tile and load it again.
#[test]
fn overflows_draw_and_load_the_tiles_again() {
    let config = config(&["binning.parameter_bytes=65536"]);
    let result = drawn([64, 64], &[[4, 4, 8, 8]; 1000], &config);
    let lists: TileListCounters = result.statistics.of();
    let tiles: TileTrafficCounters = result.statistics.of();
    let blocks_of = |splats: u64| splats.div_ceil(127);
    let mut left = 1000;
    let mut expected = [0; 3];
    while left > 0 {
        // Bins write eight entries at a time, so that blocks come into use with them.
        let used = |splats: u64| splats * 160 + blocks_of(splats / 8 * 8) * 512;
        let held = (1..=left).find(|splats| used(*splats) >= 65_536).unwrap_or(left);
        left -= held;
        expected =
            [expected[0] + u64::from(left > 0), expected[1] + 1, expected[2] + blocks_of(held)];
    }
    assert_eq!([lists.overflows, lists.tiles, lists.blocks], expected);
    assert_eq!(tiles.pixels_written, 1024 * lists.tiles);
    assert_eq!(tiles.pixels_loaded, 1024 * lists.overflows);
}

/// With an L2 that holds all lists and vertex results, DRAM moves the vertex data of whole warps and the written tiles. With
/// an L2 of 16 KB, at least what does not fit is written back and read again.
#[test]
fn bytes_of_dram_are_those_of_arithmetic() {
    let rectangles: Vec<_> = (0..500).map(|n| [n * 7 % 120, n * 13 % 80, 9, 9]).collect();
    let all = drawn([128, 96], &rectangles, &config(&[]));
    let touched = 4 * 3 * 1024;
    let vertices = 500_u64.div_ceil(8) * 8 * 48;
    assert_eq!(all.dram_bytes, vertices + touched * 8);
    let small = drawn([128, 96], &rectangles, &config(&["l2.bytes=16KB"]));
    let lists: TileListCounters = small.statistics.of();
    let results = small.traffic.vertex_results;
    let written = 500 * 160 + lists.bytes_written;
    assert!(results.dram_written_bytes + 16_384 >= written);
    // Sectors that are written in parts may be written back more than once.
    assert!(results.dram_written_bytes <= 500 * 160 + 32 * lists.entries);
    assert!(results.dram_read_bytes >= written - 16_384);
    assert!(small.cycles > all.cycles);
}

/// Quads of two rectangles at one place wait for the latency of a blend in the tile buffer, and for two accesses and the blend
/// in the shader.
#[test]
fn blends_of_a_pixel_follow_each_other() {
    let draw = Draw::rectangles(64, 64, &[[4, 4, 2, 2]; 40], [1.0; 3], 0.1);
    let cycles = |method, assignments: &[&str]| {
        let simulator = Simulator::tile_based(&config(assignments), method).unwrap();
        let result = simulator.run(&draw, draw.shader(), &Tests::default());
        check(&result);
        (result.cycles, result.statistics.of::<TileFetchCounters>().warps_waited)
    };
    let blend = |cycles: u64| format!("tile_buffer.blend_cycles={cycles}");
    let [short, long] = [50, 150].map(|n| cycles(TileMethod::Plain, &[&blend(n)]).0);
    assert_eq!(long - short, 40 * 100);
    let access = |cycles: u64| format!("tile_fetch.latency_cycles={cycles}");
    let [short, long] = [100, 200].map(|n| cycles(TileMethod::FramebufferFetch, &[&access(n)]));
    // Every quad is a warp of its own; the first finds its pixel unused.
    assert_eq!((short.1, long.1), (39, 39));
    assert_eq!(long.0 - short.0, 40 * 2 * 100);
}

/// Runs repeat, whatever the number of threads; energy, relief and sensitivity know the units of tiles.
#[test]
fn runs_repeat_and_have_estimates() {
    let (splats, camera) = random_scene(6, [100, 70], 400);
    let view = prepared(&splats, &camera);
    let config = config(&[]);
    let methods: Vec<_> = TileMethod::ALL.iter().map(|method| Method::Tiles(*method)).collect();
    let machines = Machine::all(&config, &methods, Watch::default()).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let runs = pool.install(|| Machine::run_all(&machines, &view, &Task::NEVER).unwrap());
        runs.into_iter().map(|run| run.outcome).collect::<Vec<_>>()
    };
    let (one, four) = (on(1), on(4));
    for (a, b) in one.iter().zip(&four) {
        assert_eq!(a.cycles(), b.cycles(), "{}", a.method());
        let events = energy(a, &config).unwrap().events;
        assert!(events.quads_blended > 0 || a.method() == methods[4], "{}", a.method());
        assert!(events.unit_sectors > 0 && events.dram_bytes > 0);
    }
    let reliefs = relief(&view, &config, &methods, &Task::NEVER, &mut |_, _| {}).unwrap();
    for relief in &reliefs {
        let has = |name: &str| relief.parts.iter().any(|part| part.name == name);
        assert!(has("binning") && has("binning_out") && has("tile_buffer.buffers"));
        assert!(!has("crop") && !has("zrop.cache_bytes") && !has("vertex.buffer_bytes"));
        let fetches = relief.method == methods[4];
        assert_eq!([has("tile_buffer"), has("tile_fetch")], [!fetches, fetches]);
    }
    let fields = varied_fields(&config, &methods[..1]);
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    assert!(
        has("binning.tile_side")
            && has("tile_buffer.blend_cycles")
            && has("cores.warps_out_per_cycle")
    );
    assert!(!has("tile_fetch.latency_cycles") && !has("crop.blend_cycles"));
}

/// Results of any size fill whole sectors: fewer bytes never take longer.
#[test]
fn results_of_any_size_lie_in_whole_sectors() {
    let rectangles: Vec<_> = (0..800).map(|n| [n * 7 % 120, n * 13 % 80, 9, 9]).collect();
    let with = |bytes: u64| {
        let bytes = format!("vertex.attribute_bytes={bytes}");
        drawn([128, 96], &rectangles, &config(&[&bytes, "l2.bytes=16KB"]))
    };
    let [some, fewer, whole] = [96, 84, 64].map(with);
    assert_eq!(fewer.cycles, some.cycles);
    assert_eq!(fewer.traffic, some.traffic);
    assert!(whole.cycles <= some.cycles);
}

/// One tile is drawn after the other, so that several GPCs have no part in it.
#[test]
fn several_gpcs_are_refused() {
    let config = config(&["gpu.gpcs=2"]);
    let error = Machine::new(&config, Method::Tiles(TileMethod::Het), Watch::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("gpu.gpcs") && error.contains("tile-based"), "{error}");
}

/// The facade names the methods, and a frame of a sequence runs behind another one.
#[test]
fn the_facade_simulates_tiles() {
    let (splats, camera) = random_scene(7, [64, 48], 100);
    let methods =
        ["baseline", "tile-gpu", "framebuffer-fetch"].map(|name| Method::parse(name).unwrap());
    let results =
        quadrille::simulate(&splats, &camera, &Simulation::new(Config::default(), methods));
    let results = results.unwrap();
    assert_eq!(results[1].frame().pixels(), results[0].frame().pixels());
    assert_eq!(results[2].frame().pixels(), results[0].frame().pixels());
    let view = prepared(&splats, &camera);
    let machine = || Machine::new(&Config::default(), methods[1], Watch::default()).unwrap();
    let first = machine().in_sequence(None).run(&view, &Task::NEVER).unwrap().outcome;
    let second = machine().in_sequence(Some(&first)).run(&view, &Task::NEVER).unwrap().outcome;
    let bytes = |outcome: &Outcome| outcome.pipeline().unwrap().traffic.vertex.dram_read_bytes;
    assert!(bytes(&second) < bytes(&first));
}
