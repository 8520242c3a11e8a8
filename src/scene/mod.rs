//! Scenes: splats, scene files, and cameras.

mod activate;
mod assemble;
mod byte_reader;
pub(crate) mod bytes;
mod camera;
pub(crate) mod cameras;
pub(crate) mod formats;
mod scene_file;
mod splats;
mod statistics;
mod visibility;

pub use camera::{Camera, Intrinsics, MAX_SIDE_PX};
pub use formats::{load, load_bytes};
pub use scene_file::{Dropped, Scene, SceneFormat};
pub(crate) use splats::{BLOCK, Lanes, MAX_SPLATS, SplatBlock};
pub use splats::{Splat, Splats, rest_coefficients};
pub use statistics::{Distribution, SceneStatistics};
pub use visibility::Visibility;
