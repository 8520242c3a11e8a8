//! Interface of merging units: quad fragments in, quads for the shader out.

use std::fmt::Debug;
use std::hint::select_unpredictable;

use super::counters::MergeCounters;
use quadrille_base::math::fit;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_geometry::grid::Topology;

/// A quad fragment of one triangle, after the early depth test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuadFragment {
    /// Column and row of the quad on the screen, in quads.
    pub position: [u16; 2],
    /// Mask of covered samples (see [`SamplePattern::full_quad`]); 0 if the triangle only touches the quad.
    pub coverage: u64,
    /// Shading pixels whose centre the triangle covers: bit `c` for shading pixel `c`.
    pub centres: u8,
    /// Whether the triangle faces the viewer.
    pub is_front: bool,
    /// Index of the triangle in its grid.
    pub triangle: u16,
    /// Identifiers of the triangle's vertices: [`Grid::ids`](quadrille_geometry::grid::Grid::ids).
    pub ids: [u32; 3],
}

impl QuadFragment {
    /// Distance of the triangle from a shading pixel's centre: 0 if it covers the centre, else 1 + the rank of
    /// its nearest covered sample; `None` if it covers no sample.
    #[inline]
    pub(crate) fn distance(&self, pixel: usize, pattern: &SamplePattern) -> Option<u8> {
        if self.centres >> pixel & 1 == 1 {
            return Some(0);
        }
        pattern.nearest_to_centre(pattern.pixel(self.coverage, pixel)).map(|(_, rank)| 1 + rank)
    }
}

/// A quad on its way to the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergedQuad {
    /// Stream number of the fragment that represents all merged fragments.
    pub leader: u32,
    /// Mask of the samples covered by the merged fragments.
    pub coverage: u64,
    /// For each shading pixel, the stream number of the fragment whose triangle provides the shading inputs.
    pub inputs: [u32; 4],
}

impl MergedQuad {
    pub(crate) fn of(leader: u32, coverage: u64) -> Self {
        Self { leader, coverage, inputs: [leader; 4] }
    }
}

/// Target of fragments that do not reach the shader.
pub(crate) const NO_TARGET: u32 = u32::MAX;

/// Bit that is set in targets and clear in fragment numbers.
const TARGET: u32 = 1 << 31;

/// Disjoint sets of merged fragments, one forest per shading pixel of a quad. Fragments are numbered
/// from 0 in the order of arrival; numbers may be skipped. There are fewer than 2^31 of them.
#[derive(Debug, Clone, Default)]
pub struct DisjointSet {
    /// Per fragment and shading pixel, the parent in the forest or the target of the set.
    parents: Vec<[u32; 4]>,
    /// Number of leading fragments that all have a known target.
    resolved: usize,
}

impl DisjointSet {
    /// Adds a fragment as a set of its own; returns its number.
    pub fn push(&mut self) -> u32 {
        let number = fit::<u32>(self.parents.len());
        self.parents.push([number; 4]);
        number
    }

    /// Skips numbers, so that the next fragment gets the unused `number`.
    #[inline]
    pub(crate) fn skip_to(&mut self, number: u32) {
        while self.parents.len() < number as usize {
            self.parents.push([NO_TARGET; 4]);
        }
    }

    /// Merges a shading pixel of fragment `from` into the same shading pixel of `to`.
    pub fn merge_pixel(&mut self, from: u32, to: u32, pixel: usize) {
        self.parents[from as usize][pixel] = to;
    }

    /// Merges all shading pixels of fragment `from` into fragment `to`.
    pub fn merge(&mut self, from: u32, to: u32) {
        self.parents[from as usize] = [to; 4];
    }

    /// Leader of the set of a shading pixel of `fragment`. It is unknown once the set has reached the shader.
    #[inline]
    pub fn find(&self, fragment: u32, pixel: usize) -> u32 {
        let mut at = fragment;
        loop {
            let parent = self.parents[at as usize][pixel];
            if parent == at || parent & TARGET != 0 {
                return at;
            }
            at = parent;
        }
    }

    /// Assigns a target below 2^31 to the sets that a fragment leads. They do not merge any more.
    #[inline]
    pub(crate) fn set_target(&mut self, leader: u32, target: u32) {
        debug_assert!(target < TARGET);
        self.end(leader, TARGET | target);
    }

    /// Marks the sets that a fragment leads as not shaded: it does not cover their shading pixels.
    #[inline]
    pub(crate) fn abandon(&mut self, leader: u32) {
        self.end(leader, NO_TARGET);
    }

