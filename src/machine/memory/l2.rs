//! Shared L2 cache: sectored, set-associative, write-back. It holds tags, not data.
//!
//! A miss fetches only the missing sectors. A write covers whole sectors, so it fetches nothing.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::calendar::Calendar;
use super::clock::cycles_in;
use super::dram::Dram;
use super::line::{LINE_BYTES, SECTOR_BYTES};
use super::sector_cache::{CacheCounters, Evicted, SectorCache, sectors_in};
use super::traffic::{Client, Traffic, TrafficByClient};
use crate::ledger::{Ledger, LedgerSpec, Record};
use crate::rate::Rate;
use crate::spec::spec;
use crate::statistics::statistics;
use crate::timing::Cycle;

spec! {
    /// Configuration of the L2 cache.
    L2Spec in "l2" {
        /// Capacity in bytes.
        bytes: u64 = 4_194_304, 4096..=1_073_741_824, Published "VR-Pipe Table I";
        /// Ways per set.
        ways: u64 = 16, 1..=1024, Assumed "common for shared caches";
        /// Number of slices.
        slices: u64 = 32, 1..=1024, Assumed "two per memory channel";
        /// Bytes per cycle of each slice, at the clock of the L2.
        slice_bytes_per_cycle: u64 = 32, 1..=1024, Assumed "a sector per cycle";
        /// Clock of the slices, in MHz.
        clock_mhz: f64 = 612.0, 1.0..=100_000.0, Assumed "as the units";
        /// Latency in nanoseconds.
        latency_ns: f64 = 240.0, 0.0..=1_000_000.0, Assumed "as measured on embedded GPUs";
        /// Lines of each slice that wait to be written to DRAM.
        write_buffer: u64 = 4, 1..=65_536, Assumed "128 lines in all, which DRAM takes in 100 cycles";
    }
}

impl L2Spec {
    /// Bandwidth of all slices in bytes per cycle of the units, which run at `clock_mhz`.
    pub fn bytes_per_cycle(&self, clock_mhz: f64) -> f64 {
        let per_clock = (self.slices * self.slice_bytes_per_cycle) as f64;
        per_clock * self.clock_mhz / clock_mhz
    }
}

statistics! {
    /// Traffic of the L2, in sectors and bytes.
    #[derive(Serialize, Deserialize)]
    pub struct L2Counters {
        /// Hits, misses, and traffic with DRAM.
        #[serde(flatten)]
        pub cache: CacheCounters,
        /// Bytes read by units.
        pub read_bytes: u64,
        /// Bytes written by units.
        pub written_bytes: u64,
    }
}

/// Lines that an L2 holds between two frames of a sequence.
#[derive(Debug, Clone)]
pub struct HeldLines {
    tags: SectorCache,
    /// Number of cacheable lines, behind which the streams lie.
    cacheable: u32,
}

/// L2 cache that all units share, with one port for the bandwidth of all slices.
#[derive(Debug)]
pub struct L2 {
    latency: u64,
    tags: SectorCache,
    write_buffer_bytes: u64,
    port: Calendar,
    last_write: Cycle,
    /// Bytes moved so far, by client.
    pub traffic: TrafficByClient,
    ledger: Ledger,
    tile_lines: TileLines,
}

/// Buffers that store data tile by tile, each as `(first line, lines per screen tile, number of tiles)`.
pub type TileLines = Vec<(u32, u32, u32)>;

impl L2 {
    /// Creates an empty cache for a memory of `memory_lines` lines and units that run at `clock_mhz`.
    pub(crate) fn new(spec: &L2Spec, clock_mhz: f64, memory_lines: u32) -> Self {
        Self {
            latency: cycles_in(spec.latency_ns, clock_mhz),
            tags: SectorCache::new(spec.bytes, spec.ways, memory_lines),
            write_buffer_bytes: spec.slices * spec.write_buffer * LINE_BYTES,
            port: Calendar::new(Rate::nearest(spec.bytes_per_cycle(clock_mhz))),
            last_write: 0,
            traffic: TrafficByClient::default(),
            ledger: Ledger::default(),
            tile_lines: Vec::new(),
        }
    }

    pub(super) fn keep_ledger(&mut self, spec: LedgerSpec, tile_lines: TileLines) {
        self.ledger.start(spec);
        self.tile_lines = tile_lines;
    }

