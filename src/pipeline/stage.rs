//! The contract of a unit, and how units are joined.
//!
//! Packets are pushed: a unit offers what it made to the next one together with the cycle at which
//! it is ready, and learns the cycle at which the next one's queue took it. See the
//! [module docs](super) for why times worked out this way are exact.

use super::timing::{Cycle, Queue};
use super::unit::{Unit, Visitor};

/// A unit of the pipeline, over the state `M` that all units of a draw share.
pub trait Stage<M> {
    /// What it takes in.
    type In;
    /// What it hands on.
    type Out;

    /// Takes an item that entered its queue at `arrival`, works on it and hands on what comes out.
    /// Items come in order, and so do their arrivals. Returns the cycle at which the item left the
    /// queue, at least `arrival`.
    fn accept(
        &mut self,
        item: Self::In,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Self::Out, M>,
    ) -> Cycle;

    /// Flushes all buffered items at the end of the draw. No item arrives after `at`. Returns the
    /// cycle at which all work is over, at least `at`.
    fn drain(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Self::Out, M>) -> Cycle {
        at.max(self.done())
    }

    /// The cycle at which the work on the items taken so far is over.
    fn done(&self) -> Cycle {
        0
    }
}

/// Where packets go.
pub trait Sink<P, M> {
    /// Offers an item that is ready at `at`; returns the cycle at which it was taken.
    fn offer(&mut self, item: P, at: Cycle, state: &mut M) -> Cycle;

    /// The draw ends: nothing will be offered after `at`.
    fn end(&mut self, at: Cycle, state: &mut M);
}

/// A unit with the queue before it and all that comes after it.
#[derive(Debug)]
pub struct Link<S, N> {
    queue: Queue,
    /// The unit.
    pub stage: S,
    /// What comes after it.
    pub next: N,
}

impl<S, N> Link<S, N> {
    /// Joins `stage`, behind a queue of `depth` items, to what comes `next`.
    pub fn new(depth: u64, stage: S, next: N) -> Self {
        Self {
            queue: Queue::new(depth),
            stage,
            next,
        }
    }
}

impl<S: Unit, N: Unit> Unit for Link<S, N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.stage.visit(visitor);
        self.next.visit(visitor);
    }
}

impl<M, S: Stage<M>, N: Sink<S::Out, M>> Sink<S::In, M> for Link<S, N> {
    #[inline]
    fn offer(&mut self, item: S::In, at: Cycle, state: &mut M) -> Cycle {
        let entered = self.queue.entry(at);
        let left = self.stage.accept(item, entered, state, &mut self.next);
        debug_assert!(left >= entered, "an item left before it came");
        self.queue.leave(left);
        entered
    }

    fn end(&mut self, at: Cycle, state: &mut M) {
        let done = self.stage.drain(at, state, &mut self.next);
        self.next.end(done, state);
    }
}

/// Joins stages from first to last, each behind a queue of `depth` items, and what comes after them:
/// `chain! { depth => stage, depth => stage, next }`.
#[macro_export]
macro_rules! chain {
    ($depth:expr => $stage:expr, $($rest:tt)+) => {
        $crate::pipeline::stage::Link::new($depth, $stage, $crate::chain!($($rest)+))
    };
    ($next:expr $(,)?) => { $next };
}
pub use chain;

/// The end of a pipeline: notes when the last of its input was done.
#[derive(Debug, Default)]
pub struct Retired {
    /// Cycle after the last work.
    pub at: Cycle,
}

impl<M> Sink<(), M> for Retired {
    fn offer(&mut self, (): (), at: Cycle, _state: &mut M) -> Cycle {
        at
    }

    fn end(&mut self, at: Cycle, _state: &mut M) {
        self.at = self.at.max(at);
    }
}

impl Unit for Retired {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.end(self.at);
    }
}
