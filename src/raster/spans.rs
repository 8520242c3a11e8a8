//! Coverage of 16 rows by a polygon: as columns, as masks of 8x8 pixels, and as quads.

use std::ops::Range;

/// Number of rows in a strip.
pub const SPAN_ROWS: usize = 16;

/// Covered columns of the 16 rows of a strip, one half-open range per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSpans {
    start: [[i32; 8]; 2],
    end: [[i32; 8]; 2],
}

impl RowSpans {
    pub(crate) fn new(start: [i32; SPAN_ROWS], end: [i32; SPAN_ROWS]) -> Self {
        let halves = |a: [i32; SPAN_ROWS]| [0, 8].map(|row| std::array::from_fn(|k| a[row + k]));
        Self {
            start: halves(start),
            end: halves(end),
        }
    }

    /// The columns covered in row `row` of the strip, 0 to 15.
    pub fn row(&self, row: usize) -> Range<i32> {
        self.start.as_flattened()[row]..self.end.as_flattened()[row]
    }

    /// Coverage mask of the 8x8 pixels at column `x0` and row `row` of the strip, which is 0 or 8:
    /// bit `8 y + x`.
    pub fn tile_mask(&self, x0: i32, row: usize) -> u64 {
        let (starts, ends) = (self.start[row / 8], self.end[row / 8]);
        let mut mask = 0;
        for k in 0..8 {
            let (from, to) = ((starts[k] - x0).clamp(0, 8), (ends[k] - x0).clamp(0, 8));
            // The ones from bit `from` to before bit `to`.
            mask |= ((1_u64 << to) - (1_u64 << from)) << (8 * k);
        }
        mask
    }
}

/// A 2x2 block of pixels of an 8x8 tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileQuad {
    /// Column of quads, 0 to 3.
    pub column: u8,
    /// Row of quads, 0 to 3.
    pub row: u8,
    /// Coverage mask, never zero: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    pub mask: u8,
}

/// Iterates over the covered quads of an 8x8 tile with coverage `mask`, row by row.
pub fn tile_quads(mask: u64) -> TileQuads {
    let rows = mask | mask >> 1;
    TileQuads {
        mask,
        left: (rows | rows >> 8) & 0x0055_0055_0055_0055,
    }
}

/// The iterator of [`tile_quads`].
#[derive(Debug, Clone)]
pub struct TileQuads {
    mask: u64,
    /// The top left pixels of the quads to come.
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
            column: (at as u8 & 7) >> 1,
            row: at as u8 >> 4,
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

    /// Rows 0, 1 and 2 hold columns 3 to 5, 4 to 11 and -5 to 20; all other rows are empty.
    fn spans() -> RowSpans {
        let (mut start, mut end) = ([7; SPAN_ROWS], [7; SPAN_ROWS]);
        start[..3].copy_from_slice(&[3, 4, -5]);
        end[..3].copy_from_slice(&[6, 12, 21]);
        RowSpans::new(start, end)
    }

    #[test]
    fn masks_of_tiles() {
        let spans = spans();
        assert_eq!((spans.row(1), spans.row(9)), (4..12, 7..7));
        assert_eq!(spans.tile_mask(0, 0), 0xff_f0_38);
        assert_eq!(spans.tile_mask(8, 0), 0xff_0f_00);
        assert_eq!(spans.tile_mask(16, 0), 0x1f_00_00);
        assert_eq!(spans.tile_mask(-8, 0), 0xf8_00_00);
        assert_eq!(spans.tile_mask(0, 8), 0);
    }

    #[test]
    fn quads_of_a_mask() {
        // Pixels (3, 0) to (5, 0) and (4, 1) to (7, 1), then (7, 7).
        let quads = tile_quads(0x8000_0000_0000_f038);
        assert_eq!(quads.len(), 4);
        let found: Vec<_> = quads.map(|q| (q.column, q.row, q.mask)).collect();
        assert_eq!(
            found,
            [
                (1, 0, 0b0010),
                (2, 0, 0b1111),
                (3, 0, 0b1100),
                (3, 3, 0b1000)
            ]
        );
    }
}
