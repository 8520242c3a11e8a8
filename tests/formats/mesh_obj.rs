//! Wavefront OBJ: all forms of its lines, and errors that name the line.
use std::fs;
use std::io::Cursor;
use std::path::Path;

use image::{ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use quadrille::Error;
use quadrille::geometry::files::Corner;
use quadrille::geometry::files::Crease;
use quadrille::geometry::files::Loaded;
use quadrille::geometry::files::Material;
use quadrille::geometry::files::Mesh;
use quadrille::geometry::files::Microfacets;
use quadrille::geometry::files::NONE;
use quadrille::geometry::files::Texture;
use quadrille::geometry::files::Wrap;
use quadrille::geometry::files::load;
use quadrille::geometry::files::parse as read;

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

fn parse(text: &str) -> Result<Loaded, Error> {
    let path = Path::new("a.obj");
    read(text.as_bytes(), path, &mut |name| Err(Error::malformed(path, name, "a file", "none")))
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
    let corner = |position, uv, normal| Corner { position, uv, normal, colour: NONE };
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
        ("f 1/x 2/1 3/1", "the index of a texture coordinate"),
        ("f 1 2 -9223372036854775808", "-4 to -1"),
        ("f 1 2 9223372036854775808", "the index of a vertex"),
        ("f 1 2 2.5", "the index of a vertex"),
        ("f / 2 3", "v//vn"),
        ("f 1/2/3/4 2 3", "v//vn"),
        ("f 1///4 2 3", "v//vn"),
        ("v 1 2", "3 numbers"),
        ("v 1 2 nan\nf 1 2 5", "finite"),
        ("vn 1 x 0", "a number"),
        ("vt x", "a number"),
        ("t crease 2/1/0 0 4 1", "a vertex index from 0 to below 4"),
        ("t crease 2/1/0 0 -1 1", "a whole number"),
        ("t corner 1/1/0 0", "whole numbers (1) and sharpness values (1)"),
    ] {
        let text = refused(&format!("\n{line}\n"));
        assert!(text.contains("line 6: ") && text.contains(expected), "{line}: {text}");
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
    let crease = |a, b, sharpness| Crease { positions: [a, b], sharpness };
    let creases = [crease(0, 4, 2.5), crease(0, 1, f32::INFINITY), crease(1, 2, 3.0)];
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
        _ => Err(Error::malformed(path, name, "a file", "none")),
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
    assert_eq!(read_text("newmtl m\nKd 0 0 0\nmap_Kd a.png").0.base_colour, [1.0; 3]);
}

#[test]
fn emission_is_read_and_what_is_left_out_is_named() {
    let (material, warnings) = read_text("newmtl m\nKd 0 0 0\nKe .5 1 2\n");
    assert_eq!((material.emission, material.emission_texture), ([0.5, 1.0, 2.0], None));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(read_text("newmtl m\nKe 0 0 0\n").0.emission, [0.0; 3]);
    let dropped = [
        ("map_Bump a.png", "bump"),
        ("bump a.png", "bump"),
        ("disp a.png", "displacement"),
        ("map_Ns a.png", "highlights"),
        ("map_Pm a.png", "metalness"),
        ("map_Ke none.png", "none.png"),
    ];
    for (line, part) in dropped {
        let (_, warnings) = read_text(&format!("newmtl m\n{line}\n"));
        assert!(warnings.iter().any(|w| w.contains(part)), "{line}: {warnings:?}");
    }
    let weighted = parse("v 0 0 0 1\nv 1 0 0 1\nv 0 1 0 1\nf 1 2 3\n").unwrap();
    assert!(weighted.warnings.is_empty(), "{:?}", weighted.warnings);
}

#[test]
fn what_cannot_be_read_is_a_warning() {
    let text = "newmtl m\nKd red\nd 0.5\nmap_Kd none.png\nmap_d none.png\nnorm\n";
    let (material, warnings) = read_text(text);
    assert_eq!(material.base_colour, [1.0; 3]);
    assert_eq!(material.alpha_cutoff, Some(0.5));
    assert!(material.effects.discards && material.base_texture.is_none());
    assert_eq!(material.opacity, Some(0.5));
    for part in ["line 2", "none.png", "line 6"] {
        assert!(warnings.iter().any(|w| w.contains(part)), "{warnings:?}");
    }
    assert!(read_text("").1.iter().any(|w| w.contains("\"m\"")));
}

#[test]
fn lines_of_every_system() {
    let square = format!("{SQUARE}f 1 2 3 4");
    let continued = square.replace("f 1 2", "# C:\\\nf 1 \\\r\n2");
    for text in [
        square.replace('\n', "\r\n"),
        format!("\u{feff}{}", square.replace('\n', "\r")),
        continued,
        format!("{square}\\"),
    ] {
        let mesh = parse(&text).unwrap().mesh;
        assert_eq!(positions(&mesh), [0, 1, 2, 3], "{text:?}");
    }
    for word in ["inf", "1,0", "0x1"] {
        assert!(parse(&format!("v 0 0 {word}\n")).is_err(), "{word}");
    }
}

#[test]
fn normals_get_length_1_or_none() {
    let loaded = parse(&format!("{SQUARE}vn 0 3e-30 4e-30\nvn 0 0 0\nf 1//1 2//2 3//1\n"));
    let Loaded { mesh, warnings, .. } = loaded.unwrap();
    assert_eq!(mesh.normals, [[0.0, 0.6, 0.8]]);
    assert_eq!(mesh.corners[1].normal, NONE);
    assert!(warnings.iter().any(|w| w.contains("length 0")), "{warnings:?}");
}

#[test]
fn geometry_other_than_faces_is_left_out_with_a_warning() {
    let loaded = parse(&format!("{SQUARE}f 1 2 3\nl 1 2 3\np 4\ncstype bezier\n")).unwrap();
    assert_eq!(loaded.mesh.faces(), 1);
    let expected = ["points and lines are left out", "free-form curves and surfaces are left out"];
    assert_eq!(loaded.warnings, expected);
}

#[test]
fn warnings_are_said_once_and_bounded() {
    let tags = (0..1000).map(|i| format!("t tag{} 0/0/0\n", i / 2));
    let text: String = std::iter::once(SQUARE.to_owned()).chain(tags).collect();
    let warnings = parse(&text).unwrap().warnings;
    assert_eq!(warnings.len(), 101);
    assert!(warnings[0].contains("tag0") && warnings[1].contains("tag1"));
    assert!(warnings.last().unwrap().starts_with("more warnings, which are not listed: "));
}

/// Names of libraries that leave the mesh's folder, also by a link, are refused.
#[test]
fn libraries_stay_in_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    fs::create_dir_all(inner.join("sub")).unwrap();
    let library = "newmtl m\nKd 1 0 0\n";
    fs::write(outer.path().join("secret"), library).unwrap();
    fs::write(inner.join("sub/a b.mtl"), library).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outer.path().join("secret"), inner.join("out")).unwrap();
        std::os::unix::fs::symlink(inner.join("sub/a b.mtl"), inner.join("in")).unwrap();
    }
    let colour = |name: &str| {
        let path = inner.join("mesh.obj");
        fs::write(&path, format!("mtllib {name}\n{SQUARE}usemtl m\nf 1 2 3\n")).unwrap();
        let loaded = load(&path, &quadrille::Task::NEVER).unwrap();
        (loaded.mesh.materials[0].base_colour, loaded.warnings)
    };
    let inside = if cfg!(unix) { "in" } else { "sub/a b.mtl" };
    for name in ["sub/a b.mtl", "./sub/a b.mtl", inside] {
        assert_eq!(colour(name).0, [1.0, 0.0, 0.0], "{name}");
    }
    for name in ["../secret", "sub/../../secret", "/etc/passwd", "sub", "none", "out"] {
        let (colour, warnings) = colour(name);
        assert_ne!(colour, [1.0, 0.0, 0.0], "{name}");
        assert!(warnings.iter().any(|w| w.contains("materials are left out")), "{warnings:?}");
    }
}

