//! A merging unit in cycles, behind the depth test: quad-fragment merging ("Reducing Shading on GPUs
//! using Quad-Fragment Merging", sections 3 and 4.1.2) or the pixel merge unit ("Pixel Merge Unit",
//! section 4).
//!
//! In: beats of quads, grid by grid and draw by draw; for quad-fragment merging also quads without
//! coverage. Out: quads for the shader, in the order of the [`MergeUnit`](crate::mesh::merge::MergeUnit),
//! one per cycle. Rate: one quad per cycle ([`QfmSpec`], [`PmuSpec`]).
//!
//! A look-up of quad-fragment merging reads the buffer as the fragments before have left it: one at
//! the position of another waits until that one has been written, `compare_cycles` after its own
//! look-up. The pixel merge unit compares a quad with the entries at its position one after the
//! other. A quad that makes the oldest entry leave waits a cycle for it. When the first quad of
//! another grid (QFM) or draw (PMU) comes, and at the end, the unit is emptied, an entry per cycle
//! (assumption: the papers do not say when entries of finished grids leave). Quads whose shader bars
//! pixel merging go straight through the pixel merge unit.

use std::collections::VecDeque;

use super::draw_state::{Fragment, MeshDrawState};
use super::merged_samples::MergedSamples;
use crate::mesh::merge::pmu::PmuSpec;
use crate::mesh::merge::qfm::QfmSpec;
use crate::mesh::merge::{MergeDriver, MergeUnitKind, PmuSettings, QfmSettings, Scope};
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{Beat, Quad};
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::{Cycle, StallReason};
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::samples::SamplePattern;

/// What a look-up costs.
#[derive(Debug, Clone, Copy)]
enum Comparison {
    /// Cycles until its result is in the buffer.
    Pipelined(u64),
    /// Cycles of the port for each entry at the quad's position.
    Serial(u64),
}

/// The unit: look-ups on one side, one quad per cycle on the other.
#[derive(Debug)]
pub struct TimedMerge {
    driver: MergeDriver,
    comparison: Comparison,
    quads_per_cycle: u64,
    /// Number of look-ups in cycle `at`.
    used: u64,
    at: Cycle,
    /// The first cycle in which the output is free.
    output_free: Cycle,
    /// Issue port of the rigid pipeline between input and output.
    port: IssuePort,
    samples: MergedSamples,
    /// The grid and the draw whose quads come.
    grid: Option<u32>,
    draw: Option<u32>,
    /// Positions of fragments looked up last, and when each will have been written.
    written: VecDeque<(u32, Cycle)>,
    out: Vec<Quad>,
}

impl TimedMerge {
    /// An empty quad-fragment merging unit with the times of `spec` and the sizes of `settings`.
    #[must_use]
    pub fn qfm(spec: &QfmSpec, settings: QfmSettings, pattern: &'static SamplePattern) -> Self {
        let driver = MergeDriver::new(MergeUnitKind::Qfm(settings).unit(), pattern);
        let comparison = Comparison::Pipelined(spec.compare_cycles);
        Self::new(
            driver,
            comparison,
            spec.quads_per_cycle,
            spec.latency_cycles,
        )
    }

    /// An empty pixel merge unit with the times of `spec` and the sizes of `settings`.
    #[must_use]
    pub fn pmu(spec: &PmuSpec, settings: PmuSettings, pattern: &'static SamplePattern) -> Self {
        let driver = MergeDriver::new(MergeUnitKind::Pmu(settings).unit(), pattern);
        let comparison = Comparison::Serial(spec.compare_cycles);
        Self::new(
            driver,
            comparison,
            spec.quads_per_cycle,
            spec.latency_cycles,
        )
    }

