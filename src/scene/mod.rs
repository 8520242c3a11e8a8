//! Scenes: splats, the files they come in, and the cameras that look at them.

mod activate;
mod assemble;
pub(crate) mod bytes;
mod camera;
pub mod cameras;
mod dropped;
mod exponential;
pub mod formats;
mod load;
mod splats;
mod statistics;
mod visibility;

pub use camera::{Camera, Intrinsics, MAX_SIDE_PX};
pub use dropped::Dropped;
pub use load::{Format, Scene, load, load_bytes};
pub use splats::{
    BLOCK, Lanes, MAX_SH_DEGREE, MAX_SPLATS, Splat, SplatBlock, Splats, rest_coefficients,
};
pub use statistics::{Distribution, SceneStatistics};
pub use visibility::Visibility;