#[test]
fn textures_are_png_or_jpeg_and_their_claims_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let read = |bytes: &[u8]| {
        let path = folder.path().join("a");
        fs::write(&path, bytes).unwrap();
        Texture::read(&path)
    };
    let picture = RgbaImage::from_fn(2, 3, |x, y| Rgba([x as u8, y as u8, 7, 128]));
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).unwrap();
    let png = png.into_inner();
    let texture = read(&png).unwrap();
    assert_eq!((texture.width, texture.height), (2, 3));
    assert_eq!(texture.texels[3], [1, 1, 7, 128]);
    let mut jpeg = Cursor::new(Vec::new());
    let grey = RgbImage::from_pixel(8, 8, Rgb([128; 3]));
    grey.write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
    let texture = read(jpeg.get_ref()).unwrap();
    assert_eq!(texture.texels.len(), 64);
    assert!(texture.texels[9][0].abs_diff(128) < 3);
    let claim = |width: u32, height: u32| {
        let mut header = *b"IHDR\0\0\0\0\0\0\0\0\x08\x06\0\0\0";
        header[4..8].copy_from_slice(&width.to_be_bytes());
        header[8..12].copy_from_slice(&height.to_be_bytes());
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\r".to_vec();
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&crc(&header).to_be_bytes());
        bytes.extend_from_slice(b"\0\0\0\x04IDAT\0\0\0\0\0\0\0\0");
        read(&bytes).unwrap_err().to_string()
    };
    for (width, height, said) in
        [(8000, 8000, "bytes cannot hold"), (20_000, 1, "a side outside 1 to")]
    {
        assert!(claim(width, height).contains(said), "{}", claim(width, height));
    }
    assert!(read(b"GIF89a").is_err() && read(&png[..40]).is_err());
}

