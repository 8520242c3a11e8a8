//! The issue port of units that are rigid pipelines.

use super::stage::Sink;
use super::timing::{Activity, Cycle, StallReason};

/// The issue port of a unit that is a rigid pipeline: one item every so many cycles, each handed on
/// a fixed latency later; when the next unit does not take it, the whole pipeline stands still.
#[derive(Debug, Default)]
pub struct IssuePort {
    latency: u64,
    free: Cycle,
    last_taken: Cycle,
    /// Where the unit's cycles went.
    pub activity: Activity,
}

impl IssuePort {
    /// A pipeline of `latency` cycles.
    pub fn new(latency: u64) -> Self {
        Self {
            latency,
            ..Self::default()
        }
    }

    /// When work on an item that arrived at `arrival` starts; idle cycles before are charged.
    #[inline]
    pub fn start(&mut self, arrival: Cycle) -> Cycle {
        self.activity.idle_until(arrival, StallReason::Starved);
        self.free.max(arrival)
    }

    /// Delays the next item to `cycle`, for `reason`.
    #[inline]
    pub fn hold_until(&mut self, cycle: Cycle, reason: StallReason) {
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
        state: &mut M,
        next: &mut impl Sink<P, M>,
    ) -> Cycle {
        self.work(start, cycles);
        let ready = start + cycles - 1 + self.latency;
        let taken = next.offer(item, ready, state);
        // Rigid: an item that left late held up all behind it by as much.
        self.free += taken - ready;
        self.activity.idle_until(self.free, StallReason::Blocked);
        self.last_taken = taken;
        taken
    }

    /// When all its work is over: the port is free and what was handed on last has been taken.
    pub fn done(&self) -> Cycle {
        self.free.max(self.last_taken)
    }

    /// The first cycle at which the next item can start.
    #[inline]
    pub fn free(&self) -> Cycle {
        self.free
    }
}
