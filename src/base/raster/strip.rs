//! Coverage of 16 rows of pixels by a polygon: as words of pixels, as masks of 8x8 pixels, and as quads.

use crate::raster::geometry::PixelRect;
use crate::raster::tiles::{RASTER_TILE_PX, TILE_PX};

/// Columns of a strip.
pub const STRIP_COLUMNS: i32 = 48;
/// Rows of a strip.
pub const STRIP_ROWS: i32 = TILE_PX.cast_signed();
/// Rows of half a strip: the height of a raster tile.
pub(super) const HALF_ROWS: usize = RASTER_TILE_PX as usize;
/// Bytes per row of a strip, including padding at the end.
const ROW_BYTES: usize = 8;

/// Coverage of a strip of pixels of three screen tiles side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strip {
    /// Rows of each half, one behind the other: bit `n` of a byte is column `n` of its eight columns of the
    /// strip.
    rows: [[u8; ROW_BYTES * HALF_ROWS]; 2],
    /// Masks of the rows that the clip leaves of each half, as for an 8x8 tile.
    clip: [u64; 2],
}

impl Strip {
    /// Creates the strip whose halves have these words of rows, without the rows outside `clip`; bit `n` of
    /// a word is column `n` of the strip. Its first row is `y0`.
    #[inline(always)]
    pub(super) fn new(words: [[u64; HALF_ROWS]; 2], y0: i32, clip: PixelRect) -> Self {
        const HALF: i32 = RASTER_TILE_PX.cast_signed();
        // Bits of the rows ahead of a row of the half.
        let ahead = |row: i32| {
            let rows = row.clamp(0, HALF).unsigned_abs();
            u64::MAX.checked_shr(64 - 8 * rows).unwrap_or(0)
        };
        Self {
            rows: words.map(|half| bytemuck::cast(half.map(u64::to_le))),
            clip: [y0, y0 + HALF].map(|y| ahead(clip.y1 - y) & !ahead(clip.y0 - y)),
        }
    }

    /// Coverage mask of the 8x8 pixels at a column and a row of the strip, both multiples of 8: bit
    /// `8 y + x`.
    #[inline(always)]
    pub fn tile_mask(&self, column: u32, row: u32) -> u64 {
        let half = usize::from(row >= RASTER_TILE_PX);
        let byte = column as usize / 8 % ROW_BYTES;
        // Bytes are read where they lie: an array of the rows' bytes would be put together in memory.
        let rows = &self.rows[half];
        let of_row = |row: usize| u64::from(rows[ROW_BYTES * row + byte]) << (8 * row);
        let mask = (0..HALF_ROWS).fold(0, |mask, row| mask | of_row(row));
        mask & self.clip[half]
    }
}

/// A 2x2 block of pixels of an 8x8 tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileQuad {
    /// Number of its place: `8 row + column`, both from 0 to 3, as in a screen tile of eight quads a row.
    pub place: u8,
    /// Coverage mask, never zero: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    pub mask: u8,
}

/// Iterates over the covered quads of an 8x8 tile with coverage `mask`, row by row.
#[inline]
pub fn tile_quads(mask: u64) -> TileQuads {
    let masks = quad_masks(mask);
    let pairs = masks | masks >> 1;
    TileQuads {
        masks,
        left: (pairs | pairs >> 2) & LOWEST,
    }
}

/// The lowest bit of each quad.
const LOWEST: u64 = 0x1111_1111_1111_1111;

/// Masks of the 16 quads of an 8x8 tile with coverage `mask`, four bits each, row by row.
#[inline(always)]
fn quad_masks(mask: u64) -> u64 {
    // A pixel's bit has the number `y2 y1 y0 x2 x1 x0`, and in its quad `y2 y1 x2 x1 y0 x0`: `y0` changes places
    // with `x2`, then with `x1`. Each step swaps the bits `selected` with those `distance` above.
    let swap = |bits: u64, selected: u64, distance: u32| {
        let differing = (bits ^ bits >> distance) & selected;
        bits ^ differing ^ differing << distance
    };
    swap(
        swap(mask, 0x00f0_00f0_00f0_00f0, 4),
        0x0c0c_0c0c_0c0c_0c0c,
        2,
    )
}

/// The iterator of [`tile_quads`].
#[derive(Debug, Clone)]
pub struct TileQuads {
    /// Masks of all quads, as [`quad_masks`].
    masks: u64,
    /// The lowest bits of the quads to come.
    left: u64,
}

impl Iterator for TileQuads {
    type Item = TileQuad;

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "of numbers of a few bits")]
    fn next(&mut self) -> Option<TileQuad> {
        if self.left == 0 {
            return None;
        }
        let at = self.left.trailing_zeros();
        self.left &= self.left - 1;
        let quad = at as u8 / 4;
        Some(TileQuad {
            // Quad `4 row + column`.
            place: quad + (quad & 12),
            mask: (self.masks >> at & 15) as u8,
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        // Of two quads in a byte, a digit; the highest byte of the product is the sum of all.
        let pairs = (self.left + (self.left >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
        let left = (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for TileQuads {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_of_tiles() {
        let mut words = [[0; HALF_ROWS]; 2];
        // Columns 3 to 5, 4 to 11, and 0 to 20; in the other half, the last column.
        words[0][..3].copy_from_slice(&[0x38, 0xff0, 0x1f_ffff]);
        words[1] = [1 << 47; HALF_ROWS];
        let clip = |y0, y1| PixelRect {
            x0: 0,
            y0,
            x1: 64,
            y1,
        };
        let strip = Strip::new(words, 32, clip(0, 100));
        assert_eq!(strip.tile_mask(0, 0), 0xff_f0_38);
        assert_eq!(strip.tile_mask(8, 0), 0xff_0f_00);
        assert_eq!(strip.tile_mask(16, 0), 0x1f_00_00);
        assert_eq!(strip.tile_mask(0, 8), 0);
        assert_eq!(strip.tile_mask(40, 8), 0x8080_8080_8080_8080);
        let clipped = Strip::new(words, 32, clip(33, 42));
        assert_eq!(clipped.tile_mask(0, 0), 0xff_f0_00);
        assert_eq!(clipped.tile_mask(40, 8), 0x8080);
    }

    #[test]
    fn quads_of_a_mask() {
        // Pixels (3, 0) to (5, 0) and (4, 1) to (7, 1), then (7, 7).
        let quads = tile_quads(0x8000_0000_0000_f038);
        assert_eq!(quads.len(), 4);
        let found: Vec<_> = quads.map(|q| (q.place, q.mask)).collect();
        assert_eq!(found, [(1, 0b0010), (2, 0b1111), (3, 0b1100), (27, 0b1000)]);
    }
}
