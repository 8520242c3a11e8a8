//! Bandwidth as a calendar of windows. Each request books bytes in the first windows with room at or
//! after its cycle. Requests may come out of time order; no byte of bandwidth is booked twice.
//!
//! Recent windows are kept in a ring, older ones in coarse blocks. A request that is older than the ring is booked in
//! these blocks at its own cycle, since the units that wait for it are as far in the past. If it were moved to the
//! ring, it would see the length of the ring as a latency of memory.

use super::past::Past;
use crate::rate::Rate;
use crate::timing::{Cycle, Timeline};
use quadrille_base::math::index;

/// Length of a window; far below the latency of any memory.
const WINDOW_CYCLES: u64 = 16;
/// Smallest number of windows in the ring, a power of two.
const WINDOWS: u64 = 1 << 14;
/// Largest number of windows in the ring, a power of two.
const MOST_WINDOWS: u64 = 1 << 20;
/// Initial number of windows per block of the past; blocks double in runs of more than 67 million cycles.
const PAST_WINDOWS: u64 = 1 << 10;

#[derive(Debug, Clone, Copy)]
struct Window {
    /// Booked parts of bytes.
    used: u64,
    /// Lower bound on the first window with room from this one on; the window itself while it has room.
    next: u64,
}

/// Bandwidth of one port over time.
#[derive(Debug)]
pub struct Calendar {
    /// Bytes per cycle as a reduced fraction.
    rate: Rate,
    /// Parts per byte: the denominator of the rate. A cycle then moves a whole number of parts, the numerator.
    byte: u64,
    parts_per_window: u64,
    /// Fill in parts below which a request takes the fast path: the capacity of a window, or 0 if a timeline is kept.
    quick_limit: u64,
    /// `2^48` divided by the parts per cycle, rounded up.
    reciprocal: u64,
    /// Ring of windows; `first` is the number of its oldest window.
    windows: Vec<Window>,
    /// Mask of ring indices: the number of windows, a power of two, minus 1.
    mask: u64,
    first: u64,
    /// Free parts of the windows that are older than the ring.
    past: Past,
    /// Bytes booked so far.
    pub bytes: u64,
    timeline: Option<Box<Timeline>>,
}

impl Calendar {
    /// Creates the calendar of a port of `rate` bytes per cycle, with a numerator of at most 2^22. Requests more than
    /// 262,144 cycles out of time order are booked in coarse blocks.
    pub fn new(rate: Rate) -> Self {
        Self::spanning(rate, 0)
    }

    /// As [`Calendar::new`], with a ring for requests up to `cycles` out of time order, at least 2^18 and at most 2^24.
    pub fn spanning(rate: Rate, cycles: u64) -> Self {
        let count = (cycles / WINDOW_CYCLES).clamp(WINDOWS, MOST_WINDOWS).next_power_of_two();
        let (bytes, cycles) = rate.reduced();
        let parts_per_cycle = u64::from(bytes);
        let window = |next| Window { used: 0, next };
        Self {
            rate: Rate::new(bytes, cycles),
            byte: cycles.into(),
            parts_per_window: parts_per_cycle * WINDOW_CYCLES,
            quick_limit: parts_per_cycle * WINDOW_CYCLES,
            reciprocal: (1_u64 << 48).div_ceil(parts_per_cycle),
            windows: (0..count).map(window).collect(),
            mask: count - 1,
            first: 0,
            past: Past::new(PAST_WINDOWS),
            bytes: 0,
            timeline: None,
        }
    }

    /// Rate of the port in bytes per cycle.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Books `bytes` at or after `at`; returns the cycle in which the last byte passes, or `at` for 0 bytes.
    #[inline]
    pub fn book(&mut self, bytes: u64, at: Cycle) -> Cycle {
        if bytes == 0 {
            return at;
        }
        self.bytes += bytes;
        let parts = bytes * self.byte;
        // Compiles to a shift, since the length is a power of two.
        let number = at / WINDOW_CYCLES;
        if number.wrapping_sub(self.first) <= self.mask {
            let window = &mut self.windows[index(number & self.mask)];
            // Fast path: most requests leave room in their first window.
            if window.used + parts < self.quick_limit {
                window.used += parts;
                let used = window.used;
                return at.max(number * WINDOW_CYCLES + self.last_cycle_of(used));
            }
        }
        self.book_from(number, parts, at)
    }

