//! glTF 2.0: containers, accessors and nodes, for splats and meshes.

mod accessor;
mod container;
mod instances;
mod json;
mod nodes;

pub use accessor::BufferStore;
pub use container::{Resolve, percent_decoded, read_uri, split};
pub use instances::{MeshInstance, WHITE, instances};
pub use json::{GltfDocument, GltfPrimitive, members, named as named_extension};
pub use nodes::{NodePlacement, PlacedNodes};
