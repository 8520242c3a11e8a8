//! Outlines of primitives, through which the raster units work with one sample at the pixel's centre or with several.

use crate::math::fit;
use crate::raster::geometry::PixelRect;
use crate::raster::polygon::Polygon;
use crate::raster::strip::{STRIP_COLUMNS, Strip, tile_quads};
use crate::raster::tiles::{RASTER_TILE_PX, TILE_PX};

/// Edge functions of a primitive.
pub trait Outline: Copy {
    /// Precomputed data for [`STRIP_COLUMNS`] columns of 16 rows of pixels.
    type Strip;
    /// Coverage of the samples in a raster tile, beside the mask of covered pixels.
    type Samples: TileCover + Default;

    /// Bounds of the pixels that may be covered, not clipped to a picture.
    fn bounds(&self) -> PixelRect;

    /// Prepares the strip whose first pixel is `origin`, clipped to `clip`.
    fn strip(&self, origin: [i32; 2], clip: PixelRect) -> Self::Strip;

    /// Conservative test of the pixels `[x0, x0 + size) x [y0, y0 + size)`: false only if none of them is covered.
    fn touches(&self, x0: i32, y0: i32, size: i32) -> bool;

    /// Coverage of the raster tile at `origin`, which meets `clip`: `None` if the outline does not
    /// [touch](Outline::touches) it, else a mask with bit `8 y + x` for each covered pixel inside `clip`. `strip` starts at
    /// `strip_origin`. The coverage of samples is added to `samples`, which are empty before.
    fn tile(
        &self,
        strip: &Self::Strip,
        strip_origin: [i32; 2],
        origin: [i32; 2],
        clip: PixelRect,
        samples: &mut Self::Samples,
    ) -> Option<u64>;
}

/// Counts of a raster tile's coverage.
pub trait TileCover: Copy {
    /// Number of quads that the fine raster emits.
    fn quads(&self, mask: u64) -> u64;
    /// Number of emitted quads with a covered sample.
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
    type Strip = Strip;
    type Samples = ();

    #[inline]
    fn bounds(&self) -> PixelRect {
        self.pixel_bounds()
    }

    #[inline]
    fn strip(&self, origin: [i32; 2], clip: PixelRect) -> Strip {
        Self::strip(self, origin, clip)
    }

    #[inline]
    fn touches(&self, x0: i32, y0: i32, size: i32) -> bool {
        Self::touches(self, x0, y0, size)
    }

    #[inline(always)]
    fn tile(
        &self,
        strip: &Strip,
        [first_column, first_row]: [i32; 2],
        [x0, y0]: [i32; 2],
        _clip: PixelRect,
        (): &mut (),
    ) -> Option<u64> {
        let (column, row) = (x0.abs_diff(first_column), y0.abs_diff(first_row));
        let mask = strip.tile_mask(column, row);
        // A covered tile is also touched, so a mask that is not 0 saves the second test.
        (mask != 0 || self.touches(x0, y0, RASTER_TILE_PX.cast_signed())).then_some(mask)
    }
}

/// Visitor of the tiles of a primitive, see [`raster_tiles`].
pub trait TileVisitor<S> {
    /// Called before the raster tiles of the screen tile in `column` and `row`; returns whether to test them.
    fn enter(&mut self, column: u32, row: u32) -> bool;

    /// Called with each touched raster tile: screen tile (column, row), quarter of it, and [`Outline::tile`]'s results.
    fn touch(&mut self, tile: [u32; 2], quarter: u8, mask: u64, samples: &S);
}

impl<S, F: FnMut([u32; 2], u8, u64, &S)> TileVisitor<S> for F {
    fn enter(&mut self, _column: u32, _row: u32) -> bool {
        true
    }

    #[inline]
    fn touch(&mut self, tile: [u32; 2], quarter: u8, mask: u64, samples: &S) {
        self(tile, quarter, mask, samples);
    }
}

/// Visits the raster tiles that an outline touches inside `bounds`, in the picture, row by row of screen tiles.
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
    let first_x = bounds.x0 / TILE * TILE;
    // Joins the masks of the two halves of a screen tile that start at `first`, and drops a half outside the bounds from
    // `low` to `high`. A branch per half would cost more, since it cannot be predicted.
    let meets = |first: i32, [low, high]: [i32; 2], [one, other]: [u8; 2]| {
        let meets = |first: i32| u8::from(first < high && first + RASTER > low);
        (meets(first) * one) | (meets(first + RASTER) * other)
    };
    for row in bounds.y0 / TILE..=(bounds.y1 - 1) / TILE {
        let mut strip_origin = [first_x, row * TILE];
        let mut strip = outline.strip(strip_origin, bounds);
        let in_rows = meets(row * TILE, [bounds.y0, bounds.y1], [0b0011, 0b1100]);
        for column in bounds.x0 / TILE..=(bounds.x1 - 1) / TILE {
            if !visitor.enter(column as u32, row as u32) {
                continue;
            }
            if column * TILE - strip_origin[0] >= STRIP_COLUMNS {
                strip_origin[0] = column * TILE;
                strip = outline.strip(strip_origin, bounds);
            }
            let in_columns = meets(column * TILE, [bounds.x0, bounds.x1], [0b0101, 0b1010]);
            let mut quarters = in_rows & in_columns;
            while quarters != 0 {
                let quarter = fit::<u8>(quarters.trailing_zeros());
                quarters &= quarters - 1;
                let x = column * TILE + i32::from(quarter & 1) * RASTER;
                let y = row * TILE + i32::from(quarter >> 1) * RASTER;
                let mut samples = O::Samples::default();
                let mask = outline.tile(&strip, strip_origin, [x, y], bounds, &mut samples);
                if let Some(mask) = mask {
                    visitor.touch([column as u32, row as u32], quarter, mask, &samples);
                }
            }
        }
    }
}
