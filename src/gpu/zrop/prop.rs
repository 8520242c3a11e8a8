//! PROP: takes flushed quads in order and passes them to the tests (VR-Pipe, sections III-B and
//! V-A). Its other port, towards the shader cores, is where quad reordering packs warps.
//!
//! In and out: beats of quads, in order. Rate: quads a cycle.

use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::Beat;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

spec! {
    /// PROP, both ports.
    PropSpec in "prop" {
        /// Beats in the queue before it.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Quads a cycle from tile coalescing to the tests.
        quads_in_per_cycle: u64 = 8, 1..=8, Assumed "as tile coalescing; VR-Pipe's 2.78x forces more than 5.56";
        /// Quads a cycle from the tests to warps.
        quads_out_per_cycle: u64 = 4, 1..=64, Assumed "VR-Pipe Fig. 20b forces 16 pixels a cycle at least";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "a small queue and an arbiter";
    }
}

statistics! {
    /// What went through.
    pub struct PropCounters {
        /// Quads in, all of which go out.
        pub quads_in: u64,
    }
}

/// The unit's port from tile coalescing to the tests.
#[derive(Debug)]
pub struct Prop {
    quads_per_cycle: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: PropCounters,
}

impl Prop {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &PropSpec) -> Self {
        Self {
            quads_per_cycle: spec.quads_in_per_cycle,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: PropCounters::default(),
        }
    }
}

impl Unit for Prop {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("prop", &mut self.pipe.activity);
        visitor.statistics("prop", &self.counters);
    }
}

impl<M> Stage<M> for Prop {
    type In = Beat;
    type Out = Beat;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> Cycle {
        let quads = beat.quads.len() as u64;
        self.counters.quads_in += quads;
        let start = self.pipe.start(arrival);
        let cycles = quads.div_ceil(self.quads_per_cycle).max(1);
        self.pipe.issue(beat, start, cycles, state, next);
        start
    }

    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Beat, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}
