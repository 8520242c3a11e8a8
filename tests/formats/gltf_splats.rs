//! Splats in glTF as other programs lay them out: buffers beside the document or in data URIs, placed by
//! nodes, packed as SPZ.

use std::path::{Path, PathBuf};

use base64::Engine;
use quadrille::convert::Action;
use quadrille::nalgebra::{Matrix3, Quaternion, UnitQuaternion};
use quadrille::{
    LoadOptions, OutputFormat, Scene, SceneInput, Splat, SplatAxes, SplatOrder, load, write_table,
};
use serde_json::{Value, json};

use crate::conversion::{assert_same, synthetic, table};
use crate::packed_values::small_spz;
use crate::support::shared;

const SPLATTING: &str = "KHR_gaussian_splatting";

/// A GLB of 300 synthetic splats of degree 3: its document and its buffer, and the PLY it was made from.
fn parts(folder: &Path) -> (Value, Vec<u8>, PathBuf) {
    let (ply, glb) = (synthetic(folder, 300), folder.join("plain.glb"));
    write_table(&glb, &table(&ply), OutputFormat::Glb).unwrap();
    let file = std::fs::read(&glb).unwrap();
    let size = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let document = serde_json::from_slice(&file[20..20 + size(12)]).unwrap();
    (document, file[28 + size(12)..].to_vec(), ply)
}

fn covariance(splat: &Splat) -> Matrix3<f64> {
    let [w, x, y, z] = splat.rotation.map(f64::from);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
    let scales = Matrix3::from_diagonal(&splat.scale.map(f64::from).into());
    let axes = turn.to_rotation_matrix().matrix() * scales;
    axes * axes.transpose()
}

/// Compares two scenes; rotations by the ellipsoids that they make, which a half turn about an axis of
/// their own does not change.
fn assert_alike(name: &str, found: &Scene, expected: &Scene) {
    assert_eq!(found.splats.len(), expected.splats.len(), "{name}");
    for (row, (a, b)) in found.splats.iter().zip(expected.splats.iter()).enumerate() {
        let plain = |s: &Splat| {
            let mut scale = s.scale;
            scale.sort_by(f32::total_cmp);
            [&s.mean[..], &scale, &[s.opacity], s.sh.as_flattened()].concat()
        };
        for (at, (x, y)) in plain(&a).into_iter().zip(plain(&b)).enumerate() {
            let bound = 3e-6 * (1.0 + x.abs());
            assert!((x - y).abs() < bound, "{name}, row {row}, value {at}: {x} {y}");
        }
        let [a, b] = [covariance(&a), covariance(&b)];
        assert!((a - b).amax() < 1e-5 * a.amax(), "{name}, row {row}: {a} {b}");
    }
}

fn data_uri(bytes: &[u8]) -> Value {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    json!(format!("data:application/octet-stream;base64,{text}"))
}

fn write(folder: &Path, name: &str, document: &Value) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

#[test]
fn buffers_lie_beside_the_document_or_in_data_uris() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut document, buffer, _) = parts(folder);
    let expected = load(folder.join("plain.glb")).unwrap();
    std::fs::write(folder.join("the buffer.bin"), &buffer).unwrap();
    document["buffers"][0]["uri"] = json!("the%20buffer.bin");
    let beside = write(folder, "beside.gltf", &document);
    assert_same("beside", &expected, &load(&beside).unwrap(), 0.0);
    // Without a folder, there is no file beside it.
    let bytes = std::fs::read(&beside).unwrap();
    assert!(load(SceneInput::bytes(&bytes).named(&beside)).is_err());
    document["buffers"][0]["uri"] = data_uri(&buffer);
    let inside = document.to_string();
    let scene = load(SceneInput::bytes(inside.as_bytes()).named(Path::new("inside.gltf"))).unwrap();
    assert_eq!(scene.format.name(), "glTF");
    assert_same("inside", &expected, &scene, 0.0);
    document["buffers"][0]["uri"] = data_uri(&buffer[..buffer.len() - 8]);
    for uri in [
        json!("missing.bin"),
        json!("../the%20buffer.bin"),
        json!("https://example.org/the.bin"),
        json!("data:text/plain,abc"),
        document["buffers"][0]["uri"].clone(),
    ] {
        document["buffers"][0]["uri"] = uri;
        let error = load(write(folder, "wrong.gltf", &document)).unwrap_err();
        assert!(error.to_string().contains("buffers[0]"), "{error}");
    }
}

