//! Thin triangles across the picture: the coarse raster walks over all screen tiles of their boxes, and most
//! of these are empty.

use super::bench::run as draw;
use super::check::Check;
use quadrille_base::raster::geometry::{SUBPIXEL_BITS, Vertex};
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_gpu::config::Config;
use quadrille_gpu::draw::{Draw, FlatTriangle};
use quadrille_gpu::zrop::framebuffer::Tests;
use quadrille_machine::Rate;

const SIDE_PX: u32 = 1024;
const TRIANGLES: usize = 8;
const TOLERANCE: f64 = 0.01;

/// Triangle along the diagonal, less than a pixel wide.
fn needle() -> FlatTriangle {
    let end = (SIDE_PX << SUBPIXEL_BITS).cast_signed();
    let half_px = 1 << (SUBPIXEL_BITS - 1);
    let corner = |x, y| Vertex { x, y };
    FlatTriangle {
        corners: [corner(0, 0), corner(end, end), corner(half_px, 0)],
        colour: [1.0, 0.5, 0.25],
        alpha: 0.25,
        depth: 0.0,
    }
}

pub(super) fn run(config: &Config) -> Vec<Check> {
    let rows = [1, 2].map(|rate| {
        let mut config = config.clone();
        config.coarse.screen_tiles_tested_per_cycle = Rate::new(rate, 1);
        let [once, twice] = [1, 2].map(|times| {
            let triangles = Draw::triangles(SIDE_PX, SIDE_PX, &vec![needle(); times * TRIANGLES]);
            draw(&triangles, &config, &Tests::default()).cycles
        });
        let value = f64::from((SIDE_PX / TILE_PX).pow(2)) / f64::from(rate);
        let measured = (twice - once) as f64 / TRIANGLES as f64;
        let name = format!("a needle across 64x64 screen tiles, {rate} tested per cycle");
        Check::ideal(name, value, TOLERANCE, measured, "cycles")
    });
    rows.to_vec()
}
