//! One subject as a mesh and as splats, each merging unit on each: quads saved, pictures compared.
//!
//! The emulated pipeline draws a splat as two triangles that share the diagonal of its box. Here
//! the boxes are rasterized as a mesh's triangles are, with adjacency, and sent through the units
//! in drawing order. Nothing is tested for depth: the fragments are transparent, and all are
//! blended.

#[cfg(feature = "cli")]
mod comparison;
#[cfg(feature = "cli")]
mod rows;
mod splat_quads;
mod splats_of_mesh;

#[cfg(feature = "cli")]
pub(crate) use comparison::Comparison;
#[cfg(feature = "cli")]
pub(crate) use rows::Versus;
pub use splat_quads::{SPLAT_SHADER, SplatQuads, SplatsMerged};
pub use splats_of_mesh::{SplatVersion, splats_of};
