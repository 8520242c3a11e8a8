//! Capacity of the CROP cache (VR-Pipe, section VII-A, Fig. 20a): rectangles of 8x16 pixels, 1 KB of
//! RGBA16F each, are drawn at more and more positions until CROP reads from the L2.
//!
//! All positions are drawn in two rounds, with a pause between them so that tile coalescing does not join
//! the rounds. Only evicted colours are read.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use super::bench::{Rectangle, rectangles, run as draw};
use super::check::{Basis, Check, Expected};
use quadrille_base::shading::ColourFormat;
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;
use quadrille_machine::CacheCounters;

const SIDE_PX: u32 = 256;
const WIDTH_PX: u32 = 8;
const HEIGHT_PX: u32 = 16;
const BYTES: u64 = bytes([WIDTH_PX, HEIGHT_PX]);
/// Capacity measured on the hardware, in bytes.
const CACHE_BYTES: u64 = 16_384;
const SEEDS: u64 = 48;
const MOST_PLACES: usize = 64;

fn two_rounds(config: &Config, places: &[Rectangle]) -> CacheCounters {
    let mut draw_twice = rectangles(SIDE_PX, &places.repeat(2));
    draw_twice.bubble = Some((draw_twice.len() / 2, 2 * config.tc.timeout_cycles));
    draw(&draw_twice, config, &Tests::default()).crop_cache
}

fn footprint(config: &Config, places: &[Rectangle]) -> (u64, u64) {
    let mut peak = 0;
    for count in 1..=places.len() {
        let counters = two_rounds(config, &places[..count]);
        peak = peak.max(counters.peak_bytes.0);
        if counters.fetched > 0 {
            return (count as u64 - 1, peak);
        }
    }
    (places.len() as u64, peak)
}

/// Returns `count` rectangles of a size, side by side in rows. Those of 8x16 pixels are halves of consecutive
/// screen tiles.
fn aligned([width, height]: [u32; 2], count: usize) -> Vec<Rectangle> {
    let across = SIDE_PX / width;
    let at = |n: u32| [n % across * width, n / across * height];
    (0..).map(at).take(count).map(|[x, y]| [x, y, width, height]).collect()
}

pub(super) fn aligned_footprint(config: &Config, size: [u32; 2]) -> u64 {
    let mut config = config.clone();
    config.crop.format = ColourFormat::Rgba16F;
    let count = 2 * CACHE_BYTES / bytes(size);
    let places = aligned(size, usize::try_from(count).unwrap_or(MOST_PLACES));
    footprint(&config, &places).0 * bytes(size)
}

/// Places rectangles without overlap at random multiples of `step` pixels, up to twice the measured capacity.
fn scattered(seed: u64, [width, height]: [u32; 2], step: u32) -> Vec<Rectangle> {
    let mut random = Pcg32::seed_from_u64(seed);
    let mut places: Vec<Rectangle> = Vec::new();
    while places.len() as u64 * bytes([width, height]) < 2 * CACHE_BYTES {
        let [x, y] =
            [width, height].map(|side| step * random.random_range(0..=(SIDE_PX - side) / step));
        let apart = |p: &Rectangle| p[0].abs_diff(x) >= width || p[1].abs_diff(y) >= height;
        if places.iter().all(apart) {
            places.push([x, y, width, height]);
        }
    }
    places
}

pub(super) const fn bytes([width, height]: [u32; 2]) -> u64 {
    width as u64 * height as u64 * 8
}

/// Bytes of rectangles that can be drawn at random multiples of `step` pixels before CROP reads from the L2. A
/// rectangle may have at most a quarter of the picture's side.
pub(super) fn random_footprint(config: &Config, seed: u64, size: [u32; 2], step: u32) -> u64 {
    let mut config = config.clone();
    config.crop.format = ColourFormat::Rgba16F;
    footprint(&config, &scattered(seed, size, step)).0 * bytes(size)
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let mut config = config.clone();
    config.crop.format = ColourFormat::Rgba16F;
    let (most_aligned, aligned_peak) =
        footprint(&config, &aligned([WIDTH_PX, HEIGHT_PX], MOST_PLACES));
    let random: Vec<_> = (0..SEEDS)
        .map(|seed| footprint(&config, &scattered(seed, [WIDTH_PX, HEIGHT_PX], 1)))
        .collect();
    let counts = || random.iter().map(|(count, _)| *count);
    let peaks = random.iter().map(|(_, peak)| *peak);
    let most = counts().max().unwrap_or(0);
    let least = counts().min().unwrap_or(0);
    let peak = peaks.fold(aligned_peak, u64::max);
    let check = |name: &str, expected, basis, bytes: u64| Check {
        name: name.to_owned(),
        expected,
        basis,
        measured: bytes as f64,
        unit: "bytes",
    };
    let capacity = CACHE_BYTES as f64;
    vec![
        Check::count(
            "aligned 8x16 rectangles without L2 reads",
            CACHE_BYTES / BYTES,
            most_aligned,
            "rectangles",
            Basis::Configured,
        ),
        check(
            "largest amount of colour held at once",
            Expected::AtMost(capacity),
            Basis::Configured,
            peak,
        ),
        check(
            "largest amount of colour drawn at random positions without L2 reads",
            Expected::AtMost(capacity),
            Basis::Configured,
            most * BYTES,
        ),
        check(
            "smallest amount of colour drawn at random positions without L2 reads",
            Expected::Below(capacity),
            Basis::Hardware,
            least * BYTES,
        ),
    ]
}
