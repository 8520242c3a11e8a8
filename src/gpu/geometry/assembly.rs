//! Primitive assembly (VPO): culls what cannot be seen, finds the bounding box, sends the primitive
//! to the GPCs that own screen tiles in it (VR-Pipe, section V-A).
//!
//! In: primitives. Out: primitives with their pixel bounds, in order. Rate: one a cycle.

use serde::Serialize;

use crate::pipeline::packets::{Primitive, Shape};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Pipe, Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::raster::outline::{Outline, Screen};
use crate::raster::polygon::{PixelRect, Polygon};

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

/// Primitives in, and what became of them.
#[derive(Debug, Clone, Default, Serialize)]
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

/// The unit.
#[derive(Debug)]
pub struct Assembly {
    cycles: u64,
    /// Issue port.
    pub pipe: Pipe,
    /// Counters.
    pub counters: AssemblyCounters,
}

impl Assembly {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &AssemblySpec) -> Self {
        Self {
            cycles: spec.cycles_per_primitive,
            pipe: Pipe::new(spec.latency_cycles),
            counters: AssemblyCounters::default(),
        }
    }
}

impl Shape {
    /// Its edges; `None` when it has no area.
    #[must_use]
    #[inline]
    pub fn polygon(&self) -> Option<Polygon> {
        match *self {
            Self::Triangle(corners) => Polygon::triangle(corners),
            Self::Rectangle([least, greatest]) => Polygon::rectangle(least, greatest),
        }
    }
}

impl<M: Screen> Stage<M> for Assembly {
    type In = Primitive;
    type Out = Primitive;

    fn accept(
        &mut self,
        mut primitive: Primitive,
        arrival: Cycle,
        machine: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) -> Cycle {
        let start = self.pipe.start(arrival);
        self.counters.primitives_in += 1;
        let bounds = machine.outline(&primitive.shape).map(|o| o.bounds());
        let bounds = bounds.map(|b| b.intersect(machine.rect()));
        match bounds {
            None => self.counters.degenerate += 1,
            Some(bounds) if bounds.is_empty() => self.counters.off_screen += 1,
            Some(bounds) => {
                primitive.bounds = bounds;
                self.counters.primitives_out += 1;
                self.pipe
                    .issue(primitive, start, self.cycles, machine, next);
                return start;
            }
        }
        self.pipe.work(start, self.cycles);
        start
    }

    fn drain(&mut self, at: Cycle, _machine: &mut M, _next: &mut impl Sink<Primitive, M>) -> Cycle {
        at.max(self.pipe.done())
    }
}

/// Screen tiles shared out over GPCs: tile (x, y) belongs to `(x + y) mod count`.
#[derive(Debug, Clone, Copy)]
pub struct TileOwner {
    /// The GPC.
    pub gpc: u32,
    /// GPCs in all.
    pub count: u32,
}

impl TileOwner {
    /// Whether it owns tile (x, y).
    #[must_use]
    #[inline]
    pub fn owns(self, x: u32, y: u32) -> bool {
        self.count == 1 || (x + y) % self.count == self.gpc
    }

    /// Whether it may own a tile that meets `bounds` (inside the picture).
    #[must_use]
    #[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
    pub fn may_own_in(self, bounds: PixelRect) -> bool {
        use crate::pipeline::packets::TILE_PX;
        if self.count == 1 {
            return true;
        }
        let tile = |px: i32| px as u32 / TILE_PX;
        let first = tile(bounds.x0) + tile(bounds.y0);
        let last = tile(bounds.x1 - 1) + tile(bounds.y1 - 1);
        // Sums of tile coordinates in the box are consecutive.
        last - first + 1 >= self.count || (first..=last).any(|sum| sum % self.count == self.gpc)
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
    fn offer(&mut self, item: Primitive, at: Cycle, machine: &mut M) -> Cycle {
        let mut taken = at;
        for (owner, gpc) in &mut self.gpcs {
            if owner.may_own_in(item.bounds) {
                taken = taken.max(gpc.offer(item, at, machine));
            }
        }
        taken
    }

    fn end(&mut self, at: Cycle, machine: &mut M) {
        for (_, gpc) in &mut self.gpcs {
            gpc.end(at, machine);
        }
    }
}
