//! Scenes: splats, the files they come in, and the cameras that look at them.

mod activate;
mod assemble;
pub(crate) mod bytes;
mod camera;
pub(crate) mod cameras;
mod dropped;
mod exponential;
pub(crate) mod formats;
mod load;
mod splats;
mod statistics;
mod visibility;

pub(crate) use camera::MAX_SIDE_PX;
pub use camera::{Camera, Intrinsics};
pub use dropped::Dropped;
pub use load::{Format, Scene, load, load_bytes};
pub(crate) use splats::{BLOCK, Lanes, MAX_SPLATS, SplatBlock};
pub use splats::{Splat, Splats, rest_coefficients};
pub use statistics::{Distribution, SceneStatistics};
pub(crate) use visibility::Visibility;
