//! CROP works on quads (VR-Pipe, section VII-A, Fig. 20c): a stencil test keeps 4, 2, 1 or, alternating,
//! 2, 1 and 1 pixels of each quad, at the same number of pixels in all. Time is proportional to quads.
//!
//! Two draws are compared so that latency cancels.

use super::bench::{layers, run as draw};
use super::check::{Basis, Check, Expected};
use quadrille_base::shading::{ColourFormat, CompareOp, StencilTest};
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;

/// Side of the picture in pixels: a multiple of three quads, the period of the masks.
const SIDE_PX: u32 = 96;
const LAYERS: u32 = 24;
const TOLERANCE: f64 = 0.01;

const ONE: u8 = 0b0001;
const TWO: u8 = 0b0011;
const FOUR: u8 = 0b1111;

/// Quads per pixel, the stencil masks of three adjacent quads, and quads per pixel relative to 1/4.
const SHARES: [(&str, [u8; 3], u32); 3] =
    [("1/2", [TWO; 3], 2), ("3/4", [TWO, ONE, ONE], 3), ("1", [ONE; 3], 4)];

/// Stencil test that passes pixels by their position in the quad. `kept` holds the masks of quads in columns 0,
/// 1, 2, repeated.
fn mask(kept: [u8; 3]) -> Tests {
    let test = StencilTest { compare: CompareOp::Equal, reference: 1, ..StencilTest::default() };
    let values = (0..SIDE_PX)
        .flat_map(|y| (0..SIDE_PX).map(move |x| (x, y)))
        .map(|(x, y)| kept[(x / 2 % 3) as usize] >> (y % 2 * 2 + x % 2) & 1);
    Tests { stencil: Some((test, values.collect())), depth: None }
}

/// Additional cycles and blended pixels of a draw with `count` times [`LAYERS`] more rectangles.
fn cost(config: &Config, tests: &Tests, count: u32) -> (u64, u64) {
    let [once, twice] = [1, 2].map(|times| {
        let outcome = draw(&layers(SIDE_PX, times * count * LAYERS), config, tests);
        (outcome.cycles, outcome.fragments.blended)
    });
    (twice.0 - once.0, twice.1 - once.1)
}

/// Time at 1/2, 3/4 and 1 quads per pixel over the time at 1/4, at the same number of pixels.
pub(super) fn times(config: &Config) -> Vec<(&'static str, f64)> {
    let mut config = config.clone();
    config.crop.format = ColourFormat::Rgba16F;
    let (least, _) = cost(&config, &mask([FOUR; 3]), 1);
    let of = |(quads, kept, times): (&'static str, [u8; 3], u32)| {
        let (cycles, _) = cost(&config, &mask(kept), times);
        (quads, cycles as f64 / least as f64)
    };
    SHARES.map(of).to_vec()
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let mut config = config.clone();
    config.crop.format = ColourFormat::Rgba16F;
    let (least, pixels) = cost(&config, &mask([FOUR; 3]), 1);
    let mut checks = Vec::new();
    for (quads, kept, times) in SHARES {
        let (cycles, same_pixels) = cost(&config, &mask(kept), times);
        checks.push(Check::count(
            format!("pixels blended at {quads} quads per pixel"),
            pixels,
            same_pixels,
            "pixels",
            Basis::IdealModel,
        ));
        checks.push(Check {
            name: format!("time at {quads} quads per pixel over the time at 1/4"),
            expected: Expected::Within { value: f64::from(times), share: TOLERANCE },
            basis: Basis::Hardware,
            measured: cycles as f64 / least as f64,
            unit: "times",
        });
    }
    checks
}
