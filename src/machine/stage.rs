//! Trait of a pipeline stage, and links that join stages into a pipeline.
//!
//! Packets are pushed: a stage offers a packet to its successor together with the cycle at which the
//! packet is ready, and gets back the cycle at which the successor's queue accepted it.

use super::timing::{Cycle, Queue};
use super::unit::{Unit, Visitor};

/// A stage of the pipeline, over the state `M` that all stages of a draw share.
pub trait Stage<M> {
    /// Packet that the stage accepts.
    type In;
    /// Packet that the stage emits.
    type Out;

    /// Whether the pipeline omits the unit: items then skip the unit and the queue in front of it.
    #[inline(always)]
    fn is_bypassed(&self) -> bool {
        false
    }

    /// Converts an item of a bypassed unit to a packet for the next stage; `None` drops the item.
    #[inline(always)]
    fn bypass(&self, _item: Self::In) -> Option<Self::Out> {
        None
    }

    /// Processes an item that entered the queue at `arrival` and offers its results to `next`. Arrivals never decrease.
    /// Returns the cycle at which the item left the queue, at least `arrival`.
    fn accept(
        &mut self,
        item: Self::In,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Self::Out, M>,
    ) -> Cycle;

    /// Flushes all buffered items at the end of the draw, `at`; returns the cycle at which all work ends, at least `at`.
    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Self::Out, M>) -> Cycle {
        at.max(self.done())
    }

    /// Passes on all buffered items at the end of a tile of the screen, `at`; items of other tiles may follow. Returns the
    /// cycle at which the end of the tile leaves the stage, at least `at`. It passes behind the last item of the tile.
    fn end_tile(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Self::Out, M>) -> Cycle {
        self.drain(at, state, next)
    }

    /// Flushes the buffered items of primitives up to `primitive`, from `at` on. No item arrives before the flush ends.
    fn release(
        &mut self,
        _primitive: u32,
        _at: Cycle,
        _state: &mut M,
        _next: &mut impl Sink<Self::Out, M>,
    ) {
    }

    /// Cycle at which the work on all accepted items ends.
    fn done(&self) -> Cycle {
        0
    }
}

/// Consumer of packets: the next stage, or the end of the pipeline.
pub trait Sink<P, M> {
    /// Offers an item that is ready at `at`; returns the cycle at which it is accepted.
    fn offer(&mut self, item: P, at: Cycle, state: &mut M) -> Cycle;

    /// Ends the draw. No item is offered after `at`.
    fn end(&mut self, at: Cycle, state: &mut M);

    /// Ends a tile of the screen behind its last item, at `at`; a consumer that holds no items does nothing.
    fn end_tile(&mut self, _at: Cycle, _state: &mut M) {}

    /// Flushes the items of primitives up to `primitive` from all units, from `at` on; no item is offered meanwhile.
    fn release(&mut self, _primitive: u32, _at: Cycle, _state: &mut M) {}

    /// First cycle at which another item can be accepted; 0 for a consumer that does not report it.
    fn free(&self) -> Cycle {
        0
    }
}

/// A stage, the queue in front of it, and its successor.
#[derive(Debug)]
pub struct Link<S, N> {
    queue: Queue,
    /// The stage behind the queue.
    pub stage: S,
    /// The consumer of the stage's output.
    pub next: N,
}

impl<S, N> Link<S, N> {
    /// Creates a link from an empty queue of `depth` items through `stage` to `next`.
    pub fn new(depth: u64, stage: S, next: N) -> Self {
        Self { queue: Queue::new(depth), stage, next }
    }
}

/// Passes an item through `queue` to `stage`, whose results go to `next`; returns the cycle at which it enters the queue.
#[inline(always)]
pub fn offer_through<M, S: Stage<M>>(
    queue: &mut Queue,
    stage: &mut S,
    next: &mut impl Sink<S::Out, M>,
    item: S::In,
    at: Cycle,
    state: &mut M,
) -> Cycle {
    let entered = queue.entry(at);
    let left = stage.accept(item, entered, state, next);
    debug_assert!(left >= entered, "an item left before it came");
    queue.leave(left);
    entered
}

impl<S: Unit, N: Unit> Unit for Link<S, N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.stage.visit(visitor);
        self.next.visit(visitor);
    }
}

impl<M, S: Stage<M>, N: Sink<S::Out, M>> Sink<S::In, M> for Link<S, N> {
    #[inline(always)]
    fn offer(&mut self, item: S::In, at: Cycle, state: &mut M) -> Cycle {
        let Self { queue, stage, next } = self;
        if stage.is_bypassed() {
            return stage.bypass(item).map_or(at, |item| next.offer(item, at, state));
        }
        offer_through(queue, stage, next, item, at, state)
    }

    fn end(&mut self, at: Cycle, state: &mut M) {
        let done = self.stage.drain(at, state, &mut self.next);
        self.next.end(done, state);
    }

    fn end_tile(&mut self, at: Cycle, state: &mut M) {
        let is_bypassed = self.stage.is_bypassed();
        let left = if is_bypassed { at } else { self.stage.end_tile(at, state, &mut self.next) };
        self.next.end_tile(left, state);
    }

    fn release(&mut self, primitive: u32, at: Cycle, state: &mut M) {
        let Self { stage, next, .. } = self;
        if !stage.is_bypassed() {
            stage.release(primitive, at, state, next);
        }
        next.release(primitive, at, state);
    }

    fn free(&self) -> Cycle {
        if self.stage.is_bypassed() {
            return self.next.free();
        }
        self.queue.entry(0)
    }
}

/// Nests [`Link`](crate::stage::Link)s: `chain! { depth => stage, depth => stage, next }`
/// joins the stages in pipeline order, each behind a queue of `depth` items, and ends in `next`.
#[macro_export]
macro_rules! chain {
    ($depth:expr => $stage:expr, $($rest:tt)+) => {
        $crate::stage::Link::new($depth, $stage, $crate::chain!($($rest)+))
    };
    ($next:expr $(,)?) => { $next };
}
pub use chain;

/// End of a pipeline: records the cycle at which the last stage finished.
#[derive(Debug, Default)]
pub struct Retired {
    /// Cycle at which the draw ended.
    pub cycle: Cycle,
}

impl<M> Sink<(), M> for Retired {
    fn offer(&mut self, (): (), at: Cycle, _state: &mut M) -> Cycle {
        at
    }

    fn end(&mut self, at: Cycle, _state: &mut M) {
        self.cycle = self.cycle.max(at);
    }
}

impl Unit for Retired {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.end(self.cycle);
    }
}
