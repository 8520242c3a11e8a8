//! Kinds of merging units, and the driver that feeds a unit.

use super::counters::MergeCounters;
use super::pmu::{PixelMerging, PmuSettings};
use super::qfm::{QfmSettings, QuadFragmentMerging};
use super::unit::{MergeRules, MergeScope, MergeStream, MergeUnit, MergedQuad, QuadFragment};
use quadrille_base::raster::samples::SamplePattern;

/// Kind and sizes of the merging unit between the depth test and the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeUnitKind {
    /// No merging: every quad is shaded.
    None,
    /// Quad-fragment merging, within a grid.
    Qfm(QfmSettings),
    /// Pixel merging, within a draw.
    Pmu(PmuSettings),
}

impl MergeUnitKind {
    /// Creates a merging unit without entries.
    pub fn build(self) -> Box<dyn MergeUnit> {
        match self {
            Self::None => Box::new(NoMerging),
            Self::Qfm(settings) => Box::new(QuadFragmentMerging::new(settings)),
            Self::Pmu(settings) => Box::new(PixelMerging::new(settings)),
        }
    }

    /// Sets the number of entries; `None` is unbounded for quad-fragment merging and ignored for other units.
    pub fn with_entries(mut self, entries: Option<u32>) -> Self {
        match (&mut self, entries) {
            (Self::Qfm(settings), entries) => settings.entries = entries,
            (Self::Pmu(settings), Some(entries)) => settings.entries = entries,
            _ => {}
        }
        self
    }

    /// Name of the unit in configurations and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Qfm(_) => "qfm",
            Self::Pmu(_) => "pmu",
        }
    }

    /// Number of entries: `Some(None)` for an unbounded buffer, `None` for a unit without a buffer.
    pub fn entries(self) -> Option<Option<u32>> {
        match self {
            Self::None => None,
            Self::Qfm(settings) => Some(settings.entries),
            Self::Pmu(settings) => Some(Some(settings.entries)),
        }
    }
}

#[derive(Debug)]
struct NoMerging;

impl MergeUnit for NoMerging {
    fn rules(&self) -> MergeRules {
        MergeRules {
            scope: MergeScope::Grid,
            takes_empties: false,
            bypassed_by_effects: false,
            bypassed_by_blending: false,
            splits_quads: false,
        }
    }

    fn push(&mut self, fragment: &QuadFragment, stream: &mut MergeStream) {
        pass(fragment, stream);
    }

    fn evict(&mut self, _stream: &mut MergeStream) {}

    fn occupancy(&self) -> u32 {
        0
    }

    fn report(&self, _counters: &mut MergeCounters) {}
}

/// Emits a fragment with coverage as a quad of its own.
#[inline]
fn pass(fragment: &QuadFragment, stream: &mut MergeStream) {
    let (leader, _) = stream.enter(fragment.coverage);
    if fragment.coverage != 0 {
        stream.out.push(MergedQuad::of(leader, fragment.coverage));
    }
}

/// Feeds a merging unit and counts the fragments that bypass it.
#[derive(Debug)]
pub struct MergeDriver {
    /// Merging unit that the driver feeds.
    pub unit: Box<dyn MergeUnit>,
    /// Fragments that entered the unit and quads that left it.
    pub stream: MergeStream,
    counters: MergeCounters,
}

impl MergeDriver {
    /// Creates a driver for a unit without entries.
    pub fn new(unit: Box<dyn MergeUnit>, pattern: &'static SamplePattern) -> Self {
        Self { unit, stream: MergeStream::new(pattern), counters: MergeCounters::default() }
    }

    /// Sends a fragment to the unit or, if `is_barred`, past it.
    #[inline]
    pub fn push(&mut self, fragment: &QuadFragment, is_barred: bool) {
        if is_barred {
            // The entries are older and may lie below the fragment, so they leave first.
            self.flush();
            self.counters.barred += u64::from(fragment.coverage != 0);
            pass(fragment, &mut self.stream);
        } else {
            self.unit.push(fragment, &mut self.stream);
        }
    }

    /// Evicts all entries of the unit, oldest first.
    pub fn flush(&mut self) {
        self.unit.flush(&mut self.stream);
    }

    /// Counters so far, without rasterized and culled quads, which the caller counts.
    pub fn counters(&self) -> MergeCounters {
        let mut counters = self.counters;
        counters.partial = self.stream.partial;
        self.unit.report(&mut counters);
        counters
    }
}
