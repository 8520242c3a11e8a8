//! Speedup of several GPCs over one, on a picture whose screen tiles they share evenly.

use super::bench::{layers, run as draw};
use super::check::{Basis, Check, Expected};
use quadrille_gpu::config::Config;
use quadrille_gpu::tile_owner::TileMapping;
use quadrille_gpu::zrop::framebuffer::Tests;

const SIDE_PX: u32 = 256;
const LAYERS: u32 = 4;
const TOLERANCE: f64 = 0.02;

/// Additional cycles of a draw with twice the layers, so that start and end of the draw cancel.
fn cycles(config: &Config, gpcs: u64) -> u64 {
    let mut config = config.clone();
    config.gpu.gpcs = gpcs;
    config.gpu.tile_mapping = TileMapping::Diagonal;
    config.gpu.tile_block = 1;
    let [once, twice] = [1, 2]
        .map(|times| draw(&layers(SIDE_PX, times * LAYERS), &config, &Tests::default()).cycles);
    twice - once
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let one = cycles(config, 1);
    let rows = [2_u32, 4].map(|gpcs| Check {
        name: format!("speedup of {gpcs} GPCs"),
        expected: Expected::Within { value: gpcs.into(), share: TOLERANCE },
        basis: Basis::IdealModel,
        measured: one as f64 / cycles(config, gpcs.into()) as f64,
        unit: "times",
    });
    rows.to_vec()
}
