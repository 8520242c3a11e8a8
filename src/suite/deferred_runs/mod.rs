//! Frames with motion and defocus blur by several pipelines: runs of `quadrille deferred` and of suites.

mod mesh_motion;
mod run;
mod settings;
mod views;

pub use mesh_motion::MeshMotionSettings;
pub use run::{DeferredView, DeferredWants, KeepDeferred, heat_picture};
pub use settings::{DeferredFrames, PipelineSettings};

/// Settings of a run of `deferred`: mesh, views, blur and pipelines.
pub type DeferredRunSettings = crate::mesh_input::MeshRunSettings<DeferredFrames>;
