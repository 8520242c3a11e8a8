//! glTF 2.0 and GLB.
//!
//! The meshes of the document's scene are read, placed by their nodes, as one draw per primitive of
//! each instance. Skins and morph targets are at rest.

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
use super::mesh::Loaded;
use materials::Materials;
use primitive::{CheckedPrimitive, Pose};
use quadrille_base::error::{Error, Result};
use quadrille_scene::formats::gltf::{
    BufferStore, Document, MeshInstance, Placement, Resolve, instances, split,
};
use skin::Skins;

/// Extensions that a document may require and that are read.
const EXTENSIONS: [&str; 5] = [
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_lights_punctual",
    "EXT_mesh_gpu_instancing",
    "EXT_texture_webp",
];

/// Number of positions to examine for the origin.
const SAMPLES: usize = 4096;

/// Prefix of the names of extensions that affect colours alone. A document may require any of them.
const MATERIAL_EXTENSIONS: &str = "KHR_materials_";
/// Extensions of materials that are drawn.
const DRAWN_EXTENSIONS: [&str; 3] = [
    "KHR_materials_unlit",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
];

pub(crate) fn read(
    bytes: &[u8],
    (path, texture_bytes): (&Path, u64),
    resolve: &mut Resolve<'_>,
) -> Result<Loaded> {
    let (json, binary) = split(bytes, path)?;
    let document: Document = serde_json::from_slice(json).map_err(|error| {
        let place = format!("JSON, line {}, column {}", error.line(), error.column());
        Error::malformed(path, place, "a glTF document", error.to_string())
    })?;
    check_version(&document, path)?;
    let mut builder = MeshBuilder::new(path, texture_bytes);
    check_extensions(&document, &mut builder, path)?;
    let store = BufferStore::new(&document, binary, path, resolve);
    let instances = instances(&document, &store)?;
    if !document.animations.is_empty() {
        builder.warn("animations are left out");
    }
    let cameras = viewpoints::read(&document, &store, &mut builder)?;
    let mut shapes = Vec::new();
    for (at, mesh) in document.meshes.iter().enumerate() {
        let mut primitives = Vec::new();
        for (nth, primitive) in mesh.primitives.iter().enumerate() {
            let place = format!("meshes[{at}].primitives[{nth}]");
            let shape = CheckedPrimitive::of(primitive, place, &document, &store, &mut builder)?;
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
    let most = morph::MAX_DISPLACEMENTS;
    Error::check_limit("displacements by morph targets", most, displacements)?;
    let mut materials = Materials::new(&document, &store);
    let skins = Skins::of(&document, &store, &mut builder)?;
    let joints = |instance: &MeshInstance| {
        let skin = document.nodes[instance.node].skin;
        let joints = skin.map(|at| skins.joints(at, &store)).transpose();
        joints.map(Option::flatten)
    };
    let [placed, single] = sampled_positions(&instances, &shapes, &store, |instance| {
        // At rest, a joint places the mesh as a whole.
        let joint = joints(instance)?.and_then(|joints| joints.first());
        Ok(joint.unwrap_or(&instance.placement))
    })?;
    builder.set_origin(&placed, &single);
    for instance in &instances {
        let joints = joints(instance)?;
        let weights = morph::weights(&document, instance);
        let pose = Pose { weights, joints };
        for shape in &shapes[instance.mesh] {
            let material = materials.index(shape.json.material, &mut builder, resolve)?;
            shape.add(instance, pose, material, &store, &mut builder)?;
        }
    }
    let mut loaded = builder.finish();
    loaded.has_stated_axes = true;
    loaded.cameras = cameras;
    Ok(loaded)
}

/// Some positions of all instances, evenly spaced: in the world, and as the file holds them.
fn sampled_positions<'a>(
    instances: &'a [MeshInstance],
    shapes: &[Vec<CheckedPrimitive<'_>>],
    store: &BufferStore<'_>,
    placement: impl Fn(&'a MeshInstance) -> Result<&'a Placement>,
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

fn check_version(document: &Document, path: &Path) -> Result<()> {
    let asset = &document.asset;
    let least = asset.min_version.as_deref().unwrap_or("2.0");
    if !asset.version.starts_with("2.") || least != "2.0" {
        let found = match &asset.min_version {
            Some(least) => format!("version {}, which requires {least}", asset.version),
            None => format!("version {}", asset.version),
        };
        return Err(Error::malformed(path, "asset", "glTF 2.0", found));
    }
    Ok(())
}

fn check_extensions(document: &Document, builder: &mut MeshBuilder, path: &Path) -> Result<()> {
    let is_read = |name: &str| EXTENSIONS.contains(&name) || name.starts_with(MATERIAL_EXTENSIONS);
    document.check_required(is_read, path)?;
    for name in &document.extensions_used {
        let is_drawn = DRAWN_EXTENSIONS.contains(&name.as_str());
        if name.starts_with(MATERIAL_EXTENSIONS) && !is_drawn {
            builder.warn(format!("extension {name:?} is left out"));
        }
    }
    Ok(())
}
