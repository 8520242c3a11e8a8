//! Shared L2 cache: set-associative, write-back. It holds tags, not data.

use serde::Serialize;

use super::calendar::Calendar;
use super::clock::{cycles_in, whole};
use super::dram::Dram;
use super::line::LINE_BYTES;
use super::lru::LruLines;
use super::traffic::{Client, TrafficByClient};
use crate::pipeline::spec::spec;
use crate::pipeline::timing::Cycle;

spec! {
    /// The L2 cache.
    L2Spec in "l2" {
        /// Capacity in bytes.
        bytes: u64 = 4_194_304, 4096..=1_073_741_824, Published "VR-Pipe Table I";
        /// Ways per set.
        ways: u64 = 16, 1..=1024, Assumed "common for shared caches";
        /// Number of slices.
        slices: u64 = 32, 1..=1024, Assumed "two a memory channel";
        /// Bytes per cycle of each slice, at the clock of the L2.
        slice_bytes_per_cycle: u64 = 32, 1..=1024, Assumed "a sector per cycle";
        /// Clock of the slices, in MHz.
        clock_mhz: f64 = 612.0, 1.0..=100_000.0, Assumed "as the units";
        /// Latency in nanoseconds.
        latency_ns: f64 = 240.0, 0.0..=1_000_000.0, Assumed "as measured on embedded GPUs";
    }
}

/// Traffic of the L2.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct L2Counters {
    /// Accesses to resident lines.
    pub hits: u64,
    /// Accesses to other lines.
    pub misses: u64,
    /// Bytes read by units.
    pub read_bytes: u64,
    /// Bytes written by units.
    pub written_bytes: u64,
    /// Bytes written back to DRAM.
    pub written_back_bytes: u64,
}

/// Dirty bytes of a line, and the client that wrote them last. Small, since an L2 has many lines.
#[derive(Debug, Default)]
struct Dirty {
    bytes: u8,
    client: Client,
}

/// The shared L2.
#[derive(Debug)]
pub struct L2 {
    latency: u64,
    /// Dirty bytes of every resident line.
    dirty: LruLines<Dirty>,
    port: Calendar,
    /// Traffic so far.
    pub counters: L2Counters,
    /// The same, and that of DRAM, by client.
    pub traffic: TrafficByClient,
}

impl L2 {
    /// Creates an empty cache for a memory of `memory_lines` lines, beside units at `clock_mhz`. The
    /// bandwidth of all slices is rounded down to whole bytes per cycle of the units, at least 1.
    #[allow(
        clippy::cast_precision_loss,
        reason = "sizes are validated to be small"
    )]
    pub fn new(spec: &L2Spec, clock_mhz: f64, memory_lines: u32) -> Self {
        let slices = (spec.slices * spec.slice_bytes_per_cycle) as f64;
        let lines = (spec.bytes / LINE_BYTES).max(1);
        // No more ways than lines: the capacity holds whatever the associativity.
        let ways = spec.ways.min(lines);
        Self {
            latency: cycles_in(spec.latency_ns, clock_mhz),
            dirty: LruLines::new(lines / ways, ways, memory_lines),
            port: Calendar::new(whole(slices * spec.clock_mhz / clock_mhz)),
            counters: L2Counters::default(),
            traffic: TrafficByClient::default(),
        }
    }

    /// The port.
    pub fn port(&self) -> &Calendar {
        &self.port
    }

    pub(super) fn port_mut(&mut self) -> &mut Calendar {
        &mut self.port
    }

    /// Reads `bytes` of `line` at `at`, from DRAM on a miss; returns the cycle at which they arrive.
    pub fn read(
        &mut self,
        client: Client,
        line: u32,
        bytes: u64,
        at: Cycle,
        dram: &mut Dram,
    ) -> Cycle {
        self.counters.read_bytes += bytes;
        self.traffic.of(client).l2_read_bytes += bytes;
        let passed = self.port.book(bytes, at);
        let (hit, _) = self.find(line, at, dram);
        if hit {
            passed + self.latency
        } else {
            self.traffic.of(client).dram_read_bytes += bytes;
            dram.transfer(bytes, passed + self.latency)
        }
    }

    /// Writes `bytes` of `line` at `at`. Writes cover whole sectors, so a miss fetches nothing.
    pub fn write(&mut self, client: Client, line: u32, bytes: u64, at: Cycle, dram: &mut Dram) {
        self.counters.written_bytes += bytes;
        self.traffic.of(client).l2_written_bytes += bytes;
        let passed = self.port.book(bytes, at);
        let (_, slot) = self.find(line, passed, dram);
        let dirty = self.dirty.content(slot);
        let bytes = (u64::from(dirty.bytes) + bytes).min(LINE_BYTES);
        #[allow(clippy::cast_possible_truncation, reason = "at most a line")]
        let bytes = bytes as u8;
        *dirty = Dirty { bytes, client };
    }

    /// Passes `bytes` from DRAM through at `at` without caching them; returns the cycle at which they
    /// arrive.
    pub fn pass(&mut self, client: Client, bytes: u64, at: Cycle) -> Cycle {
        self.counters.read_bytes += bytes;
        self.traffic.of(client).l2_read_bytes += bytes;
        self.port.book(bytes, at) + self.latency
    }

    /// Finds the line or allocates it; returns whether it was resident, and its slot.
    fn find(&mut self, line: u32, at: Cycle, dram: &mut Dram) -> (bool, u32) {
        if let Some(slot) = self.dirty.find(line) {
            self.counters.hits += 1;
            return (true, slot);
        }
        self.counters.misses += 1;
        let (slot, _, evicted) = self.dirty.replace(line);
        let dirty_bytes = u64::from(evicted.bytes);
        if dirty_bytes > 0 {
            self.counters.written_back_bytes += dirty_bytes;
            self.traffic.of(evicted.client).dram_written_bytes += dirty_bytes;
            dram.transfer(dirty_bytes, at);
        }
        (false, slot)
    }
}