/// Nodes place splats by a translation, rotation and scale or by a matrix, and so do their parents.
#[test]
fn nodes_move_turn_and_scale_splats() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut document, buffer, ply) = parts(folder);
    document["buffers"][0]["uri"] = data_uri(&buffer);
    // A quarter turn about x, and about y, as x, y, z, w.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let turn_x = json!([half, 0.0, 0.0, half]);
    let turn_y = json!([0.0, half, 0.0, half]);
    // The axes of a PLY are the axes of glTF, turned by half a turn about z.
    let (move_by, turn_back_x) = ([-1.0, -2.0, 3.0], [-90.0, 0.0, 0.0]);
    let one_node = [Action::Scale(2.0), Action::Rotate(turn_back_x), Action::Translate(move_by)];
    let two_nodes = [
        Action::Rotate(turn_back_x),
        Action::Scale(2.0),
        Action::Rotate([0.0, -90.0, 0.0]),
        Action::Translate(move_by),
    ];
    let matrix =
        json!([2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 1.0, 2.0, 3.0, 1.0]);
    let by_parts =
        json!({"translation": [1.0, 2.0, 3.0], "rotation": turn_x, "scale": [2.0, 2.0, 2.0]});
    let parent = json!({"translation": [1.0, 2.0, 3.0], "rotation": turn_y, "scale": [2.0, 2.0, 2.0],
        "children": [1]});
    for (name, nodes, actions) in [
        ("parts", vec![by_parts], &one_node[..]),
        ("matrix", vec![json!({"matrix": matrix})], &one_node),
        ("parent", vec![parent, json!({"rotation": turn_x})], &two_nodes),
    ] {
        document["nodes"] = json!(nodes);
        let last = document["nodes"].as_array_mut().unwrap().last_mut().unwrap();
        last["mesh"] = json!(0);
        let found = load(write(folder, "placed.gltf", &document)).unwrap();
        let mut moved = table(&ply);
        for action in actions {
            action.apply(&mut moved, folder, &quadrille::Task::NEVER).unwrap();
        }
        let path = folder.join("moved.ply");
        write_table(&path, &moved, OutputFormat::Ply).unwrap();
        let expected = load(&path).unwrap();
        assert_alike(name, &found, &expected);
    }
    document["nodes"] = json!([{"mesh": 0, "scale": [0.0, 0.0, 0.0]}]);
    let error = load(write(folder, "wrong.gltf", &document)).unwrap_err();
    assert!(error.to_string().contains("can be inverted"), "{error}");
}

/// Covariances follow a scale by axis and a shear exactly; a reflection is exact for harmonics too.
#[test]
fn nodes_stretch_and_reflect_splats() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut document, buffer, ply) = parts(folder);
    document["buffers"][0]["uri"] = data_uri(&buffer);
    let plain = load(&ply).unwrap();
    // Shear of x by y, then a scale by axis. A half turn about z, from glTF to PLY, changes no such map.
    let map = Matrix3::new(2.0, 0.5, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.25);
    let [a, b, c] = [0, 1, 2].map(|column| <[f64; 3]>::from(map.column(column).into_owned()));
    let matrix = json!([a[0], a[1], a[2], 0, b[0], b[1], b[2], 0, c[0], c[1], c[2], 0, 0, 0, 0, 1]);
    document["nodes"] = json!([{"mesh": 0, "matrix": matrix}]);
    let found = load(write(folder, "stretched.gltf", &document)).unwrap();
    assert!(
        found.encoding.warnings[0].contains("nearest rotation"),
        "{:?}",
        found.encoding.warnings
    );
    for (a, b) in found.splats.iter().zip(plain.splats.iter()) {
        let expected = map * covariance(&b) * map.transpose();
        assert!((covariance(&a) - expected).amax() < 1e-5 * expected.amax(), "{a:?} {b:?}");
    }
    document["nodes"] = json!([{"mesh": 0, "scale": [-1.0, 1.0, 1.0]}]);
    let found = load(write(folder, "reflected.gltf", &document)).unwrap();
    assert!(found.encoding.warnings.is_empty());
    let mut reflected = table(&ply);
    let action = Action::Axes("LDF".parse().unwrap());
    action.apply(&mut reflected, folder, &quadrille::Task::NEVER).unwrap();
    let path = folder.join("reflected.ply");
    write_table(&path, &reflected, OutputFormat::Ply).unwrap();
    assert_alike("reflected", &found, &load(&path).unwrap());
}

