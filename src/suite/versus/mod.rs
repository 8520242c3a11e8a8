//! Comparison of the merging units on one subject as a mesh and as splats: quads saved and pictures.
//!
//! The emulated pipeline draws a splat as two triangles that share the diagonal of its box. Here the
//! boxes are rasterized like a mesh's triangles, with adjacency, and sent through the units in drawing
//! order. There is no depth test: the fragments are transparent, and all of them are blended.

mod comparison;
mod splat_quads;
mod splats_of_mesh;

pub use comparison::{MeshComparison, Versus};
pub use splat_quads::{SPLAT_SHADER, SplatQuads, SplatsMerged};
pub use splats_of_mesh::{SplatVersion, splats_of};