    /// Takes over the lines of the frame `before` if it had the same number of `cacheable` lines.
    pub(super) fn begin_frame(&mut self, before: Option<&HeldLines>, cacheable: u32) {
        if let Some(before) = before.filter(|before| before.cacheable == cacheable) {
            self.tags = before.tags.clone();
        }
    }

    /// Ends a frame: writes dirty lines back, discards the lines in `dropped`, and returns the rest.
    pub(super) fn end_frame(&self, cacheable: u32, dropped: &Range<u32>) -> HeldLines {
        let mut tags = self.tags.clone();
        tags.begin_frame(dropped);
        HeldLines { tags, cacheable }
    }

    #[inline]
    pub(super) fn extend_memory(&mut self, memory_lines: u32) {
        self.tags.extend_memory(memory_lines);
    }

    /// Takes the ledger's record of the traffic, if the ledger was started.
    pub fn take_record(&mut self) -> Option<Record> {
        self.ledger.take("memory", &self.traffic, None)
    }

    fn tile_of(&self, line: u32) -> Option<u32> {
        self.tile_lines.iter().find_map(|&(first, per_tile, tiles)| {
            let tile = line.checked_sub(first)? / per_tile;
            (tile < tiles).then_some(tile)
        })
    }

    /// Adds `bytes` of `client` to the count that `of` selects; `line` is `None` for data without tags.
    #[inline(always)]
    pub(super) fn count(
        &mut self,
        client: Client,
        line: Option<u32>,
        bytes: u64,
        at: Cycle,
        of: impl FnOnce(&mut Traffic) -> &mut u64,
    ) {
        if !self.ledger.records() {
            *of(self.traffic.of(client)) += bytes;
            return;
        }
        let mark = self.ledger.mark(&self.traffic, None);
        *of(self.traffic.of(client)) += bytes;
        let tile = line.and_then(|line| self.tile_of(line));
        (self.ledger).record(mark, &self.traffic, None, tile, at);
    }

    /// Latency of a hit, in cycles.
    pub fn latency(&self) -> u64 {
        self.latency
    }

    /// Extends the calendar to requests up to `cycles` out of time order. Must be called before the first request.
    pub(super) fn reorder_within(&mut self, cycles: Cycle) {
        self.port = Calendar::spanning(self.port.rate(), cycles);
    }

    /// Returns the calendar of the L2 port.
    pub fn port(&self) -> &Calendar {
        &self.port
    }

    pub(super) fn port_mut(&mut self) -> &mut Calendar {
        &mut self.port
    }

    /// Prefetches the tags of a line into the host's cache if the line is resident.
    #[inline]
    pub(super) fn prefetch(&self, line: u32) {
        self.tags.prefetch(line);
    }

    /// Counters of the run so far.
    pub fn counters(&self) -> L2Counters {
        let clients = self.traffic.clients();
        L2Counters {
            cache: self.tags.counters(),
            read_bytes: clients.iter().map(|c| c.l2_read_bytes).sum(),
            written_bytes: clients.iter().map(|c| c.l2_written_bytes).sum(),
        }
    }

    pub(super) fn last_write(&self) -> Cycle {
        self.last_write
    }

    /// Reads the sectors in mask `sectors` of `line` at `at`, missing ones from DRAM; returns the cycle of their arrival.
    #[inline]
    pub fn read(
        &mut self,
        client: Client,
        line: u32,
        sectors: u8,
        at: Cycle,
        dram: &mut Dram,
    ) -> Cycle {
        let passed = self.book_read(client, Some(line), sectors_in(sectors) * SECTOR_BYTES, at);
        let (slot, start) = self.find(line, passed, dram);
        let missing = self.tags.missing(slot, sectors, sectors_in(sectors));
        if missing != 0 {
            self.fetch(client, line, slot, missing, start, dram);
        }
        self.tags.line(slot).ready(sectors, passed + self.latency)
    }

    #[inline(always)]
    pub(super) fn read_sector(
        &mut self,
        client: Client,
        line: u32,
        sector: usize,
        at: Cycle,
        dram: &mut Dram,
    ) -> Cycle {
        let passed = self.book_read(client, Some(line), SECTOR_BYTES, at);
        let (slot, start) = self.find(line, passed, dram);
        self.tags.accesses += 1;
        let held = self.tags.line(slot);
        let mut ready = held.sector_ready(sector);
        let missing = held.missing(1 << sector);
        if missing != 0 {
            self.fetch(client, line, slot, missing, start, dram);
            ready = self.tags.line(slot).sector_ready(sector);
        }
        ready.max(passed + self.latency)
    }

