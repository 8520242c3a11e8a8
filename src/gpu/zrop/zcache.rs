//! Cache of stencil and depth values. It holds tags; the values are in the
//! [`Framebuffer`](crate::gpu::zrop::framebuffer::Framebuffer).

use std::ops::Range;

use serde::Serialize;

use crate::pipeline::memory::Memory;
use crate::pipeline::memory::line::LINE_BYTES;
use crate::pipeline::memory::lru::LruLines;
use crate::pipeline::memory::traffic::Client;
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;

statistics! {
    /// Accesses and write-backs of the stencil and depth cache, in lines.
    #[derive(Serialize)]
    pub struct ZCacheCounters {
        /// Accesses to resident lines.
        pub hits: u64,
        /// Accesses to other lines.
        pub misses: u64,
        /// Lines written back.
        pub written_back: u64,
    }
}

#[derive(Debug, Default)]
struct Line {
    ready_at: Cycle,
    dirty: bool,
}

/// Fully associative cache with least-recently-used replacement.
#[derive(Debug)]
pub struct ZCache {
    lines: LruLines<Line>,
    /// Lines that were written back; all others are in their cleared state and are not fetched.
    in_memory: Vec<bool>,
    /// Number of the first line in memory.
    base: u32,
    /// Accesses so far.
    pub counters: ZCacheCounters,
}

impl ZCache {
    /// Creates an empty cache of `bytes` for values that lie in `memory_lines`.
    pub fn new(bytes: u64, memory_lines: Range<u32>) -> Self {
        let lines = memory_lines.end - memory_lines.start;
        Self {
            lines: LruLines::new(1, (bytes / LINE_BYTES).max(1), lines),
            in_memory: vec![false; lines as usize],
            base: memory_lines.start,
            counters: ZCacheCounters::default(),
        }
    }

    /// Accesses `line` at `at`; returns the cycle at which it is resident.
    pub(crate) fn access(
        &mut self,
        line: u32,
        dirty: bool,
        at: Cycle,
        memory: &mut Memory,
    ) -> Cycle {
        if let Some(slot) = self.lines.find(line) {
            self.counters.hits += 1;
            let found = self.lines.content(slot);
            found.dirty |= dirty;
            return found.ready_at.max(at);
        }
        self.counters.misses += 1;
        let (slot, old, evicted) = self.lines.replace(line);
        if let Some(old) = old.filter(|_| evicted.dirty) {
            self.counters.written_back += 1;
            self.in_memory[old as usize] = true;
            memory.write(Client::Depth, self.base + old, LINE_BYTES, at);
        }
        let start = at.max(evicted.ready_at);
        let ready_at = if self.in_memory[line as usize] {
            memory.read(Client::Depth, self.base + line, LINE_BYTES, start)
        } else {
            start
        };
        *self.lines.content(slot) = Line { ready_at, dirty };
        ready_at
    }
}
