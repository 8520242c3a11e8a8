//! Memory behind the caches of fixed-function units: a shared L2 and DRAM with bandwidth, latency and
//! residency, and the caches of units in front of them.
//!
//! Requests do not come in time order: a later splat's vertices are fetched before an earlier splat's
//! colours. Bandwidth is therefore kept in a [`calendar`]. Replacement in the L2 sees requests in the
//! order in which packets are pushed.

pub mod calendar;
mod clock;
pub mod dram;
pub mod l2;
pub mod line;
pub mod lru;
pub mod sector_cache;
pub mod traffic;
pub mod unit_cache;

use crate::collect::UnitCycles;
use crate::timing::Cycle;
use calendar::Calendar;
use dram::{Dram, DramSpec};
use l2::{L2, L2Spec};
use traffic::Client;

/// Memory system of the GPU: L2 and DRAM.
#[derive(Debug)]
pub struct Memory {
    /// Shared cache.
    pub l2: L2,
    /// Memory behind the cache.
    pub dram: Dram,
}

impl Memory {
    /// Creates a memory with `lines` cacheable lines, none of them resident. The units run at `clock_mhz`;
    /// values configured in nanoseconds and in bytes per second do not depend on it.
    pub fn new(l2: &L2Spec, dram: &DramSpec, clock_mhz: f64, lines: u32) -> Self {
        Self {
            l2: L2::new(l2, clock_mhz, lines),
            dram: Dram::new(dram, clock_mhz),
        }
    }

    /// Takes requests up to `cycles` out of time order, where that is more than units without long waits need.
    /// No request has come yet, and no timeline is kept.
    pub fn reorder_within(&mut self, cycles: Cycle) {
        self.l2.reorder_within(cycles);
        self.dram.reorder_within(cycles);
    }

    /// Reads the sectors in mask `sectors` of `line` for `client` at `at`; returns the cycle at which
    /// they arrive.
    pub fn read(&mut self, client: Client, line: u32, sectors: u8, at: Cycle) -> Cycle {
        self.l2.read(client, line, sectors, at, &mut self.dram)
    }

    /// As [`Memory::read`], of sector `sector` alone.
    #[inline(always)]
    fn read_sector(&mut self, client: Client, line: u32, sector: usize, at: Cycle) -> Cycle {
        self.l2
            .read_sector(client, line, sector, at, &mut self.dram)
    }

    /// Writes the sectors in mask `sectors` of `line` for `client` at `at`; returns the cycle at which
    /// they are accepted.
    pub fn write(&mut self, client: Client, line: u32, sectors: u8, at: Cycle) -> Cycle {
        self.l2.write(client, line, sectors, at, &mut self.dram)
    }

    /// First cycle after the last write was accepted, by the L2 and by DRAM; 0 if nothing was written.
    pub fn writes_done(&self) -> Cycle {
        let written = [self.l2.last_write(), self.dram.last_write()];
        let last = written.into_iter().max().filter(|last| *last > 0);
        last.map_or(0, |last| last + 1)
    }

    /// Reads `bytes` for `client` at `at` that the L2 does not evict; returns the cycle at which they
    /// arrive.
    pub fn read_kept(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        self.l2.pass(client, bytes, at)
    }

    /// Writes `bytes` for `client` at `at` that the L2 does not evict; returns the cycle at which they
    /// are accepted.
    pub fn write_kept(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        self.l2.keep(client, bytes, at)
    }

    /// Cycles of the ports of the L2 and of DRAM in a run of `cycles`. The busy cycles are the bytes divided
    /// by the rate.
    pub fn units(&self, cycles: Cycle) -> Vec<UnitCycles> {
        let unit = |name, port: &Calendar| {
            let busy = port.busy_cycles();
            UnitCycles {
                name,
                instances: 1,
                busy,
                moved: port.bytes,
                rate: Some(port.rate()),
                idle: vec![("unused".to_owned(), cycles.saturating_sub(busy))],
                timeline: port.timeline(cycles),
            }
        };
        vec![unit("l2", self.l2.port()), unit("dram", self.dram.port())]
    }

    /// Starts timelines of both ports.
    pub fn keep_timelines(&mut self) {
        self.l2.port_mut().keep_timeline();
        self.dram.port_mut().keep_timeline();
    }

