//! Fetch of the positions that a pointer refers to, in front of primitive assembly and, with tile-grid
//! coalescing, in front of setup: a flush of a grid bin reads the vertices of its primitives again
//! (VR-Pipe, sections V-A and V-C).
//!
//! Primitives stay in order. Those in the queue have their positions requested as they enter it, so the
//! latency of the L2 costs throughput only if the queue is too short for it. Triangles of one splat that
//! follow each other share a request.

use crate::gpu::draw_state::DrawState;
use crate::pipeline::packets::Primitive;
use crate::pipeline::stage::Sink;
use crate::pipeline::timing::{Cycle, Queue};
use crate::pipeline::unit::{Unit, Visitor};

/// The fetch, in front of `next`.
#[derive(Debug)]
pub struct PositionFetch<N> {
    /// Primitives whose positions are in flight; `None` if none are fetched.
    in_flight: Option<Queue>,
    /// Splat that was fetched last, and the cycle at which its positions arrive.
    fetched: Option<(u32, Cycle)>,
    /// Cycle at which the last primitive left.
    left: Cycle,
    next: N,
}

impl<N> PositionFetch<N> {
    /// Creates a fetch of at most `in_flight` primitives in front of `next`; without one, primitives
    /// pass at once.
    pub fn new(in_flight: Option<u64>, next: N) -> Self {
        Self {
            in_flight: in_flight.map(Queue::new),
            fetched: None,
            left: 0,
            next,
        }
    }
}

impl<'m, N: Sink<Primitive, DrawState<'m>>> Sink<Primitive, DrawState<'m>> for PositionFetch<N> {
    #[inline]
    fn offer(&mut self, primitive: Primitive, at: Cycle, state: &mut DrawState<'m>) -> Cycle {
        let Some(queue) = &mut self.in_flight else {
            return self.next.offer(primitive, at, state);
        };
        let entered = queue.entry(at);
        let splat = primitive.primitive;
        let arrived = match self.fetched {
            Some((last, arrived)) if last == splat => arrived.max(entered),
            _ => {
                let memory = &mut state.memory;
                state.vertex_buffer.read_positions(splat, entered, memory)
            }
        };
        self.fetched = Some((splat, arrived));
        let ready = arrived.max(self.left);
        self.left = self.next.offer(primitive, ready, state);
        queue.leave(self.left);
        entered
    }

    fn end(&mut self, at: Cycle, state: &mut DrawState<'m>) {
        self.next.end(at.max(self.left), state);
    }
}

impl<N: Unit> Unit for PositionFetch<N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.next.visit(visitor);
    }
}
