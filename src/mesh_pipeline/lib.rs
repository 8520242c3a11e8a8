//! Timed model of the mesh path: the emulated pipeline on triangles with samples and a merging unit before the shader.
//!
//! ```text
//! grids in submission order
//!   -> grids: tessellated, hidden ones dropped, vertices shaded -> assembly
//!   -> raster: setup, coarse, Hi-Z, fine -> quads: raster tiles as beats of quads
//!   -> zrop: PROP, depth test of samples
//!   -> merging unit: none, quad-fragment merging or pixel merging
//!   -> pack, launch, cores -> colour
//! ```
//!
//! Function and order are those of a [frame](quadrille_mesh::frame) without time: all counts and the owner of every sample
//! are equal. The timing model is that of the emulated pipeline (see [`quadrille_gpu`]).
//!
//! The pipeline keeps its own depth buffer instead of replaying a finished frame: Hi-Z reads the farthest depth of a raster
//! tile, and the colour unit the owner of a sample, at a moment within the frame.
//!
//! Depths are read and written in the order of submission: the tests of samples, grids and raster
//! tiles see the depths of all earlier work, however many cycles ahead that is (assumption: a real
//! Hi-Z lags behind by the work in flight). Blended batches are submitted after all others.

pub mod colour;
pub(crate) mod config;
pub mod cores;
mod current_grid;
pub(crate) mod depth;
pub mod draw_state;
pub mod grids;
pub mod merging;
pub mod pack;
pub mod quads;
mod result;
mod wiring;

pub use config::MeshConfig;
pub use current_grid::GridVisibility;
pub use depth::DepthBuffer;
pub use result::TimedMeshResult;
pub use wiring::{run, run_after};
