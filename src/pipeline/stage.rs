//! The contract of a unit, and how units are joined.
//!
//! Packets are pushed: a unit offers what it made to the next one together with the cycle at which
//! it is ready, and learns the cycle at which the next one's queue took it. See the
//! [module docs](super) for why times worked out this way are exact.

use crate::pipeline::timing::{Activity, Cycle, Idle, Queue};

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
        machine: &mut M,
        next: &mut impl Sink<Self::Out, M>,
    ) -> Cycle;

    /// Nothing comes after `at`: hands on all that is held. Returns when the last of it was taken,
    /// at least `at`.
    fn drain(&mut self, at: Cycle, _machine: &mut M, _next: &mut impl Sink<Self::Out, M>) -> Cycle {
        at
    }
}

/// Where packets go.
pub trait Sink<P, M> {
    /// Offers an item that is ready at `at`; returns the cycle at which it was taken.
    fn offer(&mut self, item: P, at: Cycle, machine: &mut M) -> Cycle;

    /// The draw ends: nothing will be offered after `at`.
    fn end(&mut self, at: Cycle, machine: &mut M);
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

impl<M, S: Stage<M>, N: Sink<S::Out, M>> Sink<S::In, M> for Link<S, N> {
    #[inline]
    fn offer(&mut self, item: S::In, at: Cycle, machine: &mut M) -> Cycle {
        let entered = self.queue.entry(at);
        let left = self.stage.accept(item, entered, machine, &mut self.next);
        debug_assert!(left >= entered, "an item left before it came");
        self.queue.leave(left);
        entered
    }

    fn end(&mut self, at: Cycle, machine: &mut M) {
        let done = self.stage.drain(at, machine, &mut self.next);
        self.next.end(done, machine);
    }
}

/// The issue port of a unit that is a rigid pipeline: one item every so many cycles, each handed on
/// a fixed latency later; when the next unit does not take it, the whole pipeline stands still.
#[derive(Debug, Default)]
pub struct Pipe {
    latency: u64,
    free: Cycle,
    last_taken: Cycle,
    /// Where the unit's cycles went.
    pub activity: Activity,
}

impl Pipe {
    /// A pipeline of `latency` cycles.
    #[must_use]
    pub fn new(latency: u64) -> Self {
        Self {
            latency,
            ..Self::default()
        }
    }

    /// When work on an item that arrived at `arrival` starts; idle cycles before are charged.
    #[inline]
    pub fn start(&mut self, arrival: Cycle) -> Cycle {
        self.activity.idle_until(arrival, Idle::Starved);
        self.free.max(arrival)
    }

    /// Delays the next item to `cycle`, for `reason`.
    #[inline]
    pub fn hold_until(&mut self, cycle: Cycle, reason: Idle) {
        self.activity.idle_until(cycle, reason);
        self.free = self.free.max(cycle);
    }

    /// Delays an item that arrived at `arrival` until its data are there at `ready`.
    ///
    /// Idle cycles are the input's fault as far as it came that much later than the item before:
    /// data that take equally long for all cost latency, not throughput.
    #[inline]
    pub fn hold_for_data(&mut self, arrival: Cycle, ready: Cycle) {
        self.activity.idle_for_data(arrival, ready);
        self.free = self.free.max(ready);
    }

    /// Works from `start` on for `cycles` cycles without handing anything on.
    #[inline]
    pub fn work(&mut self, start: Cycle, cycles: u64) {
        self.activity.busy_until(start + cycles);
        self.free = start + cycles;
    }

    /// Works from `start` on for `cycles` cycles (at least 1) and hands `item` on; returns when it
    /// was taken.
    #[inline]
    pub fn issue<P, M>(
        &mut self,
        item: P,
        start: Cycle,
        cycles: u64,
        machine: &mut M,
        next: &mut impl Sink<P, M>,
    ) -> Cycle {
        self.work(start, cycles);
        let ready = start + cycles - 1 + self.latency;
        let taken = next.offer(item, ready, machine);
        // Rigid: an item that left late held up all behind it by as much.
        self.free += taken - ready;
        self.activity.idle_until(self.free, Idle::Blocked);
        self.last_taken = taken;
        taken
    }

    /// When all its work is over: the port is free and what was handed on last has been taken.
    #[must_use]
    pub fn done(&self) -> Cycle {
        self.free.max(self.last_taken)
    }

    /// The first cycle at which the next item can start.
    #[must_use]
    #[inline]
    pub fn free(&self) -> Cycle {
        self.free
    }
}
