//! Frames of meshes through merging units, in counts and in cycles: runs of `quadrille mesh` and of suites.

mod run;
mod settings;

pub use run::{KeepMerged, MergedFrame, MergingWants};
#[cfg(feature = "cli")]
pub(crate) use settings::MEASUREMENTS;
pub use settings::{AreaMeaning, MergingSettings, UnitChoice};

/// Settings of a run of `mesh`: mesh, views, merging units and sample patterns.
pub type MergingRunSettings = crate::mesh_input::MeshRunSettings<MergingSettings>;
