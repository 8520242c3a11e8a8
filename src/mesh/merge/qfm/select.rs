//! Which triangle gives the shading inputs of each cell of a merged quad (QFM, section 3.2).
//!
//! Among the fragments merged: the first submitted whose triangle covers the cell's centre; if none,
//! the one with the covered sample nearest to it; if the cell is not covered at all, the one that the
//! horizontal, else the vertical, else the diagonal neighbour takes.
//!
//! The first two are the least of (how far, which fragment), so the outcome does not depend on the
//! order of merging. The third looks at the finished quad: a cell that is still uncovered then was
//! so all along, and each merge would have chosen anew.

use crate::mesh::merge::unit::QuadFragment;
use crate::raster::samples::SamplePattern;

/// No fragment covers the cell.
const UNCOVERED: u64 = u64::MAX;
/// Bits of a fragment's number, below how far its nearest sample is.
const NUMBER_BITS: u32 = 32;

/// For each cell: 0 if the centre is covered, else 1 + the rank of the nearest covered sample; and
/// below that the fragment. Less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selection([u64; 4]);

impl Default for Selection {
    fn default() -> Self {
        Self([UNCOVERED; 4])
    }
}

impl Selection {
    /// Takes one more fragment into account.
    #[inline]
    pub(crate) fn take(&mut self, fragment: &QuadFragment, number: u32, pattern: &SamplePattern) {
        for (cell, best) in self.0.iter_mut().enumerate() {
            if let Some(far) = fragment.distance(cell, pattern) {
                *best = (*best).min(u64::from(far) << NUMBER_BITS | u64::from(number));
            }
        }
    }

    /// Takes all the fragments of another into account.
    pub(crate) fn unite(&mut self, other: &Self) {
        for (best, also) in self.0.iter_mut().zip(&other.0) {
            *best = (*best).min(*also);
        }
    }

    /// The fragment of each cell; `leader` where no cell is covered.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the number is the low half"
    )]
    pub(crate) fn inputs(&self, leader: u32) -> [u32; 4] {
        std::array::from_fn(|cell| {
            // Itself, then across, down, and both.
            let order = [cell, cell ^ 1, cell ^ 2, cell ^ 3].map(|c| self.0[c]);
            let found = order.into_iter().find(|&best| best != UNCOVERED);
            found.map_or(leader, |best| best as u32)
        })
    }
}