    #[inline]
    fn end(&mut self, leader: u32, with: u32) {
        let parents = &mut self.parents[leader as usize];
        *parents = parents.map(|parent| if parent == leader { with } else { parent });
    }

    /// Target of the set of each shading pixel of a fragment, or its leader if there is no target yet.
    #[inline]
    fn last_known(&self, fragment: usize) -> [u32; 4] {
        let mut at = self.parents[fragment];
        loop {
            // Whether a set has a target is hard to predict, so the loop does not branch on it. On a jittered
            // grid the PMU then takes 0.91 of its time before the change; with branches in the loop, 1.01.
            let next = [0, 1, 2, 3].map(|pixel| {
                let known = at[pixel];
                let is_target = known & TARGET != 0;
                let place = select_unpredictable(is_target, 0, known as usize);
                select_unpredictable(is_target, known, self.parents[place][pixel])
            });
            if has_targets(next) || next == at {
                return next;
            }
            at = next;
        }
    }

    /// Replaces parents by targets, from the first unresolved fragment up to the first without a target. It is called
    /// while fragments arrive, so that the latest ones are still in the host's caches.
    pub(crate) fn resolve(&mut self) {
        while self.resolved < self.parents.len() {
            let targets = self.last_known(self.resolved);
            if !has_targets(targets) {
                break;
            }
            self.parents[self.resolved] = targets;
            self.resolved += 1;
        }
    }

    pub(crate) fn targets(&mut self) -> &mut Vec<[u32; 4]> {
        self.resolve();
        for fragment in self.resolved..self.parents.len() {
            let without = |known| {
                if known & TARGET == 0 { NO_TARGET } else { known }
            };
            self.parents[fragment] = self.last_known(fragment).map(without);
        }
        &mut self.parents
    }

    /// Returns the [`targets`](Self::targets) of fragments whose shading pixels have always merged together.
    pub(crate) fn whole_targets(&self) -> impl Iterator<Item = u32> {
        self.parents.iter().map(|of| {
            let mut at = of[0];
            // Path compression would not pay: each fragment is followed once.
            while at & TARGET == 0 {
                let parent = self.parents[at as usize][0];
                if parent == at {
                    return NO_TARGET;
                }
                at = parent;
            }
            at
        })
    }

    /// Number of fragments, including skipped numbers.
    #[allow(clippy::len_without_is_empty, reason = "no caller asks for emptiness")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub(crate) fn reserve(&mut self, fragments: usize) {
        self.parents.reserve(fragments);
    }

    /// Removes all fragments; the next one has number 0.
    pub fn clear(&mut self) {
        self.parents.clear();
        self.resolved = 0;
    }
}

#[inline]
fn has_targets([a, b, c, d]: [u32; 4]) -> bool {
    a & b & c & d & TARGET != 0
}

#[inline]
pub(crate) fn target(of: u32) -> Option<u32> {
    (of != NO_TARGET).then_some(of & !TARGET)
}

/// Fragments that enter a merging unit and quads that leave it.
#[derive(Debug, Clone)]
pub struct MergeStream {
    /// Sample positions within a pixel.
    pub pattern: &'static SamplePattern,
    /// Disjoint sets of the fragments that have merged.
    pub fragments: DisjointSet,
    /// Quads that have left the unit, in order.
    pub out: Vec<MergedQuad>,
    /// Number of fragments that entered the unit with a partially covered shading pixel.
    pub(crate) partial: u64,
}

impl MergeStream {
    /// Creates a stream without fragments, for a sample pattern.
    pub fn new(pattern: &'static SamplePattern) -> Self {
        Self { pattern, fragments: DisjointSet::default(), out: Vec::new(), partial: 0 }
    }

    /// Registers a fragment with samples `coverage`; returns its number and a mask of its partially covered shading pixels.
    #[inline]
    pub(crate) fn enter(&mut self, coverage: u64) -> (u32, u8) {
        let partial = self.pattern.partial_pixels(coverage);
        self.partial += u64::from(partial != 0);
        (self.fragments.push(), partial)
    }

    /// Mask of all samples in the shading pixels of `fragment` that are shaded with `leader`.
    #[inline]
    pub(crate) fn merged_into(&self, fragment: u32, leader: u32) -> u64 {
        let is_lead = |pixel| u8::from(self.fragments.find(fragment, pixel) == leader) << pixel;
        let [a, b, c, d] = [0, 1, 2, 3].map(is_lead);
        self.pattern.samples_of(a | b | c | d)
    }
}

