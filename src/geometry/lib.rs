//! Triangle meshes and curved surfaces: their files, the camera that projects them, and grids for a pipeline.
//!
//! ```text
//! files::Mesh --triangles-----------------------------------+
//! control cage, Bezier patches, procedural --surface        +--> grids in submission order
//!                              --tessellate-----------------+
//! ```

pub mod camera;
pub mod files;
pub mod front;
pub mod grid;
mod mirror;
mod polygon;
pub mod reorder;
mod sets;
mod smooth;
pub mod surface;
pub mod tessellate;
pub mod triangles;
pub mod upright;
mod vertex_names;
