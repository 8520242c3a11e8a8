//! Skins of glTF at rest.
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quadrille::Error;
use quadrille::geometry::files::Mesh;
use serde_json::{Value, json};

use super::mesh_gltf::{document, parse, set};

/// Two joints: the first 10 to the right, the second, its child, another 5 up and of twice the size. The
/// first has no inverse bind matrix, the matrix of the second moves by (-1, 0, 0). Corners 0 and 1 of the
/// square follow the first joint, corner 2 the second, corner 3 both in equal shares.
pub(super) fn skinned() -> Value {
    let mut bytes = Vec::new();
    bytes.extend([0u8, 1, 0, 0].repeat(4));
    let weights = [[1.0f32, 0.0], [1.0, 0.0], [0.0, 0.5], [0.25, 0.25]];
    for [first, second] in weights {
        let four = [first, second, 0.0, 0.0];
        bytes.extend(four.iter().flat_map(|v| v.to_le_bytes()));
    }
    let mut matrix = [0.0f32; 16];
    for diagonal in [0, 5, 10, 15] {
        matrix[diagonal] = 1.0;
    }
    let mut moved = matrix;
    moved[12] = -1.0;
    bytes.extend([matrix, moved].as_flattened().iter().flat_map(|v| v.to_le_bytes()));
    let data = STANDARD.encode(&bytes);
    let uri = format!("data:application/octet-stream;base64,{data}");
    let mut document = document();
    let mut push = |pointer: &str, value: Value| {
        let array = document.pointer_mut(pointer).unwrap();
        array.as_array_mut().unwrap().push(value);
    };
    push("/buffers", json!({"byteLength": bytes.len(), "uri": uri}));
    for (offset, length) in [(0, 16), (16, 64), (80, 128)] {
        push("/bufferViews", json!({"buffer": 1, "byteOffset": offset, "byteLength": length}));
    }
    for (view, kind, count, shape) in
        [(4, 5121, 4, "VEC4"), (5, 5126, 4, "VEC4"), (6, 5126, 2, "MAT4")]
    {
        push(
            "/accessors",
            json!({"bufferView": view, "componentType": kind, "count": count, "type": shape}),
        );
    }
    set(
        &mut document,
        "/nodes",
        json!([
            {"mesh": 0, "skin": 0, "translation": [0, 0, 99], "scale": [-1, 1, 1]},
            {"translation": [10, 0, 0], "children": [2]},
            {"translation": [0, 5, 0], "scale": [2, 2, 2]}
        ]),
    );
    set(&mut document, "/scenes/0/nodes", json!([0, 1]));
    set(&mut document, "/skins", json!([{"joints": [1, 2], "inverseBindMatrices": 5}]));
    let attributes = "/meshes/0/primitives/0/attributes";
    set(&mut document, &format!("{attributes}/JOINTS_0"), json!(3));
    set(&mut document, &format!("{attributes}/WEIGHTS_0"), json!(4));
    document
}

#[test]
fn joints_place_the_vertices_instead_of_the_node() {
    let loaded = parse(&skinned()).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let mesh = loaded.mesh;
    // Corner 2, at (1, 1), loses 1 in x, doubles, and moves by (10, 5). Corner 3, at (0, 1), is half-way between
    // (10, 1) and (8, 7).
    let expected = [[10.0, 0.0, 0.0], [11.0, 0.0, 0.0], [10.0, 7.0, 0.0], [9.0, 4.0, 0.0]];
    assert_eq!(mesh.positions, expected);
    // The mirroring of the node has no effect on the winding either.
    assert_eq!(mesh.corners[1].position, 1);
}

#[test]
fn normals_turn_with_the_joints() {
    let mut document = skinned();
    // A quarter turn around x; the corners' normals are their positions.
    let turn = std::f64::consts::FRAC_1_SQRT_2;
    set(&mut document, "/nodes/1/rotation", json!([turn, 0, 0, turn]));
    set(&mut document, "/meshes/0/primitives/0/attributes/NORMAL", json!(0));
    let mesh = parse(&document).unwrap().mesh;
    let normal = |corner: usize| mesh.normals[mesh.corners[corner].normal as usize];
    let [x, y, z] = normal(2);
    // (1, 1, 0) of corner 2.
    assert!((x - z).abs() < 1e-6 && y.abs() < 1e-6 && x > 0.0, "{x} {y} {z}");
}

fn in_world(mesh: &Mesh, position: usize) -> [f64; 3] {
    [0, 1, 2].map(|k| mesh.origin[k] + f64::from(mesh.positions[position][k]))
}

#[test]
fn vertices_without_weights_stay_with_the_node_and_joints_need_not_be_in_the_scene() {
    let mut document = skinned();
    set(&mut document, "/accessors/4", json!({"componentType": 5126, "count": 4, "type": "VEC4"}));
    let mesh = parse(&document).unwrap().mesh;
    assert_eq!(in_world(&mesh, 1), [-1.0, 0.0, 99.0]);
    let whole = parse(&skinned()).unwrap().mesh;
    let mut document = skinned();
    set(&mut document, "/scenes/0/nodes", json!([0]));
    let loaded = parse(&document).unwrap();
    assert_eq!(loaded.mesh.positions, whole.positions);
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

#[test]
fn skins_are_checked() {
    for (pointer, value, words) in [
        ("/nodes/0/skin", json!(3), "skins[3]"),
        ("/skins/0/joints", json!([1]), "JOINTS_0: expected joints below 1, found 1"),
        ("/skins/0/joints", json!([1, 2, 1]), "inverseBindMatrices: expected 3"),
        ("/skins/0/inverseBindMatrices", json!(4), "MAT4"),
        ("/accessors/3/count", json!(3), "JOINTS_0"),
        ("/accessors/3/componentType", json!(5126), "component types"),
    ] {
        let mut document = skinned();
        set(&mut document, pointer, value);
        let said = parse(&document).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    // 65,536 matrices, which 17 skins share.
    let mut many = skinned();
    let mut matrix = [0.0f32; 16];
    for diagonal in [0, 5, 10, 15] {
        matrix[diagonal] = 1.0;
    }
    let matrix: Vec<u8> = matrix.iter().flat_map(|v| v.to_le_bytes()).collect();
    let data = STANDARD.encode(matrix.repeat(65_536));
    let uri = format!("data:application/octet-stream;base64,{data}");
    set(&mut many, "/buffers/0", json!({"byteLength": 1 << 22, "uri": uri}));
    set(&mut many, "/bufferViews/6", json!({"buffer": 0, "byteLength": 1 << 22}));
    set(&mut many, "/accessors/5/count", json!(65_536));
    let skin = many["skins"][0].clone();
    set(&mut many, "/skins", json!(vec![skin; 17]));
    let error = parse(&many).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}
