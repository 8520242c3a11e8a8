//! Quad-fragment merging ("Reducing Shading on GPUs using Quad-Fragment Merging", section 3), across adjacent triangles.
//!
//! In: quad fragments after the early depth test, in submission order, grid by grid, including fragments without coverage,
//! which still connect others (section 3.3). Out: merged quads. Rate: one fragment per cycle ([`QfmSpec`]). Order: quads
//! leave in the order in which their entries were created, except fully covered ones, which leave at once. Quads that
//! overlap may therefore change order, and the depth test after shading must decide between them. Blended quads have no
//! such test, so entries that a blended quad overlaps leave before it (assumption: the paper does not blend; the pixel
//! merge unit keeps order in this way).
//!
//! A fragment is compared with the most recently added entries at its position with the same facing (two by default). Two
//! quads merge when their coverage does not overlap and their triangles share an edge; the older entry keeps its age. A
//! fragment without a partner takes a free entry; if there is none, the oldest entry leaves. Before it leaves, it is
//! compared once more with the most recent other entries at its position and merges into one of them if possible (section
//! 3.3). Quads without coverage never leave.
//!
//! Masks hold triangles of one grid, so entries of different grids never merge; the grid is part of the key. Emptying the
//! buffer between grids changes no merge: entries of older grids are always evicted before entries of the new grid.

mod entry;

use super::associative::AssociativeMemory;
use super::counters::{MergeCounters, QfmCounters};
use super::unit::{MergeRules, MergeScope, MergeStream, MergeUnit, QuadFragment};
use entry::QfmEntry;
use quadrille_geometry::grid::{MAX_GRID_TRIANGLES, NO_NEIGHBOUR, Topology};
use quadrille_machine::spec;

spec! {
    /// Configuration of the quad-fragment merging unit.
    QfmSpec in "qfm" {
        /// Capacity of the input queue, in beats of up to 8 quads.
        queue: u64 = 16, 1..=65_536, Assumed "128 quads, as in front of PROP; cycles change by less than 1 % between 1 and 16 beats";
        /// Entries of the merge buffer; 0 for an unbounded buffer.
        entries: u64 = 32, 0..=65_536, Published "QFM 4.1.2: over 90 % of the merges of an unbounded buffer";
        /// Number of entries that a fragment is compared with: the most recent ones at the same position.
        candidates: u64 = 2, 1..=64, Published "QFM 3: N = 2";
        /// Whether an entry due for eviction is merged into another entry if possible.
        merge_at_eviction: bool = true, .., Published "QFM 3.3";
        /// Whether quads without coverage take part in merging.
        empties: bool = true, .., Published "QFM 3.3";
        /// Whether quads of blended materials are merged; the entries that such a quad overlaps are evicted first.
        blended: bool = true, .., Assumed "QFM does not blend; order is kept as in PMU 4";
        /// Quad fragments accepted per cycle.
        quads_per_cycle: u64 = 1, 1..=16, Assumed "one look-up port: fragments at one position must see each other";
        /// Cycles from a look-up until its outcome is in the buffer; a fragment at the same position waits.
        compare_cycles: u64 = 1, 0..=10_000, Assumed "the masks of both candidates are compared at once";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "look-up, comparison, selection of inputs, write";
    }
}

impl QfmSpec {
    /// The functional half of the specification; it does not affect timing.
    pub fn settings(&self) -> QfmSettings {
        let count = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        QfmSettings {
            entries: (self.entries > 0).then(|| count(self.entries)),
            candidates: count(self.candidates),
            merge_at_eviction: self.merge_at_eviction,
            empties: self.empties,
            blended: self.blended,
        }
    }
}

/// Settings of quad-fragment merging that affect its results; the others in [`QfmSpec`] affect only timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QfmSettings {
    /// Entries of the merge buffer, at least 1; `None` for an unbounded buffer.
    pub entries: Option<u32>,
    /// Number of entries that a fragment is compared with: the most recent ones at the same position.
    pub candidates: u32,
    /// Whether an entry due for eviction is merged into another entry if possible (section 3.3).
    pub merge_at_eviction: bool,
    /// Whether quads without coverage take part (section 3.3).
    pub empties: bool,
    /// Whether quads of blended materials take part.
    pub blended: bool,
}

impl Default for QfmSettings {
    fn default() -> Self {
        QfmSpec::default().settings()
    }
}

/// Key bit set for front-facing entries.
const FACING_BIT: u64 = 1 << 32;

/// Reason why a fragment merges into no entry, by its most recent candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unmerged {
    Alone,
    Overlapping,
    Apart,
}

#[derive(Debug)]
pub(crate) struct QuadFragmentMerging {
    settings: QfmSettings,
    buffer: AssociativeMemory<QfmEntry>,
    neighbours: Vec<[u16; 3]>,
    /// Number of the grid, modulo 2^32; it wraps long after the grid's entries have left.
    grid: u32,
    is_blended: bool,
    counters: QfmCounters,
}

impl QuadFragmentMerging {
    pub(crate) fn new(mut settings: QfmSettings) -> Self {
        settings.entries = settings.entries.map(|e| e.max(1));
        Self {
            settings,
            buffer: AssociativeMemory::new(settings.entries),
            neighbours: Vec::with_capacity(MAX_GRID_TRIANGLES),
            grid: 0,
            is_blended: false,
            counters: QfmCounters::default(),
        }
    }

    fn key(&self, fragment: &QuadFragment) -> u64 {
        let [x, y] = fragment.position;
        let facing = if fragment.is_front { FACING_BIT } else { 0 };
        u64::from(self.grid) << 33 | facing | u64::from(y) << 16 | u64::from(x)
    }

