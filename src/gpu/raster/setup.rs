//! Setup computes the edge functions of primitives.
//!
//! Input: primitives. Output: primitives with edge functions, in order. Rate: one per cycle.

use crate::gpu::raster::screen::Screen;
use crate::pipeline::packets::{Primitive, SetUp};
use crate::pipeline::rigid_unit::{Process, Rigid, RigidUnit};
use crate::pipeline::spec::spec;
use crate::pipeline::statistics::statistics;

spec! {
    /// Setup.
    SetupSpec in "setup" {
        /// Primitives in the queue before it.
        queue: u64 = 32, 1..=65_536, Assumed "as public GPGPU graphics simulators have";
        /// Cycles per primitive.
        cycles_per_primitive: u64 = 1, 1..=1024, Assumed "one triangle per cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 10, 0..=10_000, Assumed "as public GPGPU graphics simulators have";
    }
}

statistics! {
    /// Statistics of setup.
    pub struct SetupCounters {
        /// Primitives in, all of which are emitted: assembly drops those without area.
        pub primitives: u64,
    }
}

/// The setup unit.
pub type Setup = RigidUnit<SetupSpec>;

impl Rigid for SetupSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = SetupCounters;

    fn latency_cycles(&self) -> u64 {
        self.latency_cycles
    }
}

impl<M: Screen> Process<M> for SetupSpec {
    type In = Primitive;
    type Out = SetUp<M::Outline>;

    fn process(
        &self,
        primitive: Primitive,
        counters: &mut SetupCounters,
        state: &M,
    ) -> (u64, Option<Self::Out>) {
        counters.primitives += 1;
        let set_up = state.outline(&primitive.shape).map(|outline| SetUp {
            primitive: primitive.primitive,
            outline,
            bounds: primitive.bounds,
        });
        (self.cycles_per_primitive, set_up)
    }
}
