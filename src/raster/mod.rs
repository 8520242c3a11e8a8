//! Coverage without time: edge functions, polygons, spans, pixel and sample coverage, and the
//! depths of samples.

pub mod geometry;
pub mod outline;
pub mod polygon;
pub mod sample_depth;
pub mod sampled;
pub mod samples;
pub mod spans;
pub mod tiles;