    /// Entry that a fragment merges into, or the reason why there is none.
    #[inline]
    fn partner(&self, key: u64, fragment: &QuadFragment) -> Result<u32, Unmerged> {
        let mut reason = Unmerged::Alone;
        for (slot, entry) in self.buffer.of(key).take(self.settings.candidates as usize) {
            let overlaps = entry.coverage & fragment.coverage != 0;
            if !overlaps && entry.is_adjacent(fragment.triangle) {
                return Ok(slot);
            }
            if reason == Unmerged::Alone {
                reason = if overlaps { Unmerged::Overlapping } else { Unmerged::Apart };
            }
        }
        Err(reason)
    }

    fn release_full(&mut self, slot: u32, stream: &mut MergeStream) {
        let entry = self.buffer.get(slot);
        if entry.coverage == stream.pattern.full_quad() {
            stream.out.push(entry.quad());
            self.buffer.remove(slot);
            self.counters.released_full += 1;
        }
    }

    /// Sends the entries that a blended fragment overlaps to the shader, in any order: earlier blended fragments
    /// did the same, so no two entries cover the same sample.
    fn evict_overlapping(&mut self, key: u64, coverage: u64, stream: &mut MergeStream) {
        for key in [key, key ^ FACING_BIT] {
            let overlapping = |buffer: &AssociativeMemory<QfmEntry>| {
                let mut entries = buffer.of(key);
                entries.find_map(|(slot, entry)| (entry.coverage & coverage != 0).then_some(slot))
            };
            while let Some(slot) = overlapping(&self.buffer) {
                stream.out.push(self.buffer.get(slot).quad());
                self.buffer.remove(slot);
                self.counters.evicted += 1;
            }
        }
    }

    /// Removes the oldest entry, which merges into another or goes to the shader. Returns true in the latter case.
    fn remove_oldest(&mut self, stream: &mut MergeStream) -> bool {
        let Some(slot) = self.buffer.oldest() else { return false };
        let entry = *self.buffer.get(slot);
        let key = self.buffer.key(slot);
        self.buffer.remove(slot);
        if self.settings.merge_at_eviction {
            let mut others = self.buffer.of(key).take(self.settings.candidates as usize);
            if let Some((other, _)) = others.find(|(_, o)| o.can_merge(&entry)) {
                drop(others);
                let into = self.buffer.get_mut(other);
                into.absorb(&entry);
                stream.fragments.merge(entry.leader, into.leader);
                self.counters.merged_at_eviction += 1;
                self.release_full(other, stream);
                return false;
            }
        }
        if entry.coverage == 0 {
            self.counters.dropped_empty += 1;
            return false;
        }
        stream.out.push(entry.quad());
        true
    }
}

impl MergeUnit for QuadFragmentMerging {
    fn rules(&self) -> MergeRules {
        MergeRules {
            scope: MergeScope::Grid,
            takes_empties: true,
            bypassed_by_effects: false,
            bypassed_by_blending: !self.settings.blended,
            splits_quads: false,
        }
    }

    /// Triangles beyond [`MAX_GRID_TRIANGLES`] have no bit in a mask and never merge.
    fn begin_grid(&mut self, topology: &Topology, is_blended: bool) {
        let count = topology.neighbours.len().min(MAX_GRID_TRIANGLES);
        self.neighbours.clear();
        self.neighbours.extend_from_slice(&topology.neighbours[..count]);
        self.grid = self.grid.wrapping_add(1);
        self.is_blended = is_blended;
    }

    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream) {
        let number = stream.enter(fragment.coverage).0;
        self.counters.fragments += 1;
        if fragment.coverage == 0 {
            self.counters.empties += 1;
            if !self.settings.empties {
                self.counters.ignored += 1;
                return;
            }
        }
        let neighbours = self.neighbours.get(usize::from(fragment.triangle));
        let neighbours = neighbours.copied().unwrap_or([NO_NEIGHBOUR; 3]);
        let key = self.key(fragment);
        if self.is_blended {
            self.evict_overlapping(key, fragment.coverage, stream);
        }
        let reason = match self.partner(key, fragment) {
            Ok(slot) => {
                let entry = self.buffer.get_mut(slot);
                entry.take(fragment, number, neighbours, stream.pattern);
                stream.fragments.merge(number, entry.leader);
                self.counters.merged += 1;
                self.release_full(slot, stream);
                return;
            }
            Err(reason) => reason,
        };
        let entry = QfmEntry::new(fragment, number, neighbours, stream.pattern);
        if entry.coverage == stream.pattern.full_quad() {
            // No sample is left that another quad could cover.
            self.counters.passed_full += 1;
            stream.out.push(entry.quad());
            return;
        }
        match reason {
            Unmerged::Alone => {
                self.counters.alone += 1;
                let faces_away = self.buffer.of(key ^ FACING_BIT).next().is_some();
                self.counters.facing_away += u64::from(faces_away);
            }
            Unmerged::Overlapping => self.counters.overlapping += 1,
            Unmerged::Apart => self.counters.apart += 1,
        }
        if self.settings.entries.is_some_and(|e| self.occupancy() >= e) {
            self.counters.evicted += u64::from(self.remove_oldest(stream));
        }
        self.buffer.push(key, entry);
        self.counters.peak_entries.raise(u64::from(self.occupancy()));
    }

    fn evict(&mut self, stream: &mut MergeStream) {
        self.counters.flushed += u64::from(self.remove_oldest(stream));
    }

    fn occupancy(&self) -> u32 {
        self.buffer.len()
    }

    /// Also counts entries that merge or drop at a flush. During a `push`, it increases by the entries that made room.
    fn made_room(&self) -> u64 {
        let counters = &self.counters;
        counters.evicted + counters.merged_at_eviction + counters.dropped_empty
    }

    fn report(&self, counters: &mut MergeCounters) {
        counters.qfm = Some(self.counters);
    }
}
