//! Pixel merging ("Pixel Merge Unit", sections 3 and 4): quads at the edges between triangles share
//! the shading of a neighbour, shading pixel by shading pixel (*pixel* for short below).
//!
//! In: quad fragments after the early depth test, in submission order, draw by draw; a flush ends a draw. Out: quads of
//! one triangle each, without the pixels merged into other quads. Rate: one quad per cycle ([`PmuSpec`]). Order: at
//! every sample, quads leave in the order in which its fragments were submitted; others may change order.
//!
//! A new quad first evicts the entries at its position that cover one of its samples, oldest first, whichever way they
//! face, so entries at one position never overlap. A quad without a partially covered pixel then passes straight on.
//! Otherwise each of its pixels is compared with the same pixel of each entry at the position, most recent first. Two
//! pixels merge if both are covered, their triangles face the same way, and one has an outer edge (a, b), by vertex ids,
//! where the other has (b, a). The pixel stays with the triangle that covers its centre; otherwise with the nearest covered
//! sample to the centre; if both are equal, with the first submitted. That triangle takes over the other's coverage and
//! outer edges, without the shared edge. The comparison continues with the merged pixel, so a triangle between two others
//! joins all three. One pass is enough: entries with an edge in common would have merged when the later one arrived.
//!
//! A quad that has lost all its pixels is dropped and counts as saved. A quad whose pixels are all full or
//! empty leaves at once. The rest of a new quad takes an entry; if none is free, the oldest leaves.
//!
//! The unit is off for shaders that discard, write depth or unordered views, derive coverage from
//! alpha, or read coverage or the primitive id, because merging changes their results (section 3).

mod edges;

use super::associative::AssociativeMemory;
use super::counters::{MergeCounters, PmuCounters};
use super::unit::{MergeRules, MergeScope, MergeStream, MergeUnit, MergedQuad, QuadFragment};
use edges::{EdgeLists, OuterEdges, Shared, Triangle};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_machine::spec;

spec! {
    /// Configuration of the pixel merge unit.
    PmuSpec in "pmu" {
        /// Capacity of the input queue, in beats of up to 8 quads.
        queue: u64 = 16, 1..=65_536, Assumed "128 quads, as in front of PROP; cycles change by less than 1 % between 1 and 16 beats";
        /// Entries of the buffer.
        entries: u64 = 512, 1..=65_536, Published "PMU 5: savings level off at this size";
        /// Outer edges kept per shading pixel of an entry.
        max_edges: u64 = 8, 1..=64, Published "PMU 4: MAX_EDGES";
        /// Quads accepted per cycle.
        quads_per_cycle: u64 = 1, 1..=16, Assumed "one look-up port: quads at one position must see each other";
        /// Cycles to compare a quad with one entry at the same position.
        compare_cycles: u64 = 1, 0..=10_000, Assumed "all pairs of edges of four shading pixels at once";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "look-up, comparison, merging, write";
    }
}

impl PmuSpec {
    /// The functional half of the specification; it does not affect timing.
    pub fn settings(&self) -> PmuSettings {
        let count = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        PmuSettings { entries: count(self.entries), max_edges: count(self.max_edges) }
    }
}

/// Settings of pixel merging that affect its results; the others in [`PmuSpec`] affect only timing.
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

/// Maximum number of entries per position: each covers a sample that no other covers.
const MOST_HERE: usize = 64;

/// A quad that waits for quads of adjacent triangles. The key is its position.
#[derive(Debug, Clone, Copy)]
struct PmuEntry {
    coverage: u64,
    /// Samples covered by the triangle of the quad itself.
    own: u64,
    edges: OuterEdges,
    number: u32,
    /// Shading pixels whose centre the quad's own triangle covers.
    centres: u8,
    is_front: bool,
}

