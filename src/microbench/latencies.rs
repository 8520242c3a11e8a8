//! Latency of the L2 and of DRAM: one quad whose colours are in the CROP cache, in the L2, or in DRAM.

use super::bench::{Rectangle, rectangles, run as draw};
use super::check::Check;
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;
use quadrille_machine::LINE_BYTES;

const TOLERANCE: f64 = 0.03;

/// Cycles of a draw of `list`, with a pause before the last rectangle in which all bins are flushed.
fn cycles(config: &Config, list: &[Rectangle]) -> u64 {
    let mut draw_list = rectangles(2 * TILE_PX, list);
    let last = draw_list.len() - 1;
    draw_list.bubble = (last > 0).then_some((last, 2 * config.tc.timeout_cycles + 10_000));
    draw(&draw_list, config, &Tests::default()).cycles
}

/// Latency of the L2 in cycles. The CROP cache holds one line, so the rectangle on the second tile evicts the first
/// tile's line. A third rectangle takes longer on the first tile than on the second by the round trip to the L2.
fn l2(config: &Config) -> u64 {
    let mut config = config.clone();
    config.crop.cache_bytes = LINE_BYTES;
    config.crop.fast_clear = true;
    let (first, second) = ([0, 0, 2, 2], [TILE_PX, 0, 2, 2]);
    let far = cycles(&config, &[first, second, first]);
    far.saturating_sub(cycles(&config, &[first, second, second]))
}

/// Latency of DRAM in cycles: a quad whose colours are read from DRAM, less one whose colours are fast-cleared.
fn dram(config: &Config) -> u64 {
    let of = |fast_clear| {
        let mut config = config.clone();
        config.crop.fast_clear = fast_clear;
        cycles(&config, &[[0, 0, 2, 2]])
    };
    of(false).saturating_sub(of(true))
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let check = |name: &str, latency_ns: f64, cycles: u64| {
        let value = latency_ns * config.gpu.clock_mhz / 1e3;
        Check::ideal(name, value, TOLERANCE, cycles as f64, "cycles")
    };
    let (to_l2, to_dram) = (config.l2.latency_ns, config.dram.latency_ns);
    vec![
        check("a quad whose colours are in the L2", to_l2, l2(config)),
        check("a quad whose colours are in DRAM", to_l2 + to_dram, dram(config)),
    ]
}
