//! What merging units take and give: quad fragments in, quads for the shader out.

use std::fmt::Debug;

use super::counters::MergeCounters;
use crate::mesh::grid::Topology;
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
    /// How well the triangle covers a shading pixel: 0 its centre, else 1 + the rank of its covered
    /// sample nearest to the centre; `None` if it covers neither.
    #[inline]
    pub(crate) fn distance(&self, cell: usize, pattern: &SamplePattern) -> Option<u8> {
        if self.centres >> cell & 1 == 1 {
            return Some(0);
        }
        let samples = pattern.cell(self.coverage, cell);
        pattern.nearest_to_centre(samples).map(|(_, rank)| 1 + rank)
    }
}

/// A quad on its way to the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedQuad {
    /// The fragment, by its number in the stream, that stands for all that were merged.
    pub leader: u32,
    /// Samples covered by all of it.
    pub coverage: u64,
    /// For each shading pixel: the fragment, by its number in the stream, whose triangle gives the
    /// shading inputs.
    pub inputs: [u32; 4],
}

impl MergedQuad {
    /// A quad with the shading inputs of its leader alone.
    pub(crate) fn of(leader: u32, coverage: u64) -> Self {
        Self {
            leader,
            coverage,
            inputs: [leader; 4],
        }
    }
}

/// Which fragments were merged into which: a disjoint set for each of the four shading pixels.
///
/// Fragments are numbered from 0 in the order in which they arrive.
#[derive(Debug, Clone, Default)]
pub struct DisjointSet {
    parents: Vec<[u32; 4]>,
}

impl DisjointSet {
    /// Adds a fragment that stands for itself; returns its number.
    pub(crate) fn push(&mut self) -> u32 {
        let number = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.push([number; 4]);
        number
    }

    /// Shades one shading pixel of fragment `from` with that of `to` from now on.
    pub(crate) fn merge_cell(&mut self, from: u32, to: u32, cell: usize) {
        self.parents[from as usize][cell] = to;
    }

    /// Shades all of fragment `from` with `to` from now on.
    pub(crate) fn merge(&mut self, from: u32, to: u32) {
        self.parents[from as usize] = [to; 4];
    }

    /// The fragment that a shading pixel of `fragment` is shaded with.
    pub fn find(&self, fragment: u32, cell: usize) -> u32 {
        let mut at = fragment;
        loop {
            let parent = self.parents[at as usize][cell];
            if parent == at {
                return at;
            }
            at = parent;
        }
    }

    /// Number of fragments.
    #[allow(clippy::len_without_is_empty, reason = "no caller asks for emptiness")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Removes all fragments.
    pub(crate) fn clear(&mut self) {
        self.parents.clear();
    }
}

/// The fragments that went to a unit and the quads that left it.
#[derive(Debug, Clone)]
pub struct MergeStream {
    /// Where the samples lie.
    pub pattern: &'static SamplePattern,
    /// Which fragments were merged.
    pub fragments: DisjointSet,
    /// Quads that have left the unit, in order.
    pub out: Vec<MergedQuad>,
}

impl MergeStream {
    /// An empty stream of fragments of this pattern.
    pub fn new(pattern: &'static SamplePattern) -> Self {
        Self {
            pattern,
            fragments: DisjointSet::default(),
            out: Vec::new(),
        }
    }

    /// All samples of the shading pixels of `fragment` that are shaded with `leader`.
    #[inline]
    pub(crate) fn merged_into(&self, fragment: u32, leader: u32) -> u64 {
        let (count, full) = (
            self.pattern.count() as usize,
            u64::from(self.pattern.full_cell()),
        );
        let cells = (0..4).filter(|&cell| self.fragments.find(fragment, cell) == leader);
        cells.fold(0, |samples, cell| samples | full << (cell * count))
    }
}

/// How long entries stay in a unit at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Until the end of the grid.
    Grid,
    /// Until the end of the draw.
    Draw,
}

/// What a unit asks of those that feed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeRules {
    /// When the unit is flushed.
    pub scope: Scope,
    /// Whether quads that a triangle only touches go to it.
    pub takes_empties: bool,
    /// Whether quads whose shader has side effects bypass it.
    pub bypassed_by_effects: bool,
    /// Whether shading pixels of a quad can be merged apart from each other.
    pub splits_quads: bool,
}

/// A unit that merges quads, without time.
pub trait MergeUnit: Debug + Send {
    /// What it asks of those that feed it.
    fn rules(&self) -> MergeRules;

    /// Fragments come from another grid from now on, with these triangles.
    fn begin_grid(&mut self, _topology: &Topology) {}

    /// Takes the next fragment.
    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream);

    /// One step of a flush: the oldest entry leaves. It may still merge with another entry.
    fn evict(&mut self, stream: &mut MergeStream);

    /// Number of entries held.
    fn held(&self) -> u32;

    /// Number of entries that a quad at this position is compared with, where that takes time.
    fn compared_at(&self, _position: [u16; 2]) -> u64 {
        0
    }

    /// Number of entries that have left to make room.
    fn made_room(&self) -> u64 {
        0
    }

    /// Stores the unit's counters where they belong.
    fn report(&self, counters: &mut MergeCounters);

    /// Empties the unit, oldest entry first.
    fn flush(&mut self, stream: &mut MergeStream) {
        while self.held() > 0 {
            self.evict(stream);
        }
    }
}
