//! Polygons in PLY files and files of Bezier patches.
use std::io::Cursor;
use std::path::Path;

use image::{ImageFormat, RgbImage};
use quadrille::Error;
use quadrille::geometry::files::BezierPatches;
use quadrille::geometry::files::Loaded;
use quadrille::geometry::files::parse as read;

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
        ("0 3 0 1 4 0", "row 0 of 1: expected a vertex index from 0 to below 4"),
        ("0 3 0 1 -1 0", "a vertex index from 0 to below 4"),
        ("0 3 0 1 1.5 0", "a vertex index from 0 to below 4"),
        ("0 200 0 1 0", "a value, found the end of the line"),
    ] {
        let error = parse(&header, format!("{vertices}{face}").as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{face}: {error}");
    }
    let longer = parse(&header, format!("{vertices}0 3 0 1 2 0 7 7").as_bytes()).unwrap();
    assert_eq!(longer.mesh.faces(), 1);
    let warning = longer.warnings.last().unwrap();
    assert!(warning.contains("rows with more values than the header states: 1"), "{warning}");
    let broken = vertices.replace("1 1 0 1 1", "1 1 nan 1 1");
    let error = parse(&header, format!("{broken}0 3 0 1 2 0").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("element \"vertex\", row 2: expected finite numbers"), "{error}");
    // What a mesh does not need is left out.
    for (vertices, face, warning) in [
        (&broken, "0 3 0 1 3 0", "unused vertices without finite coordinates are left out: 1"),
        (
            &vertices.replace("1 1 0 1 1", "1 1 0 inf 1"),
            "0 3 0 1 2 0",
            "coordinates without finite",
        ),
        // The vertex without finite coordinates is a corner of the face that is left out.
        (&broken, "0 2 0 2 0", "unused vertices without finite coordinates are left out: 1"),
        (&vertices.to_owned(), "0 2 0 1 0", "faces of fewer than three corners are left out: 1"),
    ] {
        let warnings = parse(&header, format!("{vertices}{face}").as_bytes()).unwrap().warnings;
        assert!(warnings.iter().any(|text| text.contains(warning)), "{warnings:?}");
    }
}

fn patches(text: &str) -> Result<BezierPatches, Error> {
    BezierPatches::parse(text.as_bytes(), Path::new("pot"))
}

#[test]
fn patches_are_read() {
    let text = "1\n1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2\n\n2\n0,0,-1.5\n1, 2, 3\n";
    let pot = patches(text).unwrap();
    assert_eq!(pot.points, [[0.0, 0.0, -1.5], [1.0, 2.0, 3.0]]);
    assert_eq!(pot.patches, [[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]]);
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
            "line 2: expected point numbers from 1 to 1",
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
    let colours = read(floats, "1.5 -1 0 51").unwrap().mesh.colours;
    assert_eq!(colours[2][..3], [1.0, 0.0, 0.0]);
    assert!((colours[2][3] - 0.2).abs() < 1e-6);
    let warnings = read(floats, "nan 0 0 0").unwrap().warnings;
    assert!(warnings.iter().any(|w| w.contains("colours of vertices without")), "{warnings:?}");
    let short = "property uchar r\nproperty uchar g\nproperty uchar b";
    assert_eq!(read(short, "255 0 0").unwrap().mesh.colours[2], [1.0, 0.0, 0.0, 1.0]);
    // Two of three channels do not make a colour.
    let two = "property uchar red\nproperty uchar green";
    assert!(read(two, "1 2").unwrap().mesh.colours.is_empty());
}

/// A triangle and a square with the columns of faces `properties`, whose values follow the vertices.
fn faces(comments: &str, properties: &str, values: [&str; 2]) -> Result<Loaded, Error> {
    let header = format!(
        "ascii 1.0\n{comments}{VERTEX}\nelement face 2\n\
         property list uchar int vertex_index\n{properties}"
    );
    let [triangle, square] = values;
    let vertices = "0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 1 0 0 1\n";
    let body = format!("{vertices}3 0 1 2 {triangle}\n4 0 1 2 3 {square}\n");
    let text = format!("ply\nformat {header}\nend_header\n{body}");
    let mut png = Cursor::new(Vec::new());
    RgbImage::new(2, 2).write_to(&mut png, ImageFormat::Png).unwrap();
    let path = Path::new("a.ply");
    read(text.as_bytes(), path, &mut |name| match name {
        "a.png" | "b c.png" => Ok(png.get_ref().clone()),
        _ => Err(Error::malformed(path, name, "a file", "none")),
    })
}

