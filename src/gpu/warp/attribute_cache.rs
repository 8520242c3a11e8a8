//! First-level caches of the shader cores, between fragment warps and the buffer of vertex results.
//!
//! An entry holds the attributes of one splat, in whole sectors (assumption: a cache of lines would hold a similar number
//! of splats). The latency of the fragment shader includes the latency of a hit.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::geometry::vertex_buffer::VertexBuffer;
use quadrille_base::math::{index, prefetch};
use quadrille_machine::{
    Cycle, Memory, Quad, Rate, RateLimiter, SECTOR_BYTES, Visitor, WARP_QUADS, statistics,
};

statistics! {
    /// Attribute accesses of fragment warps, one per primitive of a warp.
    #[derive(Serialize, Deserialize)]
    pub struct AttributeCounters {
        /// Accesses to resident entries.
        pub hits: u64,
        /// Accesses that read from the L2.
        pub misses: u64,
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    splat: u32,
    ready: Cycle,
}

const EMPTY: Entry = Entry { splat: u32::MAX, ready: 0 };

#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeCacheSpec {
    pub(crate) bytes: u64,
    pub(crate) ways: u64,
    pub(crate) l2_bytes_per_cycle: u64,
}

/// First-level caches of all cores of a GPC.
#[derive(Debug)]
pub(crate) struct AttributeCaches {
    sets: usize,
    ways: usize,
    /// Entries by core, set and age, most recently used first.
    entries: Vec<Entry>,
    ports: Vec<RateLimiter>,
    rate: Rate,
    entry_bytes: u64,
    pub counters: AttributeCounters,
}

impl AttributeCaches {
    /// Creates empty caches for entries of `entry_bytes`; `None` if that is 0.
    pub(crate) fn new(spec: AttributeCacheSpec, cores: u64, entry_bytes: u64) -> Option<Self> {
        if entry_bytes == 0 {
            return None;
        }
        let entry_bytes = entry_bytes.next_multiple_of(SECTOR_BYTES);
        let entries = (spec.bytes / entry_bytes).max(1);
        let ways = spec.ways.min(entries);
        let sets = entries / ways;
        let port = RateLimiter::new(Rate::of(spec.l2_bytes_per_cycle, entry_bytes));
        Some(Self {
            sets: index(sets),
            ways: index(ways),
            entries: vec![EMPTY; index(cores * sets * ways)],
            ports: vec![port; index(cores)],
            rate: Rate::of(cores * spec.l2_bytes_per_cycle, 1),
            entry_bytes,
            counters: AttributeCounters::default(),
        })
    }

    pub(super) fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.statistics("l1", &self.counters);
        visitor.cache_port("l1_fill", self.rate, self.counters.misses * self.entry_bytes);
    }

    /// Reads the attributes of all primitives of a warp at `at`, on the core of `scheduler`; returns the cycle at which
    /// they have arrived. Consecutive schedulers belong to different cores.
    pub(crate) fn fetch(
        &mut self,
        scheduler: usize,
        quads: &ArrayVec<Quad, WARP_QUADS>,
        at: Cycle,
        buffer: &mut VertexBuffer,
        memory: &mut Memory,
    ) -> Cycle {
        let core = scheduler % self.ports.len();
        // Distinct splats of the warp, with the index of the first entry of their sets.
        let mut splats: ArrayVec<(u32, usize), WARP_QUADS> = ArrayVec::new();
        let mut last = EMPTY.splat;
        // A branch-free search for the first quad of each run made the baseline slower, at 0.97 of its speed.
        for quad in quads {
            let splat = quad.primitive;
            // Neighbouring quads often belong to one splat.
            if std::mem::replace(&mut last, splat) != splat
                && splats.iter().all(|(other, _)| *other != splat)
            {
                let set = self.set_of(core, splat);
                // All sets of the warp's splats are requested before the first access, so their misses overlap.
                prefetch(&self.entries, set);
                splats.push((splat, set));
            }
        }
        let mut ready = at;
        for &(splat, set) in &splats {
            ready = ready.max(self.access(core, set, splat, at, buffer, memory));
        }
        ready
    }

    #[inline]
    fn set_of(&self, core: usize, splat: u32) -> usize {
        (core * self.sets + splat as usize % self.sets) * self.ways
    }

    #[inline]
    fn access(
        &mut self,
        core: usize,
        first: usize,
        splat: u32,
        at: Cycle,
        buffer: &mut VertexBuffer,
        memory: &mut Memory,
    ) -> Cycle {
        let set = &mut self.entries[first..first + self.ways];
        // Moves the splat to the front of the set. It replaces its own entry or the least recently used one;
        // the entries before that move back.
        let mut moved = Entry { splat, ready: 0 };
        // The move is part of the search, so the set is walked once. A version without branches and with
        // prefetch ran robot (HET+QM) at 1.04 of the speed, but graffiti and truck at 0.96.
        for entry in &mut *set {
            std::mem::swap(entry, &mut moved);
            if moved.splat == splat {
                break;
            }
        }
        let ready = if moved.splat == splat {
            self.counters.hits += 1;
            moved.ready
        } else {
            self.counters.misses += 1;
            buffer.read_attributes(splat, self.ports[core].serve(at), memory)
        };
        set[0].ready = ready;
        ready.max(at)
    }
}