    /// Reads `bytes` for `client` that are used once, without caching them; returns the cycle at which they arrive.
    pub fn stream(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        let arrived = self.dram.read(bytes, at);
        self.l2.traffic.of(client).dram_read_bytes += bytes;
        self.l2.pass(client, bytes, arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At twice the clock, the same nanoseconds are twice the cycles, and the same GB/s half the bytes
    /// per cycle.
    #[test]
    fn the_clock_of_the_units_leaves_memory_alone() {
        let cycles = |clock_mhz: f64| {
            let dram = DramSpec {
                gb_per_s: 60.0,
                latency_ns: 500.0,
            };
            let mut memory = Memory::new(&L2Spec::default(), &dram, clock_mhz, 1);
            let first = memory.read(Client::Colour, 0, 1, 0);
            memory.stream(Client::Vertex, 6_000_000, 0);
            (first, memory.dram.port().busy_cycles())
        };
        // 240 ns in the L2 and 500 ns behind it; 6,000,032 bytes at 100 and at 50 bytes per cycle.
        assert_eq!(cycles(600.0), (144 + 300, 60_001));
        assert_eq!(cycles(1200.0), (288 + 600, 120_001));
    }

    /// A dirty line counts for the client that wrote it, whichever client's data takes its place.
    #[test]
    fn write_backs_count_for_the_client_that_wrote() {
        let spec = L2Spec {
            bytes: 4096,
            ..L2Spec::default()
        };
        let mut memory = Memory::new(&spec, &DramSpec::default(), 612.0, 64);
        memory.keep_timelines();
        (0..32).for_each(|line| _ = memory.write(Client::Colour, line, 0b11, 0));
        (32..64).for_each(|line| _ = memory.read(Client::Depth, line, 1, 0));
        let traffic = memory.l2.traffic;
        assert_eq!(traffic.colour.dram_written_bytes, 32 * 64);
        assert_eq!(traffic.depth.dram_written_bytes, 0);
        assert_eq!(traffic.depth.dram_read_bytes, 32 * 32);
        // 3072 bytes at 167 per cycle; the timeline of DRAM holds all of them.
        let [_, dram] = &memory.units(1000)[..] else {
            panic!("two units")
        };
        assert_eq!(dram.busy, 19);
        let windows = dram.timeline.iter().flat_map(|t| &t.windows);
        let busy: u64 = windows.map(|states| states[0]).sum();
        assert!((19..=21).contains(&busy), "{busy}");
    }

    /// With the latencies of 146 and 367 cycles at 612 MHz. A sector's neighbour in the line is not
    /// there, and a sector that was written does not make its neighbour present either.
    #[test]
    fn sectors_of_a_line_are_fetched_one_by_one() {
        let mut memory = Memory::new(&L2Spec::default(), &DramSpec::default(), 612.0, 64);
        assert_eq!(memory.read(Client::Colour, 0, 0b0001, 0), 146 + 367);
        // In flight: its data arrive no earlier for the second request.
        assert_eq!(memory.read(Client::Colour, 0, 0b0001, 100), 146 + 367);
        assert_eq!(memory.read(Client::Colour, 0, 0b0010, 100), 100 + 146 + 367);
        assert_eq!(memory.write(Client::Colour, 0, 0b0100, 1000), 1000);
        assert_eq!(memory.read(Client::Colour, 0, 0b0100, 2000), 2000 + 146);
        assert_eq!(
            memory.read(Client::Colour, 0, 0b1000, 2000),
            2000 + 146 + 367
        );
        let counters = memory.l2.counters().cache;
        assert_eq!(
            (counters.hits, counters.misses, counters.fetched),
            (2, 4, 3)
        );
    }

    /// A sector that is written twice is 32 dirty bytes.
    #[test]
    fn dirty_bytes_are_those_of_the_mask() {
        let spec = L2Spec {
            bytes: 4096,
            ..L2Spec::default()
        };
        let mut memory = Memory::new(&spec, &DramSpec::default(), 612.0, 64);
        memory.write(Client::Colour, 0, 0b0001, 0);
        memory.write(Client::Colour, 0, 0b0001, 0);
        assert_eq!(memory.l2.counters().cache.dirty_at_end_bytes, 32);
        // All other ways of the set, and one more.
        (1..=16).for_each(|n| _ = memory.read(Client::Colour, 2 * n, 1, 0));
        assert_eq!(memory.l2.traffic.colour.dram_written_bytes, 32);
        assert_eq!(memory.l2.counters().cache.dirty_at_end_bytes, 0);
    }

    #[test]
    fn more_ways_than_lines_add_no_capacity() {
        let spec = L2Spec {
            bytes: 4096,
            ways: 1024,
            ..L2Spec::default()
        };
        let mut memory = Memory::new(&spec, &DramSpec::default(), 612.0, 64);
        for line in (0..64).chain(0..64) {
            memory.read(Client::Colour, line, 1, 0);
        }
        // 32 lines fit, so that the first have left when they are asked for again.
        assert_eq!(memory.l2.counters().cache.misses, 128);
    }
}
