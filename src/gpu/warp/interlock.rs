//! Tickets of screen regions, which order the critical sections of fragment shaders by flush
//! (VR-Pipe, section IV-A; `GL_ARB_fragment_shader_interlock`).
//!
//! A flush of tile coalescing, which holds each pixel at most once, takes a ticket of its screen region when its first warp
//! gets a slot. The region's counter shows the ticket when the previous flush of the region is over: each of its warps has
//! sent the counter an update, after its critical section or, if none of its fragments survived, at its end. A waiting warp
//! keeps its slot and issues nothing: the counter's new value reaches it without polling (assumption).

use quadrille_base::math::index;
use quadrille_machine::{Cycle, spec, statistics};

spec! {
    /// Configuration of critical sections in fragment shaders.
    InterlockSpec in "interlock" {
        /// Screen regions per GPC, each with a counter. Screen tiles share regions round robin; with at least
        /// as many regions as tiles, each tile has its own.
        regions: u64 = 64, 1..=16_777_216, Assumed "a small table; NVIDIA's patents US 10,055,806 and US 10,019,776 describe ordered access by screen region and state no size";
    }
}

statistics! {
    /// Tickets and waits of the critical sections.
    pub struct InterlockCounters {
        /// Tickets taken: flushes with at least one warp.
        pub tickets: u64,
        /// Tickets that a warp waited for, until the previous flush released the region.
        pub handoffs: u64,
        /// Warps that waited for their ticket.
        pub warps_waited: u64,
        /// Cycles in which warps occupied their slots while waiting for their ticket, over all warps.
        pub wait_cycles: u64,
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Region {
    /// Cycle at which the counter shows the last flush's ticket.
    shows: Cycle,
    updated: Cycle,
    waited: bool,
}

#[derive(Debug)]
pub(super) struct Interlock {
    regions: Vec<Region>,
    pub(super) counters: InterlockCounters,
}

impl Interlock {
    pub(super) fn new(spec: &InterlockSpec, tiles: usize) -> Self {
        let regions = index(spec.regions).min(tiles).max(1);
        Self { regions: vec![Region::default(); regions], counters: InterlockCounters::default() }
    }

    fn region(&mut self, tile: u32) -> &mut Region {
        let regions = self.regions.len();
        &mut self.regions[tile as usize % regions]
    }

    /// Takes the next ticket of the region of `tile` for a new flush. All warps of the previous flush must have entered.
    pub(super) fn take_ticket(&mut self, tile: u32) {
        self.counters.tickets += 1;
        let region = self.region(tile);
        *region = Region { shows: region.shows.max(region.updated), updated: 0, waited: false };
    }

    /// Makes a warp of the last flush wait from `from` until its ticket is shown; returns the cycle at which it enters.
    pub(super) fn enter(&mut self, tile: u32, from: Cycle) -> Cycle {
        let region = self.region(tile);
        let wait = region.shows.saturating_sub(from);
        if wait == 0 {
            return from;
        }
        let is_first = !std::mem::replace(&mut region.waited, true);
        self.counters.handoffs += u64::from(is_first);
        self.counters.warps_waited += 1;
        self.counters.wait_cycles += wait;
        from + wait
    }

    pub(super) fn update(&mut self, tile: u32, at: Cycle) {
        let region = self.region(tile);
        region.updated = region.updated.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interlock(regions: u64, tiles: usize) -> Interlock {
        Interlock::new(&InterlockSpec { regions }, tiles)
    }

    /// Two warps of the first flush leave at 500 and 460; the second flush waits for the later one. A flush
    /// that ends before its ticket is shown passes the region on when the ticket is shown.
    #[test]
    fn a_flush_waits_for_all_warps_of_the_one_before() {
        let mut interlock = interlock(1, 9);
        interlock.take_ticket(0);
        assert_eq!(interlock.enter(0, 150), 150);
        interlock.update(0, 500);
        assert_eq!(interlock.enter(0, 160), 160);
        interlock.update(0, 460);
        interlock.take_ticket(5);
        assert_eq!(interlock.enter(5, 170), 500);
        assert_eq!(interlock.enter(5, 510), 510);
        assert_eq!(interlock.enter(5, 499), 500);
        // None of the warps of this flush enters, and it has ended at 180.
        interlock.update(5, 180);
        interlock.take_ticket(0);
        assert_eq!(interlock.enter(0, 190), 500);
        let counters = interlock.counters;
        assert_eq!((counters.tickets, counters.handoffs), (3, 2));
        let waits = 330 + 1 + 310;
        assert_eq!((counters.warps_waited, counters.wait_cycles), (3, waits));
    }

    /// With three regions, tiles 1 and 4 share a counter, and tile 2 has another one.
    #[test]
    fn tiles_share_regions_in_turn() {
        let mut interlock = interlock(3, 6);
        interlock.take_ticket(1);
        interlock.update(1, 500);
        interlock.take_ticket(2);
        assert_eq!(interlock.enter(2, 10), 10);
        interlock.take_ticket(4);
        assert_eq!(interlock.enter(4, 10), 500);
    }
}
