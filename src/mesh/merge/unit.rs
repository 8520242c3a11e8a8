//! The interface of merging units: quad fragments in, quads for the shader out.

use std::fmt::Debug;

use super::counters::MergeCounters;
use crate::mesh::grid::Topology;
use crate::mesh::index::index32;
use crate::raster::samples::SamplePattern;

/// A quad fragment of one triangle, after the early depth test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuadFragment {
    /// Column and row of the quad on the screen, in quads.
    pub position: [u16; 2],
    /// Samples covered, shading pixel by shading pixel (see [`SamplePattern::full_quad`]); none for
    /// a quad that the triangle only touches.
    pub coverage: u64,
    /// Shading pixels whose centre the triangle covers: bit `c` for shading pixel `c`.
    pub centres: u8,
    /// Whether the triangle faces the viewer.
    pub is_front: bool,
    /// The triangle in its grid.
    pub triangle: u16,
    /// Identifiers of the triangle's vertices: [`GridVertex::id`](crate::mesh::grid::GridVertex::id).
    pub ids: [u32; 3],
}

impl QuadFragment {
    /// Distance of the triangle from the centre of a shading pixel: 0 if it covers the centre, else
    /// 1 + the rank of its nearest covered sample; `None` if it covers no sample.
    #[inline]
    pub(crate) fn distance(&self, pixel: usize, pattern: &SamplePattern) -> Option<u8> {
        if self.centres >> pixel & 1 == 1 {
            return Some(0);
        }
        let samples = pattern.pixel(self.coverage, pixel);
        pattern.nearest_to_centre(samples).map(|(_, rank)| 1 + rank)
    }
}

/// A quad on its way to the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedQuad {
    /// The fragment, by its number in the stream, that represents all merged ones.
    pub leader: u32,
    /// Samples covered by its fragments.
    pub coverage: u64,
    /// For each shading pixel: the fragment, by its number in the stream, whose triangle gives the
    /// shading inputs.
    pub inputs: [u32; 4],
}

impl MergedQuad {
    /// Creates a quad with the shading inputs of its leader alone.
    pub(crate) fn of(leader: u32, coverage: u64) -> Self {
        Self {
            leader,
            coverage,
            inputs: [leader; 4],
        }
    }
}

/// The leader of no fragment.
pub(crate) const NO_FRAGMENT: u32 = u32::MAX;

/// Disjoint sets of merged fragments, one forest per shading pixel of a quad. Fragments are numbered
/// from 0 in the order of arrival; numbers may be skipped.
#[derive(Debug, Clone, Default)]
pub struct DisjointSet {
    parents: Vec<[u32; 4]>,
}

impl DisjointSet {
    /// Adds a fragment as a set of its own; returns its number.
    pub(crate) fn push(&mut self) -> u32 {
        let number = index32(self.parents.len());
        self.parents.push([number; 4]);
        number
    }

    /// Skips numbers, so that the next fragment gets `number`, which no fragment has yet.
    #[inline]
    pub(crate) fn skip_to(&mut self, number: u32) {
        while self.parents.len() < number as usize {
            self.parents.push([NO_FRAGMENT; 4]);
        }
    }

    /// Merges a shading pixel of fragment `from` into that of `to`.
    pub(crate) fn merge_pixel(&mut self, from: u32, to: u32, pixel: usize) {
        self.parents[from as usize][pixel] = to;
    }

    /// Merges all shading pixels of fragment `from` into those of `to`.
    pub(crate) fn merge(&mut self, from: u32, to: u32) {
        self.parents[from as usize] = [to; 4];
    }

    /// The leader of the set that a shading pixel of `fragment` is in.
    #[inline]
    pub fn find(&self, fragment: u32, pixel: usize) -> u32 {
        let mut at = fragment;
        loop {
            let parent = self.parents[at as usize][pixel];
            if parent == at {
                return at;
            }
            at = parent;
        }
    }

    /// The leaders of the sets that the shading pixels of each fragment are in, by number, or
    /// [`NO_FRAGMENT`] for numbers that were skipped. The caller may change or take the list.
    pub(crate) fn leaders(&mut self) -> &mut Vec<[u32; 4]> {
        for fragment in 0..self.parents.len() {
            let mut at = self.parents[fragment];
            if at[0] == NO_FRAGMENT {
                continue;
            }
            loop {
                let parents = [0, 1, 2, 3].map(|pixel| self.parents[at[pixel] as usize][pixel]);
                if parents == at {
                    break;
                }
                at = parents;
            }
            self.parents[fragment] = at;
        }
        &mut self.parents
    }

    /// [`leaders`](Self::leaders) of fragments whose shading pixels have always merged together.
    pub(crate) fn whole_leaders(&self) -> impl Iterator<Item = u32> {
        let parents = self.parents.iter().map(|of| of[0]);
        parents.zip(0..).map(|(parent, fragment)| match parent {
            NO_FRAGMENT => NO_FRAGMENT,
            own if own == fragment => own,
            parent => self.find(parent, 0),
        })
    }

