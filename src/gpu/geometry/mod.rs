//! Vertex shading and primitive assembly.

pub mod assembly;
pub mod splat_box;
pub mod vertex;
