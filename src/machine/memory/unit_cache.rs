//! Cache of a unit in front of the L2: colours in CROP, stencil and depth values in ZROP. It holds tags and times, no data.
//!
//! A miss fetches only the missing sectors. Evicted lines pass a write buffer; while it is full, the evicting fill waits.

use std::ops::Range;

use super::Memory;
use super::line::SECTOR_BYTES;
use super::sector_cache::{CacheCounters, Evicted, SectorCache, sectors_in};
use super::traffic::Client;
use crate::rate::Rate;
use crate::rate_limiter::RateLimiter;
use crate::timing::{Cycle, Queue};
use crate::unit::Visitor;

const WHOLE_LINE: u8 = 0b1111;

/// Size and ports of a cache.
#[derive(Debug, Clone)]
pub struct UnitCacheSpec {
    /// Client whose values the cache holds.
    pub client: Client,
    /// Capacity in bytes.
    pub bytes: u64,
    /// Ways per set.
    pub ways: u64,
    /// Bandwidth from the L2 and, separately, to the L2, in bytes per cycle.
    pub l2_bytes_per_cycle: u64,
    /// Capacity of the write buffer to the L2, in lines.
    pub write_buffer: u64,
    /// Whether a sector that was never written back is created in its cleared state instead of being fetched.
    pub fast_clear: bool,
}

/// Access to a line, from [`UnitCache::request`] to [`UnitCache::end`].
#[derive(Debug, Clone, Copy)]
pub struct LineAccess {
    slot: u32,
    start: Cycle,
    /// Cycle at which all requested sectors are resident.
    pub ready: Cycle,
}

/// Sectored cache of a unit, with its ports to the L2.
#[derive(Debug)]
pub struct UnitCache {
    tags: SectorCache,
    client: Client,
    /// Mask of each line's sectors whose values are in memory; other sectors are still cleared.
    in_memory: Vec<u8>,
    rate: Rate,
    fetch_port: RateLimiter,
    write_port: RateLimiter,
    write_buffer: Queue,
    accepted: Cycle,
    base: u32,
}

impl UnitCache {
    /// Creates an empty cache for the values in `memory_lines`.
    pub fn new(spec: &UnitCacheSpec, memory_lines: Range<u32>) -> Self {
        let lines = memory_lines.end - memory_lines.start;
        let in_memory = if spec.fast_clear { 0 } else { WHOLE_LINE };
        let port = RateLimiter::new(Rate::of(spec.l2_bytes_per_cycle, SECTOR_BYTES));
        Self {
            tags: SectorCache::new(spec.bytes, spec.ways, lines),
            client: spec.client,
            in_memory: vec![in_memory; lines as usize],
            rate: Rate::of(spec.l2_bytes_per_cycle, 1),
            fetch_port: port.clone(),
            write_port: port,
            write_buffer: Queue::new(spec.write_buffer),
            accepted: 0,
            base: memory_lines.start,
        }
    }

    /// Counters of the run so far.
    pub fn counters(&self) -> CacheCounters {
        self.tags.counters()
    }

