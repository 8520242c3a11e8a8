//! Setup: the edge functions of a primitive.
//!
//! In: primitives. Out: the same with their edges, in order. Rate: one a cycle.

use crate::pipeline::packets::{Primitive, SetUp};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Pipe, Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::raster::outline::Screen;

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

/// The unit.
#[derive(Debug)]
pub struct Setup {
    cycles: u64,
    /// Issue port.
    pub pipe: Pipe,
    /// Primitives in, all of which go out: assembly dropped those without area.
    pub primitives: u64,
}

impl Setup {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &SetupSpec) -> Self {
        Self {
            cycles: spec.cycles_per_primitive,
            pipe: Pipe::new(spec.latency_cycles),
            primitives: 0,
        }
    }
}

impl<M: Screen> Stage<M> for Setup {
    type In = Primitive;
    type Out = SetUp<M::Outline>;

    fn accept(
        &mut self,
        primitive: Primitive,
        arrival: Cycle,
        machine: &mut M,
        next: &mut impl Sink<SetUp<M::Outline>, M>,
    ) -> Cycle {
        self.primitives += 1;
        let start = self.pipe.start(arrival);
        match machine.outline(&primitive.shape) {
            None => self.pipe.work(start, self.cycles),
            Some(outline) => {
                let set_up = SetUp {
                    splat: primitive.splat,
                    outline,
                    bounds: primitive.bounds,
                };
                self.pipe.issue(set_up, start, self.cycles, machine, next);
            }
        }
        start
    }

    fn drain(
        &mut self,
        at: Cycle,
        _machine: &mut M,
        _next: &mut impl Sink<SetUp<M::Outline>, M>,
    ) -> Cycle {
        at.max(self.pipe.done())
    }
}