/// The extension for SPZ: the packed splats are the same as in a file of their own, with its axes or others.
#[test]
fn packed_splats_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, _, ply) = parts(folder);
    let written = folder.join("packed.spz");
    write_table(&written, &table(&ply), OutputFormat::Spz3).unwrap();
    let files = [std::fs::read(&written).unwrap(), small_spz(2, None)];
    for (at, packed) in files.iter().enumerate() {
        let rows = if at == 0 { 300 } else { 2 };
        let mut document = json!({
            "asset": {"version": "2.0"},
            "extensionsUsed": ["KHR_gaussian_splatting", "KHR_gaussian_splatting_compression_spz_2"],
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "buffers": [{"byteLength": packed.len() + 12, "uri": data_uri(&[&[9; 12], &packed[..]].concat())}],
            "bufferViews": [{"buffer": 0, "byteOffset": 12, "byteLength": packed.len()}],
            "accessors": [{"componentType": 5126, "count": rows, "type": "VEC3"}],
            "meshes": [{"primitives": [{
                "mode": 0,
                "attributes": {"POSITION": 0},
                "extensions": {"KHR_gaussian_splatting": {"extensions": {
                    "KHR_gaussian_splatting_compression_spz_2": {"bufferView": 0},
                }}},
            }]}],
        });
        let spz = folder.join("alone.spz");
        std::fs::write(&spz, packed).unwrap();
        let inside = write(folder, "packed.gltf", &document);
        for axes in [None, Some(SplatAxes::RDF), Some("LUF".parse().unwrap())] {
            let options = LoadOptions::new(axes, 0);
            let read = |path| load(SceneInput::file(path).options(options)).unwrap();
            let (found, expected) = (read(&inside), read(&spz));
            assert_eq!(found.splats.len(), rows);
            assert!(found.encoding.compression.contains("SPZ"));
            assert_eq!(found.encoding.axes, axes.unwrap_or(SplatAxes::RUB));
            assert!(found.encoding.warnings.is_empty(), "{:?}", found.encoding.warnings);
            assert_alike("packed", &found, &expected);
        }
        document["bufferViews"][0]["byteLength"] = json!(packed.len() - 9);
        assert!(load(write(folder, "short.gltf", &document)).is_err());
        document["meshes"][0]["primitives"][0]["extensions"]["KHR_gaussian_splatting"]["extensions"]
            ["KHR_gaussian_splatting_compression_spz_2"]["bufferView"] = json!(7);
        let error = load(write(folder, "wrong.gltf", &document)).unwrap_err();
        assert!(error.to_string().contains("bufferViews[7]"), "{error}");
    }
}

/// A node on a map moves splats by a translation in double precision.
#[test]
fn a_node_far_from_the_origin_keeps_splats_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (mut document, buffer, ply) = parts(folder.path());
    document["buffers"][0]["uri"] = data_uri(&buffer);
    document["nodes"][0]["translation"] = json!([500_000.25, 4_600_000.0, 7.0]);
    let far = table(&write(folder.path(), "far.gltf", &document));
    let near = table(&ply);
    // From left, up, forward.
    for (name, offset) in [("x", -500_000.25), ("y", -4_600_000.0), ("z", 7.0)] {
        let [far, near] = [&far, &near].map(|table| table.values(name).unwrap());
        for row in 0..near.len() {
            let off = far.get(row) - offset - near.get(row);
            assert!(off.abs() < 1e-8, "{name}, row {row}: {off:e}");
        }
    }
}