/// The checksum of a PNG chunk.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

#[test]
fn colours_of_vertices_are_decoded_from_srgb() {
    let loaded = parse("v 0 0 0\nv 1 0 0 1 0 0.5\nv 0 1 0 2 -1 0\nf 1 2 3\n").unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let mesh = loaded.mesh;
    let colours: Vec<u32> = mesh.corners.iter().map(|c| c.colour).collect();
    assert_eq!(colours, [NONE, 0, 1]);
    let half = ((0.5_f32 + 0.055) / 1.055).powf(2.4);
    assert!((mesh.colours[0][2] - half).abs() < 1e-5);
    assert_eq!(mesh.colours[0][..2], [1.0, 0.0]);
    assert_eq!(mesh.colours[1], [1.0, 0.0, 0.0, 1.0]);
    assert!(parse("v 0 0 0 1 0 x\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").is_err());
}

/// Parts without which a mesh can be drawn are left out, counted, and warned of once.
#[test]
fn what_a_mesh_does_not_need_is_left_out() {
    for (lines, warning) in [
        ("vn nan 0 1\nvn -nan(ind) 0 1\nvn 0 0 0\nf 1//1 2//2 3//3", "numbers are left out: 3"),
        ("vn 1e999 0 0\nf 1//1 2//1 3//1", "normals of length 0 or without finite numbers"),
        ("vt 0 inf\nf 1/1 2/1 3/1", "texture coordinates without finite numbers are left out: 1"),
        ("f 1/1 2/2 3", "indices of texture coordinates that the file lacks are left out: 2"),
        ("f 1//-1 2//9 3", "indices of normals that the file lacks are left out: 2"),
        ("f 1 2\nf 1\nf 1 2 3", "faces of fewer than three corners are left out: 2"),
        ("v nan 0 0\nf 1 2 3", "unused vertices without finite coordinates are left out: 1"),
        ("v 0 0 1 1 nan 0\nf 1 2 5", "colours of vertices without finite numbers are left out: 1"),
    ] {
        let loaded = parse(&format!("{SQUARE}{lines}\n")).unwrap();
        assert!(
            loaded.warnings.iter().any(|w| w.contains(warning)),
            "{lines}: {:?}",
            loaded.warnings
        );
        let mesh = loaded.mesh;
        assert_eq!((mesh.faces(), mesh.corners.len()), (1, 3), "{lines}");
        let corner = mesh.corners[2];
        assert_eq!((corner.uv, corner.normal, corner.colour), (NONE, NONE, NONE), "{lines}");
    }
    // Programs write texture coordinates and normals behind the faces, too.
    let mesh = mesh("f 1/1/1 2/1/1 3/1/1\nvt 0.5 0.5\nvn 0 0 1\n");
    assert_eq!((mesh.corners[2].uv, mesh.corners[2].normal), (0, 0));
}

