//! Scenes: splats, the files they come in, and the cameras that look at them.

mod camera;
pub mod cameras;
pub mod ply;
mod splats;
mod visibility;

pub use camera::{Camera, Intrinsics, MAX_SIDE_PX};
pub use splats::{BLOCK, Lanes, MAX_SH_DEGREE, Splat, SplatBlock, Splats, rest_coefficients};
pub use visibility::Visibility;