    /// Cycle, counted from the start of a window, in which the last of the first `used` parts passes.
    #[inline]
    fn last_cycle_of(&self, used: u64) -> Cycle {
        // Exact quotient: the product is below 2^53, and rounding the reciprocal up adds less than `used / 2^48`
        // to the quotient, at most 2^-22 and therefore below its smallest fraction.
        (used.saturating_sub(1) * self.reciprocal) >> 48
    }

    fn book_from(&mut self, mut from: u64, parts: u64, at: Cycle) -> Cycle {
        let mut left = parts;
        while from < self.first
            && let Some((taken, window)) = self.past.book(left, from)
        {
            left -= taken;
            let passed = at.max(window * WINDOW_CYCLES);
            if let Some(timeline) = &mut self.timeline {
                timeline.add(passed, taken);
            }
            if left == 0 {
                return passed;
            }
            from = window;
        }
        loop {
            let window = self.with_room(from);
            let booked = &mut self.windows[index(window & self.mask)];
            let taken = left.min(self.parts_per_window - booked.used);
            booked.used += taken;
            left -= taken;
            if booked.used == self.parts_per_window {
                booked.next = window + 1;
            }
            let used = booked.used;
            if let Some(timeline) = &mut self.timeline {
                timeline.add(window * WINDOW_CYCLES, taken);
            }
            if left == 0 {
                return at.max(window * WINDOW_CYCLES + self.last_cycle_of(used));
            }
            from = window + 1;
        }
    }

    /// Starts a timeline in windows of `window` cycles.
    pub fn keep_timeline(&mut self, window: Cycle) {
        self.timeline = Some(Box::new(Timeline::new(window)));
        self.quick_limit = 0;
    }

    /// Timeline of busy and unused cycles over a run of `cycles`, if one is kept.
    pub fn timeline(&self, cycles: Cycle) -> Option<Timeline> {
        Some(self.timeline.as_deref()?.scaled(self.rate.items().into(), cycles))
    }

    /// Finds the first window with room at or after `from`, with short cuts that let later requests skip full windows.
    fn with_room(&mut self, from: u64) -> u64 {
        let from = from.max(self.first);
        let end = self.first + self.mask + 1;
        let mut found = from;
        while found < end {
            let next = self.windows[index(found & self.mask)].next;
            if next == found {
                break;
            }
            found = next;
        }
        let mut passed = from;
        // Path compression, as in a disjoint set: every window on the way points at the window found.
        while passed < found.min(end) {
            let window = &mut self.windows[index(passed & self.mask)];
            passed = std::mem::replace(&mut window.next, found);
        }
        self.advance_to(found);
        found
    }

