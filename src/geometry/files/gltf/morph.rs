//! Morph targets at rest: displacements of vertices, times the weights that the node or the mesh states.

use std::collections::BTreeMap;

use super::super::build::MeshBuilder;
use quadrille_base::error::Result;
use quadrille_scene::formats::gltf::{BufferStore, GltfDocument, GltfPrimitive, MeshInstance};

/// Limit over all instances. Targets may share accessors, so the size of the file does not bound the count.
pub(super) const MAX_DISPLACEMENTS: u64 = 1 << 26;

/// Weights of an instance's morph targets, from its node or else its mesh.
pub(super) fn weights<'d>(document: &'d GltfDocument, instance: &MeshInstance) -> &'d [f32] {
    let own = document.nodes[instance.node].weights.as_deref();
    own.unwrap_or(&document.meshes[instance.mesh].weights)
}

/// Targets of a primitive with an effect under `weights`, with their weights.
fn active<'t>(
    targets: &'t [BTreeMap<String, usize>],
    weights: &'t [f32],
) -> impl Iterator<Item = (&'t BTreeMap<String, usize>, f32)> {
    targets.iter().zip(weights.iter().copied()).filter(|(_, weight)| *weight != 0.0)
}

/// Number of targets that displace a primitive. Warns of targets of colours or texture coordinates, which are not read.
pub(super) fn count(primitive: &GltfPrimitive, weights: &[f32], builder: &mut MeshBuilder) -> u64 {
    let mut count = 0;
    for (target, _) in active(&primitive.targets, weights) {
        count += 1;
        let mut names = target.keys();
        if names.any(|name| name.starts_with("TEXCOORD_") || name.starts_with("COLOR_")) {
            builder.warn(
                "morph targets displace positions and normals, not colours or texture coordinates",
            );
        }
    }
    count
}

pub(super) fn displaced(
    at: usize,
    name: &str,
    targets: &[BTreeMap<String, usize>],
    weights: &[f32],
    store: &BufferStore<'_>,
) -> Result<Vec<[f32; 3]>> {
    let mut vectors = store.vectors::<3>(at)?;
    for (target, weight) in active(targets, weights) {
        let Some(&at) = target.get(name) else { continue };
        for (vector, way) in vectors.iter_mut().zip(store.vectors::<3>(at)?) {
            for (coordinate, way) in vector.iter_mut().zip(way) {
                *coordinate += weight * way;
            }
        }
    }
    Ok(vectors)
}
