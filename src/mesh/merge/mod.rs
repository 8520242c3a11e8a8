//! Units between the depth test and the shader that merge quads of adjacent triangles: the interface
//! ([`MergeUnit`]), its implementations, and the driver that feeds them.

pub mod associative;
pub(crate) mod counters;
pub(crate) mod driver;
pub mod merged_samples;
pub mod pmu;
pub mod qfm;
pub(crate) mod unit;

pub use counters::{MergeCounters, PmuCounters, QfmCounters};
pub use driver::{MergeDriver, MergeUnitKind};
pub use pmu::PmuSettings;
pub use qfm::QfmSettings;
pub use unit::{
    DisjointSet, MergeRules, MergeScope, MergeStream, MergeUnit, MergedQuad, QuadFragment,
};
