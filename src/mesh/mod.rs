//! The mesh path: triangle meshes and subdivision surfaces through the same kind of pipeline, with
//! 1 to 16 samples a pixel, and the units that merge quads of adjacent triangles.

mod cam;
pub mod grid;
pub mod merge;
pub mod pmu;
pub mod qfm;
#[cfg(test)]
mod streams;
pub mod view;
