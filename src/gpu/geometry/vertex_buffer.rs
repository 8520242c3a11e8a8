//! Buffer of vertex results: a region of the L2 in which vertex shading leaves the positions and attributes of each
//! splat, and from which primitive assembly, tile-grid coalescing and fragment warps read them by pointer (VR-Pipe, section
//! V-A). Its lines are never evicted, so it has the bandwidth and latency of the L2 and no misses.
//!
//! An entry is live until its last fragment warp has read it. The buffer is circular: entries are freed in order, and a
//! vertex warp waits for room. Packets are pushed through the pipeline one by one, so the splats that wait in bins have
//! no last read yet when a vertex warp asks for room. It then makes the coalescing units flush the quads of the splats
//! that must leave. No other item reaches these units while vertex shading waits, so the deadlines of tile bins pass.
//!
//! In a tile-based GPU the results lie in memory behind the L2, splat after splat, since tiles read them when all splats are
//! binned (see [`tile_gpu`](crate::tile_gpu)). Lines of such a buffer are evicted as all others, and nothing waits for room.
//!
//! An unbounded buffer holds all live splats. Its peak is computed at the end of the draw, when all times are known, and so
//! is the peak of a buffer that frees its entries in order.

use serde::{Deserialize, Serialize};

use quadrille_base::math::fit;
use quadrille_machine::{Client, Cycle, Memory, SECTOR_BYTES, documented};

/// Bytes of the entry of a splat.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntryBytes {
    /// Bytes of the positions of all vertices of the splat.
    pub positions: u64,
    /// Bytes of the attributes of all vertices of the splat.
    pub attributes: u64,
}

/// Buffer of vertex results of all GPCs.
#[derive(Debug, Default)]
pub struct VertexBuffer {
    entry: EntryBytes,
    entries: Option<u64>,
    /// Address of the first entry in memory, if the results do not always stay in the L2.
    in_memory: Option<u64>,
    /// Entries freed so far, and the cycle at which the last one was freed.
    freed: (usize, Cycle),
    /// End of the splat range and dispatch cycle of each vertex warp.
    dispatches: Vec<(u64, Cycle)>,
    last_reads: Vec<Cycle>,
}

impl VertexBuffer {
    /// Creates an empty buffer of `entries` entries, or without a bound, for a draw of `splats` splats.
    pub fn new(entry: EntryBytes, entries: Option<u64>, splats: u32) -> Self {
        Self {
            entry,
            entries,
            in_memory: None,
            freed: (0, 0),
            dispatches: Vec::new(),
            last_reads: vec![0; splats as usize],
        }
    }

    /// Places the results in memory from `address` on. Positions and attributes of a splat fill whole sectors: caches see
    /// the reads of a tile's warps before the reads of the next positions, which must not wait for their sectors.
    #[must_use]
    pub fn in_memory(self, address: u64) -> Self {
        let EntryBytes { positions, attributes } = self.entry;
        let [positions, attributes] =
            [positions, attributes].map(|bytes| bytes.next_multiple_of(SECTOR_BYTES));
        let entry = EntryBytes { positions, attributes };
        Self { in_memory: Some(address), entry, ..self }
    }

    /// Bytes of the results of a splat.
    pub fn entry_bytes(&self) -> u64 {
        self.entry.positions + self.entry.attributes
    }

    /// Returns the last splat whose entry must be free before a warp can write the `splats` entries that precede `end`, or
    /// `None` if there is room.
    pub fn must_leave(&self, end: u64, splats: u64) -> Option<u32> {
        end.checked_sub(self.entries?.max(splats) + 1).map(fit)
    }

    /// Frees the entries up to `splat` in order, after their last reads. Returns the cycle at which all of them are free.
    pub fn free_through(&mut self, splat: u32) -> Cycle {
        let end = (splat as usize + 1).min(self.last_reads.len());
        let (freed, at) = &mut self.freed;
        let reads = self.last_reads.get(*freed..end).unwrap_or_default();
        *at = reads.iter().copied().fold(*at, Cycle::max);
        *freed = end.max(*freed);
        *at
    }

    /// Allocates entries for a vertex warp dispatched at `at`; `end` is one past its last splat.
    pub fn dispatch(&mut self, end: u64, at: Cycle) {
        self.dispatches.push((end, at));
    }

