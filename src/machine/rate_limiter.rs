//! Ports that serve items at a rational rate, without rounding.

use super::rate::Rate;
use super::timing::Cycle;

/// Fraction bits of fixed-point time stamps.
const PART_BITS: u32 = 20;
/// Parts of a cycle that these digits can tell apart.
const PARTS: u64 = 1 << PART_BITS;

/// Point in time of a port that serves items at a rational rate: a cycle, and the part of it that has
/// been used.
///
/// Both are digits of one number, so that a sum carries from the part into the cycle by itself wherever
/// `PARTS` is a multiple of the items per cycle. Otherwise a part counts to the number of items, and
/// carries by hand. Either way nothing is rounded. Cycles stay below 2^44.
#[derive(Debug, Clone, Copy)]
pub struct RateClock {
    time: u64,
    /// Time per item.
    step: u64,
    /// Parts that make up a cycle.
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
        let parts = if PARTS.is_multiple_of(items) {
            PARTS
        } else {
            items
        };
        // Two parts never carry into the cycle by themselves.
        assert!(parts == PARTS || 2 * parts <= PARTS, "a rate of few items");
        let rest = cycles % items * (parts / items);
        Self {
            time: 0,
            step: cycles / items * PARTS + rest,
            parts,
        }
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
        if self.parts == PARTS {
            self.time += count * self.step;
        } else {
            self.pass_by_hand(count);
        }
    }

    /// As [`RateClock::pass`], where parts do not carry by themselves.
    #[cold]
    #[inline(never)]
    fn pass_by_hand(&mut self, count: u64) {
        let part = self.time % PARTS + count * (self.step % PARTS);
        let cycles = self.cycle() + count * (self.step >> PART_BITS) + part / self.parts;
        self.time = (cycles << PART_BITS) + part % self.parts;
    }
}

/// A port that serves items at a fixed rate. Items that arrive in the same cycle share it up to the
/// rate.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    clock: RateClock,
}

impl RateLimiter {
    /// Creates a port.
    pub const fn new(rate: Rate) -> Self {
        Self {
            clock: RateClock::new(rate),
        }
    }

    /// Serves an item that arrives at `arrival`; returns the cycle of service.
    #[inline(always)]
    pub fn serve(&mut self, arrival: Cycle) -> Cycle {
        self.clock.wait_until(arrival);
        let start = self.clock.cycle();
        self.clock.pass_one();
        start
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_share_cycles_up_to_the_rate() {
        let mut limiter = RateLimiter::new(Rate::new(2, 1));
        let served: Vec<_> = [5, 5, 5, 6, 9].map(|t| limiter.serve(t)).into();
        assert_eq!(served, [5, 5, 6, 6, 9]);
        // One item in three cycles.
        let mut slow = RateLimiter::new(Rate::new(1, 3));
        assert_eq!([0, 0, 0, 100].map(|t| slow.serve(t)), [0, 3, 6, 100]);
        // Three items in two cycles.
        let mut mixed = RateLimiter::new(Rate::new(3, 2));
        assert_eq!([0; 7].map(|t| mixed.serve(t)), [0, 0, 1, 2, 2, 3, 4]);
        assert_eq!([mixed.serve_all(0, 3), mixed.serve_all(9, 4)], [6, 11]);
    }

    /// No rate drifts: after many items the cycle is the exact quotient.
    #[test]
    fn rates_are_exact() {
        for (items, cycles) in [(3, 1), (7, 3), (1, 3), (31, 32), (32, 5), (65_535, 65_534)] {
            let mut limiter = RateLimiter::new(Rate::new(items, cycles));
            let cycle_of = |item: u64| item * u64::from(cycles) / u64::from(items);
            for n in 0..100_000 {
                assert_eq!(limiter.serve(0), cycle_of(n), "{items}/{cycles}, item {n}");
                let (mut jumping, mut first) = (RateClock::new(Rate::new(items, cycles)), n / 3);
                jumping.pass(first);
                let mut batches = 0;
                while first < n && batches < 50 {
                    batches += 1;
                    let batch = jumping.left_in_cycle(n - first);
                    assert!(batch > 0, "{items}/{cycles}, from item {first} of {n}");
                    let (place, next) = ((items, cycles, first, batch, n), first + batch);
                    assert_eq!(cycle_of(next - 1), cycle_of(first), "one cycle: {place:?}");
                    let all = next == n || cycle_of(next) > cycle_of(first);
                    assert!(all, "all that start in the cycle: {place:?}");
                    jumping.pass(batch);
                    assert_eq!(jumping.cycle(), cycle_of(next), "{place:?}");
                    first = next;
                }
            }
        }
    }
}
