//! Surfaces made of quadrilateral patches, the input of the tessellator.

mod bezier;
pub mod catmull_clark;
mod displaced;
mod owners;
mod patches;
mod procedural;

pub use displaced::{HeightChannel, HeightFilter, HeightMap};
#[cfg(feature = "cli")]
pub(crate) use patches::box_corners;
pub use patches::{CORNERS, Surface, SurfacePoint, along_side};
pub use procedural::{Bumps, HairOrder, Instance, ProceduralScene, Viewpoint, arcade_flight};
#[cfg(feature = "cli")]
pub(crate) use procedural::{HAIRS, MAX_HAIRS, PICTURE_PX};
