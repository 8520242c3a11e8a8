//! Stage between the depth test and the shader: quad-fragment merging ("Reducing Shading on GPUs using Quad-Fragment
//! Merging", sections 3 and 4.1.2), the pixel merge unit ("Pixel Merge Unit", section 4), or neither.
//!
//! Input: beats of quads, grid by grid and draw by draw; for quad-fragment merging also quads without coverage. Output:
//! quads for the shader, in the order of the [`MergeUnit`](quadrille_mesh::merge::MergeUnit), one per cycle. Rate: one
//! look-up per cycle ([`QfmSpec`], [`PmuSpec`]), or several.
//!
//! A look-up of quad-fragment merging reads the buffer as earlier fragments leave it: a fragment waits until the last
//! fragment at its position is written, `compare_cycles` after its look-up. The pixel merge unit compares a quad with the
//! entries at its position one after the other. A quad that evicts the oldest entry waits a cycle for it. The unit is
//! emptied, one entry per look-up, before the first quad of another grid (QFM) or draw (PMU), before blended quads, and at
//! the end (assumption: the papers do not say when entries of finished grids leave). Quads whose shader bars pixel merging
//! bypass the pixel merge unit.

use std::collections::VecDeque;

use super::draw_state::{Fragment, MeshDrawState};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_machine::{
    Beat, Cycle, IssuePort, Quad, Rate, Sink, Stage, StallReason, Unit, Visitor,
};
use quadrille_mesh::merge::merged_samples::MergedSamples;
use quadrille_mesh::merge::pmu::PmuSpec;
use quadrille_mesh::merge::qfm::QfmSpec;
use quadrille_mesh::merge::{
    MergeCounters, MergeDriver, MergeScope, MergeUnitKind, PmuSettings, QfmSettings,
};

/// Merging unit with its timing.
#[derive(Debug)]
pub struct TimedMergeUnit {
    name: &'static str,
    driver: MergeDriver,
    write_cycles: u64,
    /// Look-up slots of the port that a comparison with one entry takes.
    cycles_per_entry: u64,
    output_free: Cycle,
    port: IssuePort,
    samples: MergedSamples,
    grid: Option<u32>,
    draw: Option<(u32, bool)>,
    /// Quads of the last look-ups, by index in memory, with the cycles of their writes.
    written: VecDeque<(u32, Cycle)>,
    out: Vec<Quad>,
}

impl TimedMergeUnit {
    /// Creates an empty quad-fragment merging unit with the times of `spec`.
    pub fn qfm(spec: &QfmSpec, settings: QfmSettings, pattern: &'static SamplePattern) -> Self {
        Self {
            write_cycles: spec.compare_cycles,
            ..Self::new(
                MergeUnitKind::Qfm(settings),
                Rate::of(spec.quads_per_cycle, 1),
                spec.latency_cycles,
                pattern,
            )
        }
    }

    /// Creates an empty pixel merge unit with the times of `spec`.
    pub fn pmu(spec: &PmuSpec, settings: PmuSettings, pattern: &'static SamplePattern) -> Self {
        Self {
            cycles_per_entry: spec.compare_cycles,
            ..Self::new(
                MergeUnitKind::Pmu(settings),
                Rate::of(spec.quads_per_cycle, 1),
                spec.latency_cycles,
                pattern,
            )
        }
    }

