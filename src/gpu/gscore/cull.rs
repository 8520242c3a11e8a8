//! Culling and conversion units: they compute a bitmap of subtiles per pair of a splat and a tile.

use rayon::prelude::*;

use crate::compute::assign::{Span, TileLists, TileTest, spans};
use crate::draw::Draw;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};

/// Side of a subtile in pixels.
pub const SUBTILE_PX: u32 = TILE_PX / 2;
/// Subtiles per tile; each is bit `2 * row + column` of a bitmap.
pub(crate) const SUBTILES: usize = 4;

/// Bitmaps of the subtiles that the splats of all tile lists may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitmaps {
    /// Bitmaps by tile and list entry.
    tiles: Vec<Vec<u8>>,
}

impl Bitmaps {
    /// Tests the oriented boxes of `draw` against the subtiles of the tiles that list them.
    pub fn new(draw: &Draw, lists: &TileLists) -> Self {
        let spans = spans(draw, TileTest::OrientedBox, SUBTILE_PX).concat();
        let across = TileLayout::new(draw.width, draw.height).tiles_across as usize;
        // Spans are in drawing order, so the spans of a splat are contiguous.
        let mut first = vec![0_usize; draw.splats.len() + 1];
        for span in &spans {
            first[span.splat as usize + 1] += 1;
        }
        for splat in 1..first.len() {
            first[splat] += first[splat - 1];
        }
        let bitmap = |splat: u32, tile: usize| {
            let splat = splat as usize;
            bitmap(&spans[first[splat]..first[splat + 1]], [tile % across, tile / across])
        };
        let tiles = (0..lists.tiles())
            .into_par_iter()
            .map(|tile| lists.tile(tile).iter().map(|splat| bitmap(*splat, tile)).collect());
        Self { tiles: tiles.collect() }
    }

    /// Returns the bitmaps of the list entries of a tile.
    pub fn tile(&self, tile: usize) -> &[u8] {
        &self.tiles[tile]
    }
}

fn bitmap(spans: &[Span], [column, row]: [usize; 2]) -> u8 {
    let mut bitmap = 0;
    for span in spans {
        let Some(below) = usize::from(span.row).checked_sub(2 * row).filter(|below| *below < 2)
        else {
            continue;
        };
        let [from, to] = span.columns.map(usize::from);
        for right in 0..2 {
            if (from..to).contains(&(2 * column + right)) {
                bitmap |= 1 << (2 * below + right);
            }
        }
    }
    bitmap
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The box covers the right half of the upper row of subtiles and the left half of the lower row.
    #[test]
    fn a_bitmap_has_a_bit_per_subtile() {
        let span = |row, columns| Span { splat: 0, row, columns };
        let spans = [span(4, [7, 9]), span(5, [5, 7])];
        assert_eq!(bitmap(&spans, [3, 2]), 0b0110);
        assert_eq!(bitmap(&spans, [4, 2]), 0b0001);
        assert_eq!(bitmap(&spans, [2, 2]), 0b1000);
        assert_eq!(bitmap(&spans, [3, 1]), 0);
    }
}
