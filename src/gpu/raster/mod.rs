//! From triangles to quads.

pub mod polygon;
pub mod spans;
