//! Meshes far from the origin, as in coordinates of maps, look like the same meshes near it.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nalgebra::{Matrix3, Vector3};
use quadrille::deferred::camera::lens::Lens;
use quadrille::deferred::camera::motion::{CameraMotion, RigidMotion, SceneMotion};
use quadrille::deferred::camera::shutter::ShutterView;
use quadrille::geometry::files::{BezierPatches, Loaded, parse};
use quadrille::mesh::result::MeshResult;
use quadrille::{Camera, Frame, Intrinsics, MeshDrawSettings, Protocol, compare, draw_mesh};

/// A place on a map, in metres.
const FAR: [f64; 3] = [500_123.0, 4_512_345.0, 812.0];
/// Vertices along a side of the sheet.
const SIDE: u32 = 25;
/// Least PSNR of the same mesh at two places. Positions are equal there; cameras differ by rounding of f64.
const LEAST_DB: f64 = 90.0;

fn read(text: &str, name: &str) -> Loaded {
    let no_files = &mut |name: &str| panic!("{name}");
    parse(text.as_bytes(), Path::new(name), no_files).unwrap()
}

/// A wavy sheet of 2 m before a camera at `origin` that looks along +z.
fn points() -> Vec<[f64; 3]> {
    let axis = |i: u32| f64::from(i) / 12.0 - 1.0;
    let all = (0..SIDE * SIDE).map(|i| (axis(i % SIDE), axis(i / SIDE)));
    all.map(|(x, y)| [x, y, 3.0 + 0.1 * (5.0 * x).sin()]).collect()
}

fn triangles() -> impl Iterator<Item = [u32; 3]> {
    let cells = (0..SIDE - 1).flat_map(|y| (0..SIDE - 1).map(move |x| y * SIDE + x));
    cells.flat_map(|a| [[a, a + SIDE, a + 1], [a + 1, a + SIDE, a + SIDE + 1]])
}

fn camera(origin: [f64; 3]) -> Camera {
    let lens = Intrinsics::from_vertical_fov(128, 128, 0.9);
    let camera = Camera::new("front", lens, Matrix3::identity(), Vector3::zeros());
    camera.unwrap().relative_to(origin.map(|axis| -axis)).into_owned()
}

fn drawn(loaded: &Loaded, origin: [f64; 3]) -> (Frame, MeshResult) {
    draw_mesh(&loaded.mesh, &camera(origin), &MeshDrawSettings::default()).unwrap()
}

fn psnr_db(a: &Frame, b: &Frame) -> f64 {
    compare(a, b, Protocol::Float).unwrap().psnr_db.unwrap_or(f64::INFINITY)
}

/// Compares the mesh of `file` near zero and far from it.
fn check(file: impl Fn([f64; 3]) -> Loaded) {
    let (near, far) = (file([0.0; 3]), file(FAR));
    assert_eq!(near.mesh.origin, [0.0; 3]);
    assert!(far.mesh.origin[1] > 4.5e6, "{:?}", far.mesh.origin);
    assert!(far.warnings.is_empty(), "{:?}", far.warnings);
    let ((near, near_counts), (far, counts)) = (drawn(&near, [0.0; 3]), drawn(&far, FAR));
    assert!(near_counts.pixels_covered > 5000);
    assert_eq!(near_counts.pixels_covered, counts.pixels_covered);
    let db = psnr_db(&near, &far);
    assert!(db > LEAST_DB, "{db} dB");
}

#[test]
fn obj_keeps_detail_far_from_the_origin() {
    check(|origin| {
        let mut text = String::new();
        for p in points() {
            let [x, y, z] = [0, 1, 2].map(|axis| p[axis] + origin[axis]);
            text += &format!("v {x} {y} {z}\n");
        }
        for t in triangles() {
            let [a, b, c] = t.map(|v| v + 1);
            text += &format!("f {a} {b} {c}\n");
        }
        read(&text, "sheet.obj")
    });
}

fn ply(origin: [f64; 3], kind: &str) -> Loaded {
    let mut text = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty {kind} x\nproperty {kind} y\nproperty {kind} z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        SIDE * SIDE,
        triangles().count(),
    );
    for p in points() {
        let [x, y, z] = [0, 1, 2].map(|axis| p[axis] + origin[axis]);
        text += &format!("{x} {y} {z}\n");
    }
    for [a, b, c] in triangles() {
        text += &format!("3 {a} {b} {c}\n");
    }
    read(&text, "sheet.ply")
}

#[test]
fn ply_in_double_precision_keeps_detail_far_from_the_origin() {
    check(|origin| ply(origin, "double"));
}

