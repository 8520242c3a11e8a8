//! Exact rendering of Gaussian splats on a CPU.
//!
//! | module | holds |
//! |---|---|
//! | [`preprocess`] | cull, project, colour, bounding ellipse: from splats in the world to splats on the picture plane |
//! | [`cpu`] | the scalar reference renderer, which defines a frame, and the fast renderer |
//! | [`backward`] | gradients of a loss by splats, camera and background |
//! | [`synth`] | procedural splat scenes |
//! | [`viewpoint`] | the search for a view of a scene without cameras |
//! | [`convert`] | conversion: actions on the raw columns of scenes |

pub mod backward;
mod chunk_index;
pub mod convert;
pub mod cpu;
pub mod preprocess;
mod statistics;
pub mod synth;
pub mod viewpoint;
mod visibility;

pub use chunk_index::{ChunkIndex, index_path};
pub use statistics::{Distribution, SceneStatistics};
pub use visibility::{Sight, Visibility};