    fn advance_to(&mut self, window: u64) {
        let count = self.mask + 1;
        if window < self.first + count {
            return;
        }
        let first = window + 1 - count;
        // Replaces at most the whole ring, however far ahead the window is.
        let replaced = count.min(first - self.first);
        for old in self.first..self.first + replaced {
            let used = self.windows[index(old & self.mask)].used;
            self.past.add(old, 1, self.parts_per_window - used);
        }
        let skipped = self.first + replaced;
        self.past.add(skipped, first - skipped, self.parts_per_window);
        for new in (self.first + count).max(first)..=window {
            self.windows[index(new & self.mask)] = Window { used: 0, next: new };
        }
        self.first = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 bytes per cycle, windows of 160 bytes.
    #[test]
    fn bandwidth_is_handed_out_once() {
        let mut calendar = Calendar::new(Rate::new(10, 1));
        // 160 bytes fill the first window to its last cycle, 15.
        assert_eq!(calendar.book(160, 0), 15);
        // The next byte passes in cycle 16.
        assert_eq!(calendar.book(1, 0), 16);
        // A later request does not disturb an earlier one that is made after it.
        assert_eq!(calendar.book(160, 1600), 1615);
        assert_eq!(calendar.book(9, 3), 16);
        assert_eq!(calendar.book(10, 3), 17);
        // Alone in its window, a request passes in its own cycle.
        assert_eq!(calendar.book(10, 3205), 3205);
        assert_eq!(calendar.bytes, 350);
    }

    /// A request at cycle 300,000, then one at cycle 1, when the port was idle: it passes in cycle 1, whether the ring
    /// has the default length and is too short for it, or is longer.
    #[test]
    fn requests_from_before_the_windows_keep_their_cycle() {
        let later = |mut calendar: Calendar| {
            calendar.book(1, 300_000);
            calendar.book(1, 1)
        };
        assert_eq!(later(Calendar::new(Rate::new(10, 1))), 1);
        assert_eq!(later(Calendar::spanning(Rate::new(10, 1), 300_000)), 1);
        let widest = Calendar::spanning(Rate::new(10, 1), u64::MAX);
        assert_eq!(widest.windows.len() as u64, MOST_WINDOWS);
    }

    /// The port is saturated in its first 40,000 cycles and idle up to cycle 1,000,000. A request at cycle 7
    /// then passes in the block of 16,384 cycles that still has room: the third, whose first 7,232 cycles are
    /// taken. Its 9,152 free cycles are booked once.
    #[test]
    fn the_past_has_no_more_room_than_it_had() {
        let mut calendar = Calendar::new(Rate::new(10, 1));
        assert_eq!(calendar.book(400_000, 0), 39_999);
        calendar.book(1, 1_000_000);
        assert_eq!(calendar.book(10, 7), 2 * 16_384);
        assert_eq!(calendar.book(10, 35_000), 35_000);
        assert_eq!(calendar.book(91_500, 7), 2 * 16_384);
        assert_eq!(calendar.book(1, 7), 3 * 16_384);
    }

    /// A request of 0 bytes takes no time, even at a busy port.
    #[test]
    fn no_bytes_take_no_time() {
        let mut calendar = Calendar::new(Rate::new(10, 1));
        calendar.book(3_000_000, 0);
        assert_eq!((calendar.book(0, 5), calendar.book(0, 299_000)), (5, 299_000));
    }

    /// Requests alternate between cycle 0 and the last cycle reached, far beyond the length of the ring: at one byte per
    /// cycle, the last byte never passes earlier than the number of bytes allows.
    #[test]
    fn no_byte_passes_before_those_ahead_of_it() {
        let mut calendar = Calendar::new(Rate::ONE);
        let mut last = 0;
        for n in 0..100_000_u64 {
            let at = if n % 2 == 0 { 0 } else { last };
            last = last.max(calendar.book(32 + n % 97, at));
            assert!(calendar.bytes <= last + 1, "request {n}");
        }
        assert!(last > 4 * WINDOWS * WINDOW_CYCLES);
        // No gap was left either: every request found the next free window.
        assert_eq!(calendar.bytes, last + 1);
        // A gap larger than the ring, and a request from before it, which passes in the block of the last byte.
        let far = last + 1_000_001;
        assert_eq!(calendar.book(1, far), far);
        let old = calendar.book(16, 0);
        assert!(
            old > last - WINDOW_CYCLES * PAST_WINDOWS && old < last + WINDOW_CYCLES * PAST_WINDOWS
        );
        // A gap so large that all earlier windows are joined into one block.
        let far = (1 << 40) + 15;
        assert_eq!(calendar.book(16, far), far);
        assert_eq!(calendar.book(16, 7), 7);
    }

    /// 5 bytes in 3 cycles: byte `n` ends in cycle `ceil(3 n / 5) - 1`. At a byte in 40 cycles, a byte takes 2.5 windows.
    #[test]
    fn rates_are_ratios() {
        let mut calendar = Calendar::new(Rate::new(5, 3));
        let passed: Vec<_> = (0..8).map(|_| calendar.book(1, 0)).collect();
        assert_eq!(passed, [0, 1, 1, 2, 2, 3, 4, 4]);
        assert_eq!(calendar.book(992, 0), 599);
        let mut calendar = Calendar::new(Rate::new(1, 40));
        let passed: Vec<_> = (0..3).map(|_| calendar.book(1, 0)).collect();
        assert_eq!(passed, [39, 79, 119]);
    }
}
