//! Page and document of a mesh.

use std::path::Path;

use indicatif::HumanCount;
use serde_json::{Value, json};

use super::super::console::{document as with_build, joined};
use super::super::inputs::has_mesh_extension;
use super::lines::{push_line, range};
use quadrille_base::error::{Error, Result};
use quadrille_suite::mesh_input::{MaterialFacts, MeshFacts};

const MATERIALS_SHOWN: usize = 16;

/// Facts about the mesh in `path`, which cannot be read as a scene because of `error`.
///
/// # Errors
/// The error of the mesh for a file that only meshes have, otherwise `error`.
pub(super) fn facts(path: &Path, error: Error) -> Result<MeshFacts> {
    let is_mesh = has_mesh_extension(path);
    // Standard input is read only once.
    if path == Path::new("-") || !is_mesh && !matches!(error, Error::Malformed { .. }) {
        return Err(error);
    }
    match MeshFacts::of(path) {
        Err(_) if !is_mesh => Err(error),
        // A GLB of splats that cannot be read is a mesh of points too.
        Ok(facts) if !is_mesh && facts.faces == 0 => Err(error),
        facts => facts,
    }
}

pub(super) fn document(path: &Path, facts: &MeshFacts) -> Value {
    let head = json!({"path": path.display().to_string(), "format": "mesh"});
    with_build(joined([head, json!(facts)]))
}

pub(super) fn page(path: &Path, facts: &MeshFacts) -> String {
    let mut page = String::new();
    let mut line = |label: &str, text: String| push_line(&mut page, label, &text);
    let count = |count: usize| HumanCount(count as u64).to_string();
    line("mesh", path.display().to_string());
    let faces = match facts.triangles {
        0 if facts.faces > 0 => format!("{} Bezier patches", count(facts.faces)),
        triangles => format!("{} triangles in {} faces", count(triangles), count(facts.faces)),
    };
    line("content", format!("{faces}; draws: {}", count(facts.draws)));
    let unused = count(facts.unused_vertices);
    line("vertices", format!("{}; without a face, and left out: {unused}", count(facts.vertices)));
    let share = |share: f64| match share {
        0.0 => "none".to_owned(),
        1.0 => "all".to_owned(),
        share => format!("{:.1} %", 100.0 * share),
    };
    let [normals, uvs, colours] =
        [facts.attributes.normals, facts.attributes.texture_coordinates, facts.attributes.colours]
            .map(share);
    line("corners", format!("normals {normals}; texture coordinates {uvs}; colours {colours}"));
    let [x, y, z] = [0, 1, 2].map(|axis| range(facts.bounds.min[axis], facts.bounds.max[axis]));
    line("bounds", format!("x {x}   y {y}   z {z}"));
    for material in facts.materials.iter().take(MATERIALS_SHOWN) {
        line("material", material_text(material, &facts.textures));
    }
    if facts.materials.len() > MATERIALS_SHOWN {
        line("", format!("and {} more materials", facts.materials.len() - MATERIALS_SHOWN));
    }
    let sizes: Vec<_> = facts.textures.iter().map(|[w, h]| format!("{w}x{h}")).collect();
    if !sizes.is_empty() {
        line("textures", sizes.join(", "));
    }
    if !facts.cameras.is_empty() {
        line("cameras", format!("{} (mesh --view all draws them)", facts.cameras.join(", ")));
    }
    if facts.lights > 0 {
        line("lights", facts.lights.to_string());
    }
    for warning in &facts.warnings {
        line("warning", warning.clone());
    }
    let source = match facts.up_is_stated {
        true => "which the format states",
        false => "as the shape suggests (mesh --up changes it)",
    };
    line("up", format!("{}, {source}", facts.up));
    line("view", facts.view.clone());
    page
}

fn material_text(material: &MaterialFacts, textures: &[[u32; 2]]) -> String {
    let name = if material.name.is_empty() { "without a name" } else { &material.name };
    let faces = HumanCount(material.faces as u64);
    let texture = material.base_texture.and_then(|at| textures.get(at as usize));
    let colour = match texture {
        Some([width, height]) => format!("a texture of {width}x{height}"),
        None => {
            let [r, g, b] = material.base_colour;
            format!("base colour {r:.3} {g:.3} {b:.3}")
        }
    };
    let alpha = match material.alpha {
        "test" => ", alpha test",
        "blend" => ", blended",
        _ => "",
    };
    let sides = if material.two_sided { ", both sides" } else { "" };
    format!("{name}: {colour}{alpha}{sides}; faces: {faces}")
}
