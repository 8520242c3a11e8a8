//! The shared L2: set-associative, sectored, written back. Holds tags only.

use serde::Serialize;

use super::calendar::Calendar;
use super::dram::Dram;
use super::line::LINE_BYTES;
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

/// No place.
const NONE: u32 = u32::MAX;
/// No line.
const NO_TAG: u64 = u64::MAX;

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

#[derive(Debug, Clone, Copy)]
struct Line {
    tag: u64,
    used: u64,
    dirty_bytes: u64,
}

/// The unit.
#[derive(Debug)]
pub struct L2 {
    latency: u64,
    ways: usize,
    sets: u64,
    lines: Vec<Line>,
    /// The place of each line of memory in `lines`, [`NONE`] where it is not there: an index for
    /// the host's sake, which finds what a search of the set would.
    place_of: Vec<u32>,
    clock: u64,
    port: Calendar,
    /// Counters.
    pub counters: L2Counters,
}

impl L2 {
    /// An empty cache of a memory of `memory_lines` lines.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "sizes are validated to be far below 2^32 lines"
    )]
    pub fn new(spec: &L2Spec, memory_lines: u64) -> Self {
        let sets = (spec.bytes / LINE_BYTES / spec.ways).max(1);
        let line = Line {
            tag: NO_TAG,
            used: 0,
            dirty_bytes: 0,
        };
        Self {
            place_of: vec![NONE; memory_lines as usize],
            latency: spec.latency_cycles,
            ways: spec.ways as usize,
            sets,
            lines: vec![line; (sets * spec.ways) as usize],
            clock: 0,
            port: Calendar::new(spec.slices * spec.slice_bytes_per_cycle),
            counters: L2Counters::default(),
        }
    }

    /// Reads `bytes` of `line` at `at`, from DRAM if need be; returns when they are there.
    pub fn read(&mut self, line: u64, bytes: u64, at: Cycle, dram: &mut Dram) -> Cycle {
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
    pub fn write(&mut self, line: u64, bytes: u64, at: Cycle, dram: &mut Dram) {
        self.counters.written_bytes += bytes;
        let passed = self.port.book(bytes, at);
        let (_, slot) = self.find(line, passed, dram);
        let dirty = &mut self.lines[slot].dirty_bytes;
        *dirty = (*dirty + bytes).min(LINE_BYTES);
    }

    /// Lets `bytes` from DRAM pass at `at` without keeping them; returns when they are through.
    pub fn pass(&mut self, bytes: u64, at: Cycle) -> Cycle {
        self.counters.read_bytes += bytes;
        self.port.book(bytes, at) + self.latency
    }

    /// Finds the line or makes room for it; returns whether it was there, and its slot.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "lines of memory are counted by a usize, places by far less than 2^32"
    )]
    fn find(&mut self, tag: u64, at: Cycle, dram: &mut Dram) -> (bool, usize) {
        self.clock += 1;
        let place = self.place_of[tag as usize];
        if place != NONE {
            self.lines[place as usize].used = self.clock;
            self.counters.hits += 1;
            return (true, place as usize);
        }
        self.counters.misses += 1;
        let first = (tag % self.sets) as usize * self.ways;
        let set = self.lines[first..first + self.ways].iter().enumerate();
        let oldest = set.min_by_key(|(_, line)| line.used);
        let place = first + oldest.map_or(0, |(way, _)| way);
        let line = Line {
            tag,
            used: self.clock,
            dirty_bytes: 0,
        };
        let victim = std::mem::replace(&mut self.lines[place], line);
        self.place_of[tag as usize] = place as u32;
        if victim.tag != NO_TAG {
            self.place_of[victim.tag as usize] = NONE;
        }
        if victim.dirty_bytes > 0 {
            self.counters.written_back_bytes += victim.dirty_bytes;
            dram.transfer(victim.dirty_bytes, at);
        }
        (false, place)
    }
}