#[test]
fn faces_have_textures_and_coordinates_of_their_own() {
    let columns = "property list uchar float texcoord\nproperty int texnumber";
    let comments = "comment TextureFile a.png\ncomment textured\ncomment TextureFile b c.png\n";
    let values = ["6 0.5 0.25 1 0 0 1 1", "0 -1"];
    let Loaded { mesh, warnings, .. } = faces(comments, columns, values).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let uvs: Vec<[f32; 2]> = mesh.corners.iter().map(|c| mesh.uvs[c.uv as usize]).collect();
    // The triangle's own coordinates, and the coordinates of the square's vertices; v points down.
    let expected =
        [[0.5, 0.75], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    assert_eq!(uvs, expected);
    assert_eq!(mesh.face_materials, [1, 2]);
    let of = |material: usize| {
        let material = &mesh.materials[material];
        (material.base_texture, material.base_colour[0])
    };
    assert_eq!([of(0), of(1), of(2)], [(Some(0), 1.0), (Some(1), 1.0), (None, 0.8)]);
    assert_eq!(mesh.draws, [0..1, 1..2]);
    // Without numbers, all faces have the first texture; one that is missing is named.
    let columns = "property list uchar float texcoord";
    let missing = "comment TextureFile none.png\n";
    let loaded = faces(missing, columns, ["0", "0"]).unwrap();
    assert_eq!(loaded.mesh.face_materials, [0, 0]);
    assert!(loaded.warnings[0].contains("\"none.png\" is left out"), "{:?}", loaded.warnings);
    let error = faces("", columns, ["4 0 0 0 0", "0"]).unwrap_err().to_string();
    let expected = "element \"face\", row 0 of 2: expected 6 texture coordinates, found 4";
    assert!(error.contains(expected), "{error}");
    let loaded = faces("", columns, ["0", "8 0 0 0 0 0 0 0 nan"]).unwrap();
    assert!(loaded.warnings[0].contains("without finite numbers are left out: 1"));
}

#[test]
fn faces_have_colours_of_their_own() {
    let columns = "property uchar red\nproperty uchar green\nproperty uchar blue";
    let Loaded { mesh, warnings, .. } = faces("", columns, ["255 0 0", "0 0 255"]).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let colours: Vec<_> = mesh.corners.iter().map(|c| mesh.colours[c.colour as usize]).collect();
    assert_eq!(colours[..3], [[1.0, 0.0, 0.0, 1.0]; 3]);
    assert_eq!(colours[3..], [[0.0, 0.0, 1.0, 1.0]; 4]);
    // White beneath, so that the colours are the colours of the file.
    assert_eq!(mesh.materials[0].base_colour, [1.0; 3]);
}

#[test]
fn what_is_skipped_is_named() {
    let many: String = (0..10).map(|i| format!("\nproperty float q{i}")).collect();
    let values = ["0 0 0 0 0 0 0 0 0 0 0"; 2];
    let columns = format!("property uchar flags{many}");
    let warnings = faces("element edge 0\nproperty int vertex1\n", &columns, values);
    let warnings = warnings.unwrap().warnings;
    assert_eq!(warnings[0], "element \"edge\" is left out");
    let expected = "properties of element \"face\" are left out: \"flags\", \"q0\", \"q1\", \"q2\", \"q3\", \
                    \"q4\", \"q5\", \"q6\", 3 more";
    assert_eq!(warnings[1..], [expected]);
}

#[test]
fn strips_of_triangles_alternate_their_sides() {
    let vertices = "element vertex 5\nproperty float x\nproperty float y\nproperty float z\n";
    let strips = "element tristrips 2\nproperty list int int vertex_indices";
    let header = format!("ascii 1.0\n{vertices}{strips}");
    let points = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 2 0\n";
    let triangles = |rows: &str| -> Vec<Vec<u32>> {
        let mesh = parse(&header, format!("{points}{rows}").as_bytes()).unwrap().mesh;
        let face = |at| mesh.face(at).iter().map(|c| c.position).collect();
        (0..mesh.faces()).map(face).collect()
    };
    // Counter-clockwise, each with the first of its two turns exchanged or not.
    assert_eq!(triangles("5 0 1 2 3 4\n0\n"), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
    // A new strip begins with its first side; two vertices are none; a repeated vertex exchanges the sides.
    assert_eq!(triangles("9 0 1 2 -1 3 4 -1 1 3\n6 -1 0 1 1 2 3\n"), [[0, 1, 2], [1, 2, 3]]);
    // Vertices that no triangle has, such as the first here, are not part of the mesh.
    assert_eq!(triangles("4 0 1 1 2\n5 0 1 1 2 3\n"), [[0, 1, 2]]);
    for (rows, expected) in [
        (
            "3 0 1 5\n0\n",
            "element \"tristrips\", row 0 of 2: expected a vertex index from 0 to below 5",
        ),
        ("0\n3 0 1 -2\n", "row 1 of 2: expected a vertex index from 0 to below 5"),
        ("3 0 1\n", "tristrips"),
    ] {
        let error = parse(&header, format!("{points}{rows}").as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let listless = header.replace("vertex_indices", "strip");
    let error = parse(&listless, b"").unwrap_err().to_string();
    assert!(error.contains("element \"tristrips\": expected a list"), "{error}");
    // Faces and strips of one file.
    let both = format!("{header}\nelement face 1\nproperty list uchar int vertex_indices");
    let rows = format!("{points}3 0 1 2\n0\n3 2 1 3\n");
    let loaded = parse(&both, rows.as_bytes()).unwrap();
    assert_eq!((loaded.mesh.faces(), loaded.warnings.len()), (2, 0));
}

#[test]
fn colours_of_any_type_are_brought_into_their_range() {
    let decoded = |c: f32| ((c + 0.055) / 1.055).powf(2.4);
    for (kind, red, alpha, is_divided) in [
        ("uchar", "51", "255", false),
        ("ushort", "13107", "65535", false),
        ("float", "0.2", "1", false),
        ("float", "51", "255", true),
        ("double", "51", "1", true),
        ("int", "51", "255", true),
    ] {
        let header = format!(
            "ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
             property {kind} red\nproperty {kind} green\nproperty {kind} blue\nproperty {kind} alpha\n\
             element face 1\nproperty list uchar int vertex_indices"
        );
        let rows: String =
            ["0 0 0", "1 0 0", "0 1 0"].map(|at| format!("{at} {red} 0 0 {alpha}\n")).concat();
        let loaded = parse(&header, format!("{rows}3 0 1 2\n").as_bytes()).unwrap();
        let [r, g, b, a] = loaded.mesh.colours[0];
        assert!((r - decoded(0.2)).abs() < 1e-6, "{kind} {red}: {r}");
        assert_eq!((g, b, a), (0.0, 0.0, 1.0), "{kind} {red}");
        assert_eq!(loaded.warnings.len(), usize::from(is_divided), "{:?}", loaded.warnings);
    }
}
