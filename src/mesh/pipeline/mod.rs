//! The mesh path in cycles: the emulated pipeline's own stages on triangles with samples, with a
//! unit that merges quads between the depth test and the shader.
//!
//! ```text
//! grids in submission order
//!   -> grids: tessellated, hidden ones dropped, vertices shaded -> assembly
//!   -> raster: setup, coarse, Hi-Z, fine -> quads: raster tiles as beats of quads
//!   -> zrop: PROP, depth test of samples
//!   -> merge unit: none, quad-fragment merging or pixel merging
//!   -> pack, launch, cores -> colour
//! ```
//!
//! Function and order are those of a [frame](super::frame) without time: every count and every
//! sample's owner come out the same. Time is that of the emulated pipeline (see [`crate::gpu`]).
//!
//! Depths are read and written in the order of submission: a test, and the tests of whole grids and
//! raster tiles as well, see what all work ahead of them has left, however many cycles that is
//! ahead (assumption: a real Hi-Z lags by what is in flight).

pub mod colour;
pub mod config;
pub mod cores;
mod current_grid;
pub mod depth;
pub mod grids;
pub mod machine;
mod merged_samples;
pub mod merging;
pub mod outcome;
pub mod pack;
pub mod passthrough;
pub mod quads;
mod slab;
mod wiring;

pub use config::MeshConfig;
pub use outcome::TimedOutcome;
pub use wiring::run;
