//! Frames with motion and defocus blur by several pipelines: the work of `deferred` and of suites of it.

mod blur;
mod run;
mod settings;

pub use blur::BlurSettings;
pub use run::{DeferredWants, KeepDeferred, heat_picture};
pub use settings::{DeferredFrames, PipelineSettings};

/// Settings of a run.
pub type DeferredRunSettings = crate::mesh_input::MeshRunSettings<DeferredFrames>;
