//! Ports that serve items at a rational rate, without rounding.

use super::rate::Rate;
use super::timing::Cycle;

/// Fraction bits of fixed-point time stamps.
const PART_BITS: u32 = 20;
const PARTS: u64 = 1 << PART_BITS;

/// Point in time of a port that serves items at a rational rate: a cycle, and the part of it that has been used.
///
/// Both are stored in one fixed-point number. If the numerator of the rate divides `PARTS`, addition carries into the
/// cycle by itself; otherwise a cycle has as many parts as the numerator. Nothing is rounded. Cycles stay below 2^44.
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
    /// If the numerator of the reduced rate is above 524,288 and not 2^20.
    pub const fn new(rate: Rate) -> Self {
        let (items, cycles) = rate.reduced();
        let (items, cycles) = (items as u64, cycles as u64);
        let parts = if PARTS.is_multiple_of(items) { PARTS } else { items };
        // The sum of two parts must not reach the bits of the cycle.
        assert!(parts == PARTS || 2 * parts <= PARTS, "a rate of few items");
        let rest = cycles % items * (parts / items);
        Self { time: 0, step: cycles / items * PARTS + rest, parts }
    }

    /// Current cycle, of which a part may have been used.
    #[inline(always)]
    pub const fn cycle(&self) -> Cycle {
        self.time >> PART_BITS
    }

    /// First cycle of which no part has been used.
    #[inline(always)]
    pub const fn whole_cycle(&self) -> Cycle {
        (self.time + (PARTS - 1)) >> PART_BITS
    }

    /// Whether a part of the current cycle has been used.
    #[inline(always)]
    pub const fn is_mid_cycle(&self) -> bool {
        !self.time.is_multiple_of(PARTS)
    }

    /// Advances to the start of `cycle`, unless that is in the past.
    #[inline(always)]
    pub fn wait_until(&mut self, cycle: Cycle) {
        self.time = self.time.max(cycle << PART_BITS);
    }

    /// Number of items, at most `most`, that can start in the current cycle.
    #[inline]
    pub fn left_in_cycle(&self, most: u64) -> u64 {
        let left = self.parts - self.time % PARTS;
        // Most rates are whole numbers of items per cycle; their step is a power of two, so the division is a shift.
        let items = if self.step.is_power_of_two() {
            (left + self.step - 1) >> self.step.trailing_zeros()
        } else {
            left.div_ceil(self.step)
        };
        most.min(items)
    }

    /// Advances by the time of one item.
    #[inline(always)]
    pub fn pass_one(&mut self) {
        self.pass(1);
    }

    /// Advances by the time of `count` items.
    #[inline(always)]
    pub fn pass(&mut self, count: u64) {
        self.time = self.after(self.time, count);
    }

    /// Advances to the start of `cycle`, unless that is in the past, and then by the time of `count` items; returns the
    /// cycle in which the first item starts.
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

/// Adds `count` steps to `time` and carries at `parts`. Takes values, which keeps the callers' clocks in registers.
#[cold]
#[inline(never)]
fn carried_by_hand(time: u64, count: u64, step: u64, parts: u64) -> u64 {
    let part = time % PARTS + count * (step % PARTS);
    let cycles = (time >> PART_BITS) + count * (step >> PART_BITS) + part / parts;
    (cycles << PART_BITS) + part % parts
}

/// A port that serves items at a fixed rate. Several items share a cycle if the rate is above 1.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    clock: RateClock,
}

impl RateLimiter {
    /// Creates an idle port that serves items at `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self { clock: RateClock::new(rate) }
    }

    /// Serves an item that arrives at `arrival`; returns the cycle of service.
    #[inline(always)]
    pub fn serve(&mut self, arrival: Cycle) -> Cycle {
        self.clock.pass_from(arrival, 1)
    }

    /// Serves `count` items, at least one, that arrive at `arrival`; returns the cycle of service of the last item.
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
