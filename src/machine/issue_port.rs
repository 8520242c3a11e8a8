//! Issue port of a pipelined unit, with back-pressure from the next stage.

use std::num::NonZeroU64;

use super::packets::BEAT_QUADS;
use super::rate::Rate;
use super::rate_limiter::RateClock;
use super::stage::Sink;
use super::timing::{Activity, Cycle, Queue, StallReason};

/// Issue port of a unit, and the pipeline behind it.
///
/// Items are issued at a rational rate and offered to the next stage a fixed latency later, in order. The
/// pipeline is elastic: an item moves on until it meets the item ahead, and its capacity is the number of
/// items issued during its latency, at least one cycle's worth. While it is full, nothing is issued.
#[derive(Debug)]
pub struct IssuePort {
    latency: u64,
    clock: RateClock,
    width: NonZeroU64,
    stages: Queue,
    last_taken: Cycle,
    /// Accounting of the port's cycles.
    pub activity: Activity,
}

impl IssuePort {
    /// Creates an idle port that issues at `rate` into a pipeline of `latency` cycles.
    pub fn new(rate: Rate, latency: u64) -> Self {
        Self::of_width(rate, 1, latency)
    }

    /// Creates an idle port that issues beats at `rate` quads per cycle. Up to eight quads, or the port width if
    /// smaller, share a slot; a slot that is not full takes as long as a full one.
    pub fn of_beats(rate: Rate, latency: u64) -> Self {
        Self::of_width(rate, beat_width(rate), latency)
    }

    fn of_width(rate: Rate, width: u32, latency: u64) -> Self {
        let slots = rate.per(width);
        let (items, cycles) = (u64::from(slots.items()), u64::from(slots.cycles()));
        // An item occupies the port from the first cycle of its slot to the last stage of the pipeline.
        let in_flight = latency.max(1) + cycles.div_ceil(items) - 1;
        Self {
            latency,
            clock: RateClock::new(slots),
            width: NonZeroU64::new(width.into()).unwrap_or(NonZeroU64::MIN),
            stages: Queue::new((in_flight * items).div_ceil(cycles)),
            last_taken: 0,
            activity: Activity::of_rate(rate),
        }
    }

    /// Returns the cycle at which work on an item that arrived at `arrival` starts, and charges the cycles before it.
    #[inline]
    pub fn start(&mut self, arrival: Cycle) -> Cycle {
        let start = self.free().max(arrival);
        self.activity.wait_for_item(arrival, start);
        start
    }

    /// Delays the next item to `cycle`, and charges the wait to `reason`.
    #[inline]
    pub fn hold_until(&mut self, cycle: Cycle, reason: StallReason) {
        self.activity.idle_until(cycle, reason);
        self.clock.wait_until(cycle);
    }

    /// Counts the cycles up to `cycle` as busy; the next item is issued no earlier.
    #[inline]
    pub fn work_until(&mut self, cycle: Cycle) {
        self.activity.busy_until(cycle);
        self.clock.wait_until(cycle);
    }

    /// Whether a part of the current cycle has been used.
    #[inline]
    pub fn is_mid_cycle(&self) -> bool {
        self.clock.is_mid_cycle()
    }

    /// Ends a partly used cycle, so that the next item is issued in the following one.
    #[inline]
    pub fn end_cycle(&mut self) {
        self.clock.wait_until(self.clock.whole_cycle());
    }

    /// Delays an item that arrived at `arrival` until its data arrives at `ready`. `room` returns the first cycle at which
    /// the next unit has room; it is called only if the port has to wait.
    ///
    /// Cycles in which the item would wait for room even if it had its data count as blocked, and cycles by which it is
    /// late ([`Activity::arrive`]) as starved; only the rest counts as a miss.
    #[inline]
    pub fn hold_for_data(&mut self, arrival: Cycle, ready: Cycle, room: impl Fn() -> Cycle) {
        if ready > self.activity.accounted() {
            let room = room().saturating_sub(self.latency);
            (self.activity).idle_until(room.min(ready), StallReason::Blocked);
        }
        self.activity.idle_for_data(arrival, ready);
        self.clock.wait_until(ready);
    }

    /// Works from `start` on `count` items, at least one slot, without emitting any; returns the cycle of the end.
    #[inline(always)]
    pub fn work(&mut self, start: Cycle, count: u64) -> Cycle {
        let end = self.pass(start, count);
        self.activity.busy_until(end);
        end
    }

