//! Warp launch: hands warps to the shader cores, one a cycle, once one of their slots is free.
//!
//! In and out: warps, in order.

use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::Warp;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

spec! {
    /// Warp launch.
    LaunchSpec in "launch" {
        /// Warps in the queue before it.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Cycles a warp.
        cycles_per_warp: u64 = 1, 1..=1024, Assumed "one warp a cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 20, 0..=10_000, Assumed "attribute set-up and the way to a core";
    }
}

statistics! {
    /// What was launched.
    pub struct LaunchCounters {
        /// Warps launched.
        pub warps: u64,
        /// Quads in them.
        pub quads: u64,
    }
}

/// The unit.
#[derive(Debug)]
pub struct Launch {
    cycles: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: LaunchCounters,
}

impl Launch {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &LaunchSpec) -> Self {
        Self {
            cycles: spec.cycles_per_warp,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: LaunchCounters::default(),
        }
    }
}

impl Unit for Launch {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("launch", &mut self.pipe.activity);
        visitor.statistics("launch", &self.counters);
    }
}

impl<M> Stage<M> for Launch {
    type In = Warp;
    type Out = Warp;

    fn accept(
        &mut self,
        warp: Warp,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Warp, M>,
    ) -> Cycle {
        self.counters.warps += 1;
        self.counters.quads += warp.quads.len() as u64;
        let start = self.pipe.start(arrival);
        self.pipe.issue(warp, start, self.cycles, state, next);
        start
    }

    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Warp, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}