impl PmuEntry {
    /// Mask of the shading pixels in `pixels` that this entry keeps when it merges with a later one: its own
    /// triangle is not farther from their centres, see [`QuadFragment::distance`].
    #[inline]
    fn keeps(&self, later: &Self, pixels: u8, pattern: &SamplePattern) -> u8 {
        let mut keeps = self.centres & pixels;
        let mut left = pixels & !(self.centres | later.centres);
        while left != 0 {
            let pixel = left.trailing_zeros() as usize;
            // No sample is in both, so the nearest of all samples decides which triangle is nearer.
            let [samples, others] = [self, later].map(|e| pattern.pixel(e.own, pixel));
            let nearest = pattern.nearest_to_centre(samples | others);
            let is_own = nearest.is_some_and(|(sample, _)| samples >> sample & 1 == 1);
            keeps |= u8::from(is_own) << pixel;
            left &= left - 1;
        }
        keeps
    }
}

#[derive(Debug)]
pub(crate) struct PixelMerging {
    settings: PmuSettings,
    /// Holds one entry more than the settings allow until the oldest is evicted.
    entries: AssociativeMemory<PmuEntry>,
    lists: EdgeLists,
    /// The first `candidates` slots are entries at the new quad's position that may merge with it, newest first.
    here: [u32; MOST_HERE],
    candidates: usize,
    counters: PmuCounters,
}

impl PixelMerging {
    pub(crate) fn new(mut settings: PmuSettings) -> Self {
        settings.entries = settings.entries.max(1);
        Self {
            settings,
            entries: AssociativeMemory::new(Some(settings.entries.saturating_add(1))),
            lists: EdgeLists::new(settings.max_edges),
            here: [0; MOST_HERE],
            candidates: 0,
            counters: PmuCounters::default(),
        }
    }

    #[inline]
    fn leave(&mut self, slot: u32, stream: &mut MergeStream) {
        let entry = self.entries.get(slot);
        stream.out.push(MergedQuad::of(entry.number, entry.coverage));
        self.entries.remove(slot);
    }

    /// Evicts the entries of a key that cover a sample of `coverage`, oldest first.
    #[cold]
    fn evict_overlapping(&mut self, key: u64, coverage: u64, stream: &mut MergeStream) {
        let mut count = 0;
        for (slot, entry) in self.entries.of(key) {
            if entry.coverage & coverage != 0 {
                self.here[count % MOST_HERE] = slot;
                count += 1;
            }
        }
        for k in (0..count).rev() {
            self.leave(self.here[k % MOST_HERE], stream);
            self.counters.by_overlap += 1;
        }
    }

    /// Collects the entries of a key that may merge with a new quad. Returns whether any entry of the key, mergeable or
    /// not, covers a sample of `coverage`.
    #[inline]
    fn look_up(&mut self, key: u64, new: u32, coverage: u64) -> bool {
        let new = self.entries.get(new);
        let mut covered = 0;
        let mut count = 0;
        for (slot, entry) in self.entries.of(key) {
            covered |= entry.coverage;
            // Only entries with the same facing can merge.
            let is_candidate = (entry.is_front == new.is_front) & entry.edges.may_share(&new.edges);
            self.here[count % MOST_HERE] = slot;
            // A store that the next one overwrites costs less than a mispredicted branch.
            count += usize::from(is_candidate);
        }
        self.candidates = count;
        covered & coverage != 0
    }

    /// Merges shading pixels of the staged quad `new` with the candidates; returns a mask of the changed candidates.
    #[inline(never)]
    fn merge(
        &mut self,
        new: u32,
        triangle: &Triangle,
        pixels: u8,
        stream: &mut MergeStream,
    ) -> u64 {
        let mut changed = 0;
        // The entry that now holds each shading pixel of the new quad.
        let mut holders = [new; 4];
        for k in 0..self.candidates {
            let other = self.here[k % MOST_HERE];
            let [entry, quad] = [other, new].map(|slot| &self.entries.get(slot).edges);
            let shared = entry.shared_with(triangle);
            let open = pixels & entry.open();
            // Shading pixels in which neither quad has merged have the same edges, so they merge in one step.
            let mut whole = entry.whole() & quad.whole();
            // The common case. Merging unmerged shading pixels in one step helped to reduce the unit from 1509
            // to 883 instructions per quad (BIGGUY at 0.5 px).
            if whole != 0 && self.lists.has_room_for(shared) {
                self.merge_whole([other, new], whole, shared, &mut holders, stream);
                changed |= 1 << k;
            } else {
                whole = 0;
            }
            let mut left = open ^ whole;
            while left != 0 {
                let pixel = left.trailing_zeros() as usize % 4;
                left &= left - 1;
                let slots = [other, holders[pixel]];
                if let Some(keeps) = self.merge_pixel(slots, pixel, shared, triangle, stream) {
                    holders[pixel] = keeps;
                    changed |= 1 << k;
                }
            }
        }
        changed
    }

