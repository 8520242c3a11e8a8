//! What merging units count.

use serde::Serialize;

/// Declares a struct of counters that can be added up; `max` counters keep the greater value.
macro_rules! counters {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$doc:meta])* $field:ident,)+
        } max {
            $($(#[$max_doc:meta])* $max:ident,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
        pub struct $name {
            $($(#[$doc])* pub $field: u64,)+
            $($(#[$max_doc])* pub $max: u64,)*
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)+
                $(self.$max = self.$max.max(other.$max);)*
            }
        }
    };
}

counters! {
    /// Counters of quad-fragment merging.
    ///
    /// Every fragment goes one way: `fragments` = `ignored` + `merged` + `passed_full` + the entries
    /// made (`alone` + `overlapping` + `apart`). Every entry does: those made = `merged_at_eviction` +
    /// `released_full` + `evicted` + `flushed` + `dropped_empty` + those still held.
    QfmCounters {
        /// Fragments in.
        fragments,
        /// Fragments without coverage.
        empties,
        /// Fragments left out because quads without coverage do not take part.
        ignored,
        /// Fragments merged into an entry on arrival.
        merged,
        /// Fragments that cover their quad alone: handed on without an entry.
        passed_full,
        /// Entries made for fragments with no candidate at their position.
        alone,
        /// Entries made for fragments whose most recent candidate covers one of their samples.
        overlapping,
        /// Entries made for fragments whose most recent candidate shares no edge with them.
        apart,
        /// Entries merged into another one on eviction.
        merged_at_eviction,
        /// Entries that left because they were fully covered.
        released_full,
        /// Entries that left to make room.
        evicted,
        /// Entries that left at a flush.
        flushed,
        /// Entries without coverage that were dropped.
        dropped_empty,
    } max {
        /// Most entries held at a time.
        peak_entries,
    }
}

impl QfmCounters {
    /// Quads handed to the shader.
    #[must_use]
    pub fn quads_out(&self) -> u64 {
        self.passed_full + self.released_full + self.evicted + self.flushed
    }
}

counters! {
    /// Counters of the pixel merge unit.
    ///
    /// `quads` = `empties` + `straight` + `partial`, and `partial` = `saved` + `by_overlap` + `by_age` +
    /// `early` + `flushed` + those still held.
    PmuCounters {
        /// Quads in.
        quads,
        /// Quads without coverage: dropped.
        empties,
        /// Quads without a partially covered shading pixel: handed on without an entry.
        straight,
        /// Quads with a partially covered shading pixel.
        partial,
        /// Shading pixels merged into another one.
        cell_merges,
        /// Quads that lost all their shading pixels: never shaded.
        saved,
        /// Quads that left because a new one covers one of their samples.
        by_overlap,
        /// Quads that left to make room.
        by_age,
        /// Quads that left because all their shading pixels had become full or empty.
        early,
        /// Quads that left at a flush.
        flushed,
        /// Outer edges that found no room, shading pixel by shading pixel.
        edges_lost,
    } max {
        /// Most entries held at a time.
        peak_entries,
    }
}

impl PmuCounters {
    /// Quads handed to the shader.
    #[must_use]
    pub fn quads_out(&self) -> u64 {
        self.straight + self.by_overlap + self.by_age + self.early + self.flushed
    }
}

/// Counters of quads before a merging unit, and of the unit itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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

impl MergeCounters {
    /// Quads that reached the unit with a sample.
    #[must_use]
    pub fn tested(&self) -> u64 {
        self.rasterized - self.culled
    }
}

impl std::ops::AddAssign for MergeCounters {
    fn add_assign(&mut self, other: Self) {
        self.rasterized += other.rasterized;
        self.culled += other.culled;
        self.partial += other.partial;
        self.barred += other.barred;
        if let Some(counters) = other.qfm {
            *self.qfm.get_or_insert_default() += counters;
        }
        if let Some(counters) = other.pmu {
            *self.pmu.get_or_insert_default() += counters;
        }
    }
}
