//! Frames of meshes through merging units, in counts and in cycles: the work of `mesh` and of suites of it.

mod run;
mod settings;

pub use run::{KeepMerged, MergedFrame, MergingWants};
#[cfg(feature = "cli")]
pub(crate) use settings::MEASUREMENTS;
pub use settings::{AreaMeaning, MergingSettings, UnitChoice};

/// Settings of a run.
pub type MergingRunSettings = crate::mesh_input::MeshRunSettings<MergingSettings>;
