//! A slow transcription of the merge buffer of quad-fragment merging (QFM, section 3, Figure 4).

use std::collections::BTreeSet;

use quadrille::geometry::grid::{NO_NEIGHBOUR, Topology};
use quadrille::mesh::merge::{MergedQuad, QfmSettings, QuadFragment};
use quadrille::raster::samples::SamplePattern;

use super::fragments::{Oracle, rank_of_nearest};

#[derive(Clone)]
struct Entry {
    position: [u16; 2],
    facing: bool,
    coverage: u64,
    /// Which centres are covered (`shade_coverage`), and whose shading inputs they are.
    centres: u8,
    inputs: [u32; 4],
    leader: u32,
    /// Triangles with the numbers of their grids: an unbounded buffer holds several grids.
    tri_mask: BTreeSet<(usize, u16)>,
    adj_mask: BTreeSet<(usize, u16)>,
    grid: usize,
}

fn can_merge(e1: &Entry, e2: &Entry) -> bool {
    same_set(e1, e2) && e1.coverage & e2.coverage == 0 && !e1.tri_mask.is_disjoint(&e2.adj_mask)
}

fn same_set(e1: &Entry, e2: &Entry) -> bool {
    e1.position == e2.position && e1.facing == e2.facing && e1.grid == e2.grid
}

fn merge(e1: &mut Entry, e2: &Entry, pattern: &SamplePattern) {
    select_shading_inputs(e1, e2, pattern);
    e1.coverage |= e2.coverage;
    e1.centres |= e2.centres;
    e1.tri_mask.extend(&e2.tri_mask);
    e1.adj_mask.extend(&e2.adj_mask);
}

fn select_shading_inputs(e1: &mut Entry, e2: &Entry, pattern: &SamplePattern) {
    let mut covered = [false; 4];
    for (pixel, covered) in covered.iter_mut().enumerate() {
        let centre = |e: &Entry| e.centres >> pixel & 1 == 1;
        let nearest = |e: &Entry| rank_of_nearest(pattern, pattern.pixel(e.coverage, pixel));
        let rank = |e: &Entry| nearest(e).unwrap_or(u8::MAX);
        let second = match (centre(e1), centre(e2)) {
            (true, true) => e2.inputs[pixel] < e1.inputs[pixel],
            (false, false) => rank(e2) < rank(e1),
            (_, second) => second,
        };
        *covered = centre(e1) || centre(e2) || rank(e1).min(rank(e2)) != u8::MAX;
        if second {
            e1.inputs[pixel] = e2.inputs[pixel];
        }
    }
    let chosen = e1.inputs;
    for pixel in (0..4).filter(|&p| !covered[p]) {
        let neighbours = [pixel ^ 1, pixel ^ 2, pixel ^ 3];
        if let Some(&neighbour) = neighbours.iter().find(|&&n| covered[n]) {
            e1.inputs[pixel] = chosen[neighbour];
        }
    }
}

/// The unit: its entries, oldest first.
pub(super) struct SlowQuadFragmentMerging<'a> {
    settings: QfmSettings,
    pattern: &'a SamplePattern,
    entries: Vec<Entry>,
    emitted: Vec<MergedQuad>,
    next: u32,
    topology: Topology,
    grid: usize,
}

impl<'a> SlowQuadFragmentMerging<'a> {
    pub(super) fn new(settings: QfmSettings, pattern: &'a SamplePattern) -> Self {
        Self {
            settings,
            pattern,
            entries: Vec::new(),
            emitted: Vec::new(),
            next: 0,
            topology: Topology::default(),
            grid: 0,
        }
    }

    fn submit(&mut self, entry: &Entry) {
        if entry.coverage != 0 {
            self.emitted.push(MergedQuad {
                leader: entry.leader,
                coverage: entry.coverage,
                inputs: entry.inputs,
            });
        }
    }

    /// Merges `e` into one of the N most recent entries of its set; returns whether it could.
    fn try_merge(&mut self, e: &Entry) -> bool {
        let set: Vec<usize> =
            (0..self.entries.len()).filter(|&k| same_set(&self.entries[k], e)).collect();
        let recent = set.iter().rev().take(self.settings.candidates as usize);
        let Some(&k) = recent.clone().find(|&&k| can_merge(&self.entries[k], e)) else {
            return false;
        };
        merge(&mut self.entries[k], e, self.pattern);
        if self.entries[k].coverage == self.pattern.full_quad() {
            let full = self.entries.remove(k);
            self.submit(&full);
        }
        true
    }

    fn evict(&mut self) {
        let e = self.entries.remove(0);
        if !(self.settings.merge_at_eviction && self.try_merge(&e)) {
            self.submit(&e);
        }
    }
}

impl Oracle for SlowQuadFragmentMerging<'_> {
    fn begin_grid(&mut self, topology: &Topology) {
        self.topology.clone_from(topology);
        self.grid += 1;
    }

    fn push(&mut self, fragment: &QuadFragment) {
        let number = self.next;
        self.next += 1;
        if fragment.coverage == 0 && !self.settings.empties {
            return;
        }
        let neighbours = self.topology.neighbours[usize::from(fragment.triangle)];
        let neighbours = neighbours.into_iter().filter(|&n| n != NO_NEIGHBOUR);
        let e = Entry {
            position: fragment.position,
            facing: fragment.is_front,
            coverage: fragment.coverage,
            centres: fragment.centres,
            inputs: [number; 4],
            leader: number,
            tri_mask: [(self.grid, fragment.triangle)].into(),
            adj_mask: neighbours.map(|n| (self.grid, n)).collect(),
            grid: self.grid,
        };
        if self.try_merge(&e) {
            return;
        }
        if e.coverage == self.pattern.full_quad() {
            self.submit(&e);
            return;
        }
        let entries = self.settings.entries.map_or(usize::MAX, |e| e as usize);
        if self.entries.len() == entries {
            self.evict();
        }
        self.entries.push(e);
    }

    fn flush(&mut self) {
        while !self.entries.is_empty() {
            self.evict();
        }
    }

    fn emitted(&self) -> &[MergedQuad] {
        &self.emitted
    }
}
