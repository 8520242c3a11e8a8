//! Vertex shading, the buffer of its results, and primitive assembly.

pub mod assembly;
pub mod position_fetch;
pub mod splat_box;
pub mod vertex;
pub mod vertex_buffer;
