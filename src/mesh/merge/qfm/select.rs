//! Selects the triangle that gives the shading inputs of each shading pixel of a merged quad (QFM,
//! section 3.2).
//!
//! Among the merged fragments: the first submitted whose triangle covers the centre of the shading
//! pixel; if none does, the one with the covered sample nearest to the centre; if no sample is covered,
//! the choice of the horizontal, else the vertical, else the diagonal neighbour.
//!
//! The first two cases are a minimum of (distance, fragment), so the result does not depend on the
//! order of merging. The third is decided on the finished quad: a shading pixel that is uncovered
//! then was uncovered at every merge.

use crate::mesh::merge::unit::QuadFragment;
use crate::raster::samples::SamplePattern;

/// No fragment covers the shading pixel.
const UNCOVERED: u64 = u64::MAX;
/// Bits of a fragment's number, below the distance of its nearest sample.
const NUMBER_BITS: u32 = 32;

/// For each shading pixel the best (distance, fragment): see [`QuadFragment::distance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selection([u64; 4]);

impl Default for Selection {
    fn default() -> Self {
        Self([UNCOVERED; 4])
    }
}

impl Selection {
    /// Adds a fragment.
    #[inline]
    pub(super) fn take(&mut self, fragment: &QuadFragment, number: u32, pattern: &SamplePattern) {
        for (cell, best) in self.0.iter_mut().enumerate() {
            if let Some(far) = fragment.distance(cell, pattern) {
                *best = (*best).min(u64::from(far) << NUMBER_BITS | u64::from(number));
            }
        }
    }

    /// Adds all fragments of another selection.
    pub(crate) fn unite(&mut self, other: &Self) {
        for (best, also) in self.0.iter_mut().zip(&other.0) {
            *best = (*best).min(*also);
        }
    }

    /// The fragment of each shading pixel; `leader` if none is covered.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the number is the low half"
    )]
    pub(crate) fn inputs(&self, leader: u32) -> [u32; 4] {
        std::array::from_fn(|cell| {
            // Itself, then the horizontal, vertical and diagonal neighbours.
            let order = [cell, cell ^ 1, cell ^ 2, cell ^ 3].map(|c| self.0[c]);
            let found = order.into_iter().find(|&best| best != UNCOVERED);
            found.map_or(leader, |best| best as u32)
        })
    }
}
