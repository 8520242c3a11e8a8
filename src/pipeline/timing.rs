//! Time: rates, finite queues, and where a unit's cycles went.

use serde::Serialize;

use crate::math::index;

/// A point in time, in cycles of the shader clock since the draw call began.
pub type Cycle = u64;

/// Fraction bits of a [`RateLimiter`]'s clock: fine enough for any rate of small integers.
const FRACTION_BITS: u32 = 16;

/// A port that serves a fixed number of items a cycle, or one item in a number of cycles.
///
/// Items that fall into the same cycle share it up to the rate; the clock inside runs in 2^-16
/// cycles so that rates below one a cycle come out right as well.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    interval: u64,
    free: u64,
}

impl RateLimiter {
    /// A port that takes `items` in `cycles` cycles.
    pub fn new(items: u64, cycles: u64) -> Self {
        let interval = (cycles << FRACTION_BITS).div_ceil(items.max(1));
        Self { interval, free: 0 }
    }

    /// The cycle in which an item that is there at `arrival` is served.
    #[inline]
    pub fn serve(&mut self, arrival: Cycle) -> Cycle {
        let start = self.free.max(arrival << FRACTION_BITS);
        self.free = start + self.interval;
        start >> FRACTION_BITS
    }

    /// The first cycle with room for another item.
    #[inline]
    pub fn free(&self) -> Cycle {
        self.free >> FRACTION_BITS
    }

    /// Serves nothing before `cycle`.
    #[inline]
    pub fn hold_until(&mut self, cycle: Cycle) {
        self.free = self.free.max(cycle << FRACTION_BITS);
    }
}

/// A first-in-first-out queue of finite depth, as the cycles at which its last items left.
///
/// Item `n` can enter no earlier than item `n - depth` left: that is all that a queue's state is.
#[derive(Debug, Clone)]
pub struct Queue {
    left_at: Box<[Cycle]>,
    next: usize,
}

impl Queue {
    /// An empty queue for `depth` items, at least 1.
    pub fn new(depth: u64) -> Self {
        Self {
            left_at: vec![0; index(depth.max(1))].into(),
            next: 0,
        }
    }

    /// When an item that is offered at `offered` can enter.
    #[inline]
    pub fn entry(&self, offered: Cycle) -> Cycle {
        offered.max(self.left_at[self.next])
    }

    /// Notes that the item which entered last leaves at `cycle`.
    #[inline]
    pub fn leave(&mut self, cycle: Cycle) {
        self.left_at[self.next] = cycle;
        self.next += 1;
        if self.next == self.left_at.len() {
            self.next = 0;
        }
    }
}

/// Why a unit did nothing in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallReason {
    /// Nothing came from the unit before.
    Starved,
    /// The unit after it took nothing.
    Blocked,
    /// Data were on their way from memory.
    Miss,
    /// No storage of its own was free: a bin, a buffer.
    Full,
    /// Another user held the port: a termination update, a vertex warp.
    Contended,
    /// Its last item of the draw was done.
    Drained,
}

impl StallReason {
    /// Every reason, in the order of [`Activity::idle`].
    pub const ALL: [Self; 6] = [
        Self::Starved,
        Self::Blocked,
        Self::Miss,
        Self::Full,
        Self::Contended,
        Self::Drained,
    ];
}

/// Where a unit's cycles went. Each cycle up to `accounted` is counted exactly once.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Activity {
    /// Cycles in which the unit worked.
    pub busy: u64,
    /// Cycles in which it did not, by reason, in the order of [`StallReason::ALL`].
    pub idle: [u64; StallReason::ALL.len()],
    #[serde(skip)]
    accounted: Cycle,
    #[serde(skip)]
    last_arrival: Cycle,
    #[serde(skip)]
    timeline: Option<Box<Timeline>>,
}

impl Activity {
    /// Charges the cycles up to `cycle` that are not accounted for to `reason`.
    #[inline]
    pub fn idle_until(&mut self, cycle: Cycle, reason: StallReason) {
        if cycle > self.accounted {
            self.idle[reason as usize] += cycle - self.accounted;
            self.record(cycle, 1 + reason as usize);
            self.accounted = cycle;
        }
    }

