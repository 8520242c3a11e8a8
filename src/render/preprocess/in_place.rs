//! Splats that are read from a file while they are projected.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;
use fearless_simd::Simd;

use super::project::CHUNK_BLOCKS;
use super::source::{Coefficients, ShScratch, SplatSource};
use quadrille_scene::bytes::ReadAhead;
use quadrille_scene::formats::ply::SplatsInPlace;
use quadrille_scene::{BLOCK, Splat, SplatBlock};

/// A PLY as the source of a single frame, which takes less time than loading the scene.
pub struct InPlace<'a> {
    file: &'a SplatsInPlace,
    /// For each block that may be seen, the end of its run of such blocks; 0 for other blocks. Empty if all may be seen.
    runs: Vec<usize>,
    invalid: AtomicU64,
}

impl<'a> InPlace<'a> {
    /// Creates a source of all splats of a file.
    pub fn new(file: &'a SplatsInPlace) -> Self {
        Self { file, runs: Vec::new(), invalid: AtomicU64::new(0) }
    }

    /// Restricts drawing to the ranges of rows `rows`, which must contain all splats in view.
    pub fn only(mut self, rows: &[Range<usize>]) -> Self {
        self.runs = vec![0; self.file.len().div_ceil(BLOCK)];
        for rows in rows {
            let end = rows.end.div_ceil(BLOCK);
            self.runs[rows.start / BLOCK..end].fill(end);
        }
        self
    }

    /// Whether a projection has found an invalid row. Higher coefficients are checked only for splats in view.
    pub fn has_invalid(&self) -> bool {
        self.invalid.load(Relaxed) > 0
    }

    fn count(&self, invalid: u64) {
        if invalid > 0 {
            self.invalid.fetch_add(invalid, Relaxed);
        }
    }

    #[inline(always)]
    fn end(&self, block: usize) -> usize {
        let of_chunk = (block / CHUNK_BLOCKS + 1) * CHUNK_BLOCKS;
        BLOCK * (self.runs.get(block)).map_or(of_chunk, |end| of_chunk.min(*end))
    }

    fn lane(&self, index: usize) -> (SplatBlock, usize) {
        let mut block = SplatBlock::zeroed();
        self.count(self.file.block(index / BLOCK, None, &mut block));
        (block, index % BLOCK)
    }
}

impl SplatSource for InPlace<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.file.len()
    }

    #[inline(always)]
    fn sh_degree(&self) -> u8 {
        self.file.sh_degree()
    }

    fn origin(&self) -> [f64; 3] {
        [0.0; 3]
    }

    #[inline(always)]
    fn may_be_seen(&self, block: usize) -> bool {
        self.runs.get(block).is_none_or(|end| *end > 0)
    }

    #[inline(always)]
    fn block<'a, S: Simd>(
        &'a self,
        _: S,
        block: usize,
        scratch: &'a mut SplatBlock,
        ahead: &mut ReadAhead,
    ) -> &'a SplatBlock {
        // Reads ahead only to the end of the run, not into rows of blocks that the view cannot show.
        let ahead = (ahead, self.end(block));
        self.count(self.file.block(block, Some(ahead), scratch));
        scratch
    }

    #[inline(always)]
    fn coefficients<'a, S: Simd>(
        &'a self,
        _: S,
        block: usize,
        visible: u64,
        scratch: &'a mut ShScratch,
        ahead: &mut ReadAhead,
    ) -> Coefficients<'a> {
        let ahead = (ahead, self.end(block));
        let rest = &mut scratch.rest[..self.file.rest()];
        let constant = &mut scratch.constant;
        let invalid = self.file.coefficients(block, visible, Some(ahead), constant, rest);
        self.count(u64::from(invalid.count_ones()));
        Coefficients { constant, rest, invalid }
    }

    fn splat(&self, index: usize) -> Splat {
        let (block, lane) = self.lane(index);
        let mut scratch = ShScratch::zeroed();
        let rest = &mut scratch.rest[..self.file.rest()];
        let constant = &mut scratch.constant;
        let invalid = self.file.coefficients(index / BLOCK, 1 << lane, None, constant, rest);
        self.count(u64::from(invalid.count_ones()));
        Splat::load(&block, rest, lane)
    }

    fn geometry(&self, index: usize) -> Splat {
        let (block, lane) = self.lane(index);
        Splat::load(&block, &[], lane)
    }

    /// Does nothing, since the rows of blocks are contiguous.
    #[inline(always)]
    fn prefetch(&self, _: usize) {}

    #[inline(always)]
    fn prefetch_coefficients_after(&self, _: usize) {}
}
