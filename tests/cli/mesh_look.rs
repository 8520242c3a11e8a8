//! The `mesh` command: light, cameras of the file, front, layers.

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::shared;

/// A triangle with a camera and a light.
fn document() -> Value {
    let corners = [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let bytes: Vec<u8> = corners.as_flattened().iter().flat_map(|v| v.to_le_bytes()).collect();
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&bytes));
    let lens = json!({"yfov": 0.7, "znear": 0.1, "aspectRatio": 2.0});
    let sun = json!({"type": "directional", "intensity": 3.0});
    json!({
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0, 1, 2]}],
        "nodes": [
            {"mesh": 0},
            {"name": "seat", "camera": 0, "translation": [0.3, 0.3, 3.0]},
            {"extensions": {"KHR_lights_punctual": {"light": 0}}}
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": uri}],
        "cameras": [{"type": "perspective", "perspective": lens}],
        "extensionsUsed": ["KHR_lights_punctual"],
        "extensions": {"KHR_lights_punctual": {"lights": [sun]}}
    })
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lit.gltf"), document().to_string()).unwrap();
    let triangle = "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    fs::write(folder.path().join("plain.obj"), triangle).unwrap();
    folder
}

/// Exit code, standard output and standard error of `mesh`.
fn mesh(folder: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .arg("mesh")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn cameras_of_the_file_are_named_and_drawn() {
    let folder = folder();
    let (code, _, err) = mesh(folder.path(), "lit.gltf -v --width 64");
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("the file holds cameras: seat"), "{err}");
    for view in ["seat", "0", "all"] {
        let arguments = format!("lit.gltf --view {view} --height 100 --json");
        let (code, out, err) = mesh(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{err}");
        let row: Value = serde_json::from_str(&out).unwrap();
        let view = &row["rows"][0]["view"];
        assert_eq!(*view, json!({"name": "seat", "width": 200, "height": 100}));
        // The triangle covers half of 1 by 1 world units, 100 / (2 tan 0.35 3) pixels each.
        let side = 100.0 / (2.0 * 0.35_f64.tan() * 3.0);
        let covered = row["rows"][0]["pixels_covered"].as_f64().unwrap();
        assert!((covered - side * side / 2.0).abs() < 3.0 * side, "{covered}");
    }
    for (arguments, said) in [
        ("lit.gltf --view 7", "7"),
        ("lit.gltf --view seat --fov 30", "--fov"),
        ("plain.obj --light file", "--light"),
        ("plain.obj --front up", "+x, -x"),
        ("plain.obj --exposure nan", "expected a number"),
    ] {
        let (code, _, err) = mesh(folder.path(), arguments);
        assert_eq!(code, Some(2), "{arguments}: {err}");
        assert!(err.contains(said), "{arguments}: {err}");
    }
}

#[test]
fn light_and_front_change_the_picture() {
    let folder = folder();
    let mut pictures = Vec::new();
    for light in ["auto", "file", "headlight", "sky", "headlight --exposure 1"] {
        let arguments = format!("lit.gltf --view 0 --width 40 --light {light} -o picture.png");
        let (code, _, err) = mesh(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{light}: {err}");
        pictures.push(fs::read(folder.path().join("picture.png")).unwrap());
    }
    assert_eq!(pictures[0], pictures[1]);
    for (at, picture) in pictures.iter().enumerate().skip(1) {
        let others = pictures.iter().enumerate().skip(1);
        assert!(others.filter(|(k, _)| *k != at).all(|(_, other)| other != picture), "{at}");
    }
    let eye = |flags: &str| -> Vec<f64> {
        let (_, _, err) = mesh(folder.path(), &format!("plain.obj -v --width 40 {flags}"));
        let said = err.split("--eye ").nth(1).unwrap().split(' ').next().unwrap();
        said.split(',').map(|v| v.parse().unwrap()).collect()
    };
    let (front, back, left) = (eye(""), eye("--front -z"), eye("--front -x"));
    assert!(front[2] > 1.0 && back[2] < -0.5 && left[0] < -0.5, "{front:?} {back:?} {left:?}");
    assert!(eye("--up 0,0,1")[1] < -0.5);
}

#[test]
fn layers_are_written_beside_the_picture() {
    let folder = folder();
    let layers = "--aov depth,normal,id,coverage,shading-rate";
    let (code, _, err) = mesh(folder.path(), &format!("plain.obj --width 32 {layers} -o all.exr"));
    assert_eq!(code, Some(0), "{err}");
    let bytes = fs::read(folder.path().join("all.exr")).unwrap();
    for channel in ["Z", "N.X", "N.Z", "Id.X", "Alpha.A", "Count.X"] {
        let name = [channel.as_bytes(), &[0]].concat();
        assert!(bytes[..1024].windows(name.len()).any(|w| w == name), "{channel}");
    }
    let units = "--method none,qfm,reyes";
    let arguments = format!("plain.obj --width 32 {units} {layers} -o {{method}}.{{aov}}.npy");
    let (code, _, err) = mesh(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{err}");
    for name in ["rgba", "depth", "normal", "id", "coverage", "shading-rate"] {
        for variant in ["none-4x", "qfm-32-4x", "reyes-4x"] {
            let path = folder.path().join(format!("{variant}.{name}.npy"));
            assert!(path.is_file(), "{variant} {name}");
        }
    }
    for (arguments, said) in [
        ("plain.obj --aov depth -o a.jpg", ".exr or .npy"),
        ("plain.obj --aov depth -o a.npy", "{aov}"),
        ("plain.obj --aov depth,depth -o a.exr", "depth twice"),
        ("plain.obj --aov depth", "--output"),
        ("plain.obj --aov depth --crop 0,0,4,4 -o a.exr", "--crop"),
        ("plain.obj --aov depth --method none,qfm -o a.exr", "{method}"),
    ] {
        let (code, _, err) = mesh(folder.path(), arguments);
        assert_eq!(code, Some(2), "{arguments}: {err}");
        assert!(err.contains(said), "{arguments}: {err}");
    }
}

/// The depths of a mesh's picture from the default viewpoint.
fn depths(folder: &Path, file: &Path, flags: &str) -> Vec<f32> {
    let file = file.display();
    let arguments = format!("{file} --width 96 --height 72 --aov depth -o a.{{aov}}.npy {flags}");
    let (code, _, err) = mesh(folder, &arguments);
    assert_eq!(code, Some(0), "{arguments}: {err}");
    let bytes = fs::read(folder.join("a.depth.npy")).unwrap();
    let (values, _) = bytes[bytes.len() - 96 * 72 * 4..].as_chunks::<4>();
    values.iter().map(|&v| f32::from_le_bytes(v)).collect()
}

#[test]
fn the_nearest_walls_of_shared_meshes_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "bigguy/bigguy.obj",
        "dxsdk_subd_cages/guy3.obj",
        "dxsdk_subd_cages/head.obj",
        "dxsdk_subd_cages/shipquads.obj",
        "flighthelmet/FlightHelmet.gltf",
        "hairy_object/hair_ribbons.ply",
        "hairy_object/TestObject1.obj",
        "monsterfrog/monsterfrog.obj",
        "mountain/mountain.obj",
        "osd_shapes/catmark_car.obj",
        "osd_shapes/catmark_lefthanded.obj",
        "osd_shapes/catmark_rook.obj",
        "scorpion/scorpion.obj",
        "shadowcolumns/testscene.obj",
        "spot/spot_triangulated.obj",
        "teaset_bezier/teacup",
        "teaset_bezier/teapot",
        "teaset_bezier/teaspoon",
    ] {
        let Some(file) = shared::path(&format!("meshes/{name}")) else {
            return;
        };
        let by_default = depths(folder.path(), &file, "");
        let of_all = depths(folder.path(), &file, "--faces both");
        let covered = of_all.iter().filter(|depth| **depth > 0.0).count();
        assert!(covered > 300, "{name}: {covered} pixels");
        let is_other = |pair: &(&f32, &f32)| pair.0.to_bits() != pair.1.to_bits();
        let others = by_default.iter().zip(&of_all).filter(is_other).count();
        // Where surfaces cross, a back may lie in front.
        assert!(others * 1000 <= covered, "{name}: {others} of {covered}");
    }
}

#[test]
fn faces_share_normals_up_to_the_crease() {
    let folder = folder();
    let mut pictures = Vec::new();
    for crease in ["--crease 0", "", "--crease 180"] {
        let command = format!("plain.obj --width 32 --height 24 -o a.png {crease}");
        let (code, _, stderr) = mesh(folder.path(), &command);
        assert_eq!(code, Some(0), "{stderr}");
        pictures.push(fs::read(folder.path().join("a.png")).unwrap());
    }
    // The faces of a tetrahedron meet at 90 degrees and more.
    assert_eq!(pictures[0], pictures[1]);
    assert_ne!(pictures[1], pictures[2]);
    let (code, _, stderr) = mesh(folder.path(), "plain.obj -o b.png --crease 181");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--crease") && stderr.contains("0 to 180"), "{stderr}");
    let idle = "lit.gltf --width 32 --height 24 -o c.png --crease 30";
    let (code, _, stderr) = mesh(folder.path(), idle);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("--crease has no effect"), "{stderr}");
}

