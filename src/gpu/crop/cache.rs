//! The CROP cache (VR-Pipe, section VII-A): sectored lines of the colour buffer, least recently
//! used, written back. Holds tags and times; values live in the surface.
//!
//! A sector that was never written back is in its cleared state and is not fetched. A line that is
//! still to be blended into is not evicted before that: its successor's data are asked for when its
//! last blend is done.

use serde::Serialize;

use std::ops::Range;

use crate::pipeline::memory::Memory;
use crate::pipeline::memory::line::{LINE_BYTES, SECTOR_BYTES};
use crate::pipeline::packets::fragments;
use crate::pipeline::statistics::{Peak, statistics};
use crate::pipeline::timing::{Cycle, RateLimiter};

const SECTORS: usize = (LINE_BYTES / SECTOR_BYTES) as usize;
/// No line, no slot.
const NONE: u32 = u32::MAX;

statistics! {
    /// Hits, misses and traffic, in sectors and bytes.
    #[derive(Serialize)]
    pub struct CropCacheCounters {
        /// Sectors that were there.
        pub hits: u64,
        /// Sectors that were not: fetched, or created clear.
        pub misses: u64,
        /// Sectors fetched from the L2.
        pub fetched: u64,
        /// Sectors written back to the L2.
        pub written_back: u64,
        /// Lines evicted with a sector to write back.
        pub dirty_evictions: u64,
        /// Most bytes held at once.
        pub peak_bytes: Peak,
    }
}

#[derive(Debug, Clone, Copy)]
struct Line {
    number: u32,
    /// Neighbours in the set's list, from the most to the least recently used.
    newer: u32,
    older: u32,
    valid: u8,
    dirty: u8,
    ready_at: [Cycle; SECTORS],
    last_blend: Cycle,
}

/// Ends of a set's list.
#[derive(Debug, Clone, Copy)]
struct Set {
    newest: u32,
    oldest: u32,
}

/// The cache.
#[derive(Debug)]
pub struct CropCache {
    lines: Vec<Line>,
    sets: Vec<Set>,
    /// Slot of each line of the surface.
    slot_of: Vec<u32>,
    /// Sectors of each line that were written back once.
    in_memory: Vec<u8>,
    fetch_port: RateLimiter,
    write_port: RateLimiter,
    base: u64,
    held_sectors: u64,
    /// Counters.
    pub counters: CropCacheCounters,
}

