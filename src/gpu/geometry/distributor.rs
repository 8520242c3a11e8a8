//! Deals batches of geometry to the GPCs in turn. Each GPC shades the vertices of its batches and assembles
//! their primitives, which a [`Crossbar`] returns to draw order.

use super::assembly::Assembly;
use super::crossbar::Crossbar;
use quadrille_machine::{Cycle, Primitive, Queue, Sink, Stage, Unit, Visitor, offer_through, spec};

spec! {
    /// Configuration of the primitive distributor. A GPU with one GPC has no distributor.
    DistributorSpec in "distributor" {
        /// Vertex warps per batch.
        warps_per_batch: u64 = 1, 1..=1024, Assumed "the smallest batch, which balances the GPCs best, as in Emerald";
        /// Cycles per batch.
        cycles_per_batch: u64 = 1, 0..=1024, Assumed "a batch is a range of indices";
    }
}

/// The geometry units of a GPC: vertex shading `V` and primitive assembly, each behind its queue.
#[derive(Debug)]
pub struct GeometryUnits<V> {
    vertex_queue: Queue,
    vertex: V,
    assembly_queue: Queue,
    assembly: Assembly,
}

impl<V> GeometryUnits<V> {
    /// Puts `vertex` behind a queue of `vertex_depth` entries, and `assembly` behind one of `depth`.
    pub fn new(vertex_depth: u64, vertex: V, depth: u64, assembly: Assembly) -> Self {
        Self {
            vertex_queue: Queue::new(vertex_depth),
            vertex,
            assembly_queue: Queue::new(depth),
            assembly,
        }
    }
}

struct BehindVertex<'u, N> {
    queue: &'u mut Queue,
    assembly: &'u mut Assembly,
    next: N,
}

impl<M, N: Sink<Primitive, M>> Sink<Primitive, M> for BehindVertex<'_, N>
where
    Assembly: Stage<M, In = Primitive, Out = Primitive>,
{
    #[inline]
    fn offer(&mut self, item: Primitive, at: Cycle, state: &mut M) -> Cycle {
        offer_through(self.queue, self.assembly, &mut self.next, item, at, state)
    }

    fn end(&mut self, _at: Cycle, _state: &mut M) {}

    fn release(&mut self, primitive: u32, at: Cycle, state: &mut M) {
        self.next.release(primitive, at, state);
    }

    fn free(&self) -> Cycle {
        self.queue.entry(0)
    }
}

/// Distributor in front of the geometry units of all GPCs and the crossbar.
#[derive(Debug)]
pub struct Distributor<V, N> {
    cycles_per_batch: u64,
    items_per_batch: u64,
    items: u64,
    gpc: usize,
    /// First cycle at which the next batch can be dealt.
    free: Cycle,
    geometry: Vec<GeometryUnits<V>>,
    crossbar: Crossbar<N>,
}

impl<V, N> Distributor<V, N> {
    /// Creates an idle distributor that deals batches of `items_per_batch` items.
    pub fn new(
        spec: &DistributorSpec,
        items_per_batch: u64,
        geometry: impl IntoIterator<Item = GeometryUnits<V>>,
        crossbar: Crossbar<N>,
    ) -> Self {
        let geometry: Vec<_> = geometry.into_iter().collect();
        let several = u64::from(geometry.len() > 1);
        Self {
            cycles_per_batch: spec.cycles_per_batch * several,
            items_per_batch,
            items: 0,
            gpc: 0,
            free: 0,
            geometry,
            crossbar,
        }
    }

    fn end_batch(&mut self, at: Cycle) {
        self.crossbar.end_batch(at);
        self.items = 0;
        self.gpc = (self.gpc + 1) % self.geometry.len();
    }
}

impl<M, V, N> Sink<V::In, M> for Distributor<V, N>
where
    V: Stage<M, Out = Primitive>,
    N: Sink<Primitive, M>,
    Assembly: Stage<M, In = Primitive, Out = Primitive>,
{
    fn offer(&mut self, item: V::In, at: Cycle, state: &mut M) -> Cycle {
        if self.items == 0 {
            self.free = self.free.max(at) + self.cycles_per_batch;
        }
        let dealt = at.max(self.free - self.cycles_per_batch);
        let units = &mut self.geometry[self.gpc];
        let mut next = BehindVertex {
            queue: &mut units.assembly_queue,
            assembly: &mut units.assembly,
            next: self.crossbar.source(self.gpc),
        };
        let (queue, vertex) = (&mut units.vertex_queue, &mut units.vertex);
        let taken = offer_through(queue, vertex, &mut next, item, dealt, state);
        self.items += 1;
        if self.items == self.items_per_batch {
            self.end_batch(Stage::<M>::done(&self.geometry[self.gpc].assembly));
        }
        taken
    }

    fn end(&mut self, at: Cycle, state: &mut M) {
        let mut done = at;
        for (gpc, units) in self.geometry.iter_mut().enumerate() {
            let mut next = BehindVertex {
                queue: &mut units.assembly_queue,
                assembly: &mut units.assembly,
                next: self.crossbar.source(gpc),
            };
            done = done
                .max(units.vertex.drain(at, state, &mut next))
                .max(Stage::<M>::done(&units.assembly));
        }
        if self.items > 0 {
            self.end_batch(done);
        }
        self.crossbar.end(done, state);
    }
}

impl<V: Unit, N: Unit> Unit for Distributor<V, N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for units in &mut self.geometry {
            units.vertex.visit(visitor);
            units.assembly.visit(visitor);
        }
        self.crossbar.visit(visitor);
    }
}
