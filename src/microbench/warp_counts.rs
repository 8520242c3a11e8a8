//! Warps that shade rectangles, as programs count them on hardware (VR-Pipe, section VII-A).

use super::bench::{Rectangle, run};
use super::rates::{MOST_SMALL_PX, SIDE_PX, draw, side_px, small};
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_gpu::config::Config;
use quadrille_gpu::zrop::framebuffer::Tests;

const RECTANGLES_PER_TILE: u32 = 10;
/// Number of squares along rows.
const COUNTED: u32 = 1024;
const MOST_TILES: u32 = (SIDE_PX / TILE_PX).pow(2);
/// Numbers of tiles in the list of names, which has no others.
const TILES: [u32; 8] = [8, 16, 24, 32, 33, 48, 64, 128];
/// Sides of squares in the list of names, which has no others.
const SIDES_PX: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// A draw of rectangles whose warps programs count on hardware.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WarpDraw {
    /// Squares with this side in pixels along rows: warps per square.
    Rectangles(u32),
    /// Squares of a pixel, which cover a quad with one of their triangles, ten on each of this number of screen tiles in
    /// turn: all warps.
    Tiles(u32),
}

impl WarpDraw {
    /// Returns the draw called `warps-rectangles-SIDE` (of 1 to 32 pixels) or `warps-tiles-N` (of 1 to 256 tiles).
    pub fn named(name: &str) -> Option<Self> {
        let of = name.strip_prefix("warps-")?;
        let side = of.strip_prefix("rectangles-").and_then(|side| side_px(side, MOST_SMALL_PX));
        let tiles = of.strip_prefix("tiles-").and_then(|tiles| side_px(tiles, MOST_TILES));
        side.map(Self::Rectangles).or(tiles.map(Self::Tiles))
    }

    /// Names of draws of common sizes.
    pub fn names() -> impl Iterator<Item = String> {
        let sides = SIDES_PX.map(|side| format!("warps-rectangles-{side}"));
        sides.into_iter().chain(TILES.map(|tiles| format!("warps-tiles-{tiles}")))
    }

    /// Number of warps; `None` for an invalid configuration.
    pub fn warps(self, config: &Config) -> Option<f64> {
        config.validate().ok()?;
        config.gpu.check_graphics().ok()?;
        let (list, counted) = match self {
            Self::Rectangles(side) => (small(side, COUNTED), COUNTED),
            Self::Tiles(tiles) => {
                let across = SIDE_PX / TILE_PX;
                let at = |n: u32| n % tiles;
                let at = |n| [at(n) % across * TILE_PX, at(n) / across * TILE_PX, 1, 1];
                ((0..tiles * RECTANGLES_PER_TILE).map(at).collect::<Vec<Rectangle>>(), 1)
            }
        };
        let warps = run(&draw(&list), config, &Tests::default()).warps;
        Some(warps as f64 / f64::from(counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warps(name: &str) -> f64 {
        WarpDraw::named(name).unwrap().warps(&Config::default()).unwrap()
    }

    /// Ten quads of a tile make two warps if its bin gathers them: on up to 32 tiles, as many as there are bins.
    #[test]
    fn warps_are_those_of_gathered_tiles() {
        assert_eq!(["warps-tiles-8", "warps-tiles-32"].map(warps), [16.0, 64.0]);
        assert_eq!(warps("warps-tiles-33"), 330.0);
    }

    /// A warp has eight quads. Of a square of 16 pixels, the eight quads on the diagonal are in both triangles.
    #[test]
    fn large_squares_fill_their_warps() {
        let quads = f64::from(16 * 16 / 4 + 8);
        assert!((warps("warps-rectangles-16") / (quads / 8.0) - 1.0).abs() < 0.2);
        assert!(warps("warps-rectangles-1") < 1.0);
    }

    #[test]
    fn other_names_have_no_warps() {
        for name in ["", "warps-", "warps-tiles-0", "warps-tiles-257", "warps-rectangles-33"] {
            assert_eq!(WarpDraw::named(name), None, "{name}");
        }
        assert!(WarpDraw::names().all(|name| WarpDraw::named(&name).is_some()));
    }
}
