//! Counters of merging units.

use serde::{Deserialize, Serialize};

use quadrille_machine::{Peak, statistics};

statistics! {
    /// Counters of quad-fragment merging.
    ///
    /// Every fragment counts once: `fragments` = `ignored` + `merged` + `passed_full` + entries created
    /// (`alone` + `overlapping` + `apart`). Every entry counts once too: entries created =
    /// `merged_at_eviction` + `released_full` + `evicted` + `flushed` + `dropped_empty` + entries still held.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct QfmCounters {
        /// Quad fragments received.
        pub fragments: u64,
        /// Fragments without coverage.
        pub empties: u64,
        /// Fragments ignored because quads without coverage are switched off.
        pub ignored: u64,
        /// Fragments merged into an entry on arrival.
        pub merged: u64,
        /// Fragments that cover the whole quad: passed on without an entry.
        pub passed_full: u64,
        /// Entries created for fragments without a candidate at their position.
        pub alone: u64,
        /// Subset of `alone`: entries that face away from an entry of their grid at their position.
        pub facing_away: u64,
        /// Entries created for fragments whose most recent candidate covers one of their samples.
        pub overlapping: u64,
        /// Entries created for fragments whose most recent candidate shares no edge with them.
        pub apart: u64,
        /// Entries merged into another entry on eviction.
        pub merged_at_eviction: u64,
        /// Entries that left because they were fully covered.
        pub released_full: u64,
        /// Entries that left to make room, or because a blended quad covers one of their samples.
        pub evicted: u64,
        /// Entries that left at a flush.
        pub flushed: u64,
        /// Entries without coverage that were dropped.
        pub dropped_empty: u64,
        /// Maximum number of entries held.
        pub peak_entries: Peak,
    }
}

impl QfmCounters {
    /// Number of quads sent to the shader.
    pub fn quads_out(&self) -> u64 {
        self.passed_full + self.released_full + self.evicted + self.flushed
    }
}

statistics! {
    /// Counters of the pixel merge unit.
    ///
    /// `quads` = `empties` + `straight` + `partial`, and `partial` = `saved` + `by_overlap` + `by_age` + `early` +
    /// `flushed` + quads still held.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct PmuCounters {
        /// Quads received.
        pub quads: u64,
        /// Quads dropped because they have no coverage.
        pub empties: u64,
        /// Quads without a partially covered shading pixel: passed on without an entry.
        pub straight: u64,
        /// Quads with a partially covered shading pixel.
        pub partial: u64,
        /// Shading pixels merged into another shading pixel.
        pub cell_merges: u64,
        /// Quads never shaded because all their shading pixels were merged into others.
        pub saved: u64,
        /// Quads that left because a new one covers one of their samples.
        pub by_overlap: u64,
        /// Quads that left to make room.
        pub by_age: u64,
        /// Quads that left because all their shading pixels had become full or empty.
        pub early: u64,
        /// Quads that left at a flush.
        pub flushed: u64,
        /// Outer edges lost for lack of room, counted per shading pixel.
        pub edges_lost: u64,
        /// Maximum number of entries held.
        pub peak_entries: Peak,
    }
}

impl PmuCounters {
    /// Number of quads sent to the shader.
    pub fn quads_out(&self) -> u64 {
        self.straight + self.by_overlap + self.by_age + self.early + self.flushed
    }
}

statistics! {
    /// Counters of the quads that reach a merging unit, and of the unit.
    #[derive(Copy)]
    pub struct MergeCounters {
        /// Quads with a covered sample, of grids that are not hidden.
        pub rasterized: u64,
        /// Subset of `rasterized`: quads without a sample that passes the depth test.
        pub culled: u64,
        /// Quads that are not culled and have a partially covered shading pixel.
        pub partial: u64,
        /// Quads that bypass the unit, because of the effects of their shader or because they are blended.
        pub barred: u64,
        /// Counters of quad-fragment merging; `None` for other units.
        pub qfm: Option<QfmCounters>,
        /// Counters of the pixel merge unit; `None` for other units.
        pub pmu: Option<PmuCounters>,
    }
}

impl MergeCounters {
    /// Number of quads that reach the unit with a sample.
    pub fn tested(&self) -> u64 {
        self.rasterized - self.culled
    }
}
