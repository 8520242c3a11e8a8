//! Pixel merging in cycles: [`PixelMerge`] behind the depth test ("Pixel Merge Unit", section 4).
//!
//! In: beats of quads, draw by draw. Out: quads for the shader, in the order of [`PixelMerge`], one
//! a cycle. Rate: a quad a cycle ([`PmuSpec`]), but no faster than it is compared with the entries
//! at its place and than what leaves because of it. A quad that makes the oldest entry leave waits a
//! cycle for it. When the first quad of another draw comes, and at the end, the unit is emptied, an
//! entry a cycle. Quads whose shader bars merging pixels go straight through.

use super::machine::{Fragment, MeshMachine};
use super::membership::Membership;
use super::outcome::{MergeStage, UnitCounters};
use super::port::Port;
use crate::mesh::merge::pmu::{PixelMerge, PmuCounters, PmuSettings, PmuSpec};
use crate::mesh::merge::{MergedQuad, Merging};
use crate::pipeline::packets::{Beat, Quad};
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

/// The unit.
#[derive(Debug)]
pub struct TimedPixelMerge {
    unit: PixelMerge,
    compare_cycles: u64,
    port: Port,
    members: Membership,
    /// The draw whose quads come.
    draw: Option<u32>,
    merged: Vec<MergedQuad>,
    out: Vec<Quad>,
    counters: UnitCounters,
}

impl TimedPixelMerge {
    /// An empty unit with the times of `spec` and the sizes of `settings`.
    #[must_use]
    pub fn new(spec: &PmuSpec, settings: PmuSettings) -> Self {
        Self {
            unit: PixelMerge::new(settings),
            compare_cycles: spec.compare_cycles,
            port: Port::new(spec.quads_per_cycle, spec.latency_cycles),
            members: Membership::new(),
            draw: None,
            merged: Vec::new(),
            out: Vec::new(),
            counters: UnitCounters::default(),
        }
    }

    /// What the unit counted.
    #[must_use]
    pub fn pmu(&self) -> &PmuCounters {
        &self.unit.counters
    }

    /// Turns what left the unit into quads for the shader.
    fn collect(&mut self, machine: &mut MeshMachine) {
        for merged in self.merged.drain(..) {
            self.out.push(self.members.leave(&merged, machine));
        }
    }

    /// Takes a quad that arrived at `arrival`; returns when it was looked up.
    fn push(
        &mut self,
        fragment: &Fragment,
        arrival: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        let from = (fragment.owner, fragment.draw);
        let quad = &fragment.quad;
        let (mut aged, mut compared) = (0, 0);
        if fragment.is_barred {
            // What is held came first and may lie below.
            self.flush(arrival, machine, next);
            self.counters.barred += 1;
            self.out.push(machine.alone(from, quad));
        } else {
            if self.unit.held() == 0 {
                self.members.clear();
            }
            compared = self.unit.held_at(quad.place);
            self.members.expect(from, quad, machine);
            let before = self.unit.counters.by_age;
            let merged = &mut self.merged;
            let merges = &mut self.members.merges;
            let pattern = machine.pattern();
            self.unit
                .push(quad, pattern, merges, &mut |m| merged.push(m));
            aged = self.unit.counters.by_age - before;
            self.collect(machine);
        }
        let start = self.port.look_up(arrival, 0, aged);
        let cycles = (compared * self.compare_cycles).max(1);
        self.port.send(&mut self.out, start, cycles, machine, next);
        start
    }

    /// Empties the unit from `at` on, an entry a cycle.
    fn flush(
        &mut self,
        at: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) {
        let merged = &mut self.merged;
        let merges = &mut self.members.merges;
        let pattern = machine.pattern();
        self.unit.flush(pattern, merges, &mut |m| merged.push(m));
        self.collect(machine);
        if !self.out.is_empty() {
            let start = self.port.pipe.start(at);
            self.port.send(&mut self.out, start, 1, machine, next);
        }
        self.members.clear();
    }
}

impl Unit for TimedPixelMerge {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("merge", &mut self.port.pipe.activity);
    }
}

impl Stage<MeshMachine> for TimedPixelMerge {
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
            if self.draw != Some(fragment.draw) {
                self.flush(arrival, machine, next);
                self.draw = Some(fragment.draw);
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

impl MergeStage for TimedPixelMerge {
    fn counters(&self) -> UnitCounters {
        UnitCounters {
            pmu: Some(self.unit.counters),
            ..self.counters
        }
    }
}
