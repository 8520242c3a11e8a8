//! The software renderer of Gaussian splatting on the modelled shader cores: the renderer that VR-Pipe
//! compares the graphics pipeline with (sections II-B and III), function and time.
//!
//! ```text
//! splats of the scene
//!   -> kernels: preprocess, scan, duplicate (a pair per splat and tile), radix sort of pairs, ranges
//!   -> assign: the list of each screen tile, in drawing order
//!   -> block: a block of 256 threads per tile; rounds of 256 entries; warps of 16x2 pixels
//!   -> cores: residency, rounds, barriers, issue, memory: when each block ends
//! ```
//!
//! The pictures of the blocks do not depend on time: they are drawn first, in parallel, with the work of each warp in
//! each round, which gives their time. The kernels ahead of the raster are streams of bytes and instructions.

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
