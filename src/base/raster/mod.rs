//! Coverage without timing: edge functions, polygons, strips, pixel and sample coverage, and the depths of samples.

pub mod geometry;
pub mod outline;
pub mod polygon;
pub mod sample_depth;
pub mod sampled;
pub mod samples;
pub mod strip;
pub mod tiles;
