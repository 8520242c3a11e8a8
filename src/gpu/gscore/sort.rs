//! Sort of the pairs of a tile: quick-sort units split them into chunks, and a bitonic unit sorts each chunk.

use super::spec::GscoreSpec;
use crate::compute::assign::TileLists;

/// Work of the sort over all tiles, in cycles of one unit of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SortWork {
    pub(crate) quick_sort: u64,
    pub(crate) bitonic: u64,
    pub chunks: u64,
    /// Pairs of the passes of the quick-sort units.
    pub(crate) passed_pairs: u64,
}

impl SortWork {
    /// Work of sorting all lists.
    pub(crate) fn of(lists: &TileLists, spec: &GscoreSpec) -> Self {
        let mut work = Self::default();
        (0..lists.tiles()).for_each(|tile| work.add_tile(lists.tile(tile).len() as u64, spec));
        work
    }

    /// Adds the pairs of a tile. Every pass halves the runs, so `n` chunks take log2(n) passes, rounded up.
    pub(crate) fn add_tile(&mut self, pairs: u64, spec: &GscoreSpec) {
        let chunks = pairs.div_ceil(spec.chunk);
        let full = pairs / spec.chunk;
        let passes = u64::from(chunks.next_power_of_two().trailing_zeros());
        self.passed_pairs += passes * pairs;
        self.quick_sort += passes * pairs.div_ceil(spec.quick_sort_pairs);
        self.bitonic += full * chunk_cycles(spec.chunk, spec);
        self.bitonic += chunk_cycles(pairs % spec.chunk, spec);
        self.chunks += chunks;
    }

    /// Adds a chunk that is sorted on the chip.
    pub(crate) fn add_chunk(&mut self, pairs: u64, spec: &GscoreSpec) {
        self.bitonic += chunk_cycles(pairs, spec);
        self.chunks += 1;
    }

    /// Adds a merge of two tables with `pairs` pairs together. Quick-sort units merge as many pairs per cycle as they sort.
    pub(crate) fn add_merge(&mut self, pairs: u64, spec: &GscoreSpec) {
        self.quick_sort += pairs.div_ceil(spec.quick_sort_pairs);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.quick_sort += other.quick_sort;
        self.bitonic += other.bitonic;
        self.chunks += other.chunks;
        self.passed_pairs += other.passed_pairs;
    }

    /// Cycles of the slower kind of unit, when all units of a kind work in parallel.
    pub(crate) fn cycles(&self, spec: &GscoreSpec) -> u64 {
        let quick_sort = self.quick_sort.div_ceil(spec.quick_sort_units);
        quick_sort.max(self.bitonic.div_ceil(spec.bitonic_units))
    }
}

/// Cycles of a bitonic unit for a chunk: log2(n) (log2(n) + 1) / 2 steps over n, the power of two at or above `pairs`.
pub(crate) fn chunk_cycles(pairs: u64, spec: &GscoreSpec) -> u64 {
    let size = pairs.next_power_of_two();
    let levels = u64::from(size.trailing_zeros());
    levels * (levels + 1) / 2 * size.div_ceil(spec.bitonic_width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 256 pairs take 36 steps of 16 cycles. 600 pairs are three chunks, which two passes separate; the last chunk has 88
    /// pairs and takes 28 steps of 8 cycles.
    #[test]
    fn chunks_are_sorted_in_bitonic_steps() {
        let spec = GscoreSpec::default();
        assert_eq!(chunk_cycles(256, &spec), 576);
        let mut work = SortWork::default();
        work.add_tile(600, &spec);
        work.add_tile(256, &spec);
        work.add_tile(0, &spec);
        let expected =
            SortWork { quick_sort: 1200, bitonic: 3 * 576 + 28 * 8, chunks: 4, passed_pairs: 1200 };
        assert_eq!(work, expected);
        assert_eq!(work.cycles(&spec), (3_u64 * 576 + 28 * 8).div_ceil(4));
    }
}