/// Maximum time that an entry stays in a merging unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeScope {
    /// Entries stay until the end of their grid.
    Grid,
    /// Entries stay until the end of their draw.
    Draw,
}

/// Input that a merging unit accepts and the scope in which it merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties")]
pub struct MergeRules {
    /// Scope after which the unit is flushed.
    pub scope: MergeScope,
    /// Whether quads that a triangle only touches enter the unit.
    pub takes_empties: bool,
    /// Whether quads whose shader has side effects bypass the unit.
    pub bypassed_by_effects: bool,
    /// Whether blended quads bypass the unit.
    pub bypassed_by_blending: bool,
    /// Whether the shading pixels of a quad merge individually.
    pub splits_quads: bool,
}

impl MergeRules {
    /// Whether quads bypass the unit, given whether their shader has side effects and whether they are blended.
    pub fn bars(&self, has_effects: bool, is_blended: bool) -> bool {
        self.bypassed_by_effects && has_effects || self.bypassed_by_blending && is_blended
    }
}

/// Functional model of a merging unit, without timing.
pub trait MergeUnit: Debug + Send {
    /// Properties of the unit that its driver must respect.
    fn rules(&self) -> MergeRules;

    /// Starts the next grid. Quads of a blended grid must leave in an order that keeps, at every sample, the order in which
    /// the fragments were submitted.
    fn begin_grid(&mut self, _topology: &Topology, _is_blended: bool) {}

    /// Processes the next fragment and appends quads that leave to `stream.out`.
    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream);

    /// Evicts the oldest entry, which may still merge into another entry: one step of a flush.
    fn evict(&mut self, stream: &mut MergeStream);

    /// Number of entries held.
    fn occupancy(&self) -> u32;

    /// Number of entries that a quad at this position is compared with sequentially.
    fn compared_at(&self, _position: [u16; 2]) -> u64 {
        0
    }

    /// Number of entries that have left to make room for new ones.
    fn made_room(&self) -> u64 {
        0
    }

    /// Stores the unit's counters in its part of `counters`.
    fn report(&self, counters: &mut MergeCounters);

    /// Empties the unit, oldest entry first.
    fn flush(&mut self, stream: &mut MergeStream) {
        while self.occupancy() > 0 {
            self.evict(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DisjointSet, NO_TARGET, target};

    #[test]
    fn targets_follow_chains_of_merges_pixel_by_pixel() {
        let mut set = DisjointSet::default();
        let first = set.push();
        set.skip_to(2);
        let (second, third) = (set.push(), set.push());
        assert_eq!([first, second, third], [0, 2, 3]);
        set.merge_pixel(0, 2, 1);
        set.merge_pixel(2, 3, 1);
        set.merge_pixel(3, 0, 2);
        let expected = [[0, 3, 0, 0], [2, 3, 2, 2], [3, 3, 0, 3]];
        for (fragment, expected) in [0, 2, 3].into_iter().zip(expected) {
            assert_eq!([0, 1, 2, 3].map(|pixel| set.find(fragment, pixel)), expected);
        }
        // Fragment 3 leaves last; until then fragment 0 has no target in one shading pixel.
        for (leader, number) in [(0, 7), (2, 8)] {
            set.set_target(leader, number);
            set.resolve();
            assert_eq!(set.resolved, 0);
        }
        set.set_target(3, 9);
        set.resolve();
        assert_eq!(set.resolved, 4);
        let number = [Some(7), None, Some(8), Some(9)];
        let expected = expected.map(|of| of.map(|leader| number[leader as usize]));
        let [a, b, c] = expected;
        let found = set.targets().iter().map(|of| of.map(target));
        assert!(found.eq([a, [None; 4], b, c]));
        set.clear();
        set.skip_to(1);
        let (one, other) = (set.push(), set.push());
        set.merge(one, other);
        set.push();
        set.set_target(2, 0);
        let found = set.whole_targets().map(target);
        assert!(found.eq([None, Some(0), Some(0), None]));
        assert_eq!(set.targets()[0], [NO_TARGET; 4]);
        assert!(set.targets().iter().map(|of| of.map(target)).eq([
            [None; 4],
            [Some(0); 4],
            [Some(0); 4],
            [None; 4]
        ]));
    }
}
