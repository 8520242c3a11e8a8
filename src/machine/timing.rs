//! Finite queues, and accounting of a port's cycles by stall reason.

use std::hint::select_unpredictable;

use serde::Serialize;

use super::rate::Rate;
use quadrille_base::choice;
use quadrille_base::math::index;

/// A point in time, in cycles of the shader clock since the draw call began.
pub type Cycle = u64;

/// A first-in-first-out queue of finite depth.
///
/// Item `n` enters no earlier than item `n - depth` leaves, so the last `depth` departure times are the whole state.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Ring of departure times, one per slot of the queue.
    left_at: Box<[Cycle]>,
    /// Index of the oldest departure.
    oldest: usize,
    /// Departure time at `oldest`, before which no item enters.
    free_at: Cycle,
}

impl Queue {
    /// Creates an empty queue for `depth` items, at least 1.
    pub fn new(depth: u64) -> Self {
        Self { left_at: vec![0; index(depth.max(1))].into(), oldest: 0, free_at: 0 }
    }

    /// Cycle at which an item offered at `offered` enters.
    #[inline(always)]
    pub fn entry(&self, offered: Cycle) -> Cycle {
        offered.max(self.free_at)
    }

    /// Records that the item that entered last leaves at `cycle`.
    #[inline(always)]
    pub fn leave(&mut self, cycle: Cycle) {
        self.left_at[self.oldest] = cycle;
        // Counts down, since the borrow marks the end of the ring. Short queues wrap around too often to predict a branch.
        let (next, ends) = self.oldest.overflowing_sub(1);
        self.oldest = select_unpredictable(ends, self.left_at.len() - 1, next);
        self.free_at = self.left_at[self.oldest];
    }
}

choice! {
    /// Reason why a unit did no work in a cycle, in the order of [`Activity::idle`].
    pub enum StallReason {
        /// No input from the previous unit.
        Starved = "starved",
        /// The next unit accepted no output.
        Blocked = "blocked",
        /// Data was in flight from memory.
        Miss = "miss",
        /// No bin or buffer of the unit was free.
        Full = "full",
        /// Another user held the port, such as a termination update or a vertex warp.
        Contended = "contended",
        /// The last item of the draw was finished.
        Drained = "drained",
    }
}

impl StallReason {
    #[inline(always)]
    const fn state(self) -> usize {
        1 + self as usize
    }
}

/// Accounting of a port's cycles. Each cycle before [`Activity::accounted`] is counted exactly once.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Activity {
    /// Cycles with work.
    pub busy: u64,
    /// Items that passed the port.
    pub moved: u64,
    /// Largest rate at which items pass, if the port has one.
    #[serde(skip)]
    pub rate: Option<Rate>,
    /// Cycles without work, by reason, in the order of [`StallReason::ALL`].
    pub idle: [u64; StallReason::ALL.len()],
    /// Whether the unit is built to hold items until a bin is flushed, so that full storage is its normal state.
    #[serde(skip)]
    pub holds_items: bool,
    /// Minimum number of cycles for the items if groups that cannot share a cycle need more than `rate` implies; else 0.
    #[serde(skip)]
    pub least: u64,
    #[serde(skip)]
    accounted: Cycle,
    #[serde(skip)]
    last_arrival: Cycle,
    #[serde(skip)]
    last_left: Cycle,
    #[serde(skip)]
    timeline: Option<Box<Timeline>>,
}

impl Activity {
    /// Creates the accounting of a port that passes at most `rate` items per cycle.
    pub fn of_rate(rate: Rate) -> Self {
        Self { rate: Some(rate), ..Self::default() }
    }

    /// Minimum number of cycles for `items` at the port's rate; 0 if it has no rate.
    pub fn least_cycles_of(&self, items: u64) -> u64 {
        self.rate.map_or(0, |rate| rate.cycles_for(items))
    }

    /// Minimum number of cycles for the items that passed; all busy cycles if there is no rate.
    pub(crate) fn needed(&self) -> u64 {
        let at_rate = self.rate.map_or(self.busy, |rate| rate.cycles_for(self.moved));
        // Cycles between groups of items that share none may count as idle.
        at_rate.min(self.busy).max(self.least)
    }

    /// Charges the unaccounted cycles up to `cycle` to `reason`.
    #[inline(always)]
    pub fn idle_until(&mut self, cycle: Cycle, reason: StallReason) {
        self.charge([(cycle, reason.state())]);
    }

