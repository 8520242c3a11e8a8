//! Meshes compressed by Draco. The streams come from Google's encoder (Draco 1.5.7 by way of `DracoPy` 2.2.0).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quadrille::Error;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

use super::mesh_gltf::{parse, set};

/// 4 x 4 vertices at (x, y, xy modulo 3), quantised to 11 bits, with texture coordinates (x / 4, y / 4) and colours
/// (16 n, 255 - 16 n, 7, 255) of vertex n, in 18 triangles: sequential.
const SEQUENTIAL: &str = "\
    RFJBQ08CAgEAAAASEAEAAQUABQQBAgYBBgUCAwcCBwYEBQkECQgFBgoFCgkGBwsGCwoICQ0IDQwJCg4JDg0KCw8KDw4BAwICBAEAAwkCAQEACQ\
    MAAgEAAgABAQEBIQEfAQIvAQE/AQ8BDxAAMBJajaIp7LYAHP0uiOSiAAAAAP8AAAAAAAAAAAAAAAAAgD4AAAAAAAAAPwAAAAAAAEA/AAAAAAAA\
    AAAAAIA+AACAPgAAgD4AAAA/AACAPgAAQD8AAIA+AAAAAAAAAD8AAIA+AAAAPwAAAD8AAAA/AABAPwAAAD8AAAAAAABAPwAAgD4AAEA/AAAAPw\
    AAQD8AAEA/AABAPwABAQEB1woBIAMBBP///////////////////////////z9VAa0OrQJVCQ4+5Tw9HobiLkDtlMKDjQAAAAD/BwAAAAAAAAAA\
    AAAAAAAAAABAQAs=";
/// The same with EdgeBreaker's valences.
const EDGEBREAKER: &str = "\
    RFJBQ08CAgEBAAAAEBICEgMABt/Tp1p9Cv8BEf8Ca0H/AmtBAwAAAAEAAP8AAAECAgQBAAEBAwkCAQEAAQAJAwACAgEBAQAJAwE0DwEEAwEIBA\
    AtP42/vg4Bn6AAAOAHAAAAAAAAAAAAAAAA/wAAAAAAAD8AAAA/AACAPgAAgD4AAAA/AACAPgAAgD4AAAAAAAAAAAAAAAAAAAAAAACAPgAAgD4A\
    AAA/AAAAPwAAQD8AAEA/AABAPwAAQD8AAAA/AABAPwAAgD4AAAA/AAAAAAAAQD8AAAAAAACAPgAAQD8AAAAAAAAAPwAAAAAAAEA/AQEBAQPXCl\
    kpA1UB////////////////////////////P60CVQEBCFUJDGJHqw0/JVvoheGsiAAAAAD/BwAAAAAAAAAAAAAAAAAAAABAQAs=";

fn bytes(stream: &str) -> Vec<u8> {
    STANDARD.decode(stream).unwrap()
}

/// Both streams.
pub(super) fn streams() -> [Vec<u8>; 2] {
    [SEQUENTIAL, EDGEBREAKER].map(bytes)
}

/// The document of a stream of this mesh.
fn document(stream: &[u8]) -> Value {
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(stream));
    let numbers = json!({"POSITION": 2, "TEXCOORD_0": 1, "COLOR_0": 0});
    let extension = json!({
        "KHR_draco_mesh_compression": {"bufferView": 0, "attributes": numbers}
    });
    json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_draco_mesh_compression"],
        "extensionsRequired": ["KHR_draco_mesh_compression"],
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "TEXCOORD_0": 1, "COLOR_0": 2}, "indices": 3, "extensions": extension
        }]}],
        "accessors": [
            {"componentType": 5126, "count": 16, "type": "VEC3"},
            {"componentType": 5126, "count": 16, "type": "VEC2"},
            {"componentType": 5121, "count": 16, "type": "VEC4", "normalized": true},
            {"componentType": 5123, "count": 54, "type": "SCALAR"}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": stream.len()}],
        "buffers": [{"byteLength": stream.len(), "uri": uri}]
    })
}