impl CropCache {
    /// A cache of `bytes` in sets of `ways` lines, which moves `l2_bytes_per_cycle` each way, for a
    /// framebuffer that takes `memory_lines` of memory.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "sizes are validated to be far below 2^32 lines"
    )]
    pub fn new(bytes: u64, ways: u64, l2_bytes_per_cycle: u64, memory_lines: Range<u64>) -> Self {
        let lines = (bytes / LINE_BYTES).max(1);
        let ways = ways.clamp(1, lines);
        let surface_lines = (memory_lines.end - memory_lines.start) as usize;
        let base = memory_lines.start;
        let sets = lines / ways;
        let line = |i: u64| Line {
            number: NONE,
            newer: if i.is_multiple_of(ways) {
                NONE
            } else {
                i as u32 - 1
            },
            older: if i % ways == ways - 1 {
                NONE
            } else {
                i as u32 + 1
            },
            valid: 0,
            dirty: 0,
            ready_at: [0; SECTORS],
            last_blend: 0,
        };
        let set = |s: u64| Set {
            newest: (s * ways) as u32,
            oldest: ((s + 1) * ways - 1) as u32,
        };
        Self {
            lines: (0..sets * ways).map(line).collect(),
            sets: (0..sets).map(set).collect(),
            slot_of: vec![NONE; surface_lines],
            in_memory: vec![0; surface_lines],
            fetch_port: RateLimiter::new(l2_bytes_per_cycle, SECTOR_BYTES),
            write_port: RateLimiter::new(l2_bytes_per_cycle, SECTOR_BYTES),
            base,
            held_sectors: 0,
            counters: CropCacheCounters::default(),
        }
    }

    /// Looks up the `sectors` (a mask) of line `number` at `at`; returns the slot and when all of
    /// them are there.
    #[inline]
    pub fn access(
        &mut self,
        number: u32,
        sectors: u8,
        at: Cycle,
        memory: &mut Memory,
    ) -> (u32, Cycle) {
        let mut slot = self.slot_of[number as usize];
        let mut start = at;
        if slot == NONE {
            (slot, start) = self.replace(number, at, memory);
        }
        self.touch(number, slot);
        let valid = self.lines[slot as usize].valid;
        let missing = sectors & !valid;
        // A line's sectors are four, as a quad's fragments.
        self.counters.hits += fragments(sectors & valid);
        if missing != 0 {
            self.fill(slot, missing, start, memory);
        }
        let line = &self.lines[slot as usize];
        let mut ready = start;
        let mut left = sectors;
        while left != 0 {
            ready = ready.max(line.ready_at[left.trailing_zeros() as usize % SECTORS]);
            left &= left - 1;
        }
        (slot, ready)
    }

    /// Notes that `sectors` of the line in `slot` are blended into, the last of it at `done`.
    #[inline]
    pub fn blended(&mut self, slot: u32, sectors: u8, done: Cycle) {
        let line = &mut self.lines[slot as usize];
        line.dirty |= sectors;
        line.last_blend = line.last_blend.max(done);
    }

    /// Brings the missing sectors of a line in.
    fn fill(&mut self, slot: u32, missing: u8, start: Cycle, memory: &mut Memory) {
        let number = self.lines[slot as usize].number;
        let in_memory = self.in_memory[number as usize];
        let mut left = missing;
        while left != 0 {
            let sector = left.trailing_zeros() as usize % SECTORS;
            left &= left - 1;
            self.counters.misses += 1;
            self.held_sectors += 1;
            self.lines[slot as usize].ready_at[sector] = if in_memory >> sector & 1 == 1 {
                self.counters.fetched += 1;
                let sent = self.fetch_port.serve(start);
                memory.read(self.base + u64::from(number), SECTOR_BYTES, sent)
            } else {
                start
            };
        }
        self.lines[slot as usize].valid |= missing;
        let held = self.held_sectors * SECTOR_BYTES;
        self.counters.peak_bytes.raise(held);
    }

    /// Evicts the least recently used line of the set; returns its slot and when the new line's
    /// data may be asked for.
    fn replace(&mut self, number: u32, at: Cycle, memory: &mut Memory) -> (u32, Cycle) {
        let slot = self.sets[self.set_of(number)].oldest;
        let line = &mut self.lines[slot as usize];
        let start = at.max(line.last_blend);
        let (old, dirty, valid) = (line.number, line.dirty, line.valid);
        *line = Line {
            number,
            valid: 0,
            dirty: 0,
            last_blend: 0,
            ..*line
        };
        self.slot_of[number as usize] = slot;
        if old != NONE {
            self.slot_of[old as usize] = NONE;
            self.held_sectors -= u64::from(valid.count_ones());
            self.in_memory[old as usize] |= dirty;
            let sectors = u64::from(dirty.count_ones());
            if sectors > 0 {
                self.counters.written_back += sectors;
                self.counters.dirty_evictions += 1;
                let mut sent = start;
                for _ in 0..sectors {
                    sent = self.write_port.serve(start);
                }
                memory.write(self.base + u64::from(old), sectors * SECTOR_BYTES, sent);
            }
        }
        (slot, start)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "fewer sets than 2^32")]
    fn set_of(&self, number: u32) -> usize {
        // Of 32 bits and not at all where there is one set: divisions are slow.
        if self.sets.len() == 1 {
            return 0;
        }
        (number % self.sets.len() as u32) as usize
    }

    /// Moves a slot to the front of its set's list.
    #[inline]
    fn touch(&mut self, number: u32, slot: u32) {
        let Line { newer, older, .. } = self.lines[slot as usize];
        if newer == NONE {
            return;
        }
        let set = self.set_of(number);
        self.lines[newer as usize].older = older;
        if older == NONE {
            self.sets[set].oldest = newer;
        } else {
            self.lines[older as usize].newer = newer;
        }
        let front = std::mem::replace(&mut self.sets[set].newest, slot);
        self.lines[front as usize].newer = slot;
        self.lines[slot as usize].newer = NONE;
        self.lines[slot as usize].older = front;
    }
}
