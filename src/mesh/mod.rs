//! The mesh path: triangle meshes and subdivision surfaces through the same kind of pipeline, with
//! 1 to 16 samples a pixel, and the units that merge quads of adjacent triangles.

pub mod grid;
pub mod merge;
pub mod surface;
pub mod tessellate;
pub mod view;
