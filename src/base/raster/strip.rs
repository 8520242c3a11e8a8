//! Coverage of 16 rows of pixels by a polygon: as words of pixels, as masks of 8x8 pixels, and as quads.

use crate::raster::geometry::PixelRect;
use crate::raster::tiles::{RASTER_TILE_PX, TILE_PX};

/// Columns of a strip: three screen tiles.
pub const STRIP_COLUMNS: i32 = 48;
/// Rows of a strip: one screen tile.
pub const STRIP_ROWS: i32 = TILE_PX.cast_signed();
pub(super) const HALF_ROWS: usize = RASTER_TILE_PX as usize;
const ROW_BYTES: usize = 8;

/// Coverage of three screen tiles side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strip {
    /// Rows of each half: bit `n` of a byte is column `n` of its eight columns.
    rows: [[u8; ROW_BYTES * HALF_ROWS]; 2],
    /// Masks of the rows inside the clip in each half, as for an 8x8 tile.
    clip: [u64; 2],
}

impl Strip {
    /// Creates a strip from a word per row of each half, without the rows outside `clip`; bit `n` of a word is column `n`
    /// of the strip. Its first row is `y0`.
    #[inline(always)]
    pub(super) fn new(words: [[u64; HALF_ROWS]; 2], y0: i32, clip: PixelRect) -> Self {
        const HALF: i32 = RASTER_TILE_PX.cast_signed();
        // Mask of the half's rows before `row`.
        let ahead = |row: i32| {
            let rows = row.clamp(0, HALF).unsigned_abs();
            u64::MAX.checked_shr(64 - 8 * rows).unwrap_or(0)
        };
        Self {
            rows: words.map(|half| bytemuck::cast(half.map(u64::to_le))),
            clip: [y0, y0 + HALF].map(|y| ahead(clip.y1 - y) & !ahead(clip.y0 - y)),
        }
    }

    /// Coverage mask of the 8x8 pixels at a column and a row of the strip, both multiples of 8: bit `8 y + x`.
    #[inline(always)]
    pub fn tile_mask(&self, column: u32, row: u32) -> u64 {
        let half = usize::from(row >= RASTER_TILE_PX);
        let byte = column as usize / 8 % ROW_BYTES;
        // Bytes are read in place: an array of the rows' bytes would be assembled in memory.
        let rows = &self.rows[half];
        let of_row = |row: usize| u64::from(rows[ROW_BYTES * row + byte]) << (8 * row);
        let mask = (0..HALF_ROWS).fold(0, |mask, row| mask | of_row(row));
        mask & self.clip[half]
    }
}

/// A 2x2 block of pixels of an 8x8 tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileQuad {
    /// Index `8 row + column`, both from 0 to 3, as in a screen tile of eight quads per row.
    pub place: u8,
    /// Coverage mask, never zero: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    pub mask: u8,
}

/// Iterates over the covered quads of an 8x8 tile with coverage `mask`, row by row.
pub fn tile_quads(mask: u64) -> TileQuads {
    let rows = mask | mask >> 1;
    TileQuads { mask, left: (rows | rows >> 8) & 0x0055_0055_0055_0055 }
}

/// Covered quads of an 8x8 tile, see [`tile_quads`].
#[derive(Debug, Clone)]
pub struct TileQuads {
    mask: u64,
    /// Top left pixels of the remaining quads.
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
        let pixels = self.mask >> at;
        Some(TileQuad {
            // The first pixel of a quad is `16 row + 2 column`.
            place: at as u8 / 2,
            mask: (pixels & 3 | pixels >> 6 & 12) as u8,
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left.count_ones() as usize;
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
        let clip = |y0, y1| PixelRect { x0: 0, y0, x1: 64, y1 };
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
