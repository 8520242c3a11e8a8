//! Surfaces made of quadrilateral patches: the input of the tessellator.

pub mod bezier;
pub mod catmull_clark;
mod cubic;
pub mod displaced;
mod owners;
mod patches;
pub mod procedural;
#[cfg(test)]
pub(crate) mod sample_cages;

pub use owners::{CornerOwner, SideOwner};
pub use patches::{CORNERS, Surface, SurfacePoint};
pub(crate) use patches::{along_side, box_corners};
