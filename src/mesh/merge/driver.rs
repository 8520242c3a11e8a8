//! The choice of a merging unit, and the driver that feeds it.

use super::counters::MergeCounters;
use super::pmu::{PixelMerging, PmuSettings};
use super::qfm::{QfmSettings, QuadFragmentMerging};
use super::unit::{MergeRules, MergeScope, MergeStream, MergeUnit, MergedQuad, QuadFragment};
use quadrille_base::raster::samples::SamplePattern;

/// Kind and sizes of the unit between the depth test and the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeUnitKind {
    /// No unit: every quad is shaded.
    None,
    /// Quad-fragment merging.
    Qfm(QfmSettings),
    /// The pixel merge unit.
    Pmu(PmuSettings),
}

impl MergeUnitKind {
    /// Creates an empty unit.
    pub fn build(self) -> Box<dyn MergeUnit> {
        match self {
            Self::None => Box::new(NoMerging),
            Self::Qfm(settings) => Box::new(QuadFragmentMerging::new(settings)),
            Self::Pmu(settings) => Box::new(PixelMerging::new(settings)),
        }
    }

    /// The same unit with another number of entries; `None`, without bound, for quad-fragment merging alone.
    pub fn with_entries(mut self, entries: Option<u32>) -> Self {
        match (&mut self, entries) {
            (Self::Qfm(settings), entries) => settings.entries = entries,
            (Self::Pmu(settings), Some(entries)) => settings.entries = entries,
            _ => {}
        }
        self
    }

    /// Name in configurations and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Qfm(_) => "qfm",
            Self::Pmu(_) => "pmu",
        }
    }

    /// Number of entries, itself `None` for an unbounded buffer; `None` for a unit without a buffer.
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

/// A merging unit and its stream.
#[derive(Debug)]
pub struct MergeDriver {
    /// Merge unit that the driver feeds.
    pub unit: Box<dyn MergeUnit>,
    /// The fragments in and the quads out.
    pub stream: MergeStream,
    counters: MergeCounters,
}

impl MergeDriver {
    /// Creates a driver of an empty unit.
    pub fn new(unit: Box<dyn MergeUnit>, pattern: &'static SamplePattern) -> Self {
        Self { unit, stream: MergeStream::new(pattern), counters: MergeCounters::default() }
    }

    /// Sends a fragment to the unit, or past it if its shader bars merging there.
    #[inline]
    pub fn push(&mut self, fragment: &QuadFragment, is_barred: bool) {
        if is_barred {
            // The entries are older and may lie below.
            self.flush();
            self.counters.barred += u64::from(fragment.coverage != 0);
            pass(fragment, &mut self.stream);
        } else {
            self.unit.push(fragment, &mut self.stream);
        }
    }

    /// Empties the unit.
    pub fn flush(&mut self) {
        self.unit.flush(&mut self.stream);
    }

    /// The counters so far, but for the quads rasterized and culled, which the caller counts.
    pub fn counters(&self) -> MergeCounters {
        let mut counters = self.counters;
        counters.partial = self.stream.partial;
        self.unit.report(&mut counters);
        counters
    }
}
