//! Tags of a sectored write-back cache: the resident sectors of each line, their dirty bits, and the cycle at
//! which the data of each sector arrives. The caches of units and the L2 are built on it.
//!
//! A set replaces its least recently used line. A line that is in use, because its data are in flight or a unit works
//! on them, is evicted only when the use ends; the new line waits for its slot.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::line::{LINE_BYTES, SECTOR_BYTES};
use super::lru::LruLines;
use super::traffic::Client;
use crate::packets::fragments;
use crate::statistics::{Peak, statistics};
use crate::timing::Cycle;

/// Stands for no line; a memory has fewer than 2^32 lines.
const NO_LINE: u32 = u32::MAX;
pub(super) const LINE_SECTORS: usize = (LINE_BYTES / SECTOR_BYTES) as usize;

statistics! {
    /// Hits, misses and traffic of a cache, in sectors and bytes.
    #[derive(Serialize, Deserialize)]
    pub struct CacheCounters {
        /// Accesses to resident sectors.
        pub hits: u64,
        /// Accesses to absent sectors: fetched, created cleared, or written as a whole.
        pub misses: u64,
        /// Sectors fetched from the next level of memory.
        pub fetched: u64,
        /// Sectors written back to the next level of memory.
        pub written_back: u64,
        /// Lines evicted with a dirty sector.
        pub dirty_evictions: u64,
        /// Largest number of bytes resident at once.
        pub peak_bytes: Peak,
        /// Bytes of dirty sectors resident at the end of the draw.
        pub dirty_at_end_bytes: u64,
    }
}

#[inline]
pub(super) fn sectors_in(mask: u8) -> u64 {
    // A line has four sectors, so the table of a quad's four fragments counts them.
    fragments(mask)
}

/// Iterates over the indices of the sectors in a mask.
#[inline]
pub fn sectors_of(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let sector = (mask != 0).then(|| mask.trailing_zeros() as usize % LINE_SECTORS);
        mask &= mask.wrapping_sub(1);
        sector
    })
}

/// State of a line; fits into one cache line of the host.
#[derive(Debug, Clone, Default)]
#[repr(align(64))]
pub(super) struct Line {
    valid: u8,
    dirty: u8,
    writer: Client,
    ready_at: [Cycle; LINE_SECTORS],
    /// Start of the last uninterrupted use, which ends at `used_until`.
    used_from: Cycle,
    used_until: Cycle,
}

impl Line {
    #[inline]
    pub(super) fn missing(&self, sectors: u8) -> u8 {
        sectors & !self.valid
    }

    /// Cycle at which the data of all `sectors` are present, at least `at`.
    #[inline]
    pub(super) fn ready(&self, sectors: u8, at: Cycle) -> Cycle {
        // A loop over bits, since an iterator compiles to more instructions in this code, which runs for every quad.
        let (mut ready, mut left) = (at, sectors);
        while left != 0 {
            ready = ready.max(self.sector_ready(left.trailing_zeros() as usize));
            left &= left - 1;
        }
        ready
    }

    #[inline(always)]
    pub(super) fn sector_ready(&self, sector: usize) -> Cycle {
        self.ready_at[sector % LINE_SECTORS]
    }

    #[inline(never)]
    fn fill(&mut self, sectors: u8, ready: Cycle) {
        for sector in sectors_of(sectors) {
            self.fill_sector(sector, ready);
        }
    }

    #[inline(always)]
    fn fill_sector(&mut self, sector: usize, ready: Cycle) {
        self.valid |= 1 << sector;
        self.ready_at[sector % LINE_SECTORS] = ready;
    }

    #[inline]
    pub(super) fn write(&mut self, sectors: u8, writer: Client) {
        self.dirty |= sectors;
        self.writer = writer;
    }