    fn new(unit: MergeUnitKind, rate: Rate, latency: u64, pattern: &'static SamplePattern) -> Self {
        Self {
            name: unit.name(),
            driver: MergeDriver::new(unit.build(), pattern),
            write_cycles: 0,
            cycles_per_entry: 0,
            output_free: 0,
            port: IssuePort::new(rate, latency),
            samples: MergedSamples::default(),
            grid: None,
            draw: None,
            written: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// Cycle of the last write of quad `index`; 0 if it is not after `arrival`.
    fn write_of_last(&mut self, index: u32, arrival: Cycle) -> Cycle {
        while self.written.front().is_some_and(|&(_, at)| at <= arrival) {
            self.written.pop_front();
        }
        self.written.iter().rev().find(|(other, _)| *other == index).map_or(0, |&(_, at)| at)
    }

    /// Returns the cycle in which a quad that arrived at `arrival` is looked up: not before `not_before`, and after
    /// `evictions` cycles for entries that leave.
    fn look_up(&mut self, arrival: Cycle, not_before: Cycle, evictions: u64) -> Cycle {
        let mut start = self.port.start(arrival);
        if not_before > start {
            self.port.hold_until(not_before, StallReason::Contended);
            start = not_before;
        }
        if evictions > 0 {
            start += evictions;
            self.port.hold_until(start, StallReason::Full);
        }
        start
    }

    fn collect(&mut self, state: &mut MeshDrawState) {
        let stream = &self.driver.stream;
        let draw = self.draw.map_or(0, |(draw, _)| draw);
        for merged in &stream.out {
            let (index, parts) = self.samples.leave(merged, stream);
            self.out.push(state.shader_quad(index, draw, parts));
        }
        self.driver.stream.out.clear();
    }

    /// Issues the quads that leave at a look-up at `start`, one per cycle. Occupies the port for at least `slots` look-ups.
    fn send(
        &mut self,
        start: Cycle,
        slots: u64,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) {
        let sent = self.out.len() as u64;
        for quad in self.out.drain(..) {
            let at = self.port.start(start).max(self.output_free);
            self.port.issue(quad, at, 1, state, next);
            // Several look-ups share a cycle, but the output takes one quad per cycle.
            self.output_free = at + 1;
        }
        if sent < slots {
            self.port.work_on(start, slots - sent);
        }
    }

    fn push(
        &mut self,
        fragment: &Fragment,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        let is_barred = self.driver.unit.rules().bars(fragment.has_effects, fragment.is_blended);
        let position = fragment.quad.position;
        let mut compared = 0;
        if is_barred {
            // The entries are older and may lie behind this quad, so they leave first.
            self.flush(arrival, state, next);
        } else if self.driver.unit.occupancy() == 0 {
            self.forget();
        } else {
            compared = self.driver.unit.compared_at(position);
        }
        let index = state.depths.index(position);
        self.samples.push(fragment.shown(index), state.depths.quads());
        let before = self.driver.unit.made_room();
        self.driver.push(&fragment.quad, is_barred);
        let evictions = self.driver.unit.made_room() - before;
        self.collect(state);
        let not_before = self.write_of_last(index, arrival);
        let start = self.look_up(arrival, not_before, evictions);
        // Without a write delay, no later look-up waits for this one.
        if self.write_cycles > 0 {
            self.written.push_back((index, start + self.write_cycles));
        }
        self.send(start, (compared * self.cycles_per_entry).max(1), state, next);
        start
    }

    fn flush(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) {
        while self.driver.unit.occupancy() > 0 {
            self.driver.unit.evict(&mut self.driver.stream);
            self.collect(state);
            let start = self.port.start(at);
            self.send(start, 1, state, next);
        }
        self.forget();
        self.written.clear();
    }

    fn forget(&mut self) {
        self.driver.stream.fragments.clear();
        self.samples.clear();
    }
}

impl Unit for TimedMergeUnit {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity(self.name, &mut self.port.activity);
        visitor.statistics("merge", &self.driver.counters());
    }
}

impl Stage<MeshDrawState> for TimedMergeUnit {
    type In = Beat;
    type Out = Quad;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        let mut left = arrival;
        for quad in beat.quads.iter() {
            let fragment = state.fragments.remove(quad.primitive as usize);
            let is_blended = fragment.is_blended;
            let (grid, draw) = (Some(fragment.grid), Some((fragment.draw, is_blended)));
            let leaves_scope = match self.driver.unit.rules().scope {
                MergeScope::Grid => self.grid != grid,
                MergeScope::Draw => self.draw != draw,
            };
            if leaves_scope {
                self.flush(arrival, state, next);
            }
            if self.grid != grid {
                (self.driver.unit).begin_grid(&state.topology, is_blended);
            }
            (self.grid, self.draw) = (grid, draw);
            left = self.push(&fragment, arrival, state, next);
        }
        left
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        self.flush(at, state, next);
        at.max(self.port.done())
    }
}

/// Stage without merging: quads that pass the depth test go to the shader unchanged, at the rate of the port towards the
/// shader cores (VR-Pipe, section III-B) and without latency.
#[derive(Debug)]
pub struct Passthrough {
    port: IssuePort,
    counters: MergeCounters,
}

impl Passthrough {
    /// Creates an idle stage with a port of `quads_per_cycle`.
    pub fn new(quads_per_cycle: Rate) -> Self {
        Self { port: IssuePort::new(quads_per_cycle, 0), counters: MergeCounters::default() }
    }
}

impl Unit for Passthrough {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("passthrough", &mut self.port.activity);
        visitor.statistics("merge", &self.counters);
    }
}

impl Stage<MeshDrawState> for Passthrough {
    type In = Beat;
    type Out = Quad;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        let mut start = arrival;
        for quad in beat.quads.iter() {
            let fragment = state.fragments.remove(quad.primitive as usize);
            let coverage = fragment.quad.coverage;
            self.counters.partial += u64::from(state.pattern().has_partial_pixel(coverage));
            let index = state.depths.index(fragment.quad.position);
            let parts = fragment.shown(index).owned(coverage).collect();
            let quad = state.shader_quad(index, fragment.draw, parts);
            start = self.port.issue_on(quad, arrival, 1, state, next);
        }
        start
    }

    fn done(&self) -> Cycle {
        self.port.done()
    }
}
