//! Polygon meshes with materials and textures, and the readers of their files.

mod bezier;
mod build;
mod folder;
mod gltf;
mod load;
mod mesh;
mod mtl;
mod obj;
mod ply;
mod text;
mod texture;

pub use bezier::BezierPatches;
pub use load::{MeshFile, load, parse};
pub(crate) use mesh::bounds;
pub use mesh::{Corner, Crease, Loaded, Material, Mesh, NONE, Resolve, ShaderEffects, Texture};
