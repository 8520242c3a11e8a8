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

use std::path::Path;

use super::build::MeshBuilder;
use super::mesh::Loaded;
use materials::Materials;
use primitive::{CheckedPrimitive, Pose};
use quadrille_base::error::{Error, Result};
use quadrille_scene::formats::gltf::{BufferStore, Document, Resolve, instances, split};
use skin::Skins;

/// Extensions that a document may require and that are read.
const EXTENSIONS: [&str; 5] = [
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_lights_punctual",
    "EXT_mesh_gpu_instancing",
    "EXT_texture_webp",
];

/// Prefix of the names of extensions that affect colours alone. A document may require any of them.
const MATERIAL_EXTENSIONS: &str = "KHR_materials_";
/// Extensions of materials that are drawn.
const DRAWN_EXTENSIONS: [&str; 3] = [
    "KHR_materials_unlit",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
];

pub(crate) fn read(bytes: &[u8], path: &Path, resolve: &mut Resolve<'_>) -> Result<Loaded> {
    let (json, binary) = split(bytes, path)?;
    let document: Document = serde_json::from_slice(json).map_err(|error| {
        let place = format!("JSON, line {}, column {}", error.line(), error.column());
        Error::malformed(path, place, "a glTF document", error.to_string())
    })?;
    check_version(&document, path)?;
    let mut builder = MeshBuilder::new(path);
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
    for instance in &instances {
        let skin = document.nodes[instance.node].skin;
        let joints = skin
            .map(|at| skins.joints(at, &store))
            .transpose()?
            .flatten();
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
