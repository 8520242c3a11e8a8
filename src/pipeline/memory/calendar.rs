//! Bandwidth as a calendar of windows. Each request books bytes in the first windows with room at or
//! after its cycle. Requests may come out of time order; no byte of bandwidth is booked twice.

use crate::math::index;
use crate::pipeline::timing::{Cycle, Timeline};

/// Cycles per window, which is the resolution of bandwidth: far below the latency of any memory.
const WINDOW_CYCLES: u64 = 16;
/// Number of windows kept. Older requests are booked in the oldest window.
const WINDOWS: usize = 1 << 14;

/// The calendar of one port.
#[derive(Debug)]
pub struct Calendar {
    bytes_per_window: u64,
    bytes_per_cycle: u64,
    /// `2^48 / bytes_per_cycle`, rounded up.
    reciprocal: u64,
    /// Ring of bytes booked by window.
    used: Vec<u64>,
    /// First window of the ring.
    first: u64,
    /// Bytes booked so far.
    pub bytes: u64,
    /// Bytes by window of time, if kept.
    timeline: Option<Box<Timeline>>,
}

impl Calendar {
    /// Creates the calendar of a port of `bytes_per_cycle`, at least 1.
    pub fn new(bytes_per_cycle: u64) -> Self {
        let bytes_per_cycle = bytes_per_cycle.max(1);
        Self {
            bytes_per_window: bytes_per_cycle * WINDOW_CYCLES,
            bytes_per_cycle,
            reciprocal: (1_u64 << 48).div_ceil(bytes_per_cycle),
            used: vec![0; WINDOWS],
            first: 0,
            bytes: 0,
            timeline: None,
        }
    }

    /// Cycles that the bytes booked so far take at the port's rate.
    pub fn busy_cycles(&self) -> Cycle {
        self.bytes.div_ceil(self.bytes_per_cycle)
    }

    /// Books `bytes` at or after `at`; returns the cycle in which the last byte passes.
    pub fn book(&mut self, bytes: u64, at: Cycle) -> Cycle {
        self.bytes += bytes;
        let mut window = (at / WINDOW_CYCLES).max(self.first);
        let mut left = bytes;
        loop {
            self.advance_to(window);
            let used = &mut self.used[index(window % WINDOWS as u64)];
            let taken = left.min(self.bytes_per_window - *used);
            *used += taken;
            left -= taken;
            if let Some(timeline) = &mut self.timeline {
                timeline.add(window * WINDOW_CYCLES, taken);
            }
            if left == 0 {
                // Exact ceiling of the quotient: `above` is at most 17 times the bytes per cycle, so
                // the product is below 2^53, and rounding the reciprocal up adds less than 2^-23 of
                // it, below the smallest fraction of 2^-20.
                let above = *used + self.bytes_per_cycle - 1;
                let passed = (above * self.reciprocal) >> 48;
                return at.max(window * WINDOW_CYCLES + passed - u64::from(passed > 0));
            }
            window += 1;
        }
    }

    /// Starts a timeline.
    pub fn keep_timeline(&mut self) {
        self.timeline = Some(Box::default());
    }

    /// The busy and the unused cycles over a run of `cycles`, if a timeline is kept.
    pub fn timeline(&self, cycles: Cycle) -> Option<Timeline> {
        let bytes = self.timeline.as_deref()?;
        Some(bytes.scaled(self.bytes_per_cycle, cycles))
    }

    /// Makes room in the ring for `window`.
    fn advance_to(&mut self, window: u64) {
        while window >= self.first + WINDOWS as u64 {
            self.used[index(self.first % WINDOWS as u64)] = 0;
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 bytes per cycle, windows of 160 bytes.
    #[test]
    fn bandwidth_is_handed_out_once() {
        let mut calendar = Calendar::new(10);
        // 160 bytes fill the first window to its last cycle, 15.
        assert_eq!(calendar.book(160, 0), 15);
        // The next byte passes in cycle 16.
        assert_eq!(calendar.book(1, 0), 16);
        // A later request does not disturb an earlier one that is made after it.
        assert_eq!(calendar.book(160, 1600), 1615);
        assert_eq!(calendar.book(9, 3), 16);
        assert_eq!(calendar.book(10, 3), 17);
        // Alone in its window, a request passes when it asked to.
        assert_eq!(calendar.book(10, 3205), 3205);
        assert_eq!(calendar.bytes, 350);
    }
}
