//! glTF 2.0: containers, accessors and nodes for any content, and splats with the extension
//! `KHR_gaussian_splatting`.

mod accessor;
mod container;
mod instances;
mod json;
mod nodes;
mod splats;
mod write;

pub use accessor::BufferStore;
pub use container::Resolve;
pub(crate) use container::percent_decoded;
pub use container::{read_uri, split};
pub use instances::{MeshInstance, instances};
pub use json::{Camera, Document, Light, Material, Primitive, Sampler, TextureInfo};
pub use nodes::{Placement, placed_nodes};

pub(super) use splats::FORMAT;
pub(super) use write::write;