    /// Merges at once the shading pixels in the mask `whole` of an entry and the new quad, which have not merged before and
    /// whose triangles share an edge; stores the slot that keeps each pixel in `holders`.
    #[inline]
    fn merge_whole(
        &mut self,
        slots: [u32; 2],
        whole: u8,
        shared: Shared,
        holders: &mut [u32; 4],
        stream: &mut MergeStream,
    ) {
        let Some([entry, quad]) = self.entries.pair_mut(slots) else { return };
        let pattern = stream.pattern;
        let kept = entry.keeps(quad, whole, pattern);
        let given = whole ^ kept;
        let covered = entry.coverage | quad.coverage;
        let moved =
            pattern.samples_of(kept) & quad.coverage | pattern.samples_of(given) & entry.coverage;
        quad.coverage ^= moved;
        entry.coverage ^= moved;
        let joined = entry.edges.joined(&quad.edges, shared);
        entry.edges.close(given);
        quad.edges.close(kept);
        let numbers = [entry.number, quad.number];
        let edges = [&mut entry.edges, &mut quad.edges];
        // A loop over pixels: merging all of them by masks took 6 % more instructions and no less time.
        let mut left = whole;
        while left != 0 {
            let pixel = left.trailing_zeros() as usize % 4;
            left &= left - 1;
            let keeper = usize::from(given >> pixel & 1 == 1);
            let [from, to] = [numbers[1 - keeper], numbers[keeper]];
            holders[pixel] = slots[keeper];
            stream.fragments.merge_pixel(from, to, pixel);
            self.counters.cell_merges += 1;
            if pattern.samples_of(1 << pixel) & !covered == 0 {
                // The pixel is fully covered, so no later quad can merge with it.
                edges[keeper].close(1 << pixel);
            } else {
                self.lists.set(slots[keeper], edges[keeper], pixel, &joined, keeper);
            }
        }
    }

    /// Merges a shading pixel of an entry with the same pixel of the entry that holds the new quad, if they share an edge;
    /// returns the slot that keeps it. `of_triangles` are the edges that the entry's own triangle has in common
    /// with the new one, `triangle`.
    #[inline(never)]
    fn merge_pixel(
        &mut self,
        slots: [u32; 2],
        pixel: usize,
        of_triangles: Shared,
        triangle: &Triangle,
        stream: &mut MergeStream,
    ) -> Option<u32> {
        let [entry, holder] = self.entries.pair_mut(slots)?;
        // The holder can share only edges of the new quad with another entry.
        let mut shared = of_triangles;
        if entry.edges.is_listed(pixel) {
            shared = self.lists.shared_with(slots[0], &entry.edges, pixel, triangle);
        }
        if shared != [0; 2] && holder.edges.is_listed(pixel) {
            shared = self.lists.shared(slots, [&entry.edges, &holder.edges], pixel);
        }
        if shared == [0; 2] {
            return None;
        }
        let pattern = stream.pattern;
        // Candidates come newest first, so the entry is older than the holder.
        let (slots, shared, [keeper, loser]) = if entry.keeps(holder, 1 << pixel, pattern) == 0 {
            let swapped = ([slots[1], slots[0]], [shared[1], shared[0]]);
            (swapped.0, swapped.1, [holder, entry])
        } else {
            (slots, shared, [entry, holder])
        };
        let moved = loser.coverage & pattern.samples_of(1 << pixel);
        loser.coverage ^= moved;
        keeper.coverage |= moved;
        stream.fragments.merge_pixel(loser.number, keeper.number, pixel);
        let edges = [&mut keeper.edges, &mut loser.edges];
        self.counters.edges_lost += self.lists.join(slots, edges, pixel, shared);
        self.counters.cell_merges += 1;
        Some(slots[0])
    }

