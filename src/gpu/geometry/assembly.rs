//! Primitive assembly (VPO): culls invisible primitives and computes bounding boxes (VR-Pipe, section V-A).
//!
//! Input: primitives. Output: primitives with pixel bounds, in order. Rate: one per cycle.

use crate::raster::screen::Screen;
use quadrille_machine::{IssuePort, Primitive, Process, Rate, Rigid, RigidUnit, spec, statistics};

spec! {
    /// Configuration of primitive assembly.
    AssemblySpec in "vpo" {
        /// Capacity of the input queue, in primitives.
        queue: u64 = 2, 1..=65_536, Assumed "two primitives in flight, as in public GPGPU graphics simulators";
        /// Primitives per cycle.
        primitives_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "one triangle per cycle, as in public GPGPU graphics simulators";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "as in public GPGPU graphics simulators";
    }
}

statistics! {
    /// Primitives by outcome.
    pub struct AssemblyCounters {
        /// Primitives received.
        pub primitives_in: u64,
        /// Primitives emitted.
        pub primitives_out: u64,
        /// Primitives culled because they have no area.
        pub degenerate: u64,
        /// Primitives culled because their bounding box contains no pixel centre of the picture.
        pub off_screen: u64,
    }
}

/// Primitive assembly unit, behind vertex shading.
pub type Assembly = RigidUnit<AssemblySpec>;

impl Rigid for AssemblySpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = AssemblyCounters;

    fn port(&self) -> IssuePort {
        IssuePort::new(self.primitives_per_cycle, self.latency_cycles)
    }
}

impl<M: Screen> Process<M> for AssemblySpec {
    type In = Primitive;
    type Out = Primitive;

    fn process(
        &self,
        primitive: Primitive,
        counters: &mut AssemblyCounters,
        state: &M,
    ) -> (u64, Option<Primitive>) {
        counters.primitives_in += 1;
        let bounds = state.bounds(&primitive.shape);
        let out = match bounds.map(|bounds| bounds.intersect(state.rect())) {
            None => {
                counters.degenerate += 1;
                None
            }
            Some(bounds) if bounds.is_empty() => {
                counters.off_screen += 1;
                None
            }
            Some(bounds) => {
                counters.primitives_out += 1;
                Some(Primitive { bounds, ..primitive })
            }
        };
        (1, out)
    }
}
