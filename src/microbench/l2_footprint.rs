//! Capacity and sectors of the L2, seen from the bytes that DRAM moves, and the bandwidth of writes.

use super::bench::{layers, rectangles, run as draw};
use super::check::{Basis, Check, Expected};
use quadrille_base::math::fit;
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_base::shading::ColourFormat;
use quadrille_gpu::config::Config;
use quadrille_gpu::draw::Draw;
use quadrille_gpu::zrop::framebuffer::Tests;
use quadrille_machine::SECTOR_BYTES;

/// Limit on the simulated L2's capacity in bytes, since filling a larger one takes too long.
const MOST_BYTES: u64 = 4 << 20;
const WIDTH_PX: u32 = 1024;
const PIXEL_BYTES: u64 = 8;
const TOLERANCE: f64 = 0.01;

/// Bytes of colour read from DRAM when a picture of `times` the capacity is covered twice, and the picture's bytes.
fn covered_twice(config: &Config, times: u64) -> [u64; 2] {
    let row_bytes = u64::from(WIDTH_PX * TILE_PX) * PIXEL_BYTES;
    let rows = times * config.l2.bytes / row_bytes;
    let height = fit::<u32>(rows.max(1)) * TILE_PX;
    let cover = [[0, 0, WIDTH_PX, height]; 2];
    let twice = Draw::rectangles(WIDTH_PX, height, &cover, [1.0, 0.5, 0.25], 0.25);
    let result = draw(&twice, config, &Tests::default());
    [result.traffic.colour.dram_read_bytes, rows.max(1) * row_bytes]
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let mut config = config.clone();
    config.crop.format = ColourFormat::Rgba16F;
    config.crop.fast_clear = true;
    vec![capacity(&config, 1), capacity(&config, 2), sector(&config), writes(&config)]
}

/// A picture of the L2's size is never read again from DRAM; of one twice as large, every line is evicted before its
/// second use.
fn capacity(config: &Config, times: u64) -> Check {
    let mut config = config.clone();
    config.l2.bytes = config.l2.bytes.min(MOST_BYTES);
    // Reserve nothing for vertex results: colours get the whole L2.
    config.vertex.buffer_bytes = 0;
    config.vertex.buffer_is_bounded = false;
    let [read, bytes] = covered_twice(&config, times);
    let expected = match times {
        1 => Expected::Exactly(0.0),
        _ => Expected::Within { value: bytes as f64, share: TOLERANCE },
    };
    Check {
        name: format!("colours read again from DRAM, picture of {times} times the L2"),
        expected,
        basis: Basis::IdealModel,
        measured: read as f64,
        unit: "bytes",
    }
}

/// Measures the sector size: a quad of RGBA16F lies in one sector of its line.
fn sector(config: &Config) -> Check {
    let mut config = config.clone();
    config.crop.fast_clear = false;
    let result = draw(&rectangles(TILE_PX, &[[0, 0, 2, 2]]), &config, &Tests::default());
    Check::count(
        "bytes read from DRAM for one quad",
        SECTOR_BYTES,
        result.traffic.colour.dram_read_bytes,
        "bytes",
        Basis::IdealModel,
    )
}

/// Measures write bandwidth, with a small L2 and a DRAM of one byte per cycle: the draw takes one cycle per byte
/// read or written.
fn writes(config: &Config) -> Check {
    const LAYERS: u32 = 4;
    let mut config = config.clone();
    config.l2.bytes = 4096;
    config.dram.gb_per_s = config.gpu.clock_mhz / 1e3;
    let result = draw(&layers(4 * TILE_PX, LAYERS), &config, &Tests::default());
    let measured = result.dram_bytes as f64 / result.cycles as f64;
    let name = "bytes through a DRAM of one byte per cycle";
    Check::ideal(name, 1.0, 0.05, measured, "bytes per cycle")
}
