//! Wavefront OBJ: all forms of its lines, and errors that name the line.
use std::path::Path;

use quadrille::Error;
use quadrille::mesh::files::Corner;
use quadrille::mesh::files::Crease;
use quadrille::mesh::files::Loaded;
use quadrille::mesh::files::Material;
use quadrille::mesh::files::Mesh;
use quadrille::mesh::files::NONE;
use quadrille::mesh::files::parse as read;

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

fn parse(text: &str) -> Result<Loaded, Error> {
    let path = Path::new("a.obj");
    read(text.as_bytes(), path, &mut |name| {
        Err(Error::file(path, name, "a file", "none"))
    })
}

fn mesh(tail: &str) -> Mesh {
    parse(&format!("{SQUARE}{tail}")).unwrap().mesh
}

fn refused(tail: &str) -> String {
    parse(&format!("{SQUARE}{tail}")).unwrap_err().to_string()
}

fn positions(mesh: &Mesh) -> Vec<u32> {
    mesh.corners.iter().map(|corner| corner.position).collect()
}

#[test]
fn all_forms_of_corners() {
    let square = mesh("vt 0 0\nvt 1\nvn 0 0 2\nf 1/1/1 2//-1 -2/2 4\nf 1 2 \\\n  3 # 4\n");
    assert_eq!(positions(&square), [0, 1, 2, 3, 0, 1, 2]);
    assert_eq!(square.face_starts, [0, 4, 7]);
    let corner = |position, uv, normal| Corner {
        position,
        uv,
        normal,
    };
    assert_eq!(square.face(0)[0], corner(0, 0, 0));
    assert_eq!(square.face(0)[1], corner(1, NONE, 0));
    assert_eq!(square.face(0)[2], corner(2, 1, NONE));
    assert_eq!(square.uvs, [[0.0, 1.0], [1.0, 1.0]]);
    assert_eq!(square.normals, [[0.0, 0.0, 1.0]]);
    assert_eq!((square.materials.len(), square.draws.len()), (1, 1));
}

#[test]
fn errors_name_the_line_and_what_it_should_be() {
    for (line, expected) in [
        ("f 0 1 2", "1 to 4"),
        ("f 1 2 5", "1 to 4"),
        ("f 1 2 -5", "-4 to -1"),
        ("f 1/1 2/1 3/1", "the index of a texture coordinate"),
        ("f 1 2 -9223372036854775808", "-4 to -1"),
        ("f 1 2 9223372036854775808", "the index of a vertex"),
        ("f 1 2 2.5", "the index of a vertex"),
        ("f / 2 3", "v//vn"),
        ("f 1/2/3/4 2 3", "there is none"),
        ("f 1///4 2 3", "v//vn"),
        ("f 1 2", "3 corners or more, found 2"),
        ("v 1 2", "3 numbers"),
        ("v 1 2 nan", "finite"),
        ("vn 1e999 0 0", "finite"),
        ("vt x", "a number"),
        ("t crease 2/1/0 0 4 1", "a vertex of 4"),
        ("t crease 2/1/0 0 -1 1", "a whole number"),
        ("t corner 1/1/0 0", "1 whole numbers and 1 sharpness"),
    ] {
        let text = refused(&format!("\n{line}\n"));
        assert!(
            text.contains("line 6: ") && text.contains(expected),
            "{line}: {text}"
        );
    }
    assert!(parse("").is_err() && parse("v 0 0 0\0").is_err());
}

#[test]
fn draws_begin_with_objects_and_materials() {
    let two = mesh(
        "o a\nusemtl red\nf 1 2 3\ng x\nusemtl red\nf 1 2 4\nusemtl blue\nusemtl red\nf 1 2 3\n\
         o b\no c\nf 1 3 4\nusemtl blue\nf 2 3 4\n",
    );
    assert_eq!(two.draws, [0..3, 3..4, 4..5]);
    assert_eq!(two.face_materials, [0, 0, 0, 0, 1]);
    let names: Vec<&str> = two.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["red", "blue"]);
}

#[test]
fn equal_positions_are_one() {
    let cut = mesh("v 1 1 0\nv -0 1 -0\nf 1 2 3\nf 1 5 6\n");
    assert_eq!(cut.positions.len(), 4);
    assert_eq!(positions(&cut), [0, 1, 2, 0, 2, 3]);
}

#[test]
fn tags_of_subdivision() {
    let tail = "t crease 2/1/0 0 4 2.5\nt crease 4/2/0 0 1 1 2 10 3\nt corner 1/1/0 3 12\n\
                t hole 1/0/0 1\nt\nv 9 9 9\n";
    let loaded = parse(&format!("{SQUARE}{tail}")).unwrap();
    let crease = |a, b, sharpness| Crease {
        positions: [a, b],
        sharpness,
    };
    let creases = [
        crease(0, 4, 2.5),
        crease(0, 1, f32::INFINITY),
        crease(1, 2, 3.0),
    ];
    assert_eq!(loaded.mesh.creases, creases);
    assert_eq!(loaded.mesh.sharp_corners, [(3, f32::INFINITY)]);
    assert!(loaded.warnings.iter().any(|w| w.contains("hole")));
}

/// The material `m` of the library `text`.
fn read_text(text: &str) -> (Material, Vec<String>) {
    let path = Path::new("a.obj");
    let mesh = format!("mtllib a b.mtl\n{SQUARE}usemtl m\nf 1 2 3\n");
    let loaded = read(mesh.as_bytes(), path, &mut |name| match name {
        "a b.mtl" => Ok(text.as_bytes().to_vec()),
        _ => Err(Error::file(path, name, "a file", "none")),
    });
    let Loaded { mesh, warnings, .. } = loaded.unwrap();
    (mesh.materials[0].clone(), warnings)
}

#[test]
fn colours_and_highlights() {
    let text = "newmtl other\nKd 1 0 0\nnewmtl m\nKd .1 .2 .3\nKs 1 1 1\nNs 20\nillum 2\n";
    let (material, _) = read_text(text);
    assert_eq!(material.base_colour, [0.1, 0.2, 0.3]);
    assert_eq!((material.shininess, material.name.as_str()), (20.0, "m"));
    assert_eq!(read_text("newmtl m\nNs 20\nKs 0 0 0\n").0.shininess, 0.0);
    assert_eq!(read_text("newmtl m\nKd 0.5").0.base_colour, [0.5; 3]);
    assert_eq!(
        read_text("newmtl m\nKd 0 0 0\nmap_Kd a.png").0.base_colour,
        [1.0; 3]
    );
}

#[test]
fn what_cannot_be_read_is_a_warning() {
    let text = "newmtl m\nKd red\nd 0.5\nmap_Kd none.png\nmap_d none.png\nnorm\n";
    let (material, warnings) = read_text(text);
    assert_eq!(material.base_colour, [1.0; 3]);
    assert_eq!(material.alpha_cutoff, Some(0.5));
    assert!(material.effects.discards && material.base_texture.is_none());
    for part in ["line 2", "opaque", "none.png", "line 6"] {
        assert!(warnings.iter().any(|w| w.contains(part)), "{warnings:?}");
    }
    assert!(read_text("").1.iter().any(|w| w.contains("\"m\"")));
}
