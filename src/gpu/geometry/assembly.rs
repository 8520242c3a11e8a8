//! Primitive assembly (VPO): culls invisible primitives, computes bounding boxes, and sends each
//! primitive to the GPCs that own screen tiles in its box (VR-Pipe, section V-A).
//!
//! Input: primitives. Output: primitives with pixel bounds, in order. Rate: one per cycle.

use crate::gpu::raster::screen::Screen;
use crate::gpu::tile_owner::TileOwner;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::Primitive;
use crate::pipeline::rate::Rate;
use crate::pipeline::rigid_unit::{Process, Rigid, RigidUnit};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::Sink;
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::outline::Outline;

spec! {
    /// Primitive assembly.
    AssemblySpec in "vpo" {
        /// Primitives in the queue before it.
        queue: u64 = 2, 1..=65_536, Assumed "two primitives in flight, as public GPGPU graphics simulators have";
        /// Primitives per cycle.
        primitives_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "one triangle per cycle, as public GPGPU graphics simulators have";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "as public GPGPU graphics simulators have";
    }
}

statistics! {
    /// Outcomes of primitives.
    pub struct AssemblyCounters {
        /// Primitives in.
        pub primitives_in: u64,
        /// Primitives out.
        pub primitives_out: u64,
        /// Primitives culled because they have no area.
        pub degenerate: u64,
        /// Primitives culled because their bounding box holds no pixel centre of the picture.
        pub off_screen: u64,
    }
}

/// The primitive assembly unit.
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
        let outline = state.outline(&primitive.shape);
        let out = match outline.map(|o| o.bounds().intersect(state.rect())) {
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
                Some(Primitive {
                    bounds,
                    ..primitive
                })
            }
        };
        (1, out)
    }
}

/// Sends each primitive to all GPCs that own a screen tile in its box, and waits for the slowest.
#[derive(Debug)]
pub struct Distribute<N> {
    /// GPCs with the screen tiles that they own.
    pub gpcs: Vec<(TileOwner, N)>,
}

impl<M, N: Sink<Primitive, M>> Sink<Primitive, M> for Distribute<N> {
    #[inline]
    fn offer(&mut self, item: Primitive, at: Cycle, state: &mut M) -> Cycle {
        let mut taken = at;
        for (owner, gpc) in &mut self.gpcs {
            if owner.owns_any(item.bounds) {
                taken = taken.max(gpc.offer(item, at, state));
            }
        }
        taken
    }

    fn end(&mut self, at: Cycle, state: &mut M) {
        for (_, gpc) in &mut self.gpcs {
            gpc.end(at, state);
        }
    }
}

impl<N: Unit> Unit for Distribute<N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for (_, gpc) in &mut self.gpcs {
            gpc.visit(visitor);
        }
    }
}
