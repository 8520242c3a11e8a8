//! Packing: groups quads into warps for the shader (VR-Pipe, section III-B: the port from PROP to
//! the shader cores).
//!
//! In: quads at any position. Out: warps of up to 8 quads, in order. Rate: quads per cycle. A warp
//! leaves when it is full, when a quad of another draw arrives, and at the end (assumption: draws
//! differ in state, and there is no time-out).

use arrayvec::ArrayVec;
use serde::Serialize;

use super::draw_state::MeshDrawState;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{Quad, WARP_QUADS, Warp};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::{Activity, Cycle, RateLimiter, StallReason};
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::tiles::QUADS_PER_TILE;

spec! {
    /// Packing of warps.
    PackSpec in "pack" {
        /// Quads in the queue before it.
        queue: u64 = 16, 1..=65_536, Assumed "two warps";
        /// Quads per cycle.
        quads_per_cycle: u64 = 4, 1..=64, Assumed "as PROP's port towards the shader cores";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    /// Quads and warps.
    #[derive(Serialize)]
    pub struct PackCounters {
        /// Quads in and out.
        pub quads: u64,
        /// Warps out.
        pub warps: u64,
        /// Warps out that are not full.
        pub partial_warps: u64,
    }
}

/// Packs quads into warps.
#[derive(Debug)]
pub struct Pack {
    scan: RateLimiter,
    held: ArrayVec<Quad, WARP_QUADS>,
    draw: u32,
    input: Activity,
    output: IssuePort,
    counters: PackCounters,
}

impl Pack {
    /// Creates an empty unit.
    pub fn new(spec: &PackSpec) -> Self {
        Self {
            scan: RateLimiter::new(spec.quads_per_cycle, 1),
            held: ArrayVec::new(),
            draw: 0,
            input: Activity::default(),
            output: IssuePort::new(spec.latency_cycles),
            counters: PackCounters::default(),
        }
    }

    /// Issues the held quads as a warp no earlier than `at`, if there are any.
    fn emit(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) {
        let Some(first) = self.held.first() else {
            return;
        };
        self.counters.warps += 1;
        self.counters.partial_warps += u64::from(!self.held.is_full());
        let warp = Warp {
            tile: state.record_of(first).index / QUADS_PER_TILE,
            quads: self.held.take(),
            merge: 0,
        };
        let start = self.output.start(at);
        self.output.issue(warp, start, 1, state, next);
        // The quad that fills the next warp waits for this one.
        let free = self.output.free();
        if free > at + 1 {
            self.scan.hold_until(free);
            self.input.idle_until(free, StallReason::Blocked);
        }
    }
}

impl Unit for Pack {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("pack", &mut self.input);
        visitor.activity("pack_out", &mut self.output.activity);
        visitor.statistics("pack", &self.counters);
    }
}

impl Stage<MeshDrawState> for Pack {
    type In = Quad;
    type Out = Warp;

    fn accept(
        &mut self,
        quad: Quad,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) -> Cycle {
        self.counters.quads += 1;
        let draw = state.record_of(&quad).draw;
        if draw != self.draw {
            self.emit(arrival, state, next);
            self.draw = draw;
        }
        let at = self.scan.serve(arrival);
        self.input.idle_until(at, StallReason::Starved);
        self.input.busy_until(at + 1);
        self.held.push(quad);
        if self.held.is_full() {
            self.emit(at, state, next);
        }
        at
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) -> Cycle {
        let at = at.max(self.input.accounted());
        self.emit(at, state, next);
        at.max(self.output.done())
    }
}
