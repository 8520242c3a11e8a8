//! Setup computes the edge functions of primitives.
//!
//! Input: primitives. Output: primitives with edge functions, in order. Rate: one per cycle.

use crate::raster::screen::Screen;
use quadrille_machine::{
    IssuePort, Primitive, Process, Rate, Rigid, RigidUnit, SetUp, spec, statistics,
};

spec! {
    /// Configuration of triangle setup.
    SetupSpec in "setup" {
        /// Capacity of the input queue, in primitives.
        queue: u64 = 32, 1..=65_536, Assumed "as in public GPGPU graphics simulators";
        /// Primitives per cycle.
        primitives_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "one triangle per cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 10, 0..=10_000, Assumed "as in public GPGPU graphics simulators";
    }
}

statistics! {
    /// Statistics of setup.
    pub struct SetupCounters {
        /// Primitives received. All of them are emitted, since assembly has dropped primitives without area.
        pub primitives: u64,
    }
}

/// Setup unit, in front of the coarse raster.
pub type Setup = RigidUnit<SetupSpec>;

impl Rigid for SetupSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = SetupCounters;

    fn port(&self) -> IssuePort {
        IssuePort::new(self.primitives_per_cycle, self.latency_cycles)
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
        (1, set_up)
    }
}
