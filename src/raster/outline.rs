//! Interface of a primitive's outline, so that the raster units work with one sample at the pixel's
//! centre and with several samples alike.

use crate::raster::geometry::PixelRect;
use crate::raster::polygon::Polygon;
use crate::raster::spans::{RowSpans, tile_quads};
use crate::raster::tiles::{RASTER_TILE_PX, TILE_PX};

/// Edge functions of a primitive.
pub trait Outline: Copy {
    /// Precomputed data for 16 rows of pixels.
    type Rows;
    /// Coverage of the samples in a raster tile, beside the mask of covered pixels.
    type Samples: TileCover + Default;

    /// Bounds of the pixels that may be covered, not clipped to a picture.
    fn bounds(&self) -> PixelRect;

    /// Prepares the 16 rows from `y0`, clipped to `clip`.
    fn rows(&self, y0: i32, clip: PixelRect) -> Self::Rows;

    /// Conservative test of the pixels `[x0, x0 + size) x [y0, y0 + size)`: false only if none of
    /// them is covered.
    fn touches(&self, x0: i32, y0: i32, size: i32) -> bool;

    /// Coverage of the raster tile at `origin`, clipped to `clip`, from its prepared rows: returns
    /// a mask with bit `8 y + x` for each covered pixel, and adds the coverage of samples to
    /// `samples`, which are empty before.
    fn tile(
        &self,
        rows: &Self::Rows,
        origin: [i32; 2],
        clip: PixelRect,
        samples: &mut Self::Samples,
    ) -> u64;
}

/// Counts of a raster tile's coverage.
pub trait TileCover: Copy {
    /// Number of quads that the fine raster emits.
    fn quads(&self, mask: u64) -> u64;
    /// Number of those quads that have coverage.
    fn covered_quads(&self, mask: u64) -> u64;
    /// Number of covered pixels.
    fn fragments(&self, mask: u64) -> u64;
}

impl TileCover for () {
    fn quads(&self, mask: u64) -> u64 {
        tile_quads(mask).len() as u64
    }

    fn covered_quads(&self, mask: u64) -> u64 {
        self.quads(mask)
    }

    fn fragments(&self, mask: u64) -> u64 {
        u64::from(mask.count_ones())
    }
}

impl Outline for Polygon {
    type Rows = RowSpans;
    type Samples = ();

    #[inline]
    fn bounds(&self) -> PixelRect {
        self.pixel_bounds()
    }

    #[inline]
    fn rows(&self, y0: i32, clip: PixelRect) -> RowSpans {
        self.spans(y0, clip)
    }

    #[inline]
    fn touches(&self, x0: i32, y0: i32, size: i32) -> bool {
        Self::touches(self, x0, y0, size)
    }

    #[inline]
    fn tile(&self, rows: &RowSpans, [x0, y0]: [i32; 2], _clip: PixelRect, (): &mut ()) -> u64 {
        let half = usize::from(y0 & RASTER_TILE_PX.cast_signed() != 0) * 8;
        rows.tile_mask(x0, half)
    }
}

/// Receives the tiles of a primitive, see [`raster_tiles`].
pub trait TileVisitor<S> {
    /// Called before the raster tiles of the screen tile in `column` and `row`; returns whether to test
    /// them.
    fn enter(&mut self, column: u32, row: u32) -> bool;

    /// Called with each raster tile that the outline touches: column and row of the screen tile, the
    /// quarter of it, and the result of [`Outline::tile`].
    fn touch(&mut self, tile: [u32; 2], quarter: u8, mask: u64, samples: &S);
}

/// Visits every raster tile.
impl<S, F: FnMut([u32; 2], u8, u64, &S)> TileVisitor<S> for F {
    fn enter(&mut self, _column: u32, _row: u32) -> bool {
        true
    }

    #[inline]
    fn touch(&mut self, tile: [u32; 2], quarter: u8, mask: u64, samples: &S) {
        self(tile, quarter, mask, samples);
    }
}

/// Visits the raster tiles that an outline touches inside `bounds`, which lie in the picture, row by row
/// of the screen tiles.
#[inline(always)]
#[allow(
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "bounds lie inside the picture"
)]
pub fn raster_tiles<O: Outline>(
    outline: &O,
    bounds: PixelRect,
    visitor: &mut impl TileVisitor<O::Samples>,
) {
    const TILE: i32 = TILE_PX as i32;
    const RASTER: i32 = RASTER_TILE_PX as i32;
    for row in bounds.y0 / TILE..=(bounds.y1 - 1) / TILE {
        let rows = outline.rows(row * TILE, bounds);
        for column in bounds.x0 / TILE..=(bounds.x1 - 1) / TILE {
            if !visitor.enter(column as u32, row as u32) {
                continue;
            }
            for quarter in 0..4_u8 {
                let x = column * TILE + i32::from(quarter & 1) * RASTER;
                let y = row * TILE + i32::from(quarter >> 1) * RASTER;
                let outside = x >= bounds.x1
                    || x + RASTER <= bounds.x0
                    || y >= bounds.y1
                    || y + RASTER <= bounds.y0;
                if !outside && outline.touches(x, y, RASTER) {
                    let mut samples = O::Samples::default();
                    let mask = outline.tile(&rows, [x, y], bounds, &mut samples);
                    visitor.touch([column as u32, row as u32], quarter, mask, &samples);
                }
            }
        }
    }
}