    /// Charges the unaccounted cycles up to `cycle`, in which an item waited for storage to drain through an output port
    /// with these `[blocked, busy]` cycles. The blocked share goes to [`StallReason::Blocked`], the rest to
    /// [`StallReason::Full`].
    #[inline]
    pub fn idle_in_storage(&mut self, [blocked, busy]: [u64; 2], cycle: Cycle) {
        let wait = cycle.saturating_sub(self.accounted);
        if wait == 0 {
            return;
        }
        let until = self.accounted + wait * blocked / (blocked + busy).max(1);
        self.idle_until(until, StallReason::Blocked);
        self.idle_until(cycle, StallReason::Full);
    }

    /// Charges cycles up to an item's arrival to [`StallReason::Starved`], up to its start to [`StallReason::Blocked`].
    #[inline(always)]
    pub(crate) fn wait_for_item(&mut self, arrival: Cycle, start: Cycle) {
        self.charge([
            (arrival, StallReason::Starved.state()),
            (start, StallReason::Blocked.state()),
        ]);
    }

    /// Charges cycles up to `start` as [`Activity::wait_for_item`], then up to `end` as busy.
    #[inline(always)]
    pub(crate) fn work_on_item(&mut self, arrival: Cycle, start: Cycle, end: Cycle) {
        self.charge([
            (arrival, StallReason::Starved.state()),
            (start, StallReason::Blocked.state()),
            (end, BUSY),
        ]);
    }

    /// Charges cycles up to `worked` as busy, up to `start` to [`StallReason::Blocked`], and up to `end` as busy.
    #[inline(always)]
    pub(crate) fn work_before_item(&mut self, worked: Cycle, start: Cycle, end: Cycle) {
        self.charge([(worked, BUSY), (start, StallReason::Blocked.state()), (end, BUSY)]);
    }

    /// Charges cycles up to `worked` as busy, up to each cycle of `waits` to its reason, and up to `end` as busy.
    #[inline(always)]
    pub fn work_around(&mut self, worked: Cycle, waits: [(Cycle, StallReason); 2], end: Cycle) {
        let [first, second] = waits.map(|(until, reason)| (until, reason.state()));
        self.charge([(worked, BUSY), first, second, (end, BUSY)]);
    }

    /// Charges the unaccounted cycles up to `ready`, when the data of an item that arrived at `arrival` is present. Cycles
    /// by which it is late ([`Activity::arrive`]) go to [`StallReason::Starved`], the rest to [`StallReason::Miss`].
    #[inline]
    pub fn idle_for_data(&mut self, arrival: Cycle, ready: Cycle) {
        let later = self.arrive(arrival);
        self.charge(self.late_data(later, ready));
    }

    /// Charges the unaccounted cycles up to `ready` as [`Activity::idle_for_data`] for an item that is `later` cycles late,
    /// the cycles up to `begin` to [`StallReason::Contended`], and the cycles up to `end` as busy.
    #[inline(always)]
    pub fn work_on_data(&mut self, later: Cycle, ready: Cycle, begin: Cycle, end: Cycle) {
        let [starved, missed] = self.late_data(later, ready);
        self.charge([starved, missed, (begin, StallReason::Contended.state()), (end, BUSY)]);
    }

    /// Charges the unaccounted cycles up to `ready` as [`Self::work_on_data`], and up to `room` to [`StallReason::Full`].
    #[cold]
    #[inline(never)]
    pub fn idle_for_room(&mut self, later: Cycle, ready: Cycle, room: Cycle) {
        let [starved, missed] = self.late_data(later, ready);
        self.charge([starved, missed, (room, StallReason::Full.state())]);
    }

    /// Limits and states of the wait until `ready` for the data of an item that is `later` cycles late.
    #[inline(always)]
    fn late_data(&self, later: Cycle, ready: Cycle) -> [(Cycle, usize); 2] {
        [
            (ready.min(self.accounted + later), StallReason::Starved.state()),
            (ready, StallReason::Miss.state()),
        ]
    }

    /// Records an arrival; returns how many cycles it is late, measured from the last departure from the queue or the cycle
    /// after the previous arrival, whichever is later.
    #[inline]
    pub fn arrive(&mut self, arrival: Cycle) -> Cycle {
        let later = arrival.saturating_sub(self.last_left.max(self.last_arrival + 1));
        self.last_arrival = arrival;
        later
    }

    /// Records that the last item left the queue in front of the port at `cycle`. Items that arrive by then are not late.
    #[inline]
    pub fn leave_queue(&mut self, cycle: Cycle) {
        self.last_left = cycle;
    }

