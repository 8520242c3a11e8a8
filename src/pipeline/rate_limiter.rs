//! Ports that serve items at a rational rate, without rounding.

use std::hint::select_unpredictable;

use super::rate::Rate;
use super::timing::Cycle;

/// Point in time of a port that serves items at a rational rate: a cycle, and the part of it that has
/// been used.
#[derive(Debug, Clone, Copy)]
pub struct RateClock {
    cycle: Cycle,
    /// Used part of the cycle, in units of 1 / `of` cycles.
    part: u32,
    of: u32,
    /// Time per item: whole cycles, and units of 1 / `of` cycles.
    whole: u32,
    rest: u32,
}

impl RateClock {
    /// Creates a clock at cycle 0.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self {
            cycle: 0,
            part: 0,
            of: rate.items(),
            whole: rate.cycles() / rate.items(),
            rest: rate.cycles() % rate.items(),
        }
    }

    /// The cycle.
    #[inline]
    #[must_use]
    pub const fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// The cycle, or the next one if a part of it has been used.
    #[inline]
    #[must_use]
    pub fn whole_cycle(&self) -> Cycle {
        self.cycle + u64::from(self.part > 0)
    }

    /// Moves on to the start of `cycle`, unless that is in the past.
    #[inline]
    pub fn wait_until(&mut self, cycle: Cycle) {
        // Branches on the times of items could not be predicted.
        self.part = select_unpredictable(cycle > self.cycle, 0, self.part);
        self.cycle = self.cycle.max(cycle);
    }

    /// Number of items, at most `most`, that can start in the current cycle.
    #[inline]
    #[must_use]
    pub fn left_in_cycle(&self, most: u64) -> u64 {
        if self.whole > 0 {
            return most.min(1);
        }
        let left = self.of - self.part;
        // Whole numbers of items per cycle need no division.
        let items = if self.rest == 1 {
            left
        } else {
            left.div_ceil(self.rest)
        };
        most.min(u64::from(items))
    }

    /// Moves on by the time of one item.
    #[inline]
    pub fn pass_one(&mut self) {
        // Both are below `of`, so the sum passes at most one cycle.
        let part = self.part + self.rest;
        let is_over = part >= self.of;
        self.part = select_unpredictable(is_over, part.wrapping_sub(self.of), part);
        self.cycle += u64::from(self.whole) + u64::from(is_over);
    }

    /// Moves on by the time of `count` items.
    #[inline]
    pub fn pass(&mut self, count: u64) {
        self.cycle += count * u64::from(self.whole);
        let (of, mut part) = (
            u64::from(self.of),
            u64::from(self.part) + count * u64::from(self.rest),
        );
        // Items pass cycle by cycle, so that there is seldom more than one.
        let is_over = part >= of;
        part = select_unpredictable(is_over, part.wrapping_sub(of), part);
        self.cycle += u64::from(is_over);
        while part >= of {
            part -= of;
            self.cycle += 1;
        }
        #[allow(clippy::cast_possible_truncation, reason = "below `of`")]
        let part = part as u32;
        self.part = part;
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
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self {
            clock: RateClock::new(rate),
        }
    }

    /// Serves an item that arrives at `arrival`; returns the cycle of service.
    #[inline]
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
    #[must_use]
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
        for (items, cycles) in [(3, 1), (7, 3), (1, 3), (31, 32), (32, 5)] {
            let mut limiter = RateLimiter::new(Rate::new(items, cycles));
            for n in 0..100_000 {
                let expected = n * u64::from(cycles) / u64::from(items);
                assert_eq!(limiter.serve(0), expected, "{items}/{cycles}, item {n}");
            }
        }
    }
}
