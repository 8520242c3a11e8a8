//! Bytes that memory moves: no port moves more than its rate, and every byte has a cause.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;

use crate::support::emulated::config;

/// Bytes per sector.
const SECTOR: u64 = 32;

/// Layers that cover a square picture.
fn layers(side: u32, count: usize, config: &Config, variant: Variant) -> SimulationResult {
    let rectangles = vec![[0, 0, side, side]; count];
    let draw = Draw::rectangles(side, side, &rectangles, [1.0, 0.5, 0.25], 0.25);
    let simulator = Simulator::new(config, variant).unwrap();
    let result = simulator.run(&draw, draw.shader(), &Tests::default());
    let nothing: [String; 0] = [];
    assert_eq!(result.discrepancies(), nothing);
    conserves(&result, config);
    result
}

/// What holds for the bytes of every draw.
fn conserves(result: &SimulationResult, config: &Config) {
    let (l2, traffic) = (&result.l2, &result.traffic);
    let read = traffic.vertex.dram_read_bytes
        + traffic.colour.dram_read_bytes
        + traffic.depth.dram_read_bytes;
    let streamed =
        result.vertex_warps * config.vertex.splats_per_warp * config.vertex.bytes_per_splat;
    assert_eq!(read, l2.cache.fetched * SECTOR + streamed);
    assert_eq!(traffic.vertex_results.dram_bytes(), 0);
    let written = traffic.colour.dram_written_bytes + traffic.depth.dram_written_bytes;
    assert_eq!(written, l2.cache.written_back * SECTOR);
    assert_eq!(result.dram_bytes, read + written);
    for unit in result.units.iter().filter(|u| ["l2", "dram"].contains(&u.name)) {
        assert!(unit.busy <= result.cycles, "{}", unit.name);
    }
}

/// A picture of 2 MB through an L2 of 64 KB, half of which holds the results of vertex shading. All but what the L2 and the colour cache still hold has
/// gone through DRAM's port of 1 byte per cycle when the draw ends.
#[test]
fn writes_take_the_time_that_dram_needs() {
    let config = config(&["l2.bytes=65536", "dram.gb_per_s=0.612"]);
    for variant in [Variant::BASELINE, Variant::TGC] {
        let result = layers(512, 1, &config, variant);
        let held = result.crop_cache.dirty_at_end_bytes + result.l2.cache.dirty_at_end_bytes;
        assert_eq!((result.crop_cache.dirty_at_end_bytes, held), (16_384, 16_384 + 32_768));
        let written = result.traffic.colour.dram_written_bytes;
        assert_eq!(written + held, 512 * 512 * 8, "{variant}");
        assert!(result.dram_bytes <= result.cycles, "{variant}");
    }
}

/// Four layers through caches that hold none of them: DRAM moves a byte in two cycles, a byte, and fractions of a
/// byte more per cycle, of a clock of 612 MHz.
#[test]
fn every_bandwidth_is_the_configured_one() {
    for gb_per_s in [0.306, 0.612, 1.0, 1.2] {
        let bandwidth = format!("dram.gb_per_s={gb_per_s}");
        let config = config(&["l2.bytes=4096", &bandwidth]);
        let result = layers(128, 4, &config, Variant::BASELINE);
        let rate = result.dram_bytes as f64 / result.cycles as f64;
        let share = rate / (gb_per_s / 0.612);
        assert!((0.98..=1.0).contains(&share), "{gb_per_s} GB/s: {share}");
    }
}

/// Eight layers of 1,048,576 sectors of colour. The first is created clear; each sector of the other
/// seven was evicted to DRAM before, since neither cache holds a layer, and is read from there.
#[test]
fn every_evicted_sector_is_read_again() {
    let result = layers(2048, 8, &config(&["l2.bytes=65536"]), Variant::BASELINE);
    assert_eq!(result.crop_cache.fetched, 7 * 1_048_576);
    assert_eq!(result.traffic.colour.dram_read_bytes, 7 * 1_048_576 * SECTOR);
    assert_eq!(result.l2.cache.fetched, 7 * 1_048_576);
}

/// A quad of 2x2 pixels is a sector of colours, and its stencil values a part of one: without fast
/// clear both are read from DRAM, with it neither is.
#[test]
fn one_quad_fetches_its_sectors_alone() {
    let bytes = |assignments: &[&str]| {
        let config = config(assignments);
        let draw = Draw::rectangles(16, 16, &[[2, 2, 2, 2]], [1.0; 3], 0.25);
        let simulator = Simulator::new(&config, Variant::HET).unwrap();
        let result = simulator.run(&draw, draw.shader(), &Tests::default());
        conserves(&result, &config);
        let traffic = result.traffic;
        assert_eq!(result.crop_cache.dirty_at_end_bytes, SECTOR);
        (traffic.colour.dram_read_bytes, traffic.depth.dram_read_bytes)
    };
    assert_eq!(bytes(&[]), (0, 0));
    assert_eq!(bytes(&["crop.fast_clear=false"]), (SECTOR, 0));
    assert_eq!(bytes(&["zrop.fast_clear=false"]), (0, SECTOR));
}

/// A rectangle of 16x16 pixels is 8 warps of one screen tile, which go to 8 cores in turn, or all to
/// one. Each core reads the 96 bytes of attributes once, assembly reads the 64 bytes of positions, and
/// so does setup when it takes the primitive out of a grid bin. Vertex shading writes the results of a
/// warp of 8 splats, of which the draw uses one.
#[test]
fn vertex_results_are_read_by_pointer() {
    let traffic = |assignments: &[&str], variant| {
        let result = layers(16, 1, &config(assignments), variant);
        assert_eq!((result.warps, result.l1.hits + result.l1.misses), (8, 8));
        let peaks = result.vertex_buffer;
        assert_eq!((peaks.live_splats, peaks.span_bytes), (1, 160));
        let bytes = result.traffic.vertex_results;
        assert_eq!(bytes.l2_written_bytes, 8 * (64 + 96));
        assert_eq!(bytes.dram_bytes(), 0);
        bytes.l2_read_bytes
    };
    assert_eq!(traffic(&[], Variant::BASELINE), 64 + 8 * 96);
    assert_eq!(traffic(&[], Variant::TGC), 64 + 64 + 8 * 96);
    assert_eq!(traffic(&["cores.cores=1"], Variant::BASELINE), 64 + 96);
    // A cache of a single entry holds the only splat as well.
    let small = ["cores.cores=1", "cores.l1_bytes=128"];
    assert_eq!(traffic(&small, Variant::TGC), 64 + 64 + 96);
}

/// Positions in flight hide the latency of the L2: 512 primitives of a quad each fall to primitive
/// assembly one per cycle, if enough of them are requested ahead; one at a time, they take 512 times
/// the latency.
#[test]
fn a_queue_of_positions_hides_the_latency_of_the_l2() {
    let cycles = |queue: u64| {
        let config = config(&[&format!("vertex.fetch_queue={queue}")]);
        let places: Vec<_> = (0..512).map(|n| [n % 32 * 2, n / 32 * 2, 2, 2]).collect();
        let draw = Draw::rectangles(64, 64, &places, [1.0; 3], 0.25);
        let simulator = Simulator::new(&config, Variant::BASELINE).unwrap();
        simulator.run(&draw, draw.shader(), &Tests::default()).cycles
    };
    let (one, many, more) = (cycles(1), cycles(256), cycles(512));
    assert!(one > 511 * 146, "{one}");
    assert!(many < 3_000, "{many}");
    assert_eq!(many, more);
}
