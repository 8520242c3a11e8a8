//! Meshes of a document in the world: one per node with a mesh, or per entry of its `EXT_mesh_gpu_instancing`.

use super::accessor::BufferStore;
use super::json::{GltfDocument, Instancing};
use super::nodes::{NodePlacement, PlacedNodes};
use quadrille_base::error::{Error, Result};

/// Limit over all nodes. Several nodes may share one list, so the size of the file does not bound the count.
const MAX_INSTANCES: u64 = 1 << 20;

/// A mesh placed in the world by a node.
pub struct MeshInstance {
    /// Index of the node in the document.
    pub node: usize,
    /// Index of the mesh in the document.
    pub mesh: usize,
    /// Map from the space of the mesh to the world.
    pub placement: NodePlacement,
    /// Linear factor on the colours of its vertices, with alpha, from the attribute `_COLOR_0` of a list of instances.
    pub colour: [f32; 4],
}

/// Colour of instances without one.
pub const WHITE: [f32; 4] = [1.0; 4];

/// Returns the meshes of the visible nodes in their order, and the instances of a node in the order of its list.
pub fn instances(
    document: &GltfDocument,
    placed: &PlacedNodes,
    store: &BufferStore<'_>,
) -> Result<Vec<MeshInstance>> {
    let mut instances = Vec::new();
    for placed in placed.nodes.iter().filter(|node| node.is_visible) {
        let (node, placement) = (placed.index, placed.placement);
        let Some(mesh) = document.nodes[node].mesh else { continue };
        let placements = match &document.nodes[node].extensions.instancing {
            None => vec![(placement, WHITE)],
            Some(list) => listed(list, node, placement, instances.len(), store)?,
        };
        let placed = placements.into_iter();
        instances.extend(placed.map(|(placement, colour)| MeshInstance {
            node,
            mesh,
            placement,
            colour,
        }));
    }
    Ok(instances)
}

fn listed(
    list: &Instancing,
    node: usize,
    outer: NodePlacement,
    before: usize,
    store: &BufferStore<'_>,
) -> Result<Vec<(NodePlacement, [f32; 4])>> {
    let mut counts = Vec::new();
    for at in list.attributes.values() {
        counts.push(store.accessor(*at)?.count);
    }
    let count = counts.first().copied().unwrap_or(0);
    if let Some(other) = counts.iter().find(|other| **other != count) {
        let place = format!("nodes[{node}].extensions.EXT_mesh_gpu_instancing");
        return Err(store.malformed(
            place,
            format!("{count} elements of each attribute"),
            other.to_string(),
        ));
    }
    Error::check_limit("instances of meshes", MAX_INSTANCES, before.saturating_add(count) as u64)?;
    let accessor = |name: &str| list.attributes.get(name).copied();
    let translations = values(accessor("TRANSLATION"), [0.0; 3], count, store)?;
    let rotations = values(accessor("ROTATION"), [0.0, 0.0, 0.0, 1.0], count, store)?;
    let scales = values(accessor("SCALE"), [1.0; 3], count, store)?;
    let colours = match accessor("_COLOR_0") {
        Some(at) => store.colours(at)?,
        None => vec![WHITE; count],
    };
    let parts = translations.into_iter().zip(rotations).zip(scales).zip(colours);
    let placements = parts.map(|(((translation, rotation), scale), colour)| {
        let inner = NodePlacement::scaled(
            scale.map(f64::from),
            rotation.map(f64::from),
            translation.map(f64::from),
        );
        (outer.after(&inner), colour)
    });
    Ok(placements.collect())
}

/// Attribute of `count` instances: an accessor's elements, or `default` without an accessor.
fn values<const N: usize>(
    accessor: Option<usize>,
    default: [f32; N],
    count: usize,
    store: &BufferStore<'_>,
) -> Result<Vec<[f32; N]>> {
    match accessor {
        Some(at) => store.vectors(at),
        None => Ok(vec![default; count]),
    }
}
