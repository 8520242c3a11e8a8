//! The shared L2: set-associative, sectored, written back. Holds tags only.

use serde::Serialize;

use super::calendar::Calendar;
use super::dram::Dram;
use super::line::LINE_BYTES;
use super::lru::LruLines;
use crate::pipeline::spec::spec;
use crate::pipeline::timing::Cycle;

spec! {
    /// The L2 cache.
    L2Spec in "l2" {
        /// Bytes.
        bytes: u64 = 4_194_304, 4096..=1_073_741_824, Published "VR-Pipe Table I";
        /// Ways of a set.
        ways: u64 = 16, 1..=1024, Assumed "common for shared caches";
        /// Slices.
        slices: u64 = 32, 1..=1024, Assumed "two a memory channel";
        /// Bytes a cycle and slice.
        slice_bytes_per_cycle: u64 = 32, 1..=1024, Assumed "a sector a cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 146, 0..=1_000_000, Assumed "240 ns at 612 MHz, as measured on embedded GPUs";
    }
}

/// Traffic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct L2Counters {
    /// Accesses whose line was there.
    pub hits: u64,
    /// Accesses whose line was not.
    pub misses: u64,
    /// Bytes read by units.
    pub read_bytes: u64,
    /// Bytes written by units.
    pub written_bytes: u64,
    /// Bytes written back to DRAM.
    pub written_back_bytes: u64,
}

/// The shared L2.
#[derive(Debug)]
pub struct L2 {
    latency: u64,
    /// Bytes of each line that have to be written back.
    dirty_bytes: LruLines<u64>,
    port: Calendar,
    /// Traffic so far.
    pub counters: L2Counters,
}

impl L2 {
    /// An empty cache for a memory of `memory_lines` lines.
    pub fn new(spec: &L2Spec, memory_lines: u32) -> Self {
        let sets = (spec.bytes / LINE_BYTES / spec.ways).max(1);
        Self {
            latency: spec.latency_cycles,
            dirty_bytes: LruLines::new(sets, spec.ways, memory_lines),
            port: Calendar::new(spec.slices * spec.slice_bytes_per_cycle),
            counters: L2Counters::default(),
        }
    }

    /// Reads `bytes` of `line` at `at`, from DRAM if need be; returns when they are there.
    pub fn read(&mut self, line: u32, bytes: u64, at: Cycle, dram: &mut Dram) -> Cycle {
        self.counters.read_bytes += bytes;
        let passed = self.port.book(bytes, at);
        let (hit, _) = self.find(line, at, dram);
        if hit {
            passed + self.latency
        } else {
            dram.transfer(bytes, passed + self.latency)
        }
    }

    /// Writes `bytes` of `line` at `at`. Whole sectors are written, so nothing is fetched.
    pub fn write(&mut self, line: u32, bytes: u64, at: Cycle, dram: &mut Dram) {
        self.counters.written_bytes += bytes;
        let passed = self.port.book(bytes, at);
        let (_, slot) = self.find(line, passed, dram);
        let dirty = self.dirty_bytes.content(slot);
        *dirty = (*dirty + bytes).min(LINE_BYTES);
    }

    /// Lets `bytes` from DRAM pass at `at` without keeping them; returns when they are through.
    pub fn pass(&mut self, bytes: u64, at: Cycle) -> Cycle {
        self.counters.read_bytes += bytes;
        self.port.book(bytes, at) + self.latency
    }

    /// Finds the line or makes room for it; returns whether it was there, and its slot.
    fn find(&mut self, line: u32, at: Cycle, dram: &mut Dram) -> (bool, u32) {
        if let Some(slot) = self.dirty_bytes.find(line) {
            self.counters.hits += 1;
            return (true, slot);
        }
        self.counters.misses += 1;
        let (slot, _, dirty_bytes) = self.dirty_bytes.replace(line);
        if dirty_bytes > 0 {
            self.counters.written_back_bytes += dirty_bytes;
            dram.transfer(dirty_bytes, at);
        }
        (false, slot)
    }
}