    /// Removes the `changed` candidates that are empty or complete, oldest first.
    #[inline]
    fn settle(&mut self, mut changed: u64, stream: &mut MergeStream) {
        while changed != 0 {
            let k = changed.ilog2();
            changed ^= 1 << k;
            let slot = self.here[k as usize];
            // The branches are deliberate: a version without them took 1.02 to 1.03 of the time.
            if self.has_settled(slot, stream) {
                self.entries.remove(slot);
            }
        }
    }

    /// Whether a changed quad leaves because it is empty or complete; sends a complete quad to the shader.
    #[inline(always)]
    fn has_settled(&mut self, slot: u32, stream: &mut MergeStream) -> bool {
        let &PmuEntry { coverage, number, .. } = self.entries.get(slot);
        if coverage == 0 {
            self.counters.saved += 1;
            stream.fragments.abandon(number);
            return true;
        }
        let waits = stream.pattern.has_partial_pixel(coverage);
        if !waits {
            stream.out.push(MergedQuad::of(number, coverage));
            self.counters.early += 1;
        }
        !waits
    }
}

impl MergeUnit for PixelMerging {
    fn rules(&self) -> MergeRules {
        MergeRules {
            scope: MergeScope::Draw,
            takes_empties: false,
            bypassed_by_effects: true,
            bypassed_by_blending: false,
            splits_quads: true,
        }
    }

    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream) {
        let (number, pixels) = stream.enter(fragment.coverage);
        self.counters.quads += 1;
        if fragment.coverage == 0 {
            self.counters.empties += 1;
            return;
        }
        let key = key(fragment.position);
        let triangle = Triangle::of(fragment.ids);
        // The entry is only staged: a quad that merges away or leaves at once never enters the buffer's lists.
        let new = self.entries.stage(PmuEntry {
            coverage: fragment.coverage,
            own: fragment.coverage,
            edges: OuterEdges::of(&triangle, pixels),
            number,
            centres: fragment.centres,
            is_front: fragment.is_front,
        });
        while self.look_up(key, new, fragment.coverage) {
            self.evict_overlapping(key, fragment.coverage, stream);
        }
        if pixels == 0 {
            self.counters.straight += 1;
            stream.out.push(MergedQuad::of(number, fragment.coverage));
            return;
        }
        self.counters.partial += 1;
        let edges = &mut self.entries.get_mut(new).edges;
        if self.lists.begin(new, edges) {
            self.counters.edges_lost += self.lists.begin_lists(new, edges);
        }
        let mut has_settled = false;
        if self.candidates > 0 {
            let changed = self.merge(new, &triangle, pixels, stream);
            self.settle(changed, stream);
            has_settled = changed != 0 && self.has_settled(new, stream);
        }
        if has_settled {
            return;
        }
        self.entries.link_staged(key);
        if self.occupancy() > self.settings.entries
            && let Some(oldest) = self.entries.oldest()
        {
            self.leave(oldest, stream);
            self.counters.by_age += 1;
        }
        self.counters.peak_entries.raise(u64::from(self.occupancy()));
    }

    fn evict(&mut self, stream: &mut MergeStream) {
        if let Some(oldest) = self.entries.oldest() {
            self.leave(oldest, stream);
            self.counters.flushed += 1;
        }
    }

    fn occupancy(&self) -> u32 {
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

#[inline]
fn key([x, y]: [u16; 2]) -> u64 {
    u64::from(y) << 16 | u64::from(x)
}
