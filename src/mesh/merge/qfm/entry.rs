//! An entry of the merge buffer: a quad, its triangles and their neighbours (QFM, Figure 4), and its shading inputs.
//!
//! The triangle that provides the inputs of a shading pixel (QFM, section 3.2) belongs to the first submitted fragment that
//! covers the pixel's centre; if there is none, to the fragment with the covered sample nearest to the centre. A pixel
//! without coverage takes the inputs of its horizontal neighbour, else of the vertical, else of the diagonal one.
//!
//! The first two cases are a minimum of (distance, fragment), so the result does not depend on the order of merging. The
//! third is decided on the finished quad: a shading pixel that is uncovered then was uncovered at every merge.

use crate::merge::unit::{MergedQuad, QuadFragment};
use quadrille_base::math::low;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_geometry::grid::{MAX_GRID_TRIANGLES, NO_NEIGHBOUR};

const WORDS: usize = MAX_GRID_TRIANGLES / 64;
const UNCOVERED: u64 = u64::MAX;
const NUMBER_BITS: u32 = 32;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TriangleMask([u64; WORDS]);

impl TriangleMask {
    /// Adds a triangle. Triangles beyond the mask's size are left out and never merge.
    #[inline]
    fn insert(&mut self, triangle: u16) {
        if let Some(word) = self.0.get_mut(usize::from(triangle >> 6)) {
            *word |= 1 << (triangle & 63);
        }
    }

    #[inline]
    fn contains(&self, triangle: u16) -> bool {
        self.0.get(usize::from(triangle >> 6)).is_some_and(|w| w >> (triangle & 63) & 1 == 1)
    }

    #[inline]
    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).map(|(a, b)| a & b).fold(0, |any, word| any | word) != 0
    }

    #[inline]
    fn unite(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// Quad in the buffer. The key has its position, facing and grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct QfmEntry {
    triangles: TriangleMask,
    /// Triangles that share an edge with one of `triangles`.
    adjacent: TriangleMask,
    pub(super) coverage: u64,
    /// Minimum of (distance, fragment) for each shading pixel: see [`QuadFragment::distance`].
    selection: [u64; 4],
    pub(super) leader: u32,
}

impl QfmEntry {
    #[inline]
    pub(super) fn new(
        fragment: &QuadFragment,
        number: u32,
        neighbours: [u16; 3],
        pattern: &SamplePattern,
    ) -> Self {
        let mut entry = Self {
            triangles: TriangleMask::default(),
            adjacent: TriangleMask::default(),
            coverage: 0,
            selection: [UNCOVERED; 4],
            leader: number,
        };
        entry.take(fragment, number, neighbours, pattern);
        entry
    }

    #[inline]
    pub(super) fn is_adjacent(&self, triangle: u16) -> bool {
        self.adjacent.contains(triangle)
    }

    /// Whether two entries with the same key can merge (`can_merge` in the paper).
    #[inline]
    pub(super) fn can_merge(&self, other: &Self) -> bool {
        self.coverage & other.coverage == 0 && self.triangles.meets(&other.adjacent)
    }

    #[inline]
    pub(super) fn take(
        &mut self,
        fragment: &QuadFragment,
        number: u32,
        neighbours: [u16; 3],
        pattern: &SamplePattern,
    ) {
        self.triangles.insert(fragment.triangle);
        for neighbour in neighbours {
            if neighbour != NO_NEIGHBOUR {
                self.adjacent.insert(neighbour);
            }
        }
        self.coverage |= fragment.coverage;
        for (pixel, best) in self.selection.iter_mut().enumerate() {
            if let Some(distance) = fragment.distance(pixel, pattern) {
                *best = (*best).min(u64::from(distance) << NUMBER_BITS | u64::from(number));
            }
        }
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        self.triangles.unite(&other.triangles);
        self.adjacent.unite(&other.adjacent);
        self.coverage |= other.coverage;
        for (best, more) in self.selection.iter_mut().zip(other.selection) {
            *best = (*best).min(more);
        }
    }

    /// Returns the quad for the shader. Without covered samples, the leader provides the inputs.
    pub(super) fn quad(&self) -> MergedQuad {
        let input = |pixel: usize| {
            // The pixel itself, then its horizontal, vertical and diagonal neighbours.
            let order = [pixel, pixel ^ 1, pixel ^ 2, pixel ^ 3].map(|p| self.selection[p]);
            order.into_iter().find(|&best| best != UNCOVERED).map_or(self.leader, low)
        };
        MergedQuad {
            leader: self.leader,
            coverage: self.coverage,
            inputs: std::array::from_fn(input),
        }
    }
}