    /// Charges the unaccounted cycles up to `cycle` as busy.
    #[inline(always)]
    pub fn busy_until(&mut self, cycle: Cycle) {
        self.charge([(cycle, BUSY)]);
    }

    /// Charges the cycles up to each limit to its state, without a branch on their number, which would be unpredictable.
    #[inline(always)]
    fn charge<const N: usize>(&mut self, charges: [(Cycle, usize); N]) {
        if self.timeline.is_some() {
            let mut from = self.accounted;
            // One call per charge keeps the array in registers; as a slice it is written to memory even without a timeline.
            for (cycle, state) in charges {
                self.record(from, cycle, state);
                from = from.max(cycle);
            }
        }
        for (cycle, state) in charges {
            let until = cycle.max(self.accounted);
            let cycles = until - self.accounted;
            match state {
                BUSY => self.busy += cycles,
                _ => self.idle[state - 1] += cycles,
            }
            self.accounted = until;
        }
    }

    #[cold]
    #[inline(never)]
    fn record(&mut self, from: Cycle, to: Cycle, state: usize) {
        if let Some(timeline) = &mut self.timeline {
            timeline.record(from, to, state);
        }
    }

    /// First cycle that is not accounted for.
    pub fn accounted(&self) -> Cycle {
        self.accounted
    }

    /// Number of cycles counted, busy or idle.
    pub fn total(&self) -> u64 {
        self.busy + self.idle.iter().sum::<u64>()
    }

    /// Starts a timeline in windows of `window` cycles.
    pub fn keep_timeline(&mut self, window: Cycle) {
        self.timeline = Some(Box::new(Timeline::new(window)));
    }

    /// Timeline of the port; `None` if it is not kept.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_deref()
    }
}

const BUSY: usize = 0;
/// Number of states on a timeline: busy, then each stall reason.
pub const STATES: usize = 1 + StallReason::ALL.len();
pub(super) const MAX_WINDOWS: usize = 4096;

/// States of a port over time, window by window. The number of windows is bounded: when a draw
/// outgrows them, pairs of windows are joined and the window length doubles.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Length of a window in cycles.
    pub window: u64,
    /// Cycles of each window by state: busy, then in the order of [`StallReason::ALL`].
    pub windows: Vec<[u64; STATES]>,
}

impl Timeline {
    /// Default initial length of a window, in cycles.
    pub const FIRST_WINDOW: Cycle = 64;

    /// Creates an empty timeline in windows of `window` cycles.
    pub(crate) fn new(window: Cycle) -> Self {
        Self { window, windows: Vec::new() }
    }

    /// Adds the timeline of another instance, which began with windows of the same length.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.widen(other.window);
        other.widen(self.window);
        self.windows.resize(self.windows.len().max(other.windows.len()), [0; STATES]);
        for (sum, window) in self.windows.iter_mut().zip(&other.windows) {
            add(sum, window);
        }
    }

    /// Joins pairs of windows until they are `window` cycles long: their current length times a power of two.
    pub fn widen(&mut self, window: Cycle) {
        while self.window < window {
            self.halve();
        }
    }

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

    pub(super) fn add(&mut self, at: Cycle, amount: u64) {
        while at >= self.window * MAX_WINDOWS as u64 {
            self.halve();
        }
        let window = index(at / self.window);
        if window >= self.windows.len() {
            self.windows.resize(window + 1, [0; STATES]);
        }
        self.windows[window][0] += amount;
    }

    /// Converts amounts of [`Timeline::add`] to busy cycles at `per_cycle`; the rest of `cycles` counts as drained.
    pub(super) fn scaled(&self, per_cycle: u64, cycles: Cycle) -> Self {
        let mut timeline = Self { window: self.window, windows: Vec::new() };
        for (window, start) in (0..cycles).step_by(index(self.window)).enumerate() {
            let length = self.window.min(cycles - start);
            let amount = self.windows.get(window).map_or(0, |states| states[0]);
            let busy = amount.div_ceil(per_cycle).min(length);
            timeline.windows.push([0; STATES]);
            timeline.windows[window][0] = busy;
            timeline.windows[window][1 + StallReason::Drained as usize] = length - busy;
        }
        timeline
    }

    fn halve(&mut self) {
        self.window *= 2;
        self.windows = self
            .windows
            .chunks(2)
            .map(|pair| {
                let mut sum = [0; STATES];
                pair.iter().for_each(|window| add(&mut sum, window));
                sum
            })
            .collect();
    }
}

fn add(sum: &mut [u64; STATES], window: &[u64; STATES]) {
    for (sum, cycles) in sum.iter_mut().zip(window) {
        *sum += cycles;
    }
}