    #[inline]
    pub(super) fn use_until(&mut self, from: Cycle, until: Cycle) {
        if from > self.used_until {
            self.used_from = from;
        }
        self.used_until = self.used_until.max(until);
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Evicted {
    pub(super) line: u32,
    pub(super) dirty: u8,
    pub(super) writer: Client,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Replaced {
    slot: u32,
    /// Cycle at which the evicted line is no longer in use, no earlier than the access.
    pub(super) free_at: Cycle,
    pub(super) evicted: Option<Evicted>,
}

impl Replaced {
    /// Returns the slot and the cycle from which it is free, which `write_back` returns for a dirty evicted line.
    #[inline(always)]
    pub(super) fn written_back(
        self,
        write_back: impl FnOnce(Evicted, Cycle) -> Cycle,
    ) -> (u32, Cycle) {
        let free_at = match self.evicted {
            None => self.free_at,
            Some(evicted) => write_back(evicted, self.free_at),
        };
        (self.slot, free_at)
    }
}

#[derive(Debug, Clone)]
pub(super) struct SectorCache {
    lines: LruLines<Line>,
    /// Line found last and its slot; the most recently used line of its set.
    last: (u32, u32),
    pub(super) accesses: u64,
    fetched: u64,
    /// Sectors made resident without a fetch: cleared, or written as a whole.
    created: u64,
    /// Sectors resident at the start of the frame.
    held: u64,
    evicted: u64,
    peak: u64,
    written_back: u64,
    dirty_evictions: u64,
}

impl SectorCache {
    /// Creates an empty cache of `bytes` for a memory of `memory_lines` lines, in sets of `ways` lines, at most all lines.
    pub(super) fn new(bytes: u64, ways: u64, memory_lines: u32) -> Self {
        let lines = (bytes / LINE_BYTES).max(1);
        let ways = ways.clamp(1, lines);
        Self {
            lines: LruLines::new(lines / ways, ways, memory_lines),
            last: (NO_LINE, 0),
            accesses: 0,
            fetched: 0,
            created: 0,
            held: 0,
            evicted: 0,
            peak: 0,
            written_back: 0,
            dirty_evictions: 0,
        }
    }

    pub(super) fn counters(&self) -> CacheCounters {
        let dirty: u64 = self.lines.contents().map(|l| sectors_in(l.dirty)).sum();
        // Hits and misses are derived here: counting them per access takes 1 % more instructions.
        let misses = self.fetched + self.created;
        CacheCounters {
            hits: self.accesses - misses,
            misses,
            fetched: self.fetched,
            written_back: self.written_back,
            dirty_evictions: self.dirty_evictions,
            peak_bytes: Peak(self.peak.max(self.resident()) * SECTOR_BYTES),
            dirty_at_end_bytes: dirty * SECTOR_BYTES,
        }
    }

    fn resident(&self) -> u64 {
        self.held + self.fetched + self.created - self.evicted
    }

    #[inline(always)]
    pub(super) fn find(&mut self, line: u32) -> Option<u32> {
        let (last, slot) = self.last;
        // Neighbouring quads often share a line. The line found last is already the most recently used of its set, so
        // the order of use does not change.
        if line == last {
            return Some(slot);
        }
        let slot = self.lines.find(line)?;
        self.last = (line, slot);
        Some(slot)
    }

    #[inline(always)]
    pub(super) fn replace(&mut self, line: u32, at: Cycle) -> Replaced {
        let (slot, old, content) = self.lines.replace(line);
        self.last = (line, slot);
        self.peak = self.peak.max(self.resident());
        self.evicted += sectors_in(content.valid);
        let dirty = sectors_in(content.dirty);
        let evicted = old.filter(|_| dirty > 0).map(|line| Evicted {
            line,
            dirty: content.dirty,
            writer: content.writer,
        });
        self.written_back += dirty;
        self.dirty_evictions += u64::from(dirty > 0);
        // Accesses come out of time order: one from before the start of the use does not wait for its end.
        let used = at >= content.used_from;
        Replaced { slot, free_at: if used { at.max(content.used_until) } else { at }, evicted }
    }

    pub(super) fn clean(&mut self) -> Vec<Evicted> {
        let mut cleaned = Vec::new();
        for (number, line) in self.lines.resident() {
            let dirty = std::mem::take(&mut line.dirty);
            if dirty != 0 {
                cleaned.push(Evicted { line: number, dirty, writer: line.writer });
            }
        }
        // Lines are written back in memory order, independent of their slots.
        cleaned.sort_unstable_by_key(|evicted| evicted.line);
        self.written_back += cleaned.iter().map(|evicted| sectors_in(evicted.dirty)).sum::<u64>();
        cleaned
    }

    #[inline]
    pub(super) fn extend_memory(&mut self, memory_lines: u32) {
        self.lines.extend_memory(memory_lines);
    }

    /// Restarts time and counters at 0: drops the lines in `dropped`, and makes all others clean and present.
    pub(super) fn begin_frame(&mut self, dropped: &Range<u32>) {
        let mut resident = 0;
        self.lines.retain(|number, line| {
            *line = Line { valid: line.valid, writer: line.writer, ..Line::default() };
            let kept = !dropped.contains(&number);
            resident += if kept { sectors_in(line.valid) } else { 0 };
            kept
        });
        self.last = (NO_LINE, 0);
        (self.held, self.evicted, self.peak) = (resident, 0, 0);
        [self.accesses, self.fetched, self.created] = [0; 3];
        [self.written_back, self.dirty_evictions] = [0; 2];
    }

    #[inline]
    pub(super) fn line(&mut self, slot: u32) -> &mut Line {
        self.lines.content(slot)
    }

    #[inline]
    pub(super) fn prefetch(&self, line: u32) {
        self.lines.prefetch(line);
    }

    /// Counts an access to `count` sectors of the line in `slot`; returns the missing ones of the mask `sectors`.
    #[inline(always)]
    pub(super) fn missing(&mut self, slot: u32, sectors: u8, count: u64) -> u8 {
        self.accesses += count;
        self.lines.content(slot).missing(sectors)
    }

    /// Makes missing `sectors` resident at `at` without a fetch.
    pub(super) fn create(&mut self, slot: u32, sectors: u8, at: Cycle) {
        self.created += sectors_in(sectors);
        self.lines.content(slot).fill(sectors, at);
    }

    /// Makes missing `sectors` resident by a fetch that starts at `asked` and ends at `ready`.
    pub(super) fn fetch_all(&mut self, slot: u32, sectors: u8, asked: Cycle, ready: Cycle) {
        self.fetched += sectors_in(sectors);
        let line = self.lines.content(slot);
        line.fill(sectors, ready);
        line.use_until(asked, ready);
    }

    /// As [`Self::fetch_all`] for one sector. Records no use of the line: the unit's own use covers the fetch.
    #[inline(always)]
    pub(super) fn fetch(&mut self, slot: u32, sector: usize, ready: Cycle) {
        self.fetched += 1;
        self.lines.content(slot).fill_sector(sector, ready);
    }
}
