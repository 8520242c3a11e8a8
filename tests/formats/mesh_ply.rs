//! Polygons in PLY files and files of Bezier patches.
use std::path::Path;

use quadrille::Error;
use quadrille::mesh::files::BezierPatches;
use quadrille::mesh::files::Loaded;
use quadrille::mesh::files::parse as read;

fn parse(header: &str, body: &[u8]) -> Result<Loaded, Error> {
    let mut bytes = format!("ply\nformat {header}\nend_header\n").into_bytes();
    bytes.extend_from_slice(body);
    read(&bytes, Path::new("a.ply"), &mut |_| unreachable!())
}

const VERTEX: &str = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                      property float s\nproperty float t";
const FACE: &str = "element face 1\nproperty uchar flags\n\
                    property list uchar int vertex_indices\nproperty int after";

#[test]
fn text_in_any_order_of_elements() {
    let body = b"7 4 0 1 2 3 9\n0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 0 -0 0 1\n";
    let loaded = parse(&format!("ascii 1.0\n{FACE}\n{VERTEX}"), body).unwrap();
    let mesh = loaded.mesh;
    assert_eq!(mesh.positions.len(), 3);
    let corners: Vec<(u32, u32)> = mesh.corners.iter().map(|c| (c.position, c.uv)).collect();
    assert_eq!(corners, [(0, 0), (1, 1), (2, 2), (0, 3)]);
    assert_eq!(mesh.uvs[3], [0.0, 0.0]);
    assert_eq!((mesh.draws.len(), mesh.draws[0].clone()), (1, 0..1));
    assert_eq!(mesh.face_materials, [0]);
}

#[test]
fn binary_of_both_orders() {
    let mut body = Vec::new();
    for value in [0.0f32, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0] {
        body.extend_from_slice(&value.to_be_bytes());
    }
    body.extend_from_slice(&body.clone());
    body.extend_from_slice(&[0, 3]);
    for index in [2, 1, 0, 9] {
        body.extend_from_slice(&i32::to_be_bytes(index));
    }
    let header = format!("binary_big_endian 1.0\n{VERTEX}\n{FACE}");
    let mesh = parse(&header, &body).unwrap().mesh;
    let corners: Vec<u32> = mesh.corners.iter().map(|c| c.position).collect();
    assert_eq!(corners, [0, 1, 0]);
    assert!(parse(&header, &body[..body.len() - 5]).is_err());
}

#[test]
fn errors_name_the_row() {
    let vertices = "0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 0 0 0 1\n";
    let header = format!("ascii 1.0\n{VERTEX}\n{FACE}");
    for (face, expected) in [
        ("0 3 0 1 4 0", "row 0 of 1: expected a vertex of 4"),
        ("0 3 0 1 -1 0", "a vertex of 4"),
        ("0 3 0 1 1.5 0", "a vertex of 4"),
        ("0 2 0 1 0", "3 vertices or more, found 2"),
        ("0 200 0 1 0", "a value, found the end of the line"),
        ("0 3 0 1 2 0 0", "more values"),
    ] {
        let error = parse(&header, format!("{vertices}{face}").as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{face}: {error}");
    }
    let error = parse(&header, b"0 0 nan 0 0\n").unwrap_err().to_string();
    assert!(error.contains("element \"vertex\""), "{error}");
}

fn patches(text: &str) -> Result<BezierPatches, Error> {
    BezierPatches::parse(text.as_bytes(), Path::new("pot"))
}

#[test]
fn patches_are_read() {
    let text = "1\n1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2\n\n2\n0,0,-1.5\n1, 2, 3\n";
    let pot = patches(text).unwrap();
    assert_eq!(pot.points, [[0.0, 0.0, -1.5], [1.0, 2.0, 3.0]]);
    assert_eq!(
        pot.patches,
        [[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]]
    );
}

#[test]
fn errors_of_patches_name_the_line() {
    for (text, expected) in [
        ("", "line 1: expected 1 values, found the end"),
        ("4000000000\n1", "line 2: expected 16 values, found 1"),
        ("0\n-1", "line 2: expected a whole number"),
        ("0\n4000000000", "line 2: expected at most"),
        ("0\n1\n0,0", "line 3: expected 3 values, found 2"),
        ("0\n1\n0,0,0,0", "line 3: expected 3 values, found more"),
        ("0\n1\n0,0,inf", "line 3: expected finite"),
        (
            "1\n1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2\n1\n0,0,0",
            "line 2: expected points 1 to 1",
        ),
    ] {
        let error = patches(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

#[test]
fn colours_of_vertices_by_type_and_name() {
    let read = |properties: &str, values: &str| {
        let header = format!(
            "ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
             {properties}\nelement face 1\nproperty list uchar int vertex_indices"
        );
        let body = format!("0 0 0 {values}\n1 0 0 {values}\n0 1 0 {values}\n3 0 1 2\n");
        parse(&header, body.as_bytes())
    };
    let bytes = "property uchar red\nproperty uchar green\nproperty uchar blue";
    let loaded = read(bytes, "255 128 0").unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let [red, green, blue, alpha] = loaded.mesh.colours[0];
    let half = ((128.0_f32 / 255.0 + 0.055) / 1.055).powf(2.4);
    assert_eq!([red, blue, alpha], [1.0, 0.0, 1.0]);
    assert!((green - half).abs() < 1e-5, "{green}");
    let floats = "property float diffuse_red\nproperty float diffuse_green\n\
                  property float diffuse_blue\nproperty uchar alpha";
    let colours = read(floats, "7 -1 0 51").unwrap().mesh.colours;
    assert_eq!(colours[2][..3], [1.0, 0.0, 0.0]);
    assert!((colours[2][3] - 0.2).abs() < 1e-6);
    assert!(read(floats, "nan 0 0 0").is_err());
    // Two of three channels are no colour.
    let two = "property uchar red\nproperty uchar green";
    assert!(read(two, "1 2").unwrap().mesh.colours.is_empty());
}
