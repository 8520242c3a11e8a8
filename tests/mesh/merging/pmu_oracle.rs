//! A slow transcription of the pixel merge unit (PMU, section 4).

use quadrille::mesh::merge::{MergedQuad, PmuSettings, QuadFragment};
use quadrille::raster::samples::SamplePattern;

use super::fragments::{Oracle, rank_of_nearest};

type Edge = (u32, u32);

#[derive(Clone)]
struct PmuEntry {
    position: [u16; 2],
    coverage: [u16; 4],
    facing: bool,
    outer_edges: [Vec<Edge>; 4],
    /// Shading pixels whose centre its own triangle covers, and its own coverage.
    centres: u8,
    own: [u16; 4],
    number: u32,
}

/// The unit: its entries, oldest first.
pub(super) struct SlowPixelMerging<'a> {
    settings: PmuSettings,
    pattern: &'a SamplePattern,
    entries: Vec<PmuEntry>,
    emitted: Vec<MergedQuad>,
    next: u32,
}

impl<'a> SlowPixelMerging<'a> {
    pub(super) fn new(settings: PmuSettings, pattern: &'a SamplePattern) -> Self {
        Self { settings, pattern, entries: Vec::new(), emitted: Vec::new(), next: 0 }
    }

    fn submit(&mut self, e: &PmuEntry) {
        let count = self.pattern.count();
        let pixels = (0..4).zip(e.coverage);
        let coverage = pixels.fold(0, |all, (p, samples)| all | u64::from(samples) << (p * count));
        self.emitted.push(MergedQuad { leader: e.number, coverage, inputs: [e.number; 4] });
    }

    fn is_partial(&self, e: &PmuEntry) -> bool {
        let full = self.pattern.pixel(u64::MAX, 0);
        e.coverage.iter().any(|&c| c != 0 && c != full)
    }

    /// Whether `a` keeps the shading pixel rather than `b`.
    fn survives(&self, a: &PmuEntry, b: &PmuEntry, p: usize) -> bool {
        let centre = |e: &PmuEntry| e.centres >> p & 1 == 1;
        let rank = |e: &PmuEntry| rank_of_nearest(self.pattern, e.own[p]).unwrap();
        match (centre(a), centre(b)) {
            (true, true) => a.number < b.number,
            (false, false) => rank(a) < rank(b),
            (first, _) => first,
        }
    }

    fn can_merge(a: &PmuEntry, b: &PmuEntry, p: usize) -> bool {
        let shared = |&(x, y): &Edge| b.outer_edges[p].contains(&(y, x));
        a.position == b.position
            && a.facing == b.facing
            && a.coverage[p] != 0
            && b.coverage[p] != 0
            && a.coverage[p] & b.coverage[p] == 0
            && a.outer_edges[p].iter().any(shared)
    }

    fn merge(&mut self, keeps: usize, loses: usize, p: usize) {
        let edges = std::mem::take(&mut self.entries[loses].outer_edges[p]);
        let samples = std::mem::take(&mut self.entries[loses].coverage[p]);
        let keeper = &mut self.entries[keeps];
        keeper.coverage[p] |= samples;
        let own = &mut keeper.outer_edges[p];
        let lacks = |all: &[Edge], &(x, y): &Edge| !all.contains(&(y, x));
        let before = own.clone();
        own.retain(|e| lacks(&edges, e));
        own.extend(edges.iter().filter(|e| lacks(&before, e)));
        own.truncate(self.settings.max_edges as usize);
    }

    /// Merges a shading pixel of the newest entry with shading pixels of others until no merge is possible.
    fn merge_all(&mut self, p: usize) {
        let mut holder = self.entries.len() - 1;
        let can = |k: &usize, holder: usize, entries: &[PmuEntry]| {
            *k != holder && Self::can_merge(&entries[*k], &entries[holder], p)
        };
        while let Some(other) =
            (0..self.entries.len()).rev().find(|k| can(k, holder, &self.entries))
        {
            if self.survives(&self.entries[other], &self.entries[holder], p) {
                self.merge(other, holder, p);
                holder = other;
            } else {
                self.merge(holder, other, p);
            }
        }
    }

    fn settle(&mut self) {
        self.entries.retain(|e| e.coverage != [0; 4]);
        let mut k = 0;
        while k < self.entries.len() {
            if self.is_partial(&self.entries[k]) {
                k += 1;
            } else {
                let done = self.entries.remove(k);
                self.submit(&done);
            }
        }
        if self.entries.len() > self.settings.entries as usize {
            let oldest = self.entries.remove(0);
            self.submit(&oldest);
        }
    }
}

impl Oracle for SlowPixelMerging<'_> {
    fn push(&mut self, fragment: &QuadFragment) {
        let number = self.next;
        self.next += 1;
        let coverage = [0, 1, 2, 3].map(|c| self.pattern.pixel(fragment.coverage, c));
        let [a, b, c] = fragment.ids;
        let mut edges: Vec<_> = [(a, b), (b, c), (c, a)].into();
        edges.retain(|(from, to)| from != to);
        edges.truncate(self.settings.max_edges as usize);
        let new = PmuEntry {
            position: fragment.position,
            coverage,
            facing: fragment.is_front,
            outer_edges: [0; 4].map(|_| edges.clone()),
            centres: fragment.centres,
            own: coverage,
            number,
        };
        if fragment.coverage == 0 {
            return;
        }
        let overlaps = |e: &PmuEntry| {
            e.position == new.position && e.coverage.iter().zip(coverage).any(|(a, b)| a & b != 0)
        };
        let entries = std::mem::take(&mut self.entries);
        let (evicted, stay) = entries.into_iter().partition(overlaps);
        self.entries = stay;
        Vec::into_iter(evicted).for_each(|e| self.submit(&e));
        if !self.is_partial(&new) {
            self.submit(&new);
            return;
        }
        self.entries.push(new);
        for p in 0..4 {
            self.merge_all(p);
        }
        self.settle();
    }

    fn flush(&mut self) {
        for e in std::mem::take(&mut self.entries) {
            self.submit(&e);
        }
    }

    fn emitted(&self) -> &[MergedQuad] {
        &self.emitted
    }
}