    /// Writes the results of `splats` splats from `first` on, at `at`; returns the cycle at which they are accepted.
    pub fn write(&self, first: u32, splats: u64, at: Cycle, memory: &mut Memory) -> Cycle {
        let entry = self.entry_bytes();
        match (splats * entry, self.in_memory) {
            (0, _) => at,
            (bytes, None) => memory.write_kept(Client::VertexResults, bytes, at),
            (_, Some(base)) => {
                // The last warp of a draw may have fewer splats.
                let left = (self.last_reads.len() as u64).saturating_sub(first.into());
                let (address, bytes) = (base + u64::from(first) * entry, splats.min(left) * entry);
                memory.write_bytes(Client::VertexResults, address, bytes, at)
            }
        }
    }

    /// Reads the positions of a splat at `at`; returns the cycle at which they arrive.
    #[inline]
    pub(crate) fn read_positions(&mut self, splat: u32, at: Cycle, memory: &mut Memory) -> Cycle {
        self.read(splat, 0, self.entry.positions, at, memory)
    }

    /// Reads the attributes of a splat at `at`; returns the cycle at which they arrive.
    #[inline]
    pub(crate) fn read_attributes(&mut self, splat: u32, at: Cycle, memory: &mut Memory) -> Cycle {
        self.read(splat, self.entry.positions, self.entry.attributes, at, memory)
    }

    /// Records that `splat` is in use at `at`. The rectangle of a stencil update, numbered after the splats, has no entry.
    #[inline]
    pub fn keep_until(&mut self, splat: u32, at: Cycle) {
        if let Some(last) = self.last_reads.get_mut(splat as usize) {
            *last = at.max(*last);
        }
    }

    #[inline]
    fn read(
        &mut self,
        splat: u32,
        offset: u64,
        bytes: u64,
        at: Cycle,
        memory: &mut Memory,
    ) -> Cycle {
        if bytes == 0 {
            return at;
        }
        let arrived = match self.in_memory {
            None => memory.read_kept(Client::VertexResults, bytes, at),
            Some(base) => {
                let address = base + u64::from(splat) * self.entry_bytes() + offset;
                memory.read_bytes(Client::VertexResults, address, bytes, at)
            }
        };
        self.keep_until(splat, arrived);
        arrived
    }

    /// Computes the peak occupancy of the buffer over the draw.
    pub fn peaks(&self) -> VertexBufferPeaks {
        let mut by_time = self.last_reads.clone();
        // Sorted by last read, the order in which a buffer that frees entries out of order frees them.
        by_time.sort_unstable();
        let mut peaks = VertexBufferPeaks::default();
        let (mut freed, mut freed_in_order) = (0, 0);
        // Vertex warps of several GPCs are not dispatched in the order of their splats.
        let mut dispatches = self.dispatches.clone();
        dispatches.sort_by_key(|&(_, at)| at);
        let mut newest = 0;
        for (end, at) in dispatches {
            newest = end.min(self.last_reads.len() as u64).max(newest);
            freed += freed_by(at, &by_time, freed);
            freed_in_order += freed_by(at, &self.last_reads, freed_in_order);
            let held = |freed: usize| newest.saturating_sub(freed as u64);
            peaks.live_splats = peaks.live_splats.max(held(freed));
            peaks.span_splats = peaks.span_splats.max(held(freed_in_order));
        }
        let entry = self.entry_bytes();
        peaks.live_bytes = peaks.live_splats * entry;
        peaks.span_bytes = peaks.span_splats * entry;
        peaks
    }
}

/// Number of consecutive entries after the first `freed` with a last read by `at`. Splats dispatched later are read later.
fn freed_by(at: Cycle, last_reads: &[Cycle], freed: usize) -> usize {
    last_reads.get(freed..).unwrap_or_default().iter().take_while(|last| **last <= at).count()
}

documented! {
    /// Peak numbers of splats in the buffer, sampled when vertex warps are dispatched.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct VertexBufferPeaks {
        /// Peak number of splats whose vertex results are still read.
        pub live_splats: u64,
        /// Bytes of the entries of `live_splats`.
        pub live_bytes: u64,
        /// Peak distance from the oldest to the newest splat in use: the content of a buffer that frees entries in order.
        pub span_splats: u64,
        /// Bytes of the entries of `span_splats`.
        pub span_bytes: u64,
    }
}