#[test]
fn lights_far_brighter_than_white_are_exposed_and_a_flag_repeats_the_picture() {
    let folder = folder();
    let mut scene = document();
    scene["extensions"]["KHR_lights_punctual"]["lights"][0]["intensity"] = json!(50_000.0);
    fs::write(folder.path().join("noon.gltf"), scene.to_string()).unwrap();
    let draw = |arguments: &str, picture: &str| {
        let (code, _, stderr) = mesh(folder.path(), &format!("{arguments} -o {picture}"));
        assert_eq!(code, Some(0), "{stderr}");
        (stderr, fs::read(folder.path().join(picture)).unwrap())
    };
    // log2(pi / 50,000) = -13.96.
    let (said, exposed) = draw("noon.gltf", "exposed.png");
    assert!(
        said.contains("50000.000 lux") && said.contains("an exposure of -14.0 stops"),
        "{said}"
    );
    let (said, given) = draw("noon.gltf --exposure -14", "given.png");
    assert!(!said.contains("lux"), "{said}");
    assert_eq!(exposed, given);
    // A light of about pi lux is shown as it is.
    let (said, lit) = draw("lit.gltf", "lit.png");
    assert!(!said.contains("lux"), "{said}");
    assert_eq!(lit, draw("lit.gltf --exposure 0", "zero.png").1);
}

