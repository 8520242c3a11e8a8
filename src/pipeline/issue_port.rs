//! Issue port of a rigid pipeline.

use super::stage::Sink;
use super::timing::{Activity, Cycle, StallReason};

/// Issue port of a rigid pipeline. Each item holds the port for a number of cycles and is offered to
/// the next stage a fixed latency later. While the next stage does not accept it, the whole pipeline
/// stalls.
#[derive(Debug, Default)]
pub struct IssuePort {
    latency: u64,
    free: Cycle,
    last_taken: Cycle,
    /// Accounting of the port's cycles.
    pub activity: Activity,
}

impl IssuePort {
    /// Creates an idle pipeline of `latency` cycles.
    pub fn new(latency: u64) -> Self {
        Self {
            latency,
            ..Self::default()
        }
    }

    /// Cycle at which work on an item that arrived at `arrival` starts. Charges the cycles before it.
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

    /// Delays an item that arrived at `arrival` until its data is there at `ready`.
    ///
    /// Cycles by which the item came later than its predecessor are charged to the input: a latency
    /// that is the same for all items costs no throughput.
    #[inline]
    pub fn hold_for_data(&mut self, arrival: Cycle, ready: Cycle) {
        self.activity.idle_for_data(arrival, ready);
        self.free = self.free.max(ready);
    }

    /// Works for `cycles` cycles from `start` without emitting an item.
    #[inline]
    pub fn work(&mut self, start: Cycle, cycles: u64) {
        self.activity.busy_until(start + cycles);
        self.free = start + cycles;
    }

    /// Works for `cycles` cycles, at least 1, from `start` and emits `item`; returns the cycle at which
    /// the next stage accepts it.
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

    /// Cycle at which the port is free and the last item has been accepted.
    pub fn done(&self) -> Cycle {
        self.free.max(self.last_taken)
    }

    /// First cycle at which the next item can start.
    #[inline]
    pub fn free(&self) -> Cycle {
        self.free
    }
}