    #[inline(never)]
    fn fetch(
        &mut self,
        client: Client,
        line: u32,
        slot: u32,
        missing: u8,
        start: Cycle,
        dram: &mut Dram,
    ) {
        let bytes = sectors_in(missing) * SECTOR_BYTES;
        let sent = start + self.latency;
        self.count(client, Some(line), bytes, sent, |t| &mut t.dram_read_bytes);
        dram.note_sectors(client, line, missing, false, sent);
        self.tags.fetch_all(slot, missing, start, dram.read(bytes, sent));
    }

    /// Writes the sectors in mask `sectors` of `line` at `at`; returns the cycle at which they are accepted.
    pub fn write(
        &mut self,
        client: Client,
        line: u32,
        sectors: u8,
        at: Cycle,
        dram: &mut Dram,
    ) -> Cycle {
        let passed = self.book_write(client, Some(line), sectors_in(sectors) * SECTOR_BYTES, at);
        let (slot, start) = self.find(line, passed, dram);
        let missing = self.tags.missing(slot, sectors, sectors_in(sectors));
        if missing != 0 {
            self.tags.create(slot, missing, start);
        }
        let line = self.tags.line(slot);
        line.use_until(start, start);
        line.write(sectors, client);
        self.last_write = self.last_write.max(start);
        start
    }

    /// Sends `bytes`, of a stream or of data that always stays in the L2, to a unit at `at`; returns the cycle of arrival.
    pub fn pass(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        self.book_read(client, None, bytes, at) + self.latency
    }

    /// Writes `bytes` that always stay in the L2 at `at`; returns the cycle at which they are accepted.
    pub fn keep(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        let passed = self.book_write(client, None, bytes, at);
        self.last_write = self.last_write.max(passed);
        passed
    }

    /// Passes `bytes` from `line` on through the port to DRAM, without tags, at `at`; returns the cycle of their passage.
    pub(super) fn write_past(&mut self, client: Client, line: u32, bytes: u64, at: Cycle) -> Cycle {
        let passed = self.book_write(client, Some(line), bytes, at);
        self.count(client, Some(line), bytes, passed, |traffic| &mut traffic.dram_written_bytes);
        passed
    }

    #[inline]
    fn book_read(&mut self, client: Client, line: Option<u32>, bytes: u64, at: Cycle) -> Cycle {
        self.count(client, line, bytes, at, |traffic| &mut traffic.l2_read_bytes);
        self.port.book(bytes, at)
    }

    #[inline]
    fn book_write(&mut self, client: Client, line: Option<u32>, bytes: u64, at: Cycle) -> Cycle {
        self.count(client, line, bytes, at, |traffic| &mut traffic.l2_written_bytes);
        self.port.book(bytes, at)
    }

    /// Finds a line at `at` or allocates it; returns its slot and the cycle from which the slot is free.
    #[inline(always)]
    fn find(&mut self, line: u32, at: Cycle, dram: &mut Dram) -> (u32, Cycle) {
        match self.tags.find(line) {
            Some(slot) => (slot, at),
            None => self.allocate(line, at, dram),
        }
    }

    #[inline(never)]
    fn allocate(&mut self, line: u32, at: Cycle, dram: &mut Dram) -> (u32, Cycle) {
        self.tags.replace(line, at).written_back(|evicted, at| self.write_back(evicted, at, dram))
    }

    /// Moves an evicted line to the write buffer; returns the cycle at which it enters.
    fn write_back(&mut self, evicted: Evicted, at: Cycle, dram: &mut Dram) -> Cycle {
        let bytes = sectors_in(evicted.dirty) * SECTOR_BYTES;
        let line = Some(evicted.line);
        self.count(evicted.writer, line, bytes, at, |traffic| &mut traffic.dram_written_bytes);
        dram.note_sectors(evicted.writer, evicted.line, evicted.dirty, true, at);
        // Requests come out of time order, so the content of the buffer is not known line by line. The line
        // enters as early as the buffer's capacity can drain through the DRAM port before the line passes it.
        // Reads that pass in between count as content of the buffer.
        let passed = dram.write(bytes, at);
        let rate = dram.port().rate();
        let drained_in =
            self.write_buffer_bytes * u64::from(rate.cycles()) / u64::from(rate.items());
        at.max(passed.saturating_sub(drained_in))
    }
}
