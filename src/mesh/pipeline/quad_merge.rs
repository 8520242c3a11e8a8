//! Quad-fragment merging in cycles: [`QuadMerge`] behind the depth test ("Reducing Shading on GPUs
//! using Quad-Fragment Merging", sections 3 and 4.1.2).
//!
//! In: beats of quads of one grid after the other, also those without coverage. Out: quads for the
//! shader, in the order of [`QuadMerge`], one a cycle. Rate: a fragment a cycle ([`QfmSpec`]).
//!
//! A look-up reads the buffer as the fragments before have left it: one at the place of another
//! waits until that one has been written, `compare_cycles` after its own look-up. A fragment that
//! finds the buffer full waits a cycle while the oldest entry leaves, which takes a look-up of its
//! own. When the first fragment of another grid comes, and at the end, the buffer is emptied, an
//! entry a cycle (assumption: the paper does not say when entries of finished grids leave).

use std::collections::VecDeque;

use super::machine::{Fragment, MeshMachine};
use super::membership::Membership;
use super::outcome::{MergeStage, UnitCounters};
use super::port::Port;
use crate::mesh::merge::qfm::{QfmCounters, QfmSettings, QfmSpec, QuadMerge};
use crate::mesh::merge::{MergedQuad, Merging};
use crate::pipeline::packets::{Beat, Quad};
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

/// The unit.
#[derive(Debug)]
pub struct TimedQuadMerge {
    unit: QuadMerge,
    compare_cycles: u64,
    port: Port,
    members: Membership,
    /// Number of the grid whose quads come.
    grid: Option<u32>,
    /// Places of fragments looked up last, and when each will have been written.
    written: VecDeque<(u32, Cycle)>,
    merged: Vec<MergedQuad>,
    out: Vec<Quad>,
    counters: UnitCounters,
}

/// Entries that left to make room.
fn evictions(counters: &QfmCounters) -> u64 {
    // An entry without coverage or that merged at a flush is counted in these as well: only the
    // difference over a single fragment is used.
    counters.evicted + counters.merged_at_eviction + counters.dropped_empty
}

impl TimedQuadMerge {
    /// An empty unit with the times of `spec` and the sizes of `settings`.
    #[must_use]
    pub fn new(spec: &QfmSpec, settings: QfmSettings) -> Self {
        Self {
            unit: QuadMerge::new(settings),
            compare_cycles: spec.compare_cycles,
            port: Port::new(spec.quads_per_cycle, spec.latency_cycles),
            members: Membership::new(),
            grid: None,
            written: VecDeque::new(),
            merged: Vec::new(),
            out: Vec::new(),
            counters: UnitCounters::default(),
        }
    }

    /// What the unit counted.
    #[must_use]
    pub fn qfm(&self) -> &QfmCounters {
        &self.unit.counters
    }

    /// Turns what left the buffer into quads for the shader.
    fn collect(&mut self, machine: &mut MeshMachine) {
        for merged in self.merged.drain(..) {
            self.out.push(self.members.leave(&merged, machine));
        }
    }

    /// When the fragment at a place that was looked up last will have been written.
    fn writes(&mut self, index: u32, arrival: Cycle) -> Cycle {
        while self.written.front().is_some_and(|&(_, at)| at <= arrival) {
            self.written.pop_front();
        }
        let same = self.written.iter().rev().find(|(place, _)| *place == index);
        same.map_or(0, |&(_, at)| at)
    }

    /// Takes a fragment that arrived at `arrival`; returns when it was looked up.
    fn push(
        &mut self,
        fragment: &Fragment,
        arrival: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        let pattern = machine.pattern();
        let quad = &fragment.quad;
        self.members
            .expect((fragment.owner, fragment.draw), quad, machine);
        let before = evictions(&self.unit.counters);
        let merged = &mut self.merged;
        let merges = &mut self.members.merges;
        self.unit
            .push(quad, pattern, merges, &mut |m| merged.push(m));
        let evicted = evictions(&self.unit.counters) - before;
        self.collect(machine);
        let index = machine.depths.index(quad.place);
        let not_before = self.writes(index, arrival);
        let start = self.port.look_up(arrival, not_before, evicted);
        self.written.push_back((index, start + self.compare_cycles));
        self.port.send(&mut self.out, start, 1, machine, next);
        start
    }

    /// Empties the buffer from `at` on, an entry a cycle.
    fn flush(
        &mut self,
        at: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) {
        let pattern = machine.pattern();
        while self.unit.held() > 0 {
            let merged = &mut self.merged;
            let merges = &mut self.members.merges;
            self.unit
                .evict_one(pattern, merges, &mut |m| merged.push(m));
            self.collect(machine);
            let start = self.port.pipe.start(at);
            self.port.send(&mut self.out, start, 1, machine, next);
        }
        self.members.clear();
        self.written.clear();
    }
}

impl Unit for TimedQuadMerge {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("merge", &mut self.port.pipe.activity);
    }
}

impl Stage<MeshMachine> for TimedQuadMerge {
    type In = Beat;
    type Out = Quad;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        let mut left = arrival;
        for quad in beat.quads.iter() {
            let fragment = machine.arrived(quad.primitive);
            self.counters
                .count(fragment.quad.coverage, machine.pattern());
            if self.grid != Some(fragment.grid) {
                self.flush(arrival, machine, next);
                self.grid = Some(fragment.grid);
                self.unit.begin_grid(&machine.topology);
            }
            left = self.push(&fragment, arrival, machine, next);
        }
        left
    }

    fn drain(
        &mut self,
        at: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        self.flush(at, machine, next);
        at.max(self.port.pipe.done())
    }
}

impl MergeStage for TimedQuadMerge {
    fn counters(&self) -> UnitCounters {
        UnitCounters {
            qfm: Some(self.unit.counters),
            ..self.counters
        }
    }
}