#[test]
fn texels_count_in_the_limit_of_memory() {
    let folder = folder();
    let texture = image::RgbaImage::from_pixel(1024, 512, image::Rgba([200, 20, 20, 255]));
    texture.save(folder.path().join("red.png")).unwrap();
    let material = "newmtl red\nmap_Kd red.png\n";
    fs::write(folder.path().join("red.mtl"), material).unwrap();
    let square = "mtllib red.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1 4/1\n";
    fs::write(folder.path().join("red.obj"), square).unwrap();
    let (code, _, said) = mesh(folder.path(), "red.obj --width 64 --height 48 --memory 2M");
    assert_eq!((code, said.contains("left out")), (Some(0), false), "{said}");
    let (code, _, said) = mesh(folder.path(), "red.obj --width 64 --height 48 --memory 1M");
    assert_eq!(code, Some(0), "{said}");
    let reason = "\"red.png\" is left out: 1024 x 512 texels, which take 2 MiB; the limit on memory leaves 1 MiB";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn shared_meshes_stand_upright_and_show_their_fronts() {
    let Some(folder) = shared::path("") else {
        return;
    };
    let draw = |name: &str, flags: &str| {
        let (code, out, stderr) =
            mesh(&folder, &format!("{name} --width 64 --height 48 --json {flags}"));
        assert_eq!(code, Some(0), "{name}: {stderr}");
        let rows: Value = serde_json::from_str(&out).unwrap();
        let covered = rows["rows"][0]["pixels_covered"].as_u64().unwrap();
        (stderr.contains("the mesh stands along z"), covered)
    };
    for name in [
        "cases/meshes/public/face.obj",
        "cases/meshes/public/truck.obj",
        "cases/meshes/public/target.obj",
        "meshes/spot/spot_triangulated.obj",
        "meshes/monsterfrog/monsterfrog.obj",
        "meshes/osd_shapes/catmark_helmet.obj",
        "meshes/scorpion/scorpion.obj",
    ] {
        assert!(!draw(name, "").0, "{name} lies on its back");
    }
    for name in ["rook", "pawn", "bishop", "car", "pyramid"] {
        let name = format!("meshes/osd_shapes/catmark_{name}.obj");
        assert!(draw(&name, "").0, "{name} lies on its back");
    }
    for name in ["teapot", "teaspoon"] {
        let name = format!("meshes/teaset_bezier/{name}");
        assert!(draw(&name, "").0, "{name} lies on its back");
    }
    // Single-sided triangles that turn their backs to +z.
    assert!(draw("cases/meshes/public/22_vertex_color/22_vertex_color.gltf", "").1 > 50);
    let covered = ["i15_local.obj", "i15_utm.obj", "i15_utm_double.ply"]
        .map(|name| draw(&format!("cases/meshes/{name}"), "--up 0,0,1").1);
    assert!(covered[0] > 500 && covered.iter().all(|&count| count == covered[0]), "{covered:?}");
}
