//! Timing of the rendering cores, which draw one tile each, subtile by subtile.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cull::{SUBTILE_PX, SUBTILES};
use super::spec::GscoreSpec;
use quadrille_base::math::index;

/// Work of a rendering core on a tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileWork {
    /// Number of entries that the core reads until no subtile is live.
    pub entries: u64,
    /// Number of subtiles that the core draws, summed over all entries; they are set in the bitmap and live.
    pub subtiles: u64,
    /// Cycles that the core takes.
    pub cycles: u64,
}

impl TileWork {
    /// Work of a tile whose subtiles are live up to the entries `ends`. An entry without a live subtile takes one cycle.
    pub(crate) fn new(bitmaps: &[u8], ends: [u32; SUBTILES], spec: &GscoreSpec) -> Self {
        let last = ends.into_iter().fold(0, u32::max);
        let per_subtile = u64::from(SUBTILE_PX * SUBTILE_PX).div_ceil(spec.units_per_core);
        let mut work = Self::default();
        for (bitmap, entry) in bitmaps.iter().zip(0..last) {
            let live = ends.into_iter().enumerate().filter(|(_, end)| entry < *end);
            let drawn = live.filter(|(subtile, _)| bitmap >> subtile & 1 == 1).count() as u64;
            work.entries += 1;
            work.subtiles += drawn;
            work.cycles += (drawn * per_subtile).max(1);
        }
        work
    }
}

/// Cycles until the last of `tiles` is drawn. Each tile, in order, goes to the core that is free first.
pub fn cycles(tiles: &[TileWork], spec: &GscoreSpec) -> u64 {
    let mut free: BinaryHeap<_> = vec![Reverse(0_u64); index(spec.cores)].into();
    for tile in tiles {
        if let Some(Reverse(at)) = free.pop() {
            free.push(Reverse(at + tile.cycles));
        }
    }
    free.into_iter().map(|Reverse(at)| at).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bitmap 0b0110 is two subtiles of four cycles. Subtile 1 is live up to entry 1, subtile 2 up to entry 3, so the
    /// second entry draws one subtile, and the third, which covers only subtile 1, none.
    #[test]
    fn live_subtiles_of_the_bitmap_take_four_cycles_each() {
        let spec = GscoreSpec::default();
        let work = TileWork::new(&[0b0110, 0b0110, 0b0010, 0b1111], [0, 1, 3, 0], &spec);
        let expected = TileWork { entries: 3, subtiles: 3, cycles: 8 + 4 + 1 };
        assert_eq!(work, expected);
        // Five tiles on four cores.
        assert_eq!(cycles(&[work; 5], &spec), 26);
        assert_eq!(cycles(&[], &spec), 0);
    }
}
