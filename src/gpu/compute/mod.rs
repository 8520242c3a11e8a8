//! Functional and timed model of the software renderer of Gaussian splatting on the shader cores, with which VR-Pipe
//! compares the graphics pipeline (sections II-B and III).
//!
//! ```text
//! splats of the scene
//!   -> kernels: preprocess, scan, duplicate (a pair per splat and tile), radix sort of pairs, ranges
//!   -> assign: the list of each screen tile, in drawing order
//!   -> block: a block of 256 threads per tile; rounds of 256 entries; warps of 16x2 pixels
//!   -> cores: residency, rounds, barriers, issue, memory: when each block ends
//! ```
//!
//! The pictures of the blocks do not depend on time. They are drawn first, in parallel; the work of each warp in each round
//! then determines the time. The kernels before the raster kernel are streams of bytes and instructions.

mod addresses;
pub mod assign;
pub mod block;
pub mod cores;
pub mod kernels;
pub mod outcome;
pub(crate) mod picture;
pub mod program;
pub mod radix;
pub mod renderer;
pub mod stream;
