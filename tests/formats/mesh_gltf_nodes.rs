//! Nodes of glTF: walked from the roots of the scene, hidden ones left out, extensions of all objects named.
use quadrille::geometry::files::Mesh;
use serde_json::{Value, json};

use super::mesh_gltf::{document, parse, set};

/// The document whose scene has these roots, and nodes.
fn scene(roots: Value, nodes: Value) -> Value {
    let mut document = document();
    set(&mut document, "/scenes/0/nodes", roots);
    set(&mut document, "/nodes", nodes);
    document
}

/// Left edges of the squares of a mesh, in the order of its draws.
fn lefts(mesh: &Mesh) -> Vec<f64> {
    let first = |draw: &std::ops::Range<u32>| {
        let corner = mesh.face(draw.start as usize)[0];
        mesh.origin[0] + f64::from(mesh.positions[corner.position as usize][0])
    };
    mesh.draws.iter().map(first).collect()
}

#[test]
fn a_scene_is_walked_from_its_roots_alone() {
    let square = |x: i32, children: Value| json!({"mesh": 0, "translation": [x, 0, 0], "children": children});
    let none = || json!([]);
    for (roots, nodes, expected, said) in [
        // A parent that the scene does not reach.
        (
            json!([1]),
            json!([square(10, json!([1])), square(2, none())]),
            vec![2.0],
            "nodes[1] is a root of the scene and a child of nodes[0]",
        ),
        // Below an unused node, indices are never looked at.
        (json!([1]), json!([{"children": [77]}, square(2, none())]), vec![2.0], ""),
        // Exporters that list all nodes as roots.
        (
            json!([0, 1]),
            json!([square(10, json!([1])), square(2, none())]),
            vec![10.0, 12.0],
            "it is placed below nodes[0]",
        ),
        (
            json!([1, 0]),
            json!([square(10, json!([1])), square(2, none())]),
            vec![10.0, 12.0],
            "it is placed below nodes[0]",
        ),
        // Two parents, of which the first in the order of the walk counts.
        (
            json!([2, 0]),
            json!([square(10, json!([1])), square(1, none()), square(20, json!([1]))]),
            vec![20.0, 21.0, 10.0],
            "nodes[1] is a child of nodes[0] and a child of nodes[2]",
        ),
        // A node that is named twice.
        (
            json!([0, 0]),
            json!([square(10, json!([1, 1])), square(1, none())]),
            vec![10.0, 11.0],
            "nodes[0] is a root of the scene and a root of the scene",
        ),
        // A cycle below a root.
        (
            json!([0]),
            json!([square(10, json!([1])), square(1, json!([2])), square(2, json!([1]))]),
            vec![10.0, 11.0, 13.0],
            "nodes[1] is a child of nodes[0] and a child of nodes[2]",
        ),
    ] {
        let loaded = parse(&scene(roots.clone(), nodes.clone())).unwrap();
        assert_eq!(lefts(&loaded.mesh), expected, "{roots} of {nodes}");
        let warnings = loaded.warnings.join("; ");
        assert!(warnings.contains(said), "{warnings}");
        assert_eq!(warnings.is_empty(), said.is_empty(), "{warnings}");
    }
    let cycle = scene(json!([0]), json!([square(1, json!([1])), square(1, json!([0]))]));
    let said = parse(&cycle).unwrap_err().to_string();
    assert!(said.contains("nodes[0]") && said.contains("a cycle"), "{said}");
}

#[test]
fn a_deep_hierarchy_and_many_claims_take_linear_time() {
    let count = 100_000;
    let chain: Vec<_> = (0..count)
        .map(|at| match at + 1 < count {
            true => json!({"children": [at + 1, at + 1], "translation": [1, 0, 0]}),
            false => json!({"mesh": 0}),
        })
        .collect();
    let loaded = parse(&scene(json!([0]), json!(chain))).unwrap();
    assert_eq!(lefts(&loaded.mesh), [99_999.0]);
    let said = loaded.warnings.join("; ");
    assert!(said.contains("and 99998 more nodes likewise"), "{said}");
}

