//! Pixel merging ("Pixel Merge Unit", sections 3 and 4): quads at the edges between triangles share
//! the shading of a neighbour, shading pixel by shading pixel (*pixel* for short below).
//!
//! In: quad fragments after the early depth test, in submission order, draw by draw; a flush ends a
//! draw. Out: quads of one triangle each, without the pixels that were merged into other quads. Rate:
//! one quad per cycle ([`PmuSpec`]). Order: at every sample, quads leave in the order in which the
//! fragments that cover it were submitted; quads with no sample in common may change order.
//!
//! A new quad first evicts the entries at its position that cover one of its samples, oldest first,
//! whichever way they face, so entries at one position never overlap. A quad without a partially
//! covered pixel then passes straight on. Otherwise each of its pixels is compared with that of each
//! entry at the position, most recent first. Two pixels merge when both are covered, their triangles
//! face the same way, and one has an outer edge (a, b), by vertex ids, where the other has (b, a). The
//! triangle that covers the centre of the pixel keeps it; else the one with the covered sample nearest
//! to the centre; the first submitted if both are equal. It takes over the other's coverage and outer
//! edges, without the shared one. The comparison goes on with the merged pixel, so a triangle between
//! two others joins all three. One pass is enough: had two entries an edge in common, the later one
//! would have merged on arrival.
//!
//! A quad that has lost all its pixels vanishes: it is saved. A quad whose pixels are all full or
//! empty leaves at once. The rest of a new quad takes an entry; if none is free, the oldest leaves.
//!
//! The unit is off for shaders that discard, write depth or unordered views, derive coverage from
//! alpha, or read coverage or the primitive id: they see what merging changes (section 3).

mod edges;

use super::associative::AssociativeMemory;
use super::counters::{MergeCounters, PmuCounters};
use super::unit::{MergeRules, MergeScope, MergeStream, MergeUnit, MergedQuad, QuadFragment};
use crate::pipeline::spec::spec;
use edges::OuterEdges;

spec! {
    /// Pixel merging.
    PmuSpec in "pmu" {
        /// Beats of up to 8 quads in the queue before it.
        queue: u64 = 16, 1..=65_536, Assumed "128 quads, as before PROP; from 1 to 16 beats cycles change by less than a percent";
        /// Entries of the buffer.
        entries: u64 = 512, 1..=65_536, Published "PMU 5: savings level off there";
        /// Outer edges kept per shading pixel of an entry.
        max_edges: u64 = 8, 1..=64, Published "PMU 4: MAX_EDGES";
        /// Quads per cycle.
        quads_per_cycle: u64 = 1, 1..=16, Assumed "one look-up port: quads at one position must see each other";
        /// Cycles to compare a quad with one entry at its position.
        compare_cycles: u64 = 1, 0..=10_000, Assumed "all pairs of edges of four shading pixels at once";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "look-up, comparison, merging, write";
    }
}

impl PmuSpec {
    /// The functional half of the specification; it does not affect timing.
    pub fn settings(&self) -> PmuSettings {
        let count = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        PmuSettings {
            entries: count(self.entries),
            max_edges: count(self.max_edges),
        }
    }
}

/// The functional settings of pixel merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PmuSettings {
    /// Number of entries, at least 1.
    pub entries: u32,
    /// Number of outer edges kept per shading pixel, 1 to 64.
    pub max_edges: u32,
}

impl Default for PmuSettings {
    fn default() -> Self {
        PmuSpec::default().settings()
    }
}

/// A quad that waits for its neighbours. Its position is its key.
#[derive(Debug, Clone, Copy)]
struct PmuEntry {
    coverage: u64,
    /// Distance of its own triangle from each shading pixel: see [`QuadFragment::distance`].
    distance: [u8; 4],
    is_front: bool,
    /// Number of the fragment in the stream.
    number: u32,
}

/// The pixel merge unit, without time.
#[derive(Debug)]
pub(crate) struct PixelMerging {
    settings: PmuSettings,
    /// Has one entry more than the settings allow while a new quad is merged.
    entries: AssociativeMemory<PmuEntry>,
    edges: OuterEdges,
    /// Entries at the position of the new quad, oldest first.
    here: Vec<u32>,
    counters: PmuCounters,
}

impl PixelMerging {
    pub(crate) fn new(mut settings: PmuSettings) -> Self {
        settings.entries = settings.entries.max(1);
        Self {
            settings,
            entries: AssociativeMemory::new(Some(settings.entries.saturating_add(1))),
            edges: OuterEdges::new(settings.max_edges),
            here: Vec::new(),
            counters: PmuCounters::default(),
        }
    }

    fn leave(&mut self, slot: u32, stream: &mut MergeStream) {
        let entry = self.entries.get(slot);
        stream
            .out
            .push(MergedQuad::of(entry.number, entry.coverage));
        self.entries.remove(slot);
    }

    /// Evicts the entries in `here` that cover a sample of `coverage`.
    fn evict_overlapping(&mut self, coverage: u64, stream: &mut MergeStream) {
        let mut here = std::mem::take(&mut self.here);
        here.retain(|&slot| {
            let stays = self.entries.get(slot).coverage & coverage == 0;
            if !stays {
                self.leave(slot, stream);
                self.counters.by_overlap += 1;
            }
            stays
        });
        self.here = here;
    }