    /// Number of fragments and of numbers skipped.
    #[allow(clippy::len_without_is_empty, reason = "no caller asks for emptiness")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Makes room for this number of fragments.
    pub(crate) fn reserve(&mut self, fragments: usize) {
        self.parents.reserve(fragments);
    }

    /// Removes all fragments.
    pub(crate) fn clear(&mut self) {
        self.parents.clear();
    }
}

/// The fragments that enter a unit and the quads that leave it.
#[derive(Debug, Clone)]
pub struct MergeStream {
    /// The sample positions.
    pub pattern: &'static SamplePattern,
    /// The fragments and their merges.
    pub fragments: DisjointSet,
    /// Quads that have left the unit, in order.
    pub out: Vec<MergedQuad>,
    /// Number of fragments that have entered it with a shading pixel that they cover in part.
    pub(crate) partial: u64,
}

impl MergeStream {
    /// Creates an empty stream.
    pub fn new(pattern: &'static SamplePattern) -> Self {
        Self {
            pattern,
            fragments: DisjointSet::default(),
            out: Vec::new(),
            partial: 0,
        }
    }

    /// Takes note of the next fragment, which covers the samples of `coverage`; returns its number and the
    /// shading pixels that it covers in part: bit `c` for shading pixel `c`.
    #[inline]
    pub(crate) fn enter(&mut self, coverage: u64) -> (u32, u8) {
        let partial = self.pattern.partial_pixels(coverage);
        self.partial += u64::from(partial != 0);
        (self.fragments.push(), partial)
    }

    /// All samples of the shading pixels of `fragment` that are shaded with `leader`.
    #[inline]
    pub(crate) fn merged_into(&self, fragment: u32, leader: u32) -> u64 {
        let is_lead = |pixel| u8::from(self.fragments.find(fragment, pixel) == leader) << pixel;
        let [a, b, c, d] = [0, 1, 2, 3].map(is_lead);
        self.pattern.samples_of(a | b | c | d)
    }
}

/// Longest stay of an entry in a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeScope {
    /// Until the end of the grid.
    Grid,
    /// Until the end of the draw.
    Draw,
}

/// Requirements of a unit on its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeRules {
    /// When the unit is flushed.
    pub scope: MergeScope,
    /// Whether quads that a triangle only touches enter the unit.
    pub takes_empties: bool,
    /// Whether quads whose shader has side effects bypass the unit.
    pub bypassed_by_effects: bool,
    /// Whether the shading pixels of a quad are merged one by one.
    pub splits_quads: bool,
}

/// A unit that merges quads, without time.
pub trait MergeUnit: Debug + Send {
    /// The unit's requirements on its input.
    fn rules(&self) -> MergeRules;

    /// Starts another grid, with these triangles.
    fn begin_grid(&mut self, _topology: &Topology) {}

    /// Takes the next fragment.
    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream);

    /// Evicts the oldest entry, which may still merge into another entry: one step of a flush.
    fn evict(&mut self, stream: &mut MergeStream);

    /// Number of entries held.
    fn held(&self) -> u32;

    /// Number of entries that a quad at this position is compared with one after the other.
    fn compared_at(&self, _position: [u16; 2]) -> u64 {
        0
    }

    /// Number of entries that have left to make room.
    fn made_room(&self) -> u64 {
        0
    }

    /// Stores the unit's counters.
    fn report(&self, counters: &mut MergeCounters);

    /// Empties the unit, oldest entry first.
    fn flush(&mut self, stream: &mut MergeStream) {
        while self.held() > 0 {
            self.evict(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DisjointSet, NO_FRAGMENT};

    #[test]
    fn leaders_follow_chains_of_merges_pixel_by_pixel() {
        let mut set = DisjointSet::default();
        let first = set.push();
        set.skip_to(2);
        let (second, third) = (set.push(), set.push());
        assert_eq!([first, second, third], [0, 2, 3]);
        set.merge_pixel(0, 2, 1);
        set.merge_pixel(2, 3, 1);
        set.merge_pixel(3, 0, 2);
        let expected = [[0, 3, 0, 0], [NO_FRAGMENT; 4], [2, 3, 2, 2], [3, 3, 0, 3]];
        for fragment in [0, 2, 3] {
            let found = [0, 1, 2, 3].map(|pixel| set.find(fragment, pixel));
            assert_eq!(found, expected[fragment as usize]);
        }
        assert_eq!(*set.leaders(), expected);
        set.clear();
        set.skip_to(1);
        let (one, other) = (set.push(), set.push());
        set.merge(one, other);
        assert!(set.whole_leaders().eq([NO_FRAGMENT, 2, 2]));
    }
}
