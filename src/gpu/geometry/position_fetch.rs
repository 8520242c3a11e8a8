//! Fetch of vertex positions from the L2, in front of primitive assembly and, with tile-grid coalescing, in front
//! of setup: a flush of a grid bin reads the vertices of its primitives again (VR-Pipe, sections V-A and V-C).
//!
//! Primitives stay in order. Positions are requested when a primitive enters the queue, so the latency of the L2 costs
//! throughput only if the queue is too short. Consecutive triangles of one splat share a request.

use super::vertex::VertexShading;
use crate::draw_state::DrawState;
use quadrille_machine::{Cycle, Primitive, Queue, Sink, Stage, StallReason, Unit, Visitor};

/// Names of the queue of a fetch, and of the port whose primitives wait for room in it.
pub(crate) type FetchNames = [&'static str; 2];

#[derive(Debug)]
struct InFlight {
    queue: Queue,
    arrivals: Queue,
    /// Cycles in which a primitive waited for room because the positions of earlier ones had not arrived.
    waited: u64,
    /// Cycles in which a primitive with its positions waited for the buffer of its tile.
    waited_for_tile: u64,
    /// Splat fetched last, and the cycle at which its positions arrive.
    fetched: Option<(u32, Cycle)>,
    left: Cycle,
}

impl InFlight {
    fn new(depth: u64) -> Self {
        Self {
            queue: Queue::new(depth),
            arrivals: Queue::new(depth),
            waited: 0,
            waited_for_tile: 0,
            fetched: None,
            left: 0,
        }
    }

    /// Fetches the positions of a primitive offered at `at` and passes it to `next`; returns the cycle of acceptance.
    #[inline]
    fn pass<'m>(
        &mut self,
        primitive: Primitive,
        at: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        let entered = self.queue.entry(at);
        self.waited += self.arrivals.entry(at) - at;
        let splat = primitive.primitive;
        let arrived = match self.fetched {
            Some((last, arrived)) if last == splat => arrived.max(entered),
            _ => state.vertex_buffer.read_positions(splat, entered, &mut state.memory),
        };
        self.fetched = Some((splat, arrived));
        self.arrivals.leave(arrived);
        let ready = arrived.max(self.left);
        // Reads are ahead of the tile that is drawn, so that the wait for a buffer is behind them.
        let with_tile = ready.max(state.tiles.ready);
        self.waited_for_tile += with_tile - ready;
        self.left = next.offer(primitive, with_tile, state);
        self.queue.leave(self.left);
        entered
    }
}

#[derive(Debug)]
pub(crate) struct PositionFetch<N> {
    names: FetchNames,
    in_flight: Option<InFlight>,
    next: N,
}

impl<N> PositionFetch<N> {
    /// Creates a fetch of at most `in_flight` primitives before `next`. With `None`, primitives pass without delay.
    pub(crate) fn new(names: FetchNames, in_flight: Option<u64>, next: N) -> Self {
        Self { names, in_flight: in_flight.map(InFlight::new), next }
    }
}

impl<'m, N: Sink<Primitive, DrawState<'m>>> Sink<Primitive, DrawState<'m>> for PositionFetch<N> {
    #[inline]
    fn offer(&mut self, primitive: Primitive, at: Cycle, state: &mut DrawState<'m>) -> Cycle {
        match &mut self.in_flight {
            Some(in_flight) => in_flight.pass(primitive, at, state, &mut self.next),
            None => self.next.offer(primitive, at, state),
        }
    }

    fn end(&mut self, at: Cycle, state: &mut DrawState<'m>) {
        self.next.end(at.max(self.in_flight.as_ref().map_or(0, |f| f.left)), state);
    }

    fn end_tile(&mut self, at: Cycle, state: &mut DrawState<'m>) {
        self.next.end_tile(at.max(self.in_flight.as_ref().map_or(0, |f| f.left)), state);
    }

    fn release(&mut self, primitive: u32, at: Cycle, state: &mut DrawState<'m>) {
        self.next.release(primitive, at, state);
    }
}

impl<N: Unit> Unit for PositionFetch<N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if let Some(InFlight { waited, waited_for_tile, .. }) = self.in_flight {
            let [queue, port] = self.names;
            visitor.waits(queue, port, StallReason::Full, waited);
            if waited_for_tile > 0 {
                visitor.waits("tile_buffers", "setup", StallReason::Full, waited_for_tile);
            }
        }
        self.next.visit(visitor);
    }
}

#[derive(Debug)]
pub(crate) struct FetchedVertices {
    vertex: VertexShading,
    in_flight: InFlight,
}

impl FetchedVertices {
    /// Puts a fetch of at most `in_flight` primitives behind `vertex`.
    pub(crate) fn new(vertex: VertexShading, in_flight: u64) -> Self {
        Self { vertex, in_flight: InFlight::new(in_flight) }
    }
}

struct Behind<'u, N> {
    in_flight: &'u mut InFlight,
    next: &'u mut N,
}

impl<'m, N: Sink<Primitive, DrawState<'m>>> Sink<Primitive, DrawState<'m>> for Behind<'_, N> {
    #[inline]
    fn offer(&mut self, primitive: Primitive, at: Cycle, state: &mut DrawState<'m>) -> Cycle {
        self.in_flight.pass(primitive, at, state, self.next)
    }

    fn end(&mut self, _at: Cycle, _state: &mut DrawState<'m>) {}

    fn release(&mut self, primitive: u32, at: Cycle, state: &mut DrawState<'m>) {
        self.next.release(primitive, at, state);
    }

    fn free(&self) -> Cycle {
        self.in_flight.queue.entry(0)
    }
}

impl<'m> Stage<DrawState<'m>> for FetchedVertices {
    type In = u32;
    type Out = Primitive;

    fn accept(
        &mut self,
        splat: u32,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        let Self { vertex, in_flight } = self;
        vertex.accept(splat, arrival, state, &mut Behind { in_flight, next })
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        let Self { vertex, in_flight } = self;
        vertex.drain(at, state, &mut Behind { in_flight, next }).max(in_flight.left)
    }

    fn done(&self) -> Cycle {
        self.vertex.done().max(self.in_flight.left)
    }
}

impl Unit for FetchedVertices {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.waits("vertex_fetch", "vpo", StallReason::Full, self.in_flight.waited);
        self.vertex.visit(visitor);
    }
}
