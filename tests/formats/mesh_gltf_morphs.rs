//! Morph targets of glTF at rest.
use quadrille::Error;
use serde_json::{Value, json};

use super::mesh_gltf::{document, parse, set};

/// The square with two morph targets: the first doubles it, the second moves corner 3 by (5, 6, 7).
pub(super) fn morphed(weights: &Value) -> Value {
    let mut document = document();
    let accessors = document["accessors"].as_array_mut().unwrap();
    accessors.push(json!({
        "componentType": 5126, "count": 4, "type": "VEC3",
        "sparse": {
            "count": 1,
            "indices": {"bufferView": 2, "byteOffset": 12, "componentType": 5123},
            "values": {"bufferView": 3}
        }
    }));
    let targets = json!([{"POSITION": 0}, {"POSITION": 3}]);
    set(&mut document, "/meshes/0/primitives/0/targets", targets);
    set(&mut document, "/meshes/0/weights", weights.clone());
    document
}

#[test]
fn weights_of_the_mesh_displace_its_vertices() {
    let plain = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let grown = [[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.5, 1.5, 0.0], [-10.0, -10.5, -14.0]];
    for (weights, expected) in
        [(json!([0, 0]), plain), (json!([]), plain), (json!([0.5, -2.0]), grown)]
    {
        let loaded = parse(&morphed(&weights)).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        assert_eq!(loaded.mesh.positions, expected, "{weights}");
    }
}

#[test]
fn weights_of_the_node_take_the_place_of_the_mesh_s() {
    let mut document = morphed(&json!([0.5, -2.0]));
    let nodes = json!([
        {"mesh": 0, "weights": [1, 0], "translation": [0, 0, 3]},
        {"mesh": 0}
    ]);
    set(&mut document, "/nodes", nodes);
    set(&mut document, "/scenes/0/nodes", json!([0, 1]));
    let mesh = parse(&document).unwrap().mesh;
    assert_eq!(mesh.positions[2], [2.0, 2.0, 3.0]);
    assert_eq!(mesh.positions[4 + 2], [1.5, 1.5, 0.0]);
}

/// Flat normals belong to the displaced triangles; given normals are displaced themselves.
#[test]
fn normals_are_displaced() {
    let normal = |document: &Value, corner: usize| {
        let mesh = parse(document).unwrap().mesh;
        mesh.normals[mesh.corners[corner].normal as usize]
    };
    let mut document = morphed(&json!([0, 1]));
    assert_eq!(normal(&document, 0), [0.0, 0.0, 1.0]);
    let flat = normal(&document, 3);
    // Corners (0, 0, 0), (1, 1, 0) and (5, 7, 7).
    let length = 102.0_f32.sqrt();
    let expected = [7.0 / length, -7.0 / length, 2.0 / length];
    for axis in 0..3 {
        assert!((flat[axis] - expected[axis]).abs() < 1e-6, "{flat:?}");
    }
    let primitive = "/meshes/0/primitives/0";
    let of_normals = json!([{}, {"NORMAL": 3}]);
    set(&mut document, &format!("{primitive}/targets"), of_normals);
    set(&mut document, &format!("{primitive}/attributes/NORMAL"), json!(0));
    let given = normal(&document, 5);
    let length = 123.0_f32.sqrt();
    // (0, 1, 0) and (5, 6, 7) of corner 3.
    let expected = [5.0 / length, 7.0 / length, 7.0 / length];
    for axis in 0..3 {
        assert!((given[axis] - expected[axis]).abs() < 1e-6, "{given:?}");
    }
}

#[test]
fn targets_are_checked() {
    let primitive = "/meshes/0/primitives/0";
    for (pointer, value, words) in [
        (
            format!("{primitive}/targets/1"),
            json!({"NORMAL": 2}),
            "targets[1]: expected 4 elements of NORMAL",
        ),
        (format!("{primitive}/targets/0"), json!({"POSITION": 9}), "accessors[9]"),
        ("/accessors/3/sparse/indices/byteOffset".to_owned(), json!(15), "bufferViews[2]"),
    ] {
        let mut document = morphed(&json!([1, 1]));
        set(&mut document, &pointer, value);
        let said = parse(&document).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    let mut document = morphed(&json!([1, 1]));
    set(&mut document, &format!("{primitive}/targets/1"), json!({"TEXCOORD_0": 1}));
    let warnings = parse(&document).unwrap().warnings;
    assert!(warnings[0].contains("morph targets"), "{warnings:?}");
    // Many targets of zeros that take no bytes.
    let mut many = morphed(&json!(vec![1; 2000]));
    let zeros = json!({"componentType": 5126, "count": 65_536, "type": "VEC3"});
    set(&mut many, "/accessors/0", zeros);
    set(&mut many, "/meshes/0/primitives/0/attributes", json!({"POSITION": 0}));
    let targets = json!(vec![json!({"POSITION": 0}); 2000]);
    set(&mut many, &format!("{primitive}/targets"), targets);
    let error = parse(&many).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}
