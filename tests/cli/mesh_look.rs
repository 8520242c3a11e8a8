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
    let bytes: Vec<u8> = corners
        .as_flattened()
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let uri = format!(
        "data:application/octet-stream;base64,{}",
        STANDARD.encode(&bytes)
    );
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
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
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
        assert!(
            (covered - side * side / 2.0).abs() < 3.0 * side,
            "{covered}"
        );
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
        assert!(
            others
                .filter(|(k, _)| *k != at)
                .all(|(_, other)| other != picture),
            "{at}"
        );
    }
    let eye = |flags: &str| -> Vec<f64> {
        let (_, _, err) = mesh(folder.path(), &format!("plain.obj -v --width 40 {flags}"));
        let said = err
            .split("--eye ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        said.split(',').map(|v| v.parse().unwrap()).collect()
    };
    let (front, back, left) = (eye(""), eye("--front -z"), eye("--front -x"));
    assert!(
        front[2] > 1.0 && back[2] < -0.5 && left[0] < -0.5,
        "{front:?} {back:?} {left:?}"
    );
    assert!(eye("--up 0,0,1")[1] < -0.5);
}

#[test]
fn layers_are_written_beside_the_picture() {
    let folder = folder();
    let layers = "--aov depth,normal,id,coverage,shading-rate";
    let (code, _, err) = mesh(
        folder.path(),
        &format!("plain.obj --width 32 {layers} -o all.exr"),
    );
    assert_eq!(code, Some(0), "{err}");
    let bytes = fs::read(folder.path().join("all.exr")).unwrap();
    for channel in ["Z", "N.X", "N.Z", "Id.X", "Alpha.A", "Count.X"] {
        let name = [channel.as_bytes(), &[0]].concat();
        assert!(
            bytes[..1024].windows(name.len()).any(|w| w == name),
            "{channel}"
        );
    }
    let units = "--unit none,qfm,reyes";
    let arguments = format!("plain.obj --width 32 {units} {layers} -o {{variant}}.{{aov}}.npy");
    let (code, _, err) = mesh(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{err}");
    for name in ["rgba", "depth", "normal", "id", "coverage", "shading-rate"] {
        for variant in ["none-4x", "qfm-32-4x", "reyes-4x"] {
            let path = folder.path().join(format!("{variant}.{name}.npy"));
            assert!(path.is_file(), "{variant} {name}");
        }
    }
    for (arguments, said) in [
        ("plain.obj --aov depth -o a.png", ".exr or .npy"),
        ("plain.obj --aov depth -o a.npy", "{aov}"),
        ("plain.obj --aov depth,depth -o a.exr", "depth twice"),
        ("plain.obj --aov depth", "--output"),
        ("plain.obj --aov depth --crop 0,0,4,4 -o a.exr", "--crop"),
        (
            "plain.obj --aov depth --unit none,qfm -o a.exr",
            "{variant}",
        ),
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
    assert!(
        stderr.contains("--crease") && stderr.contains("0 to 180"),
        "{stderr}"
    );
    let idle = "lit.gltf --width 32 --height 24 -o c.png --crease 30";
    let (code, _, stderr) = mesh(folder.path(), idle);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("--crease has no effect"), "{stderr}");
}