/// Vertices that no face uses, and creases at them, are no part of the mesh.
#[test]
fn unused_vertices_are_dropped() {
    let tags =
        "t crease 2/1/0 0 2 1\nt crease 2/1/0 1 2 3\nt corner 1/1/0 0 2\nt corner 1/1/0 3 4\n";
    let loaded = parse(&format!("v 900 0 0\n{SQUARE}f 2 3 4\n{tags}")).unwrap();
    assert_eq!((loaded.unused_positions, loaded.mesh.positions.len()), (2, 3));
    assert_eq!(positions(&loaded.mesh), [0, 1, 2]);
    let creases: Vec<_> = loaded.mesh.creases.iter().map(|c| (c.positions, c.sharpness)).collect();
    assert_eq!(creases, [([0, 1], 3.0)]);
    assert_eq!(loaded.mesh.sharp_corners, [(2, 4.0)]);
    assert_eq!(parse("v 1 2 3\n").unwrap().mesh.positions.len(), 1);
}

#[test]
fn colours_of_zbrush_are_comments() {
    let colours = "#MRGB FFFF000000330000\n#MRGB 000000FFFFFFFFFF\n";
    let mesh = mesh(&format!("#MRGB block\n{colours}# End of MRGB block\nf 1 2 3\nf 1 3 4\n"));
    let of = |at: usize| mesh.colours[mesh.corners[at].colour as usize];
    assert_eq!(of(0), [1.0, 0.0, 0.0, 1.0]);
    assert!((of(1)[0] - 0.033_104_8).abs() < 1e-5 && of(1)[1..] == [0.0, 0.0, 1.0]);
    assert_eq!((of(2), of(5)), ([0.0, 0.0, 1.0, 1.0], [1.0; 4]));
}

#[test]
fn opacity_roughness_and_metalness_of_materials() {
    let material = |lines: &str| {
        let library = format!("newmtl m\nKd 1 0 0\n{lines}\n");
        let text = format!("{SQUARE}mtllib a.mtl\nusemtl m\nf 1 2 3 4\n");
        let read = read(text.as_bytes(), Path::new("a.obj"), &mut |_| Ok(library.clone().into()));
        let Loaded { mesh, warnings, .. } = read.unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        mesh.materials[0].clone()
    };
    for (lines, opacity) in [
        ("d 0.25", Some(0.25)),
        ("d -halo 0.5", Some(0.5)),
        ("Tr 0.75", Some(0.25)),
        ("Tr 1\nd 0.5", Some(0.5)),
        ("Tr 1", None),
        ("d 1", None),
    ] {
        assert_eq!(material(lines).opacity, opacity, "{lines}");
    }
    let facets =
        |metalness, roughness| Some(Microfacets::Metallic { metalness, roughness, texture: None });
    assert_eq!(material("Pr 0.25\nPm 1").microfacets, facets(1.0, 0.25));
    assert_eq!(material("Pm 1").microfacets, facets(1.0, 0.5));
    assert_eq!(material("Ns 100").microfacets, None);
}