    /// Charges the cycles up to `ready`, when the data of an item that arrived at `arrival` were
    /// there: to starving as far as it came later than the item before, the rest to the data.
    #[inline]
    pub fn idle_for_data(&mut self, arrival: Cycle, ready: Cycle) {
        let later = arrival.saturating_sub(self.last_arrival + 1);
        self.last_arrival = arrival;
        self.idle_until(ready.min(self.accounted + later), StallReason::Starved);
        self.idle_until(ready, StallReason::Miss);
    }

    /// Counts the cycles up to `cycle` that are not accounted for as worked.
    #[inline]
    pub fn busy_until(&mut self, cycle: Cycle) {
        if cycle > self.accounted {
            self.busy += cycle - self.accounted;
            self.record(cycle, 0);
            self.accounted = cycle;
        }
    }

    /// The first cycle that is not accounted for.
    pub fn accounted(&self) -> Cycle {
        self.accounted
    }

    /// Sum of all cycles counted.
    pub fn total(&self) -> u64 {
        self.busy + self.idle.iter().sum::<u64>()
    }

    /// Keeps a timeline from now on.
    pub fn keep_timeline(&mut self) {
        self.timeline = Some(Box::default());
    }

    /// The timeline, if one was kept.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_deref()
    }

    #[inline]
    fn record(&mut self, cycle: Cycle, state: usize) {
        if let Some(timeline) = &mut self.timeline {
            timeline.record(self.accounted, cycle, state);
        }
    }
}

/// States of a unit on a timeline: working, then each reason not to.
pub const STATES: usize = 1 + StallReason::ALL.len();
/// Windows that a timeline has at most.
const MAX_WINDOWS: usize = 4096;

/// How a unit's time was spent, window by window. Bounded: when a draw outgrows the windows, pairs
/// of them become one and the window doubles.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Cycles a window.
    pub window: u64,
    /// Cycles a window spent in each state: working, then in the order of [`StallReason::ALL`].
    pub windows: Vec<[u64; STATES]>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            window: 64,
            windows: Vec::new(),
        }
    }
}

impl Timeline {
    fn record(&mut self, mut from: Cycle, to: Cycle, state: usize) {
        while to > self.window * MAX_WINDOWS as u64 {
            self.halve();
        }
        while from < to {
            let window = from / self.window;
            let end = to.min((window + 1) * self.window);
            let at = index(window);
            if at >= self.windows.len() {
                self.windows.resize(at + 1, [0; STATES]);
            }
            self.windows[at][state] += end - from;
            from = end;
        }
    }

    fn halve(&mut self) {
        self.window *= 2;
        self.windows = self
            .windows
            .chunks(2)
            .map(|pair| {
                let mut sum = [0; STATES];
                for window in pair {
                    for (sum, cycles) in sum.iter_mut().zip(window) {
                        *sum += cycles;
                    }
                }
                sum
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_shares_cycles_up_to_its_rate() {
        let mut pace = RateLimiter::new(2, 1);
        let served: Vec<_> = [5, 5, 5, 6, 9].map(|t| pace.serve(t)).into();
        assert_eq!(served, [5, 5, 6, 6, 9]);
        // One item in three cycles.
        let mut slow = RateLimiter::new(1, 3);
        assert_eq!([0, 0, 0, 100].map(|t| slow.serve(t)), [0, 3, 6, 100]);
    }

    /// Depth 2: the third item waits for the first to leave, not a cycle more or less.
    #[test]
    fn a_queue_admits_when_a_slot_is_free() {
        let mut queue = Queue::new(2);
        assert_eq!(queue.entry(3), 3);
        queue.leave(10);
        assert_eq!(queue.entry(4), 4);
        queue.leave(20);
        assert_eq!(queue.entry(9), 10);
        assert_eq!(queue.entry(10), 10);
        assert_eq!(queue.entry(11), 11);
    }

    #[test]
    fn each_cycle_is_counted_once() {
        let mut activity = Activity::default();
        activity.keep_timeline();
        activity.idle_until(10, StallReason::Starved);
        activity.busy_until(13);
        activity.idle_until(12, StallReason::Miss);
        activity.busy_until(1_000_000);
        activity.idle_until(1_000_001, StallReason::Drained);
        assert_eq!(activity.total(), 1_000_001);
        assert_eq!(activity.busy, 999_990);
        let timeline = activity.timeline().map(|t| t.windows.clone());
        let sum: u64 = timeline.iter().flatten().flatten().sum();
        assert_eq!(sum, 1_000_001);
    }
}