    /// Works on `count` items that arrived at `arrival`, without emitting any, as soon as the port is free; returns the
    /// cycle at which work on them starts.
    #[inline(always)]
    pub fn work_on(&mut self, arrival: Cycle, count: u64) -> Cycle {
        self.work_through(arrival, count).0
    }

    /// As [`Self::work_on`], but also returns the end: reading the clock after a call that may write to memory is slower.
    #[inline(always)]
    fn work_through(&mut self, arrival: Cycle, count: u64) -> (Cycle, Cycle) {
        let start = self.free().max(arrival);
        let end = self.pass(start, count);
        self.activity.work_on_item(arrival, start, end);
        (start, end)
    }

    /// Works from `start` on `count` items, at least one slot, and emits `item`; returns the cycle of its acceptance.
    #[inline]
    pub fn issue<P, M>(
        &mut self,
        item: P,
        start: Cycle,
        count: u64,
        state: &mut M,
        next: &mut impl Sink<P, M>,
    ) -> Cycle {
        let end = self.work(start, count);
        self.emit(item, end, state, next)
    }

    /// Works on `count` items as [`IssuePort::work_on`] and emits `item`; returns the cycle at which the work starts.
    #[inline(always)]
    pub fn issue_on<P, M>(
        &mut self,
        item: P,
        arrival: Cycle,
        count: u64,
        state: &mut M,
        next: &mut impl Sink<P, M>,
    ) -> Cycle {
        let (start, end) = self.work_through(arrival, count);
        self.emit(item, end, state, next);
        start
    }

    /// Counts the cycles up to `cycle` as busy, works on `count` items as soon as the port is free after that, and emits
    /// `item`; returns the cycle at which work on the items starts.
    #[inline(always)]
    pub fn issue_after_work<P, M>(
        &mut self,
        item: P,
        cycle: Cycle,
        count: u64,
        state: &mut M,
        next: &mut impl Sink<P, M>,
    ) -> Cycle {
        let start = self.free().max(cycle);
        let end = self.pass(start, count);
        self.activity.work_before_item(cycle, start, end);
        self.emit(item, end, state, next);
        start
    }

    #[inline(always)]
    fn pass(&mut self, start: Cycle, count: u64) -> Cycle {
        let slots = if count <= self.width.get() { 1 } else { slots(count, self.width) };
        self.clock.pass_from(start, slots);
        self.activity.moved += count;
        self.clock.whole_cycle()
    }

    /// Offers an item whose work ends at `end` to the next stage after the latency; returns the cycle of acceptance.
    #[inline(always)]
    fn emit<P, M>(
        &mut self,
        item: P,
        end: Cycle,
        state: &mut M,
        next: &mut impl Sink<P, M>,
    ) -> Cycle {
        let issued = end - 1;
        let taken = next.offer(item, (issued + self.latency).max(self.last_taken), state);
        self.stages.leave(taken);
        self.last_taken = taken;
        taken
    }

    /// `[blocked, busy]` cycles of the port so far, for [`Activity::idle_in_storage`].
    pub fn output_cycles(&self) -> [u64; 2] {
        [self.activity.idle[StallReason::Blocked as usize], self.activity.busy]
    }

    /// Cycle at which the port is free and the next stage has accepted the last item.
    pub fn done(&self) -> Cycle {
        self.clock.whole_cycle().max(self.last_taken)
    }

    /// First cycle at which the port is free, whether or not the pipeline has room.
    #[inline]
    pub fn port_free(&self) -> Cycle {
        self.clock.cycle()
    }

    /// First cycle at which the port is free and the pipeline has room for the next item.
    #[inline]
    pub fn free(&self) -> Cycle {
        self.stages.entry(self.clock.cycle())
    }
}

/// Number of slots of `width` items that hold `count` items.
#[cold]
#[inline(never)]
fn slots(count: u64, width: NonZeroU64) -> u64 {
    count.div_ceil(width.get())
}

/// Largest number of quads per slot of a port of `rate`: the smaller of the port width and a beat of eight.
pub fn beat_width(rate: Rate) -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "eight quads")]
    const BEAT: u32 = BEAT_QUADS as u32;
    rate.width().min(BEAT)
}
