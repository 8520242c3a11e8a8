//! What merging units count.

use serde::Serialize;

use crate::pipeline::statistics::{Peak, statistics};

statistics! {
    /// Counters of quad-fragment merging.
    ///
    /// Every fragment goes one way: `fragments` = `ignored` + `merged` + `passed_full` + the entries
    /// made (`alone` + `overlapping` + `apart`). Every entry does: those made = `merged_at_eviction` +
    /// `released_full` + `evicted` + `flushed` + `dropped_empty` + those still held.
    #[derive(Copy, Serialize)]
    pub struct QfmCounters {
        /// Fragments in.
        pub fragments: u64,
        /// Fragments without coverage.
        pub empties: u64,
        /// Fragments left out because quads without coverage do not take part.
        pub ignored: u64,
        /// Fragments merged into an entry on arrival.
        pub merged: u64,
        /// Fragments that cover their quad alone: handed on without an entry.
        pub passed_full: u64,
        /// Entries made for fragments with no candidate at their position.
        pub alone: u64,
        /// Entries made for fragments whose most recent candidate covers one of their samples.
        pub overlapping: u64,
        /// Entries made for fragments whose most recent candidate shares no edge with them.
        pub apart: u64,
        /// Entries merged into another one on eviction.
        pub merged_at_eviction: u64,
        /// Entries that left because they were fully covered.
        pub released_full: u64,
        /// Entries that left to make room.
        pub evicted: u64,
        /// Entries that left at a flush.
        pub flushed: u64,
        /// Entries without coverage that were dropped.
        pub dropped_empty: u64,
        /// Most entries held at a time.
        pub peak_entries: Peak,
    }
}

impl QfmCounters {
    /// Quads handed to the shader.
    pub fn quads_out(&self) -> u64 {
        self.passed_full + self.released_full + self.evicted + self.flushed
    }
}

statistics! {
    /// Counters of the pixel merge unit.
    ///
    /// `quads` = `empties` + `straight` + `partial`, and `partial` = `saved` + `by_overlap` + `by_age` +
    /// `early` + `flushed` + those still held.
    #[derive(Copy, Serialize)]
    pub struct PmuCounters {
        /// Quads in.
        pub quads: u64,
        /// Quads without coverage: dropped.
        pub empties: u64,
        /// Quads without a partially covered shading pixel: handed on without an entry.
        pub straight: u64,
        /// Quads with a partially covered shading pixel.
        pub partial: u64,
        /// Shading pixels merged into another one.
        pub cell_merges: u64,
        /// Quads that lost all their shading pixels: never shaded.
        pub saved: u64,
        /// Quads that left because a new one covers one of their samples.
        pub by_overlap: u64,
        /// Quads that left to make room.
        pub by_age: u64,
        /// Quads that left because all their shading pixels had become full or empty.
        pub early: u64,
        /// Quads that left at a flush.
        pub flushed: u64,
        /// Outer edges that found no room, shading pixel by shading pixel.
        pub edges_lost: u64,
        /// Most entries held at a time.
        pub peak_entries: Peak,
    }
}

impl PmuCounters {
    /// Quads handed to the shader.
    pub fn quads_out(&self) -> u64 {
        self.straight + self.by_overlap + self.by_age + self.early + self.flushed
    }
}

statistics! {
    /// Counters of quads before a merging unit, and of the unit itself.
    #[derive(Copy)]
    pub struct MergeCounters {
        /// Quads with a sample, of grids that are not hidden.
        pub rasterized: u64,
        /// Of these: quads of which no sample passed the depth test.
        pub culled: u64,
        /// Of the quads left: those with a partially covered shading pixel.
        pub partial: u64,
        /// Quads of draws whose shader bars pixel merging.
        pub barred: u64,
        /// The unit's own counters, if it is quad-fragment merging.
        pub qfm: Option<QfmCounters>,
        /// The unit's own counters, if it is the pixel merge unit.
        pub pmu: Option<PmuCounters>,
    }
}

impl MergeCounters {
    /// Quads that reached the unit with a sample.
    #[must_use]
    pub fn tested(&self) -> u64 {
        self.rasterized - self.culled
    }
}
