//! The depth buffer of the whole picture: depth and owner of every sample, quad by quad, screen tile
//! by screen tile, and the farthest depth of each raster tile for Hi-Z.

use std::cell::Cell;

use crate::math::SimdLevel;
use crate::raster::geometry::PixelRect;
use crate::raster::sample_depth::{DepthFragment, QuadDepths};
use crate::raster::samples::SamplePattern;
use crate::raster::tiles::{QUADS_PER_TILE, RASTER_TILE_PX, TILE_PX, TILE_QUADS};

/// Raster tiles of a screen tile.
const QUARTERS: usize = 4;

/// What is known of a raster tile.
#[derive(Debug, Clone, Copy)]
struct Tile {
    /// Its farthest depth, or `None` where it has to be found again.
    farthest: Option<f32>,
    /// The quad that was not near enough when that was asked last.
    shows: u32,
}

/// The depth buffer.
#[derive(Debug)]
pub struct DepthBuffer {
    quads: Vec<QuadDepths>,
    tiles: Vec<Cell<Tile>>,
    tiles_across: u32,
    pattern: &'static SamplePattern,
    level: SimdLevel,
}

impl DepthBuffer {
    /// A buffer for a picture of so many cells, everything infinitely far.
    #[must_use]
    pub fn new(cells: PixelRect, pattern: &'static SamplePattern, level: SimdLevel) -> Self {
        let [across, down] = [cells.x1, cells.y1].map(|c| c.unsigned_abs().div_ceil(TILE_PX));
        let tiles = across as usize * down as usize;
        let empty = Tile {
            farthest: Some(0.0),
            shows: 0,
        };
        Self {
            quads: vec![QuadDepths::default(); tiles * QUADS_PER_TILE as usize],
            tiles: vec![Cell::new(empty); tiles * QUARTERS],
            tiles_across: across,
            pattern,
            level,
        }
    }

    /// Screen tiles a row.
    #[must_use]
    pub fn tiles_across(&self) -> u32 {
        self.tiles_across
    }

    /// Quads kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.quads.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.quads.is_empty()
    }

    /// The quad at a place of the buffer, see [`DepthBuffer::index`].
    #[must_use]
    #[inline]
    pub fn quad(&self, index: u32) -> &QuadDepths {
        &self.quads[index as usize]
    }

    /// Where a quad, given by column and row in quads, is kept.
    #[must_use]
    #[inline]
    pub fn index(&self, [x, y]: [u16; 2]) -> u32 {
        let [x, y] = [u32::from(x), u32::from(y)];
        let tile = y / TILE_QUADS * self.tiles_across + x / TILE_QUADS;
        tile * QUADS_PER_TILE + y % TILE_QUADS * TILE_QUADS + x % TILE_QUADS
    }

    /// Column and row, in quads, of a place in a screen tile.
    #[must_use]
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "quads of a picture fit 16 bits"
    )]
    pub fn place(&self, tile: u32, position: u8) -> [u16; 2] {
        let [x, y] = [tile % self.tiles_across, tile / self.tiles_across];
        let position = u32::from(position);
        let (x, y) = (
            x * TILE_QUADS + position % TILE_QUADS,
            y * TILE_QUADS + position / TILE_QUADS,
        );
        [x as u16, y as u16]
    }

    /// Tests the samples of a fragment at a place; returns those that pass.
    #[inline]
    pub fn test(&mut self, tile: u32, position: u8, fragment: &DepthFragment) -> u64 {
        let index = (tile * QUADS_PER_TILE + u32::from(position)) as usize;
        let passed = self.quads[index].test(self.level, self.pattern, fragment);
        if passed != 0 {
            let half = TILE_QUADS / 2;
            let position = u32::from(position);
            let row = position / TILE_QUADS / half;
            let quarter = row * 2 + position % TILE_QUADS / half;
            let known = self.tiles[tile as usize * QUARTERS + quarter as usize].get_mut();
            known.farthest = None;
        }
        passed
    }

    /// Whether everything in a raster tile is at least as near as `depth`.
    #[must_use]
    pub fn hides_tile(&self, tile: u32, quarter: u8, depth: f32) -> bool {
        let kept = &self.tiles[tile as usize * QUARTERS + usize::from(quarter)];
        let known = kept.get();
        if let Some(farthest) = known.farthest {
            return farthest >= depth;
        }
        let half = TILE_QUADS / 2;
        let quarter = u32::from(quarter);
        let first =
            tile * QUADS_PER_TILE + (quarter >> 1) * half * TILE_QUADS + (quarter & 1) * half;
        let mut farthest = f32::INFINITY;
        // The quad that showed something last is likely to do so again.
        for k in 0..half * half {
            let at = (known.shows + k) % (half * half);
            let quad = self.quad(first + at / half * TILE_QUADS + at % half);
            farthest = farthest.min(quad.farthest(self.pattern));
            if farthest < depth {
                kept.set(Tile {
                    farthest: None,
                    shows: at,
                });
                return false;
            }
        }
        kept.set(Tile {
            farthest: Some(farthest),
            ..known
        });
        true
    }

    /// Whether everything in `area`, inside the picture, is at least as near as `depth`.
    #[must_use]
    pub fn hides(&self, area: PixelRect, depth: f32) -> bool {
        let tiles = |from: i32, to: i32| {
            from.unsigned_abs() / RASTER_TILE_PX..to.unsigned_abs().div_ceil(RASTER_TILE_PX)
        };
        tiles(area.y0, area.y1).all(|row| {
            tiles(area.x0, area.x1).all(|column| {
                let tile = row / 2 * self.tiles_across + column / 2;
                let quarter = u8::from(row % 2 == 1) * 2 + u8::from(column % 2 == 1);
                self.hides_tile(tile, quarter, depth)
            })
        })
    }
}
