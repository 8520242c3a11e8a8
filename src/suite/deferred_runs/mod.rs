//! Frames with motion and defocus blur by several pipelines: the work of `deferred` and of suites of it.

mod blur;
mod run;
mod settings;

pub use blur::BlurSettings;
pub use run::{DeferredWants, KeepDeferred, PreparedDeferred, heat_picture};
pub use settings::{DeferredRunSettings, PipelineSettings};
