//! glTF 2.0: splats with the extension `KHR_gaussian_splatting`.

mod splats;
mod write;

pub use quadrille_gltf::{
    BufferStore, GltfDocument, GltfPrimitive, MeshInstance, NodePlacement, PlacedNodes, Resolve,
    WHITE, instances, members, named_extension, percent_decoded, read_uri, split,
};

pub(super) use splats::FORMAT;
pub(super) use write::write;
