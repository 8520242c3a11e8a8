//! Tile bins (VR-Pipe, section VII-A): rectangles of 2x2 pixels visit screen tiles in turn; the number of
//! warps shows how many tiles are gathered at once.

use super::bench::{rectangles, round_robin, run as draw};
use super::check::{Basis, Check};
use quadrille_gpu::coalesce::flush_policy::Evict;
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;

const A_TILE: u32 = 10;
const MOST_TILES: u32 = 64;
/// Warps per tile whose ten quads are gathered: a full one, and one of two quads.
const GATHERED: u64 = 2;
const BEFORE_BUBBLE: u32 = 3;

pub(super) fn warps_on(config: &Config, tiles: u32, bubble: Option<(u32, u64)>) -> u64 {
    let (side_px, list) = round_robin(tiles, A_TILE);
    let mut rectangles = rectangles(side_px, &list);
    rectangles.bubble = bubble;
    draw(&rectangles, config, &Tests::default()).warps
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let on_32 = warps_on(config, 32, None);
    let mut checks =
        vec![Check::warps("320 rectangles over 32 tiles", 64, on_32, Basis::IdealModel)];
    checks.push(bubble(config));
    checks.extend(bin_sizes(config));
    checks.push(short_timeout(config));
    checks.extend(one_tile_too_many(config));
    checks.extend(sweep(config));
    checks
}

/// Reproduces the 67 warps of the hardware by a pause after three rectangles, in which the bins of their tiles
/// time out and are flushed once more. Whether the hardware pauses is unknown.
fn bubble(config: &Config) -> Check {
    let pause = 2 * config.tc.timeout_cycles;
    let warps = warps_on(config, 32, Some((BEFORE_BUBBLE, pause)));
    Check::warps("320 rectangles over 32 tiles, pause after 3", 67, warps, Basis::Calibrated)
}

/// Ten quads per tile make two warps, with or without an early flush of the bin.
fn bin_sizes(config: &Config) -> impl Iterator<Item = Check> {
    [8, 16, 32, 64, 128].into_iter().map(|bin_size| {
        let mut config = config.clone();
        config.tc.bin_size = bin_size;
        let name = format!("320 rectangles over 32 tiles, bins of {bin_size} quads");
        Check::warps(name, 64, warps_on(&config, 32, None), Basis::IdealModel)
    })
}

/// Uses a timeout shorter than the time between two visits to a tile, which is at least 32 cycles.
fn short_timeout(config: &Config) -> Check {
    let mut config = config.clone();
    config.tc.timeout_cycles = 16;
    let warps = warps_on(&config, 32, None);
    Check::warps("320 rectangles over 32 tiles, timeout 16", 320, warps, Basis::IdealModel)
}

/// With 33 tiles, each rectangle is a warp of its own, for every eviction rule and timeout.
fn one_tile_too_many(config: &Config) -> impl Iterator<Item = Check> {
    let rules = [(Evict::FirstIn, "first-in"), (Evict::LeastRecentlyUsed, "least-recently-used")];
    rules.into_iter().flat_map(move |(evict, rule)| {
        [16, 128, 1024, 1_000_000].into_iter().map(move |timeout| {
            let mut config = config.clone();
            config.tc.evict = evict;
            config.tc.timeout_cycles = timeout;
            let name = format!("330 rectangles over 33 tiles, {rule} eviction, timeout {timeout}");
            Check::warps(name, 330, warps_on(&config, 33, None), Basis::Hardware)
        })
    })
}

/// Largest number of tiles whose quads are gathered, and warps per tile beyond it.
fn sweep(config: &Config) -> [Check; 2] {
    let counts: Vec<_> =
        (1..=MOST_TILES).map(|tiles| (u64::from(tiles), warps_on(config, tiles, None))).collect();
    let gathered = counts.iter().take_while(|(n, w)| *w == GATHERED * n);
    let most = gathered.last().map_or(0, |(n, _)| *n);
    let scattered = counts.iter().filter(|(n, _)| *n > most);
    // Fewest warps per rectangle beyond that number of tiles.
    let least = scattered.map(|(n, w)| w / n).min().unwrap_or(0);
    [
        Check::count(
            "largest number of tiles gathered at once, of 1 to 64",
            32,
            most,
            "tiles",
            Basis::Configured,
        ),
        Check::count(
            "warps per tile if there are more tiles",
            u64::from(A_TILE),
            least,
            "warps per tile",
            Basis::IdealModel,
        ),
    ]
}
