use quadrille_base::raster::tiles::TILE_PX;
use quadrille_gpu::config::Config;
use quadrille_gpu::draw::Draw;
use quadrille_gpu::result::SimulationResult;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::wiring::Simulator;
use quadrille_gpu::zrop::framebuffer::Tests;

/// Rectangle as x, y, width and height in pixels.
pub(super) type Rectangle = [u32; 4];

/// Alpha of all rectangles: far from the alpha cut at 1/255 and from 1.
const ALPHA: f32 = 0.25;

pub(super) fn rectangles(side_px: u32, rectangles: &[Rectangle]) -> Draw {
    Draw::rectangles(side_px, side_px, rectangles, [1.0, 0.5, 0.25], ALPHA)
}

pub(super) fn run(draw: &Draw, config: &Config, tests: &Tests) -> SimulationResult {
    Simulator::unchecked(config, Variant::BASELINE).run(draw, draw.shader(), tests)
}

/// Rectangles of 2x2 pixels, `a_tile` on each of `tiles` screen tiles in turn, always at the same position
/// in the tile, with the side of the picture in pixels.
pub(super) fn round_robin(tiles: u32, a_tile: u32) -> (u32, Vec<Rectangle>) {
    let across = (1..).find(|a| a * a >= tiles).unwrap_or(1);
    let at = |tile: u32| [tile % across * TILE_PX, tile / across * TILE_PX, 2, 2];
    (across * TILE_PX, (0..a_tile).flat_map(|_| 0..tiles).map(at).collect())
}

pub(super) fn layers(side_px: u32, layers: u32) -> Draw {
    rectangles(side_px, &vec![[0, 0, side_px, side_px]; layers as usize])
}
