//! The cache of stencil and depth values in front of ZROP. Holds tags only: values live in the
//! [`Framebuffer`](crate::gpu::zrop::framebuffer::Framebuffer).

use std::ops::Range;

use serde::Serialize;

use crate::pipeline::memory::Memory;
use crate::pipeline::memory::line::LINE_BYTES;
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;

statistics! {
    /// Hits and misses.
    #[derive(Serialize)]
    pub struct ZCacheCounters {
        /// Accesses that found their line.
        pub hits: u64,
        /// Accesses that did not.
        pub misses: u64,
        /// Lines written back.
        pub written_back: u64,
    }
}

#[derive(Debug, Clone, Copy)]
struct Line {
    tag: u64,
    used: u64,
    ready_at: Cycle,
    dirty: bool,
}

/// The cache: fully associative, least recently used.
#[derive(Debug)]
pub struct ZCache {
    lines: Vec<Line>,
    /// Line by tag, `u32::MAX` where absent.
    of_tag: Vec<u32>,
    /// Lines that were ever written back: others are in their cleared state and need no reading.
    in_memory: Vec<bool>,
    clock: u64,
    base: u64,
    /// Counters.
    pub counters: ZCacheCounters,
}

impl ZCache {
    /// A cache of `bytes` for values that take `memory_lines` of memory.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "sizes are validated to be far below 2^32 lines"
    )]
    pub fn new(bytes: u64, memory_lines: Range<u64>) -> Self {
        let surface_lines = (memory_lines.end - memory_lines.start) as usize;
        let line = Line {
            tag: u64::MAX,
            used: 0,
            ready_at: 0,
            dirty: false,
        };
        Self {
            lines: vec![line; (bytes / LINE_BYTES).max(1) as usize],
            of_tag: vec![u32::MAX; surface_lines],
            in_memory: vec![false; surface_lines],
            clock: 0,
            base: memory_lines.start,
            counters: ZCacheCounters::default(),
        }
    }

    /// Accesses line `tag` at `at`; returns when it is there.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "tags index the surface, of far fewer lines than 2^32"
    )]
    pub fn access(&mut self, tag: u64, dirty: bool, at: Cycle, memory: &mut Memory) -> Cycle {
        self.clock += 1;
        let found = self.of_tag[tag as usize];
        if found != u32::MAX {
            self.counters.hits += 1;
            let line = &mut self.lines[found as usize];
            line.used = self.clock;
            line.dirty |= dirty;
            return line.ready_at.max(at);
        }
        self.counters.misses += 1;
        let oldest = self.lines.iter().enumerate().min_by_key(|(_, l)| l.used);
        let slot = oldest.map_or(0, |(i, _)| i);
        let victim = self.lines[slot];
        if victim.tag != u64::MAX {
            self.of_tag[victim.tag as usize] = u32::MAX;
            if victim.dirty {
                self.counters.written_back += 1;
                self.in_memory[victim.tag as usize] = true;
                memory.write(self.base + victim.tag, LINE_BYTES, at);
            }
        }
        let start = at.max(victim.ready_at);
        let ready_at = if self.in_memory[tag as usize] {
            memory.read(self.base + tag, LINE_BYTES, start)
        } else {
            start
        };
        self.of_tag[tag as usize] = slot as u32;
        self.lines[slot] = Line {
            tag,
            used: self.clock,
            ready_at,
            dirty,
        };
        ready_at
    }
}