    fn new(
        driver: MergeDriver,
        comparison: Comparison,
        quads_per_cycle: u64,
        latency: u64,
    ) -> Self {
        Self {
            driver,
            comparison,
            quads_per_cycle,
            used: 0,
            at: 0,
            output_free: 0,
            port: IssuePort::new(latency),
            samples: MergedSamples::default(),
            grid: None,
            draw: None,
            written: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// When the fragment at a position that was looked up last will have been written.
    fn writes(&mut self, index: u32, arrival: Cycle) -> Cycle {
        while self.written.front().is_some_and(|&(_, at)| at <= arrival) {
            self.written.pop_front();
        }
        let same = self.written.iter().rev().find(|(other, _)| *other == index);
        same.map_or(0, |&(_, at)| at)
    }

    /// When a quad that arrived at `arrival` is looked up, no earlier than `not_before` and
    /// `evictions` cycles after its turn.
    fn look_up(&mut self, arrival: Cycle, not_before: Cycle, evictions: u64) -> Cycle {
        let shares = self.used < self.quads_per_cycle
            && evictions == 0
            && self.at >= arrival.max(not_before)
            && self.port.free() == self.at + 1;
        if shares {
            self.used += 1;
            return self.at;
        }
        let mut start = self.port.start(arrival);
        if not_before > start {
            self.port.hold_until(not_before, StallReason::Contended);
            start = not_before;
        }
        if evictions > 0 {
            start += evictions;
            self.port.hold_until(start, StallReason::Full);
        }
        (self.used, self.at) = (1, start);
        start
    }

    /// Turns the quads that left the unit into quads for the shader.
    fn collect(&mut self, state: &mut MeshDrawState) {
        let stream = &self.driver.stream;
        for merged in &stream.out {
            self.out.push(self.samples.leave(merged, stream, state));
        }
        self.driver.stream.out.clear();
    }

    /// Hands the quads on that a look-up at `start` let go, one per cycle; it takes `cycles` at
    /// least.
    fn send(
        &mut self,
        start: Cycle,
        cycles: u64,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) {
        let mut at = start;
        let sent = self.out.len() as u64;
        for quad in self.out.drain(..) {
            at = at.max(self.output_free);
            self.port.issue(quad, at, 1, state, next);
            at = self.port.free();
            self.output_free = at;
        }
        if sent < cycles {
            self.port.work(at, cycles - sent);
        }
    }

    /// Takes a fragment that arrived at `arrival`; returns when it was looked up.
    fn push(
        &mut self,
        fragment: &Fragment,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        let is_barred = self.driver.unit.rules().bypassed_by_effects && fragment.is_barred;
        let position = fragment.quad.position;
        let mut compared = 0;
        if is_barred {
            // What is held came first and may lie below.
            self.flush(arrival, state, next);
        } else if self.driver.unit.held() == 0 {
            self.forget();
        } else {
            compared = self.driver.unit.compared_at(position);
        }
        let index = state.depths.index(position);
        self.samples.push(fragment, index, state.depths.quads());
        let before = self.driver.unit.made_room();
        self.driver.push(&fragment.quad, is_barred);
        let evictions = self.driver.unit.made_room() - before;
        self.collect(state);
        match self.comparison {
            Comparison::Pipelined(cycles) => {
                let not_before = self.writes(index, arrival);
                let start = self.look_up(arrival, not_before, evictions);
                self.written.push_back((index, start + cycles));
                self.send(start, 1, state, next);
                start
            }
            Comparison::Serial(cycles) => {
                let start = self.look_up(arrival, 0, evictions);
                self.send(start, (compared * cycles).max(1), state, next);
                start
            }
        }
    }

    /// Empties the unit from `at` on, an entry per cycle.
    fn flush(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) {
        while self.driver.unit.held() > 0 {
            self.driver.unit.evict(&mut self.driver.stream);
            self.collect(state);
            let start = self.port.start(at);
            self.send(start, 1, state, next);
        }
        self.forget();
        self.written.clear();
    }

    /// Numbers fragments from 0 again: the unit is empty.
    fn forget(&mut self) {
        self.driver.stream.fragments.clear();
        self.samples.clear();
    }
}

impl Unit for TimedMerge {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("merge", &mut self.port.activity);
        visitor.statistics("merge", &self.driver.counters());
    }
}

impl Stage<MeshDrawState> for TimedMerge {
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
            let fragment = state.arrived(quad);
            let (grid, draw) = (Some(fragment.grid), Some(fragment.draw));
            let leaves_scope = match self.driver.unit.rules().scope {
                Scope::Grid => self.grid != grid,
                Scope::Draw => self.draw != draw,
            };
            if leaves_scope {
                self.flush(arrival, state, next);
            }
            if self.grid != grid {
                self.driver.unit.begin_grid(&state.topology);
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