    /// Merges a shading pixel of two entries with the same facing, if the rules allow; returns the
    /// slot that keeps it.
    #[inline]
    fn merge_pixel(
        &mut self,
        first: u32,
        second: u32,
        pixel: usize,
        stream: &mut MergeStream,
    ) -> Option<u32> {
        let pattern = stream.pattern;
        let one = self.entries.get(first);
        if pattern.pixel(one.coverage, pixel) == 0 {
            return None;
        }
        let shared = self.edges.shared(first, second, pixel);
        if shared == [0; 2] {
            return None;
        }
        let two = self.entries.get(second);
        let better = |e: &PmuEntry| (e.distance[pixel], e.number);
        let (keeps, loses, shared) = if better(one) < better(two) {
            (first, second, shared)
        } else {
            (second, first, [shared[1], shared[0]])
        };
        let loser = self.entries.get_mut(loses);
        let number = loser.number;
        let shift = pixel * pattern.count() as usize;
        let moved = loser.coverage & u64::from(pattern.full_pixel()) << shift;
        loser.coverage ^= moved;
        let keeper = self.entries.get_mut(keeps);
        keeper.coverage |= moved;
        stream.fragments.merge_pixel(number, keeper.number, pixel);
        self.counters.edges_lost += self.edges.join(keeps, loses, pixel, shared);
        self.counters.cell_merges += 1;
        Some(keeps)
    }

    /// Merges the shading pixels of the mask `pixels` of the newest entry with those of the entries in
    /// `here`; returns whether any merged.
    fn merge(&mut self, new: u32, pixels: u8, stream: &mut MergeStream) -> bool {
        let is_front = self.entries.get(new).is_front;
        let entries = &self.entries;
        // Only entries with the same facing can merge.
        self.here
            .retain(|&slot| entries.get(slot).is_front == is_front);
        let mut merged = false;
        for pixel in (0..4).filter(|p| pixels >> p & 1 == 1) {
            let mut holder = new;
            for k in (0..self.here.len()).rev() {
                let other = self.here[k];
                if let Some(keeps) = self.merge_pixel(other, holder, pixel, stream) {
                    holder = keeps;
                    merged = true;
                }
            }
        }
        merged
    }

    /// Removes the entries in `here` that are empty or have nothing to wait for.
    fn settle(&mut self, stream: &mut MergeStream) {
        for k in 0..self.here.len() {
            let slot = self.here[k];
            let coverage = self.entries.get(slot).coverage;
            if coverage == 0 {
                self.entries.remove(slot);
                self.counters.saved += 1;
            } else if stream.pattern.partial_pixels(coverage) == 0 {
                self.leave(slot, stream);
                self.counters.early += 1;
            }
        }
    }
}

impl MergeUnit for PixelMerging {
    fn rules(&self) -> MergeRules {
        MergeRules {
            scope: MergeScope::Draw,
            takes_empties: false,
            bypassed_by_effects: true,
            splits_quads: true,
        }
    }

    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream) {
        let number = stream.fragments.push();
        self.counters.quads += 1;
        if fragment.coverage == 0 {
            self.counters.empties += 1;
            return;
        }
        let key = key(fragment.position);
        self.here.clear();
        self.here.extend(self.entries.of(key));
        self.here.reverse();
        self.evict_overlapping(fragment.coverage, stream);
        let mut entry = PmuEntry {
            coverage: fragment.coverage,
            distance: [u8::MAX; 4],
            is_front: fragment.is_front,
            number,
        };
        let pixels = stream.pattern.partial_pixels(fragment.coverage);
        if pixels == 0 {
            self.counters.straight += 1;
            stream.out.push(MergedQuad::of(number, fragment.coverage));
            return;
        }
        self.counters.partial += 1;
        for (pixel, distance) in entry.distance.iter_mut().enumerate() {
            if pixels >> pixel & 1 == 1 {
                *distance = fragment.distance(pixel, stream.pattern).unwrap_or(u8::MAX);
            }
        }
        let new = self.entries.push(key, entry);
        self.counters.edges_lost += self.edges.begin(new, fragment.ids, pixels);
        if self.merge(new, pixels, stream) {
            self.here.push(new);
            self.settle(stream);
        }
        if self.held() > self.settings.entries
            && let Some(oldest) = self.entries.oldest()
        {
            self.leave(oldest, stream);
            self.counters.by_age += 1;
        }
        self.counters.peak_entries.raise(u64::from(self.held()));
    }

    fn evict(&mut self, stream: &mut MergeStream) {
        if let Some(oldest) = self.entries.oldest() {
            self.leave(oldest, stream);
            self.counters.flushed += 1;
        }
    }

    fn held(&self) -> u32 {
        self.entries.len()
    }

    fn compared_at(&self, position: [u16; 2]) -> u64 {
        self.entries.of(key(position)).count() as u64
    }

    fn made_room(&self) -> u64 {
        self.counters.by_age
    }

    fn report(&self, counters: &mut MergeCounters) {
        counters.pmu = Some(self.counters);
    }
}

/// The key of the entries at a position.
#[inline]
fn key([x, y]: [u16; 2]) -> u64 {
    u64::from(y) << 16 | u64::from(x)
}
