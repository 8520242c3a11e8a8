//! The work list of a batch: the splats of each block.

use fearless_simd::{prelude::*, u8x64, u64x8};

use super::tile::TILE_BLOCKS;

/// Number of splats shaded together on levels with enough registers.
pub(super) const GROUP: usize = 4;
/// Number of splats per batch, one per bit of a block's word.
pub(super) const BATCH: usize = 64;
/// Number of the transparent splat that fills up the last group of a run.
pub(super) const PADDING: usize = BATCH;
const BLOCKS: usize = TILE_BLOCKS * TILE_BLOCKS;
const _: () = assert!(BATCH == 64 && BLOCKS == 64);

/// Slot of the splat of an entry of a list.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the low half")]
pub(super) fn slot(entry: u64) -> usize {
    entry as u32 as usize
}

/// Remaining splats of a block's run, one bit each; iterates over their numbers, nearest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run(u64);

impl Run {
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[inline(always)]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Next splats of a run, padded with [`PADDING`].
    #[inline(always)]
    pub(super) fn group(&mut self) -> [usize; GROUP] {
        // No branch: the number of trailing zeros of zero is `PADDING`.
        let mut numbers = [PADDING; GROUP];
        for number in &mut numbers {
            *number = self.0.trailing_zeros() as usize;
            self.0 &= self.0.wrapping_sub(1);
        }
        numbers
    }
}

impl Iterator for Run {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let number = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (number < BATCH).then_some(number)
    }
}

pub(super) struct Runs {
    splats: [u64; BLOCKS],
    reached: u64,
}

impl Runs {
    /// Creates the runs from the splats' masks, which have bit `8 * row + column` for each block reached.
    #[inline(always)]
    pub(super) fn of_masks<S: Simd>(simd: S, masks: &[u64; BATCH]) -> Self {
        let (splats, reached) = transposed(simd, masks);
        Self { splats, reached }
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Run)> {
        Run(self.reached).map(|block| (block, Run(self.splats[block])))
    }
}

/// Transposes masks of blocks per splat to masks of splats per block; also returns their union.
#[inline(always)]
fn transposed<S: Simd>(simd: S, masks: &[u64; BATCH]) -> ([u64; BLOCKS], u64) {
    /// Exchanges the bits of `low` with the bits `BITS` above them.
    #[inline(always)]
    fn exchange<S: Simd, const BITS: u32>(words: u64x8<S>, low: u64) -> u64x8<S> {
        let other = (words >> BITS ^ words) & low;
        words ^ other ^ other << BITS
    }
    let mut rows = [u8x64::splat(simd, 0); 8];
    let mut reached = u64x8::splat(simd, 0);
    for (row, words) in rows.iter_mut().zip(masks.as_chunks::<8>().0) {
        let words = u64x8::load_array_ref(simd, words);
        reached |= words;
        // Three shuffles transpose a matrix of bytes, from splat by row of blocks to row by splat.
        let mut halves = words.bitcast::<u8x64<S>>().split();
        for _ in 0..3 {
            halves = halves.0.interleave(halves.1);
        }
        let words = simd.combine_u8x32(halves.0, halves.1).bitcast::<u64x8<S>>();
        // Each word is a bit matrix, splat by column, which three exchanges transpose.
        let words = exchange::<S, 7>(words, 0x00aa_00aa_00aa_00aa);
        let words = exchange::<S, 14>(words, 0x0000_cccc_0000_cccc);
        let words = exchange::<S, 28>(words, 0x0000_0000_f0f0_f0f0);
        *row = words.bitcast();
    }
    // The bytes of all eight vectors are gathered into the words of their blocks.
    for _ in 0..3 {
        let mut shuffled = rows;
        for i in 0..4 {
            (shuffled[2 * i], shuffled[2 * i + 1]) = rows[i].interleave(rows[i + 4]);
        }
        rows = shuffled;
    }
    let mut runs = [0; BLOCKS];
    for (runs, row) in runs.as_chunks_mut::<8>().0.iter_mut().zip(rows) {
        row.bitcast::<u64x8<S>>().store_array(runs);
    }
    (runs, reached.to_array().iter().fold(0, |all, word| all | word))
}

#[cfg(test)]
#[path = "tests/runs.rs"]
mod tests;