    /// Visits the statistics and the ports from and to the L2 under these names.
    pub fn visit(
        &self,
        statistics: &'static str,
        [from_l2, to_l2]: [&'static str; 2],
        visitor: &mut dyn Visitor,
    ) {
        let counters = self.counters();
        visitor.cache_port(from_l2, self.rate, counters.fetched * SECTOR_BYTES);
        visitor.cache_port(to_l2, self.rate, counters.written_back * SECTOR_BYTES);
        visitor.statistics(statistics, &counters);
    }

    /// Accesses the sectors in mask `sectors` of line `number` at `at`, and writes them if `writes`; returns the slot and
    /// the cycle at which all of them are resident.
    #[inline(always)]
    pub fn access(
        &mut self,
        number: u32,
        sectors: u8,
        writes: bool,
        at: Cycle,
        memory: &mut Memory,
    ) -> (u32, Cycle) {
        self.count(sectors_in(sectors));
        let access = self.request(number, sectors, at, memory);
        self.end(&access, if writes { sectors } else { 0 }, access.ready);
        (access.slot, access.ready)
    }

    /// Counts accesses to `sectors` sectors. [`Self::request`] counts none, since units can count many requests at once.
    #[inline(always)]
    pub fn count(&mut self, sectors: u64) {
        self.tags.accesses += sectors;
    }

    /// Begins an access as [`UnitCache::access`]. The caller must pass it to [`UnitCache::end`] before the next request.
    #[inline(always)]
    pub fn request(
        &mut self,
        number: u32,
        sectors: u8,
        at: Cycle,
        memory: &mut Memory,
    ) -> LineAccess {
        let (slot, start) = match self.tags.find(number) {
            Some(slot) => (slot, at),
            None => self.replace(number, at, memory),
        };
        let line = self.tags.line(slot);
        let missing = line.missing(sectors);
        let mut ready = line.ready(sectors & !missing, start);
        if missing != 0 {
            ready = ready.max(self.fill(number, slot, missing, start, memory));
        }
        LineAccess { slot, start, ready }
    }

    /// Ends an access: the unit has written the sectors in mask `written`, and uses the line until `done`.
    #[inline(always)]
    pub fn end(&mut self, access: &LineAccess, written: u8, done: Cycle) {
        let line = self.tags.line(access.slot);
        if written != 0 {
            line.write(written, self.client);
        }
        line.use_until(access.start, done);
    }

    /// Evicts a line for line `number` at `at`; returns its slot and the cycle from which the slot is free.
    #[inline(never)]
    fn replace(&mut self, number: u32, at: Cycle, memory: &mut Memory) -> (u32, Cycle) {
        let replaced = self.tags.replace(number, at);
        replaced.written_back(|evicted, at| self.write_back(evicted, at, memory))
    }

    /// Prefetches the L2's state of line `number`, which a miss needs, into the host's cache.
    #[inline]
    pub fn prefetch_behind(&self, number: u32, memory: &Memory) {
        memory.l2.prefetch(self.base + number);
    }

    /// Records that the unit uses the line in `slot` until `done`.
    #[inline]
    pub fn used(&mut self, slot: u32, done: Cycle) {
        self.tags.line(slot).use_until(0, done);
    }

    /// Fetches the missing sectors of a line or creates them cleared; returns the cycle at which all are resident.
    #[inline]
    fn fill(
        &mut self,
        number: u32,
        slot: u32,
        missing: u8,
        start: Cycle,
        memory: &mut Memory,
    ) -> Cycle {
        let fetched = missing & self.in_memory[number as usize];
        let created = missing & !fetched;
        if created != 0 {
            self.tags.create(slot, created, start);
        }
        let mut all_ready = start;
        let mut left = fetched;
        while left != 0 {
            let sector = left.trailing_zeros() as usize;
            left &= left - 1;
            all_ready = all_ready.max(self.fetch(number, slot, sector, start, memory));
        }
        all_ready
    }

    /// Fetches a sector; returns the cycle at which it is resident. Not inlined: most misses fetch one sector, and the
    /// compiler would prepare the loop around it for many.
    #[inline(never)]
    fn fetch(
        &mut self,
        number: u32,
        slot: u32,
        sector: usize,
        start: Cycle,
        memory: &mut Memory,
    ) -> Cycle {
        let sent = self.fetch_port.serve(start);
        let ready = memory.read_sector(self.client, self.base + number, sector, sent);
        self.tags.fetch(slot, sector, ready);
        ready
    }

    /// Writes all dirty sectors to the L2 from `at` on; they stay resident. Returns the cycle of the last acceptance.
    pub fn write_back_all(&mut self, at: Cycle, memory: &mut Memory) -> Cycle {
        for line in self.tags.clean() {
            self.write_back(line, at, memory);
        }
        self.accepted.max(at)
    }

    fn write_back(&mut self, evicted: Evicted, at: Cycle, memory: &mut Memory) -> Cycle {
        self.in_memory[evicted.line as usize] |= evicted.dirty;
        let entry = self.write_buffer.entry(at);
        let sent = self.write_port.serve_all(entry, sectors_in(evicted.dirty));
        let accepted = memory.write(self.client, self.base + evicted.line, evicted.dirty, sent);
        // A line leaves the buffer no earlier than the line in front of it.
        self.accepted = self.accepted.max(accepted);
        self.write_buffer.leave(self.accepted);
        entry
    }
}
