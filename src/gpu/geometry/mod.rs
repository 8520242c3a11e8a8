//! From splats to triangles.

pub mod splat_box;