/// Opacities beyond 1 by rounding are 1; others are dropped, and the reason says so.
#[test]
fn opacities_beyond_the_range_have_a_reason_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (document, buffer, _) = parts(folder);
    let name = format!("{SPLATTING}:OPACITY");
    let accessor = document["meshes"][0]["primitives"][0]["attributes"][&name].as_u64().unwrap();
    let accessor = &document["accessors"][usize::try_from(accessor).unwrap()];
    let view = accessor["bufferView"].as_u64().unwrap();
    let view = &document["bufferViews"][usize::try_from(view).unwrap()];
    let offset = |of: &Value| usize::try_from(of["byteOffset"].as_u64().unwrap_or(0)).unwrap();
    let first = offset(view) + offset(accessor);
    let read = |values: &[f32]| {
        let mut buffer = buffer.clone();
        for (at, value) in values.iter().enumerate() {
            buffer[first + 4 * at..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let mut document = document.clone();
        document["buffers"][0]["uri"] = data_uri(&buffer);
        load(write(folder, "opacities.gltf", &document)).unwrap()
    };
    let rounded = read(&[1.0 + f32::EPSILON, -f32::EPSILON, 1.0]);
    assert_eq!((rounded.dropped.total(), rounded.encoding.warnings.len()), (0, 0));
    let opacity = [0, 1, 2].map(|at| rounded.splats.splat(at).opacity);
    assert_eq!(opacity, [1.0, 0.0, 1.0]);
    let few = read(&[1.5, -0.25, f32::NAN]);
    assert_eq!((few.dropped.opacity_range, few.dropped.nan), (2, 1));
    let [warning] = &few.encoding.warnings[..] else { panic!("{:?}", few.encoding.warnings) };
    assert!(warning.contains("-0.25 to 1.5") && !warning.contains("logits"), "{warning}");
    let logits = read(&[4.0; 200]);
    assert!(logits.encoding.warnings[0].contains("logits"), "{:?}", logits.encoding.warnings);
}

#[test]
fn an_opacity_of_one_and_a_rounding_is_kept_in_a_file_of_the_field() {
    let Some(path) = shared::path("cases/splats-2/09-glb-drafts/opacity_1ulp.glb") else { return };
    let scene = load(path).unwrap();
    assert_eq!((scene.splats.len(), scene.dropped.total()), (200, 0));
}

/// The order that a document states is kept by a GLB, and named when another format loses it.
#[test]
fn the_order_of_splats_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    let (mut document, buffer, ply) = parts(folder.path());
    let pointer = format!("/meshes/0/primitives/0/extensions/{SPLATTING}");
    let stated = document.pointer(&format!("{pointer}/sortingMethod")).unwrap();
    assert_eq!(stated, "zDepth", "trainers sort by depth, and the scene states nothing else");
    document["buffers"][0]["uri"] = data_uri(&buffer);
    for (method, order, warns) in [
        (json!("zDepth"), SplatOrder::Depth, false),
        (json!("cameraDistance"), SplatOrder::Distance, false),
        (Value::Null, SplatOrder::Distance, false),
        (json!("byName"), SplatOrder::Distance, true),
        (json!(3), SplatOrder::Distance, true),
    ] {
        let extension = document.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
        match &method {
            Value::Null => drop(extension.remove("sortingMethod")),
            method => drop(extension.insert("sortingMethod".to_owned(), method.clone())),
        }
        let path = write(folder.path(), "ordered.gltf", &document);
        let scene = load(&path).unwrap();
        assert_eq!(scene.splats.order(), Some(order), "{method}");
        let warnings = &scene.encoding.warnings;
        assert_eq!(warnings.iter().any(|text| text.contains("sortingMethod")), warns, "{method}");
        // A GLB keeps it; a PLY says that it is lost.
        let kept = folder.path().join("kept.glb");
        write_table(&kept, &table(&path), OutputFormat::Glb).unwrap();
        assert_eq!(load(&kept).unwrap().splats.order(), Some(order), "{method}");
        let losses = OutputFormat::Ply.losses(&table(&path));
        let is_told = losses.iter().any(|text| text.contains("--order distance"));
        assert_eq!(is_told, order == SplatOrder::Distance, "{losses:?}");
    }
    assert_eq!(load(&ply).unwrap().splats.order(), None);
}