#[test]
fn hidden_nodes_and_what_lies_below_them_are_left_out() {
    let hidden = |value: bool| json!({"KHR_node_visibility": {"visible": value}});
    let mut document = scene(
        json!([0, 2, 3]),
        json!([
            {"mesh": 0, "children": [1], "extensions": hidden(false)},
            {"mesh": 0, "translation": [1, 0, 0], "extensions": hidden(true)},
            {"mesh": 0, "translation": [2, 0, 0], "extensions": {"KHR_node_visibility": {}}},
            {"mesh": 0, "translation": [3, 0, 0], "children": [4, 5]},
            {"camera": 0, "extensions": hidden(false)},
            {
                "name": "lamp",
                "extensions": {
                    "KHR_lights_punctual": {"light": 0}, "KHR_node_visibility": {"visible": false}
                }
            }
        ]),
    );
    set(
        &mut document,
        "/cameras",
        json!([{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]),
    );
    let lights = json!({"KHR_lights_punctual": {"lights": [{"type": "point"}]}});
    set(&mut document, "/extensions", lights);
    set(&mut document, "/extensionsRequired", json!(["KHR_node_visibility"]));
    let loaded = parse(&document).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_eq!(lefts(&loaded.mesh), [2.0, 3.0]);
    // Lights are hidden and cameras are not, as the specification says.
    assert_eq!((loaded.mesh.lights.len(), loaded.cameras.len()), (0, 1));
}

#[test]
fn extensions_of_all_objects_are_named_once() {
    let extended = json!({"EXT_a": {}, "KHR_xmp_json_ld": {"packet": 0}});
    for pointer in [
        "/extensions",
        "/scenes/0/extensions",
        "/nodes/0/extensions",
        "/meshes/0/extensions",
        "/meshes/0/primitives/0/extensions",
        "/accessors/0/extensions",
        "/bufferViews/0/extensions",
        "/buffers/0/extensions",
        "/asset/extensions",
        "/materials/0/extensions",
        "/materials/0/pbrMetallicRoughness/extensions",
    ] {
        let mut document = document();
        let material = json!({"pbrMetallicRoughness": {}, "extras": {"extensions": {"EXT_b": {}}}});
        set(&mut document, "/materials", json!([material.clone(), material]));
        set(&mut document, pointer, extended.clone());
        set(&mut document, "/materials/1/extensions", extended.clone());
        let place = pointer[1..].trim_end_matches("extensions").trim_end_matches('/');
        let place = place.replace("/0", "[0]").replace('/', ".");
        // The first place in the file: extensions of the document are its last member here.
        let place = match pointer {
            "/extensions" => "materials[1]",
            _ => &place,
        };
        let warnings = parse(&document).unwrap().warnings;
        assert_eq!(warnings, [format!("extension \"EXT_a\" of {place} is left out")]);
        set(&mut document, "/extensionsRequired", json!(["EXT_a"]));
        let said = parse(&document).unwrap_err().to_string();
        assert!(said.contains("\"EXT_a\""), "{said}");
    }
}

#[test]
fn data_in_another_encoding_alone_is_named() {
    for extension in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let mut document = self::document();
        let packed = json!({extension: {"buffer": 0, "byteLength": 9, "count": 4}});
        set(&mut document, "/bufferViews/0/extensions", packed);
        assert!(parse(&document).unwrap().warnings.is_empty());
        let fallback = json!({"byteLength": 48, "extensions": {extension: {"fallback": true}}});
        let bytes = document["buffers"][0].clone();
        set(&mut document, "/buffers", json!([bytes, fallback]));
        set(&mut document, "/bufferViews/0/buffer", json!(1));
        let said = parse(&document).unwrap_err().to_string();
        assert!(said.contains(extension) && said.contains("without meshopt"), "{said}");
    }
    for extension in ["KHR_texture_basisu", "EXT_texture_avif", "MSFT_texture_dds"] {
        let mut document = self::document();
        let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
        set(&mut document, "/materials", json!([material]));
        set(&mut document, "/meshes/0/primitives/0/material", json!(0));
        set(&mut document, "/textures", json!([{"extensions": {extension: {"source": 0}}}]));
        let warnings = parse(&document).unwrap().warnings;
        assert!(
            matches!(&warnings[..], [one] if one.contains(extension) && one.contains("textures[0]")),
            "{warnings:?}"
        );
    }
}
