//! The mesh path: triangle meshes and subdivision surfaces through the same kind of pipeline, with
//! 1 to 16 samples a pixel, and the units that merge quads of adjacent triangles.

pub mod assemble;
mod cam;
pub mod difference;
pub mod frame;
pub mod grid;
pub mod heat;
pub mod merge;
pub mod outcome;
pub mod pipeline;
pub mod pmu;
pub mod qfm;
pub mod shade;
pub mod splats;
#[cfg(test)]
mod streams;
pub mod surface;
pub mod tessellate;
pub mod triangles;
pub mod truth;
pub mod view;
