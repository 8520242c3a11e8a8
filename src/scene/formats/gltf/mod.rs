//! glTF 2.0: containers, accessors and nodes for any content, and splats with the extension `KHR_gaussian_splatting`.

mod accessor;
mod container;
mod instances;
mod json;
mod nodes;
mod splats;
mod write;

pub use accessor::BufferStore;
pub use container::{Resolve, percent_decoded, read_uri, split};
pub use instances::{MeshInstance, WHITE, instances};
pub use json::{GltfDocument, GltfPrimitive, members, named as named_extension};
pub use nodes::{NodePlacement, PlacedNodes};

pub(super) use splats::FORMAT;
pub(super) use write::write;
