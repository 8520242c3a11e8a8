//! From triangles to quads.

pub mod polygon;
