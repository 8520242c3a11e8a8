//! An entry of the merge buffer: a quad, its triangles and their neighbours (QFM, Figure 4).

use crate::mesh::grid::{MAX_GRID_TRIANGLES, NO_NEIGHBOUR};
use crate::mesh::merge::unit::{MergedQuad, QuadFragment};
use crate::raster::samples::SamplePattern;

use super::select::Selection;

/// Words of a triangle mask.
const WORDS: usize = MAX_GRID_TRIANGLES / 64;

/// A set of triangles of a grid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TriangleMask([u64; WORDS]);

impl TriangleMask {
    /// Adds a triangle. One past the mask's size is left out, so it never merges.
    #[inline]
    pub(crate) fn insert(&mut self, triangle: u16) {
        if let Some(word) = self.0.get_mut(usize::from(triangle >> 6)) {
            *word |= 1 << (triangle & 63);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, triangle: u16) -> bool {
        let word = self.0.get(usize::from(triangle >> 6));
        word.is_some_and(|w| w >> (triangle & 63) & 1 == 1)
    }

    #[inline]
    fn meets(&self, other: &Self) -> bool {
        let both = self.0.iter().zip(&other.0).map(|(a, b)| a & b);
        both.fold(0, |any, word| any | word) != 0
    }

    #[inline]
    fn unite(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// A quad in the buffer. Position, facing and grid are its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Its triangles.
    triangles: TriangleMask,
    /// Triangles that share an edge with one of its triangles.
    adjacent: TriangleMask,
    pub(crate) coverage: u64,
    selection: Selection,
    /// Its first fragment.
    pub(crate) leader: u32,
}

impl Entry {
    /// Creates an entry of one fragment, whose triangle has these neighbours.
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
            selection: Selection::default(),
            leader: number,
        };
        entry.take(fragment, number, neighbours, pattern);
        entry
    }

    /// Whether a triangle shares an edge with one of the entry's.
    #[inline]
    pub(crate) fn is_adjacent(&self, triangle: u16) -> bool {
        self.adjacent.contains(triangle)
    }

    /// `can_merge` of the paper for entries of one key.
    #[inline]
    pub(crate) fn can_merge(&self, other: &Self) -> bool {
        self.coverage & other.coverage == 0 && self.triangles.meets(&other.adjacent)
    }

    /// Merges a new fragment into the entry.
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
        self.selection.take(fragment, number, pattern);
    }

    /// Merges another entry into this one.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.triangles.unite(&other.triangles);
        self.adjacent.unite(&other.adjacent);
        self.coverage |= other.coverage;
        self.selection.unite(&other.selection);
    }

    /// The quad for the shader.
    pub(super) fn quad(&self) -> MergedQuad {
        MergedQuad {
            leader: self.leader,
            coverage: self.coverage,
            inputs: self.selection.inputs(self.leader),
        }
    }
}
