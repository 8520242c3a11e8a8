//! Skins at rest. As specified, a vertex is placed by the weighted mean of the maps of joints, not by the node of the mesh.

use std::collections::HashMap;

use super::super::build::MeshBuilder;
use super::json::Skin;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::whole;
use quadrille_scene::formats::gltf::{BufferStore, GltfDocument, NodePlacement, PlacedNodes};

/// Limit on joints over all skins. Skins may share matrices, so the size of the file does not bound the count.
const MAX_JOINTS: u64 = 1 << 20;

/// Maps of the joints of each skin from mesh to world; `None` for a skin that is left out.
///
/// Joints outside the scene have places as well: the specification requires the root of a skeleton in the scene, but some
/// exporters leave it out.
pub(super) struct Skins(Vec<Option<Vec<NodePlacement>>>);

impl Skins {
    /// Reads the skins. Skins with joints that are not nodes are left out with a warning.
    pub(super) fn of(
        read: &[Skin],
        placed: &PlacedNodes,
        document: &GltfDocument,
        store: &BufferStore<'_>,
        builder: &mut MeshBuilder,
    ) -> Result<Self> {
        let nodes = placed.nodes.iter().map(|node| (node.index, node.placement));
        let mut nodes: HashMap<_, _> = nodes.collect();
        if read.iter().flat_map(|skin| &skin.joints).any(|joint| !nodes.contains_key(joint)) {
            for node in PlacedNodes::of_all(document, store)?.nodes {
                nodes.entry(node.index).or_insert(node.placement);
            }
        }
        let (mut skins, mut joints) = (Vec::new(), 0_u64);
        for (at, skin) in read.iter().enumerate() {
            let count = skin.joints.len();
            let matrices = match skin.inverse_bind_matrices {
                Some(accessor) => store.accessor(accessor)?.count,
                None => count,
            };
            if matrices < count {
                let place = format!("skins[{at}].inverseBindMatrices");
                let expected = format!("{count} matrices, one per joint");
                return Err(store.malformed(place, expected, matrices.to_string()));
            }
            joints = joints.saturating_add(matrices as u64);
            Error::check_limit("joints of skins", MAX_JOINTS, joints)?;
            let inverses = match skin.inverse_bind_matrices {
                Some(accessor) => inverse_bind_maps(accessor, store)?,
                None => vec![NodePlacement::identity(); count],
            };
            let joints = skin.joints.iter().zip(&inverses);
            let maps = joints.map(|(joint, inverse)| Some(nodes.get(joint)?.after(inverse)));
            let maps: Option<Vec<_>> = maps.collect();
            if maps.is_none() {
                builder.warn(format!("skins[{at}] is left out: not all of its joints are nodes"));
            }
            skins.push(maps);
        }
        Ok(Self(skins))
    }

    pub(super) fn joints(
        &self,
        at: usize,
        store: &BufferStore<'_>,
    ) -> Result<Option<&[NodePlacement]>> {
        Ok(store.get(&self.0, at, "skins")?.as_deref())
    }
}

fn inverse_bind_maps(at: usize, store: &BufferStore<'_>) -> Result<Vec<NodePlacement>> {
    let matrices = store.vectors::<16>(at)?.into_iter();
    let maps = matrices.map(|matrix| {
        NodePlacement::of_matrix(matrix.map(f64::from)).ok_or_else(|| {
            let place = format!("accessors[{at}]");
            store.malformed(place, "affine inverse bind matrices", "a projective matrix")
        })
    });
    maps.collect()
}

struct Influences {
    joints: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

pub(super) struct SkinnedVertices<'a> {
    joints: &'a [NodePlacement],
    sets: Vec<Influences>,
}

impl<'a> SkinnedVertices<'a> {
    pub(super) fn of(
        joints: &'a [NodePlacement],
        accessors: &[[usize; 2]],
        place: &str,
        store: &BufferStore<'_>,
    ) -> Result<Self> {
        let mut sets = Vec::new();
        for (set, &[indices, weights]) in accessors.iter().enumerate() {
            let indices = store.vectors::<4>(indices)?.into_iter();
            let indices: Vec<[u32; 4]> = indices.map(|set| set.map(whole)).collect();
            let mut all = indices.as_flattened().iter();
            if let Some(index) = all.find(|index| **index as usize >= joints.len()) {
                let place = format!("{place}, JOINTS_{set}");
                let expected = format!("joints below {}", joints.len());
                return Err(store.malformed(place, expected, index.to_string()));
            }
            sets.push(Influences { joints: indices, weights: store.vectors(weights)? });
        }
        Ok(Self { joints, sets })
    }

    /// Map of a vertex from mesh to world; `None` if its weights are zero.
    pub(super) fn placement(&self, vertex: usize) -> Option<NodePlacement> {
        let influences = || {
            self.sets.iter().flat_map(|set| set.joints[vertex].into_iter().zip(set.weights[vertex]))
        };
        let sum: f64 = influences().map(|(_, weight)| f64::from(weight)).sum();
        let joint =
            |(joint, weight): (u32, f32)| (f64::from(weight) / sum, &self.joints[joint as usize]);
        (sum > 0.0).then(|| NodePlacement::weighted(influences().map(joint)))
    }
}
