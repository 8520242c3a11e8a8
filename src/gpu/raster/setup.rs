//! Setup: the edge functions of a primitive.
//!
//! In: primitives. Out: the same with their edges, in order. Rate: one a cycle.

use crate::gpu::raster::screen::Screen;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{Primitive, SetUp};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

spec! {
    /// Setup.
    SetupSpec in "setup" {
        /// Primitives in the queue before it.
        queue: u64 = 32, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles a primitive.
        cycles_per_primitive: u64 = 1, 1..=1024, Assumed "one triangle a cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 10, 0..=10_000, Assumed "as public GPGPU graphics simulators have";
    }
}

statistics! {
    /// What went through.
    pub struct SetupCounters {
        /// Primitives in, all of which go out: assembly dropped those without area.
        pub primitives: u64,
    }
}

/// The unit.
#[derive(Debug)]
pub struct Setup {
    cycles: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: SetupCounters,
}

impl Setup {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &SetupSpec) -> Self {
        Self {
            cycles: spec.cycles_per_primitive,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: SetupCounters::default(),
        }
    }
}

impl Unit for Setup {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("setup", &mut self.pipe.activity);
        visitor.statistics("setup", &self.counters);
    }
}

impl<M: Screen> Stage<M> for Setup {
    type In = Primitive;
    type Out = SetUp<M::Outline>;

    fn accept(
        &mut self,
        primitive: Primitive,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<SetUp<M::Outline>, M>,
    ) -> Cycle {
        self.counters.primitives += 1;
        let start = self.pipe.start(arrival);
        match state.outline(&primitive.shape) {
            None => self.pipe.work(start, self.cycles),
            Some(outline) => {
                let set_up = SetUp {
                    primitive: primitive.primitive,
                    outline,
                    bounds: primitive.bounds,
                };
                self.pipe.issue(set_up, start, self.cycles, state, next);
            }
        }
        start
    }

    fn drain(
        &mut self,
        at: Cycle,
        _state: &mut M,
        _next: &mut impl Sink<SetUp<M::Outline>, M>,
    ) -> Cycle {
        at.max(self.pipe.done())
    }
}
