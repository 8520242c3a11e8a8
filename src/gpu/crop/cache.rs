//! The CROP cache (VR-Pipe, section VII-A): sectored, least recently used, write-back. It holds tags and
//! times; the colours are in the framebuffer.
//!
//! A sector that was never written back is in its cleared state and is not fetched. A line is not
//! evicted before its last blend is done: the data of its successor is requested after that.

use serde::Serialize;

use std::ops::Range;

use crate::pipeline::memory::Memory;
use crate::pipeline::memory::line::{LINE_BYTES, SECTOR_BYTES};
use crate::pipeline::memory::lru::LruLines;
use crate::pipeline::memory::traffic::Client;
use crate::pipeline::packets::fragments;
use crate::pipeline::statistics::{Peak, statistics};
use crate::pipeline::timing::{Cycle, RateLimiter};

const SECTORS: usize = (LINE_BYTES / SECTOR_BYTES) as usize;

statistics! {
    /// Hits, misses and traffic, in sectors and bytes.
    #[derive(Serialize)]
    pub struct CropCacheCounters {
        /// Sectors that were resident.
        pub hits: u64,
        /// Sectors that were not resident: fetched, or created cleared.
        pub misses: u64,
        /// Sectors fetched from the L2.
        pub fetched: u64,
        /// Sectors written back to the L2.
        pub written_back: u64,
        /// Lines evicted with a dirty sector.
        pub dirty_evictions: u64,
        /// Largest number of bytes resident at once.
        pub peak_bytes: Peak,
    }
}

#[derive(Debug, Default)]
struct Line {
    valid: u8,
    dirty: u8,
    ready_at: [Cycle; SECTORS],
    last_blend: Cycle,
}

/// The CROP cache.
#[derive(Debug)]
pub struct CropCache {
    lines: LruLines<Line>,
    /// Sectors of each line that were written back once.
    in_memory: Vec<u8>,
    fetch_port: RateLimiter,
    write_port: RateLimiter,
    /// Number of the first line in memory.
    base: u32,
    held_sectors: u64,
    /// Accesses so far.
    pub counters: CropCacheCounters,
}

impl CropCache {
    /// Creates an empty cache of `bytes` in sets of `ways` lines with `l2_bytes_per_cycle` in each
    /// direction. The framebuffer lies in `memory_lines`.
    pub fn new(bytes: u64, ways: u64, l2_bytes_per_cycle: u64, memory_lines: Range<u32>) -> Self {
        let lines = (bytes / LINE_BYTES).max(1);
        let ways = ways.clamp(1, lines);
        let held = memory_lines.end - memory_lines.start;
        let port = RateLimiter::new(l2_bytes_per_cycle, SECTOR_BYTES);
        Self {
            lines: LruLines::new(lines / ways, ways, held),
            in_memory: vec![0; held as usize],
            fetch_port: port.clone(),
            write_port: port,
            base: memory_lines.start,
            held_sectors: 0,
            counters: CropCacheCounters::default(),
        }
    }

    /// Requests the sectors in mask `sectors` of line `number` at `at`; returns the slot, and the cycle
    /// at which all of them are resident.
    #[inline]
    pub(crate) fn access(
        &mut self,
        number: u32,
        sectors: u8,
        at: Cycle,
        memory: &mut Memory,
    ) -> (u32, Cycle) {
        let (slot, start) = match self.lines.find(number) {
            Some(slot) => (slot, at),
            None => self.replace(number, at, memory),
        };
        let missing = sectors & !self.lines.content(slot).valid;
        // A line's sectors are four, as a quad's fragments.
        self.counters.hits += fragments(sectors & !missing);
        if missing != 0 {
            self.fill(number, slot, missing, start, memory);
        }
        let line = self.lines.content(slot);
        let ready = sectors_of(sectors).map(|sector| line.ready_at[sector]);
        (slot, ready.fold(start, Cycle::max))
    }

    /// Records a blend into `sectors` of the line in `slot` that is done at `done`.
    #[inline]
    pub fn blended(&mut self, slot: u32, sectors: u8, done: Cycle) {
        let line = self.lines.content(slot);
        line.dirty |= sectors;
        line.last_blend = line.last_blend.max(done);
    }

    /// Fetches the missing sectors of a line, or creates them cleared.
    fn fill(&mut self, number: u32, slot: u32, missing: u8, start: Cycle, memory: &mut Memory) {
        let in_memory = self.in_memory[number as usize];
        let line = self.lines.content(slot);
        for sector in sectors_of(missing) {
            self.counters.misses += 1;
            self.held_sectors += 1;
            line.ready_at[sector] = if in_memory >> sector & 1 == 1 {
                self.counters.fetched += 1;
                let sent = self.fetch_port.serve(start);
                memory.read(Client::Colour, self.base + number, SECTOR_BYTES, sent)
            } else {
                start
            };
        }
        line.valid |= missing;
        let held = self.held_sectors * SECTOR_BYTES;
        self.counters.peak_bytes.raise(held);
    }

    /// Evicts the least recently used line of the set; returns its slot, and the cycle at which the data
    /// of the new line can be requested.
    fn replace(&mut self, number: u32, at: Cycle, memory: &mut Memory) -> (u32, Cycle) {
        let (slot, old, evicted) = self.lines.replace(number);
        let start = at.max(evicted.last_blend);
        if let Some(old) = old {
            self.held_sectors -= fragments(evicted.valid);
            self.in_memory[old as usize] |= evicted.dirty;
            let sectors = fragments(evicted.dirty);
            if sectors > 0 {
                self.counters.written_back += sectors;
                self.counters.dirty_evictions += 1;
                let sent = (0..sectors).map(|_| self.write_port.serve(start));
                let sent = sent.last().unwrap_or(start);
                memory.write(
                    Client::Colour,
                    self.base + old,
                    sectors * SECTOR_BYTES,
                    sent,
                );
            }
        }
        (slot, start)
    }
}

/// The sectors in a mask.
#[inline]
fn sectors_of(mut mask: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let sector = (mask != 0).then(|| mask.trailing_zeros() as usize % SECTORS);
        mask &= mask.wrapping_sub(1);
        sector
    })
}
