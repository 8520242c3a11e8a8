//! Surfaces made of quadrilateral patches, the input of the tessellator.

mod bezier;
pub mod catmull_clark;
mod displaced;
mod owners;
mod patches;
mod procedural;

pub use displaced::{HeightChannel, HeightFilter, HeightMap};
pub use patches::box_corners;
pub use patches::{CORNERS, Surface, SurfacePoint, along_side};
pub use procedural::{Bumps, HairOrder, Instance, ProceduralScene, Viewpoint};
pub use procedural::{HAIRS, MAX_HAIRS, PICTURE_PX};