/// Scale, offset, clamping and range of a texture in a material library.
#[test]
fn options_of_textures_are_applied() {
    let read_with = |options: &str, image: [u8; 3]| {
        let mut tga = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 24, 0x20];
        tga.extend(image);
        let library = format!("newmtl m\nmap_Kd {options} t.tga\n");
        let text = format!("{SQUARE}vt 0.5 0.25\nmtllib a.mtl\nusemtl m\nf 1/1 2/1 3/1\n");
        read(text.as_bytes(), Path::new("a.obj"), &mut |name| {
            Ok(if name == "a.mtl" { library.clone().into_bytes() } else { tga.clone() })
        })
        .unwrap()
    };
    let plain = read_with("", [51, 102, 255]);
    assert_eq!(plain.mesh.uvs[plain.mesh.corners[0].uv as usize], [0.5, 0.75]);
    let placed = read_with("-s 3 2 1 -o 0.25 0 0 -clamp on -mm 0.2 0.5", [51, 102, 255]);
    assert!(placed.warnings.is_empty(), "{:?}", placed.warnings);
    // u is 0.5 * 3 + 0.25; v, which points up in the file, is 0.25 * 2.
    assert_eq!(placed.mesh.uvs[placed.mesh.corners[0].uv as usize], [1.75, 0.5]);
    let texture = &placed.mesh.textures[0];
    assert_eq!(texture.sampler.wrap, [Wrap::Clamp; 2]);
    assert_eq!(texture.texels[0][..3], [179, 102, 77]);
    // Another texture of the material has options of its own.
    let both = read_with("-s 3 2 1 -o 0.25 0 0 t.tga\nmap_Ke -s 6 4 1", [0; 3]);
    assert!(both.warnings.is_empty(), "{:?}", both.warnings);
    let placed = both.mesh.uvs[both.mesh.corners[0].uv as usize];
    let [first, second] = [0, 1].map(|at| both.mesh.textures[at].uv_map.point(placed));
    assert_eq!((first, second), ([1.75, 0.5], [3.0, 0.0]));
    let warned = read_with("-imfchan r -t 1 1 1", [0; 3]).warnings;
    assert_eq!(warned, ["options of textures are left out: -imfchan, -t"]);
}

#[test]
fn colours_of_0_to_255_are_divided_with_a_warning() {
    let loaded = parse("v 0 0 0 255 0 51\nv 1 0 0 1 2 3\nv 0 1 0 0 0 0\nf 1 2 3\n").unwrap();
    let warning = "colours of vertices reach 255: they are read as 0 to 255 instead of 0 to 1";
    assert_eq!(loaded.warnings, [warning]);
    let decoded = |c: f32| {
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    let expected = [[1.0, 0.0, decoded(0.2)], [1.0, 2.0, 3.0].map(|c| decoded(c / 255.0))];
    for (colour, expected) in loaded.mesh.colours.iter().zip(expected) {
        let off = colour.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f32::max) < 1e-6, "{colour:?} {expected:?}");
    }
}

#[test]
fn textures_lie_beside_their_library_or_beside_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, red: u8| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        RgbImage::from_pixel(1, 1, Rgb([red, 0, 0])).save(path).unwrap();
    };
    write("materials/images/a.png", 10);
    write("images/a.png", 20);
    write("images/b.png", 30);
    write("shared/c.png", 40);
    let mesh = format!("mtllib materials/m.mtl\n{SQUARE}vt 0 0\nusemtl m\nf 1/1 2/1 3/1\n");
    let path = folder.path().join("a.obj");
    fs::write(&path, mesh).unwrap();
    for (name, red) in [
        ("images/a.png", Some(10)),
        ("images/b.png", Some(30)),
        ("../shared/c.png", Some(40)),
        ("../../shared/none.png", None),
        ("images/none.png", None),
    ] {
        let library = folder.path().join("materials/m.mtl");
        fs::write(library, format!("newmtl m\nmap_Kd {name}\n")).unwrap();
        let loaded = load(&path, &quadrille::Task::NEVER).unwrap();
        let found = loaded.mesh.textures.first().map(|texture| texture.texels[0][0]);
        assert_eq!(found, red, "{name}");
        assert_eq!(loaded.warnings.len(), usize::from(red.is_none()), "{:?}", loaded.warnings);
    }
}

#[test]
fn textures_may_be_bmp_and_tga() {
    let folder = tempfile::tempdir().unwrap();
    let picture = RgbaImage::from_fn(3, 2, |x, y| Rgba([x as u8, y as u8, 9, 255]));
    for (name, format) in [("a.bmp", ImageFormat::Bmp), ("a.TGA", ImageFormat::Tga)] {
        let path = folder.path().join(name);
        picture.save_with_format(&path, format).unwrap();
        let texture = Texture::read(&path).unwrap();
        assert_eq!((texture.width, texture.height), (3, 2), "{name}");
        assert_eq!(texture.texels[4], [1, 1, 9, 255], "{name}");
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            // A truncated file is refused, unless all of its texels are present.
            let Ok(texture) = Texture::read(&path) else {
                continue;
            };
            assert_eq!(texture.texels.len(), 6, "{name} of {length} bytes");
        }
    }
}
