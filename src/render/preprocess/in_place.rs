//! Splats of a mapped file, which are decoded where they are drawn.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;
use fearless_simd::Simd;

use super::source::{Coefficients, ShScratch, SplatSource};
use quadrille_scene::formats::ply::SplatsInPlace;
use quadrille_scene::{BLOCK, Splat, SplatBlock};

/// A mapped PLY as the source of one frame, for which a scene in memory would take longer to fill than to draw.
pub struct InPlace<'a> {
    file: &'a SplatsInPlace,
    /// Whether the splats of each block may be in view; empty if all of them may be.
    seen: Vec<bool>,
    invalid: AtomicU64,
}

impl<'a> InPlace<'a> {
    /// The splats of a file.
    pub fn new(file: &'a SplatsInPlace) -> Self {
        Self {
            file,
            seen: Vec::new(),
            invalid: AtomicU64::new(0),
        }
    }

    /// Leaves out splats that are in none of the ranges `rows`: the view shows none of them.
    pub fn only(mut self, rows: &[Range<usize>]) -> Self {
        self.seen = vec![false; self.file.len().div_ceil(BLOCK)];
        for rows in rows {
            self.seen[rows.start / BLOCK..rows.end.div_ceil(BLOCK)].fill(true);
        }
        self
    }

    /// Whether a projection has met an invalid row. Higher coefficients are checked of splats in view.
    pub fn has_invalid(&self) -> bool {
        self.invalid.load(Relaxed) > 0
    }

    fn count(&self, invalid: u64) {
        if invalid > 0 {
            self.invalid.fetch_add(invalid, Relaxed);
        }
    }

    fn lane(&self, index: usize) -> (SplatBlock, usize) {
        let mut block = SplatBlock::zeroed();
        self.count(self.file.block(index / BLOCK, &mut block));
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
        self.seen.get(block).is_none_or(|seen| *seen)
    }

    #[inline(always)]
    fn block<'a, S: Simd>(
        &'a self,
        _: S,
        block: usize,
        scratch: &'a mut SplatBlock,
    ) -> &'a SplatBlock {
        self.count(self.file.block(block, scratch));
        scratch
    }

    #[inline(always)]
    fn coefficients<'a, S: Simd>(
        &'a self,
        _: S,
        block: usize,
        visible: u64,
        scratch: &'a mut ShScratch,
    ) -> Coefficients<'a> {
        let rest = &mut scratch.rest[..self.file.rest()];
        let constant = &mut scratch.constant;
        let invalid = self.file.coefficients(block, visible, constant, rest);
        self.count(u64::from(invalid.count_ones()));
        Coefficients {
            constant,
            rest,
            invalid,
        }
    }

    fn splat(&self, index: usize) -> Splat {
        let (block, lane) = self.lane(index);
        let mut scratch = ShScratch::zeroed();
        let rest = &mut scratch.rest[..self.file.rest()];
        let constant = &mut scratch.constant;
        let lanes = 1 << lane;
        let invalid = self.file.coefficients(index / BLOCK, lanes, constant, rest);
        self.count(u64::from(invalid.count_ones()));
        Splat::load(&block, rest, lane)
    }

    fn geometry(&self, index: usize) -> Splat {
        let (block, lane) = self.lane(index);
        Splat::load(&block, &[], lane)
    }

    /// Does nothing: the rows of a block follow the rows of the one before.
    #[inline(always)]
    fn prefetch(&self, _: usize) {}

    #[inline(always)]
    fn prefetch_coefficients_after(&self, _: usize) {}
}