#[test]
fn vertices_and_indices_are_decoded() {
    for stream in [SEQUENTIAL, EDGEBREAKER] {
        let loaded = parse(&document(&bytes(stream))).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let mesh = loaded.mesh;
        assert_eq!((mesh.positions.len(), mesh.faces()), (16, 18));
        let mut seen = [0; 16];
        for corner in &mesh.corners {
            let [x, y, z] = mesh.positions[corner.position as usize];
            let [column, row] = [x, y].map(f32::round);
            let vertex = (4.0 * row + column) as u8;
            seen[usize::from(vertex)] += 1;
            let off = [x - column, y - row, z - (column * row) % 3.0];
            // Half of a step of 3 / 2047.
            assert!(off.iter().all(|d| d.abs() <= 0.000_74), "{off:?}");
            let uv = mesh.uvs[corner.uv as usize];
            assert_eq!(uv, [column / 4.0, row / 4.0]);
            let colour = mesh.colours[corner.colour as usize];
            let bytes = [16 * vertex, 255 - 16 * vertex, 7, 255];
            for (found, byte) in colour.iter().zip(bytes) {
                assert!((found * 255.0 - f32::from(byte)).abs() < 1e-3, "{colour:?}");
            }
        }
        // Each of the 9 squares has one diagonal, from its corner of the least coordinates.
        assert_eq!(seen, [2, 3, 3, 1, 3, 6, 6, 3, 3, 6, 6, 3, 1, 3, 3, 2]);
        for face in 0..mesh.faces() {
            let [a, b, c] = [0, 1, 2].map(|k| mesh.positions[mesh.face(face)[k].position as usize]);
            let turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            assert!((turn - 1.0).abs() < 0.01, "{face}: {turn}");
        }
    }
}

#[test]
fn claims_of_the_document_are_checked() {
    let extension = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression";
    let number = format!("{extension}/attributes/TEXCOORD_0");
    let view = format!("{extension}/bufferView");
    for (pointer, value, expected) in [
        ("/accessors/3/count", json!(57), "expected 57 indices, found 54"),
        ("/accessors/3/count", json!(3), "a Draco mesh"),
        ("/accessors/0/count", json!(17), "expected 17 elements of VEC3 for POSITION"),
        (
            "/accessors/1/type",
            json!("VEC3"),
            "16 elements of VEC3 for TEXCOORD_0, found 16 elements of 2",
        ),
        ("/accessors/2/count", json!(1_u64 << 40), "vertices and indices in Draco"),
        (&*number, json!(9), "an attribute with identifier 9"),
        (&*view, json!(1), "bufferViews[1]"),
        (&*view, json!("x"), "KHR_draco_mesh_compression"),
        ("/buffers/0/uri", json!("none.bin"), "KHR_draco_mesh_compression"),
    ] {
        let mut document = document(&bytes(EDGEBREAKER));
        set(&mut document, pointer, value);
        let said = parse(&document).unwrap_err().to_string();
        assert!(said.contains(expected), "{pointer}: {said}");
    }
    // Plain data beside the stream needs no decoding.
    let mut plain = super::mesh_gltf::document();
    let broken =
        json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}});
    set(&mut plain, "/meshes/0/primitives/0/extensions", broken);
    assert_eq!(parse(&plain).unwrap().mesh.faces(), 2);
}

#[test]
fn hostile_streams_are_meshes_or_errors() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut meshes, mut errors) = (0, 0);
    let mut count = |stream: &[u8]| match parse(&document(stream)) {
        Ok(loaded) => {
            assert!(loaded.mesh.positions.as_flattened().iter().all(|x| x.is_finite()));
            meshes += 1;
        }
        Err(Error::Malformed { .. } | Error::Limit { .. }) => errors += 1,
        Err(other) => panic!("{other}"),
    };
    for stream in [SEQUENTIAL, EDGEBREAKER].map(bytes) {
        for length in 0..stream.len() {
            count(&stream[..length]);
        }
        for _ in 0..4000 {
            let mut changed = stream.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..changed.len());
                changed[at] = random.random();
            }
            count(&changed);
        }
        for _ in 0..500 {
            let noise: Vec<u8> = (0..64).map(|_| random.random()).collect();
            count(&[&stream[..11], &noise].concat());
        }
    }
    assert!(meshes > 100 && errors > 1000, "{meshes} meshes, {errors} errors");
}
