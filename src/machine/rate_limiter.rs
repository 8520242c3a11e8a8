//! Ports that serve items at a rational rate, without rounding.

use super::rate::Rate;
use super::timing::Cycle;

/// Fraction bits of fixed-point time stamps.
const PART_BITS: u32 = 20;
const PARTS: u64 = 1 << PART_BITS;

/// Point in time of a port that serves items at a rational rate: a cycle, and the part of it that has been used.
///
/// Both are digits of one number, so a sum carries from the part into the cycle wherever `PARTS` is a multiple of the
/// items per cycle; otherwise a part counts to the number of items. Nothing is rounded. Cycles stay below 2^44.
#[derive(Debug, Clone, Copy)]
pub struct RateClock {
    time: u64,
    step: u64,
    parts: u64,
}

impl RateClock {
    /// Creates a clock at cycle 0.
    ///
    /// # Panics
    /// If the rate, a reduced fraction, has more than 524,288 items that are not a power of two.
    pub const fn new(rate: Rate) -> Self {
        let (items, cycles) = rate.reduced();
        let (items, cycles) = (items as u64, cycles as u64);
        let parts = if PARTS.is_multiple_of(items) { PARTS } else { items };
        // Two parts never carry into the cycle by themselves.
        assert!(parts == PARTS || 2 * parts <= PARTS, "a rate of few items");
        let rest = cycles % items * (parts / items);
        Self { time: 0, step: cycles / items * PARTS + rest, parts }
    }

    /// The cycle.
    #[inline(always)]
    pub const fn cycle(&self) -> Cycle {
        self.time >> PART_BITS
    }

    /// The cycle, or the next one if a part of it has been used.
    #[inline(always)]
    pub const fn whole_cycle(&self) -> Cycle {
        (self.time + (PARTS - 1)) >> PART_BITS
    }

    /// Whether a part of the cycle has been used.
    #[inline(always)]
    pub const fn is_mid_cycle(&self) -> bool {
        !self.time.is_multiple_of(PARTS)
    }

    /// Moves on to the start of `cycle`, unless that is in the past.
    #[inline(always)]
    pub fn wait_until(&mut self, cycle: Cycle) {
        self.time = self.time.max(cycle << PART_BITS);
    }

    /// Number of items, at most `most`, that can start in the current cycle.
    #[inline]
    pub fn left_in_cycle(&self, most: u64) -> u64 {
        let left = self.parts - self.time % PARTS;
        // Most rates are whole numbers of items per cycle, whose quotients are shifts.
        let items = if self.step.is_power_of_two() {
            (left + self.step - 1) >> self.step.trailing_zeros()
        } else {
            left.div_ceil(self.step)
        };
        most.min(items)
    }

    /// Moves on by the time of one item.
    #[inline(always)]
    pub fn pass_one(&mut self) {
        self.pass(1);
    }

    /// Moves on by the time of `count` items.
    #[inline(always)]
    pub fn pass(&mut self, count: u64) {
        self.time = self.after(self.time, count);
    }

    /// Moves on to the start of `cycle`, unless that is in the past, and by the time of `count` items; returns the cycle in
    /// which the first of them starts.
    #[inline(always)]
    pub fn pass_from(&mut self, cycle: Cycle, count: u64) -> Cycle {
        let start = self.time.max(cycle << PART_BITS);
        self.time = self.after(start, count);
        start >> PART_BITS
    }

    #[inline(always)]
    fn after(&self, time: u64, count: u64) -> u64 {
        if self.parts == PARTS {
            time + count * self.step
        } else {
            carried_by_hand(time, count, self.step, self.parts)
        }
    }
}

/// `time` plus `count` times `step` with manual carries of `parts`; by value, which keeps callers' clocks in registers.
#[cold]
#[inline(never)]
fn carried_by_hand(time: u64, count: u64, step: u64, parts: u64) -> u64 {
    let part = time % PARTS + count * (step % PARTS);
    let cycles = (time >> PART_BITS) + count * (step >> PART_BITS) + part / parts;
    (cycles << PART_BITS) + part % parts
}

/// A port that serves items at a fixed rate. Items that arrive in the same cycle share it up to the rate.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    clock: RateClock,
}

impl RateLimiter {
    /// Creates a port.
    pub const fn new(rate: Rate) -> Self {
        Self { clock: RateClock::new(rate) }
    }

    /// Serves an item that arrives at `arrival`; returns the cycle of service.
    #[inline(always)]
    pub fn serve(&mut self, arrival: Cycle) -> Cycle {
        self.clock.pass_from(arrival, 1)
    }

    /// Serves `count` items, at least one, that arrive at `arrival`; returns the cycle of service of the last.
    #[inline]
    pub fn serve_all(&mut self, arrival: Cycle, count: u64) -> Cycle {
        self.clock.wait_until(arrival);
        self.clock.pass(count.saturating_sub(1));
        self.serve(arrival)
    }

    /// First cycle in which another item can be served.
    #[inline]
    pub const fn free(&self) -> Cycle {
        self.clock.cycle()
    }

    /// Blocks the port until `cycle`.
    #[inline]
    pub fn hold_until(&mut self, cycle: Cycle) {
        self.clock.wait_until(cycle);
    }
}