#[test]
fn ply_in_single_precision_warns_of_lost_detail() {
    assert!(ply([0.0; 3], "float").warnings.is_empty());
    let warnings = ply(FAR, "float").warnings;
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}");
    };
    assert!(warning.contains("steps of 5.00e-1"), "{warning}");
}

/// The sheet in a node at `origin`, with a light beside it and a camera.
fn gltf(origin: [f64; 3]) -> Loaded {
    let floats = points().into_iter().flatten();
    let positions: Vec<u8> = floats.flat_map(|v| (v as f32).to_le_bytes()).collect();
    let indices: Vec<u8> = triangles().flatten().flat_map(u32::to_le_bytes).collect();
    let (at, end) = (positions.len(), indices.len());
    let uri = STANDARD.encode([positions, indices].concat());
    read(
        &format!(
            r#"{{"asset":{{"version":"2.0"}},"extensionsUsed":["KHR_lights_punctual"],"scene":0,
            "extensions":{{"KHR_lights_punctual":{{"lights":[{{"type":"point","intensity":3}}]}}}},
            "scenes":[{{"nodes":[0]}}],"nodes":[
            {{"children":[1,2,3],"translation":{origin:?}}},{{"mesh":0}},
            {{"translation":[0.5,-0.5,2],"extensions":{{"KHR_lights_punctual":{{"light":0}}}}}},
            {{"camera":0,"translation":[0,0,5]}}],
            "cameras":[{{"type":"perspective","perspective":{{"yfov":0.9,"znear":0.1}}}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":{},"type":"VEC3"}},
            {{"bufferView":1,"componentType":5125,"count":{},"type":"SCALAR"}}],
            "bufferViews":[{{"buffer":0,"byteLength":{at}}},{{"buffer":0,"byteOffset":{at},"byteLength":{end}}}],
            "buffers":[{{"byteLength":{},"uri":"data:application/octet-stream;base64,{uri}"}}]}}"#,
            at / 12,
            end / 4,
            at + end,
        ),
        "sheet.gltf",
    )
}

#[test]
fn gltf_keeps_detail_and_lights_under_a_far_node() {
    check(gltf);
    let far = gltf(FAR);
    assert_eq!(far.cameras[0].eye, [FAR[0], FAR[1], FAR[2] + 5.0]);
    let dark = {
        let mut loaded = gltf(FAR);
        loaded.mesh.lights.clear();
        drawn(&loaded, FAR).0
    };
    assert!(psnr_db(&dark, &drawn(&far, FAR).0) < 30.0, "the light of the file lights nothing");
}

#[test]
fn bezier_patches_keep_detail_far_from_the_origin() {
    let text = |origin: [f64; 3]| {
        let numbers: Vec<_> = (1..=16).map(|n: u32| n.to_string()).collect();
        let mut text = format!("1\n{}\n16\n", numbers.join(","));
        for i in 0..16_u32 {
            let p = [f64::from(i % 4) / 8.0, f64::from(i / 4) / 8.0, 0.0];
            let [x, y, z] = [0, 1, 2].map(|axis| p[axis] + origin[axis]);
            text += &format!("{x},{y},{z}\n");
        }
        BezierPatches::parse(text.as_bytes(), Path::new("patch.bpt")).unwrap()
    };
    let (near, far) = (text([0.0; 3]), text(FAR));
    assert_eq!((near.origin, far.origin), ([0.0; 3], FAR));
    assert_eq!(near.points, far.points);
}

#[test]
fn draws_turn_about_the_same_point_far_from_the_origin() {
    let project = |origin: [f64; 3]| {
        let turn = RigidMotion {
            displacement: Vector3::new(0.1, 0.0, 0.0),
            rotation: Vector3::new(0.0, 0.5, 0.0),
            centre: Vector3::from(origin) + Vector3::new(0.0, 0.0, 3.0),
        };
        let motion = SceneMotion {
            camera: CameraMotion {
                displacement: Vector3::new(0.0, 0.2, 0.0),
                rotation: Vector3::new(0.0, 0.0, 0.3),
            },
            draws: vec![(0..1, turn)],
        };
        let view = ShutterView::new(&camera(origin), 0.1, Lens::PINHOLE, motion).unwrap();
        let view = view.relative_to(origin);
        view.project(&view.placements(0), [0.25, 0.5, 3.5])
    };
    let pairs = project([0.0; 3]).into_iter().zip(project(FAR));
    for (near, far) in pairs.flat_map(|(near, far)| near.into_iter().zip(far)) {
        assert!((near - far).abs() < 1e-5, "{near} and {far}");
    }
}
