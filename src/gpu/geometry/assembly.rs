//! Primitive assembly (VPO): culls what cannot be seen, finds the bounding box, sends the primitive
//! to the GPCs that own screen tiles in it (VR-Pipe, section V-A).
//!
//! In: primitives. Out: primitives with their pixel bounds, in order. Rate: one a cycle.

use crate::gpu::raster::screen::Screen;
use crate::gpu::tile_owner::TileOwner;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::Primitive;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::outline::Outline;

spec! {
    /// Primitive assembly.
    AssemblySpec in "vpo" {
        /// Primitives in the queue before it.
        queue: u64 = 2, 1..=65_536, Assumed "two primitives in flight, as public GPGPU graphics simulators have";
        /// Cycles a primitive.
        cycles_per_primitive: u64 = 1, 1..=1024, Assumed "one triangle a cycle, as public GPGPU graphics simulators have";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "as public GPGPU graphics simulators have";
    }
}

statistics! {
    /// Primitives in, and what became of them.
    pub struct AssemblyCounters {
        /// Primitives in.
        pub primitives_in: u64,
        /// Primitives out.
        pub primitives_out: u64,
        /// Dropped: no area.
        pub degenerate: u64,
        /// Dropped: no pixel centre of the picture inside the bounding box.
        pub off_screen: u64,
    }
}

/// The unit.
#[derive(Debug)]
pub struct Assembly {
    cycles: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: AssemblyCounters,
}

impl Assembly {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &AssemblySpec) -> Self {
        Self {
            cycles: spec.cycles_per_primitive,
            pipe: IssuePort::new(spec.latency_cycles),
            counters: AssemblyCounters::default(),
        }
    }
}

impl Unit for Assembly {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("vpo", &mut self.pipe.activity);
        visitor.statistics("vpo", &self.counters);
    }
}

impl<M: Screen> Stage<M> for Assembly {
    type In = Primitive;
    type Out = Primitive;

    fn accept(
        &mut self,
        mut primitive: Primitive,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) -> Cycle {
        let start = self.pipe.start(arrival);
        self.counters.primitives_in += 1;
        let bounds = state.outline(&primitive.shape).map(|o| o.bounds());
        let bounds = bounds.map(|b| b.intersect(state.rect()));
        match bounds {
            None => self.counters.degenerate += 1,
            Some(bounds) if bounds.is_empty() => self.counters.off_screen += 1,
            Some(bounds) => {
                primitive.bounds = bounds;
                self.counters.primitives_out += 1;
                self.pipe.issue(primitive, start, self.cycles, state, next);
                return start;
            }
        }
        self.pipe.work(start, self.cycles);
        start
    }

    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Primitive, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}

/// All GPCs behind assembly: a primitive goes to each that may own a tile of it, and waits for the
/// slowest.
#[derive(Debug)]
pub struct Distribute<N> {
    /// Each GPC and the tiles it owns.
    pub gpcs: Vec<(TileOwner, N)>,
}

impl<M, N: Sink<Primitive, M>> Sink<Primitive, M> for Distribute<N> {
    #[inline]
    fn offer(&mut self, item: Primitive, at: Cycle, state: &mut M) -> Cycle {
        let mut taken = at;
        for (owner, gpc) in &mut self.gpcs {
            if owner.may_own_in(item.bounds) {
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
