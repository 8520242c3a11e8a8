//! Warp slots that are freed in any order, for shaders whose warps end on the cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use quadrille_base::math::index;
use quadrille_machine::{Cycle, StallReason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TakenSlot {
    /// Slot index; neighbours belong to different schedulers.
    pub(super) slot: usize,
    pub(super) at: Cycle,
    /// Reason for the idle cycles of the slot's scheduler before `at`.
    pub(super) idle_before: StallReason,
}

#[derive(Debug)]
pub(super) struct WarpSlots {
    free: BinaryHeap<Reverse<(Cycle, usize)>>,
    waited: Vec<bool>,
}

impl WarpSlots {
    pub(super) fn new(count: u64) -> Self {
        let count = index(count.max(1));
        Self {
            free: (0..count).map(|slot| Reverse((0, slot))).collect(),
            waited: vec![false; count],
        }
    }

    /// Takes the earliest free slot for a warp that arrived at `arrival`; [`WarpSlots::leave`] must precede the next call.
    pub(super) fn take(&mut self, arrival: Cycle) -> TakenSlot {
        let Reverse((free, slot)) = self.free.pop().unwrap_or_default();
        // A warp that arrives when the slot becomes free had waited in the queue for it.
        let idle_before = match free >= arrival && free > 0 {
            true if self.waited[slot] => StallReason::Contended,
            true => StallReason::Full,
            false => StallReason::Starved,
        };
        TakenSlot { slot, at: free.max(arrival), idle_before }
    }

    pub(super) fn leave(&mut self, slot: usize, end: Cycle, waited: bool) {
        self.free.push(Reverse((end, slot)));
        self.waited[slot] = waited;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_that_is_free_first_is_taken() {
        let mut slots = WarpSlots::new(2);
        let mut take = |arrival, end, waited| {
            let taken = slots.take(arrival);
            slots.leave(taken.slot, end, waited);
            (taken.slot, taken.at, taken.idle_before)
        };
        assert_eq!(take(0, 100, true), (0, 0, StallReason::Starved));
        assert_eq!(take(1, 20, false), (1, 1, StallReason::Starved));
        // The second warp has ended before the first.
        assert_eq!(take(2, 30, false), (1, 20, StallReason::Full));
        assert_eq!(take(40, 200, false), (1, 40, StallReason::Starved));
        assert_eq!(take(50, 300, false), (0, 100, StallReason::Contended));
    }
}
