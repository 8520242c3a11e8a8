//! Tickets of screen regions, which order the critical sections of fragment shaders by flush
//! (VR-Pipe, section IV-A; `GL_ARB_fragment_shader_interlock`).
//!
//! A flush of tile coalescing, which holds each pixel at most once, takes a ticket of its screen region when its first warp
//! gets a slot. The region's counter shows the ticket when the previous flush of the region is over: each of its warps has
//! sent the counter an update, after its critical section or, if none of its fragments survived, at its end. A waiting warp
//! keeps its slot and issues nothing: the counter's new value reaches it without polling (assumption).
//!
//! Warps enter one by one, each in `entry_cycles` of an entry port of the GPC. On the measured machines, sections without
//! conflicts are limited by a rate: if the cost were a latency, sections in conflict would take longer than they do.

use quadrille_base::math::index;
use quadrille_machine::{Calendar, Cycle, Rate, spec, statistics};

spec! {
    /// Configuration of critical sections in fragment shaders.
    InterlockSpec in "interlock" {
        /// Screen regions per GPC, each with a counter. Screen tiles share regions round robin; with at least
        /// as many regions as tiles, each tile has its own.
        regions: u64 = 64, 1..=16_777_216, Assumed "a small table; NVIDIA's patents US 10,055,806 and US 10,019,776 describe ordered access by screen region and state no size";
        /// Cycles for which a warp holds the entry port of its GPC when it enters its critical section.
        entry_cycles: u64 = 0, 0..=1024, Assumed "VR-Pipe states no cost; 5 gives the rate without conflicts that benches/hardware measures, 0.78 of blending in CROP (preset measured-rop)";
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
    entry_cycles: u64,
    /// Entry port, one warp per `entry_cycles`; `None` if entries take no time.
    entry: Option<Calendar>,
    pub(super) counters: InterlockCounters,
}

impl Interlock {
    /// Creates idle regions for a picture of `tiles` screen tiles. Entries are up to `reordered` cycles out of time order.
    pub(super) fn new(spec: &InterlockSpec, tiles: usize, reordered: Cycle) -> Self {
        let regions = index(spec.regions).min(tiles).max(1);
        let port = || Calendar::spanning(Rate::of(1, spec.entry_cycles), reordered);
        Self {
            regions: vec![Region::default(); regions],
            entry_cycles: spec.entry_cycles,
            entry: (spec.entry_cycles > 0).then(port),
            counters: InterlockCounters::default(),
        }
    }

    /// Rate of the entry port in warps per cycle, and the warps that passed it.
    pub(super) fn entries(&self) -> Option<(Rate, u64)> {
        self.entry.as_ref().map(|port| (port.rate(), port.bytes))
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

    /// Makes a warp of the last flush wait from `from` until its ticket is shown and it has passed the entry port; returns
    /// the cycle at which it is in its critical section.
    pub(super) fn enter(&mut self, tile: u32, from: Cycle) -> Cycle {
        let shown = self.wait_for_ticket(tile, from);
        match &mut self.entry {
            Some(port) => port.book(1, shown).max(shown + self.entry_cycles),
            None => shown,
        }
    }

    fn wait_for_ticket(&mut self, tile: u32, from: Cycle) -> Cycle {
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
        Interlock::new(&InterlockSpec { regions, entry_cycles: 0 }, tiles, 0)
    }

    /// A warp takes 16 cycles to enter. The next two, ready in the meantime and in the region of another tile, follow one
    /// after the other; a warp after a pause finds the port free.
    #[test]
    fn warps_enter_one_by_one() {
        let mut interlock = Interlock::new(&InterlockSpec { regions: 4, entry_cycles: 16 }, 4, 0);
        (0..4).for_each(|tile| interlock.take_ticket(tile));
        let entered = [(0, 160), (1, 160), (1, 170), (2, 800)];
        let entered = entered.map(|(tile, from)| interlock.enter(tile, from));
        assert_eq!(entered, [176, 191, 207, 816]);
        assert_eq!(interlock.entries(), Some((Rate::new(1, 16), 4)));
        assert_eq!(interlock.counters.wait_cycles, 0);
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
