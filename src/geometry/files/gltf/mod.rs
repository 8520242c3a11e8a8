//! Reader of meshes in glTF 2.0 and GLB.
//!
//! Nodes place the meshes of the scene, with one draw per primitive of an instance. Skins and morph targets are at rest.

mod draco;
mod extensions;
mod json;
mod materials;
mod morph;
mod primitive;
mod skin;
mod texture_mapping;
mod viewpoints;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use super::build::MeshBuilder;
use super::folder::ReadFirst;
use super::mesh::Loaded;
use json::Scenery;
use materials::Materials;
use primitive::{CheckedPrimitive, Pose};
use quadrille_base::error::{Error, Result};
use quadrille_scene::formats::gltf::{
    BufferStore, GltfDocument, MeshInstance, NodePlacement, PlacedNodes, instances, members, split,
};
use skin::Skins;

const SAMPLES: usize = 4096;

pub(crate) fn read(
    bytes: &[u8],
    path: &Path,
    texture_bytes: u64,
    files: &mut ReadFirst<'_>,
) -> Result<Loaded> {
    let (json, binary) = split(bytes, path)?;
    let document = GltfDocument::read(json, path)?;
    let scenery: Scenery = members(json, path)?;
    let mut builder = MeshBuilder::new(path, texture_bytes);
    extensions::check(&document, &members(json, path)?, &mut builder, path)?;
    let mut store = BufferStore::new(&document, binary, path, &mut |name| files(&[name]));
    draco::supply(&document, &mut store)?;
    let placed = PlacedNodes::of(&document, &store)?;
    if let Some(warning) = &placed.warning {
        builder.warn(warning);
    }
    let instances = instances(&document, &placed, &store)?;
    if !scenery.animations.is_empty() {
        builder.warn("animations are left out");
    }
    let cameras = viewpoints::read(&document, &scenery, &placed, &store, &mut builder)?;
    let mut shapes = Vec::new();
    for (at, mesh) in document.meshes.iter().enumerate() {
        let mut primitives = Vec::new();
        for (nth, primitive) in mesh.primitives.iter().enumerate() {
            let place = format!("meshes[{at}].primitives[{nth}]");
            let shape = CheckedPrimitive::of(
                primitive,
                place,
                &document,
                &scenery.materials,
                &store,
                &mut builder,
            )?;
            primitives.extend(shape);
        }
        shapes.push(primitives);
    }
    // The limits are checked before anything is allocated, since a small file may hold many instances.
    let (mut vertices, mut triangles, mut displacements) = (0u64, 0u64, 0u64);
    for instance in &instances {
        for shape in store.get(&shapes, instance.mesh, "meshes")? {
            let count = shape.vertices as u64;
            let weights = morph::weights(&document, instance);
            let targets = morph::count(shape.json, weights, &mut builder);
            vertices = vertices.saturating_add(count);
            triangles = triangles.saturating_add(shape.triangles());
            displacements = displacements.saturating_add(targets.saturating_mul(count));
        }
    }
    builder.expect(vertices, triangles)?;
    Error::check_limit("displacements by morph targets", morph::MAX_DISPLACEMENTS, displacements)?;
    let mut materials = Materials::new(&scenery, &store);
    let skins = Skins::of(&scenery.skins, &placed, &document, &store, &mut builder)?;
    let joints = |instance: &MeshInstance| {
        let skin = document.nodes[instance.node].skin;
        skin.map(|at| skins.joints(at, &store)).transpose().map(Option::flatten)
    };
    let [positions, single] = sampled_positions(&instances, &shapes, &store, |instance| {
        // At rest, the first joint tells where a skinned mesh is.
        Ok(joints(instance)?.and_then(|joints| joints.first()).unwrap_or(&instance.placement))
    })?;
    builder.set_origin(&positions, &single);
    for instance in &instances {
        let pose = Pose { weights: morph::weights(&document, instance), joints: joints(instance)? };
        for shape in &shapes[instance.mesh] {
            let material = materials.index(shape.json.material, &mut builder, files)?;
            shape.add(instance, pose, material, &store, &mut builder)?;
        }
    }
    let mut loaded = builder.finish();
    loaded.has_stated_axes = true;
    loaded.cameras = cameras;
    Ok(loaded)
}

fn sampled_positions<'a>(
    instances: &'a [MeshInstance],
    shapes: &[Vec<CheckedPrimitive<'_>>],
    store: &BufferStore<'_>,
    placement: impl Fn(&'a MeshInstance) -> Result<&'a NodePlacement>,
) -> Result<[Vec<[f64; 3]>; 2]> {
    let drawn = |instance: &'a MeshInstance| {
        let shapes = (0..shapes[instance.mesh].len()).map(move |shape| [instance.mesh, shape]);
        shapes.map(move |shape| (instance, shape))
    };
    let step = instances.iter().flat_map(drawn).count().div_ceil(SAMPLES);
    let count = SAMPLES / instances.iter().flat_map(drawn).count().clamp(1, SAMPLES);
    let mut samples = HashMap::new();
    let [mut placed, mut single] = [Vec::new(), Vec::new()];
    for (instance, [mesh, shape]) in instances.iter().flat_map(drawn).step_by(step.max(1)) {
        let positions = match samples.entry([mesh, shape]) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(shapes[mesh][shape].sampled(count, store)?),
        };
        let placement = placement(instance)?;
        placed.extend(positions.iter().map(|&position| placement.point(position)));
        single.extend(positions.iter().map(|position| position.map(f64::from)));
    }
    let is_finite = |position: &[f64; 3]| position.iter().all(|c| c.is_finite());
    placed.retain(is_finite);
    single.retain(is_finite);
    Ok([placed, single])
}
