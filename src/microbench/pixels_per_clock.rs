//! Pixels blended per cycle by colour format (VR-Pipe, section VII-A, Fig. 20b).
//!
//! The picture is covered a number of times and twice that number; the difference of the two draws does
//! not contain the pipeline's latency.

use super::bench::{layers, run as draw};
use super::check::{Basis, Check, Expected};
use quadrille_base::shading::ColourFormat;
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;

const SIDE_PX: u32 = 256;
const LAYERS: u32 = 12;
const TOLERANCE: f64 = 0.01;

pub(super) fn pixels_per_cycle(config: &Config, format: ColourFormat) -> f64 {
    let mut config = config.clone();
    config.crop.format = format;
    let [once, twice] = [1, 2].map(|times| {
        let outcome = draw(&layers(SIDE_PX, times * LAYERS), &config, &Tests::default());
        [outcome.fragments.blended, outcome.cycles]
    });
    (twice[0] - once[0]) as f64 / (twice[1] - once[1]) as f64
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    [
        (ColourFormat::Rgba8, 16.0, Basis::Configured),
        (ColourFormat::Rgba16F, 8.0, Basis::Configured),
        (ColourFormat::Rgba32F, 4.0, Basis::IdealModel),
    ]
    .into_iter()
    .map(|(format, value, basis)| Check {
        name: format!("pixels blended per cycle, {}", format.name()),
        expected: Expected::Within { value, share: TOLERANCE },
        basis,
        measured: pixels_per_cycle(config, format),
        unit: "pixels per cycle",
    })
    .collect()
}
