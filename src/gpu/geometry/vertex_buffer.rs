//! The buffer of vertex results: a region of the L2 in which vertex shading leaves the positions and
//! attributes of each splat, and from which primitive assembly, tile-grid coalescing and fragment warps
//! read them by pointer (VR-Pipe, section V-A). Its lines are never evicted, so it has the bandwidth
//! and latency of the L2 and no misses.
//!
//! An entry is freed when its last fragment warp has read it, and entries are freed in order. Packets
//! are pushed through the pipeline one by one, so when a vertex warp is dispatched it is not known when
//! the splats that still wait in bins will be read. The buffer is therefore assumed to hold all live
//! splats; their largest number is counted at the end of the draw, when all times are known.

use crate::pipeline::memory::Memory;
use crate::pipeline::memory::traffic::Client;
use crate::pipeline::timing::Cycle;

/// Sizes of the entry of a splat.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryBytes {
    /// Positions of all vertices.
    pub positions: u64,
    /// Attributes of all vertices.
    pub attributes: u64,
}

/// The buffer.
#[derive(Debug, Default)]
pub struct VertexBuffer {
    entry: EntryBytes,
    /// Splats of the vertex warps so far, and the cycle at which the last of them was dispatched.
    dispatches: Vec<(u64, Cycle)>,
    /// Cycle of the last read by splat.
    last_reads: Vec<Cycle>,
}

impl VertexBuffer {
    /// Creates an empty buffer for a draw of `splats` splats.
    pub fn new(entry: EntryBytes, splats: u32) -> Self {
        Self {
            entry,
            dispatches: Vec::new(),
            last_reads: vec![0; splats as usize],
        }
    }

    /// Takes entries for a vertex warp dispatched at `at`, whose last splat is the one before `end`.
    pub fn dispatch(&mut self, end: u64, at: Cycle) {
        self.dispatches.push((end, at));
    }

    /// Writes the results of `splats` splats at `at`; returns the cycle at which they are accepted.
    pub fn write(&self, splats: u64, at: Cycle, memory: &mut Memory) -> Cycle {
        let bytes = splats * (self.entry.positions + self.entry.attributes);
        match bytes {
            0 => at,
            _ => memory.write_kept(Client::VertexResults, bytes, at),
        }
    }

    /// Reads the positions of a splat at `at`; returns the cycle at which they arrive.
    #[inline]
    pub fn read_positions(&mut self, splat: u32, at: Cycle, memory: &mut Memory) -> Cycle {
        self.read(splat, self.entry.positions, at, memory)
    }

    /// Reads the attributes of a splat at `at`; returns the cycle at which they arrive.
    #[inline]
    pub fn read_attributes(&mut self, splat: u32, at: Cycle, memory: &mut Memory) -> Cycle {
        self.read(splat, self.entry.attributes, at, memory)
    }

    /// Records that `splat` is in use at `at`.
    #[inline]
    pub fn keep_until(&mut self, splat: u32, at: Cycle) {
        let last = &mut self.last_reads[splat as usize];
        *last = at.max(*last);
    }

    fn read(&mut self, splat: u32, bytes: u64, at: Cycle, memory: &mut Memory) -> Cycle {
        if bytes == 0 {
            return at;
        }
        let arrived = memory.read_kept(Client::VertexResults, bytes, at);
        self.keep_until(splat, arrived);
        arrived
    }

    /// Largest number of splats that held an entry at once.
    pub fn peak_live_splats(&self) -> u64 {
        let mut peak = 0;
        let mut freed = 0;
        for &(end, at) in &self.dispatches {
            let waiting = self.last_reads.get(freed..).unwrap_or_default();
            freed += waiting.iter().take_while(|last| **last <= at).count();
            // Of the splats that were not dispatched yet, none has been read by now.
            let end = end.min(self.last_reads.len() as u64);
            peak = peak.max(end.saturating_sub(freed as u64));
        }
        peak
    }

    /// Bytes of the entries of `splats` splats.
    pub fn bytes_of(&self, splats: u64) -> u64 {
        splats * (self.entry.positions + self.entry.attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Warps of two splats in cycles 0, 10 and 20. Splat 1 is read last in cycle 15, after splat 2 in
    /// cycle 12: in cycle 10 splats 1, 2 and 3 are live, in cycle 20 splats 3 to 5.
    #[test]
    fn entries_are_freed_in_order() {
        let entry = EntryBytes {
            positions: 64,
            attributes: 96,
        };
        let mut buffer = VertexBuffer::new(entry, 6);
        for (end, at) in [(2, 0), (4, 10), (6, 20)] {
            buffer.dispatch(end, at);
        }
        for (splat, at) in (0..).zip([5, 15, 12, 30, 40, 50]) {
            buffer.keep_until(splat, at);
        }
        assert_eq!(buffer.peak_live_splats(), 3);
        // Splat 0 is read until cycle 25, so that nothing is freed before.
        buffer.keep_until(0, 25);
        assert_eq!(buffer.peak_live_splats(), 6);
        assert_eq!(buffer.bytes_of(6), 960);
    }
}
