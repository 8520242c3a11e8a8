//! Cameras of nerfstudio in the world of the scene, and the names that stand in files.

use std::fs;
use std::path::Path;

use nalgebra::{Matrix3, Rotation3, Vector3};
use quadrille::{
    Camera, CameraFile, CameraOptions, CameraTransform, Result, load_cameras, load_cameras_with,
};
use serde_json::{Value, json};

/// A world that a `transforms.json` is in: COLMAP's, with x and y swapped and z turned, as
/// `ns-process-data` writes it.
const APPLIED: [[f64; 4]; 3] = [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0]];

fn camera_in_colmap() -> Camera {
    let lens = quadrille::Intrinsics::from_vertical_fov(64, 48, 0.8);
    let [eye, target, up] = [[1.0, 2.0, -5.0], [0.25, 0.0, 1.0], [0.0, -1.0, 0.1]];
    Camera::look_at("a", lens, eye.into(), target.into(), up.into()).unwrap()
}

fn rotation(rows: &[[f64; 4]; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|r, c| rows[r][c])
}

fn rows(rotation: &Matrix3<f64>, translation: Vector3<f64>) -> Value {
    let row = |r: usize| {
        let m = rotation.row(r);
        json!([m[0], m[1], m[2], translation[r]])
    };
    json!([row(0), row(1), row(2)])
}

/// The camera's pose as a matrix in OpenGL axes, after `applied`.
fn transforms(applied: Option<&[[f64; 4]; 3]>) -> Value {
    let camera = camera_in_colmap();
    let turned = applied.map_or(Matrix3::identity(), rotation);
    let signs = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
    let pose = turned * camera.view_from_world.transpose() * signs;
    let mut document = json!({
        "w": 64, "h": 48, "fl_x": camera.focal_px[0], "fl_y": camera.focal_px[1],
        "frames": [{"file_path": "images/frame_00001.jpg", "transform_matrix": rows(&pose, turned * camera.eye())}],
    });
    if let Some(applied) = applied {
        document["applied_transform"] = json!(applied);
    }
    document
}

fn write(folder: &Path, name: &str, document: &Value) {
    fs::write(folder.join(name), document.to_string()).unwrap();
}

fn load(folder: &Path, transform: CameraTransform) -> Result<CameraFile> {
    let options = CameraOptions { transform, ..CameraOptions::default() };
    load_cameras_with(folder.join("transforms.json"), &options)
}

/// Where a point of the picture of `camera` lies, for a point in its world.
fn seen(camera: &Camera, p: Vector3<f64>) -> [f64; 2] {
    let p = camera.view_from_world * p + camera.translation_in_view;
    [0, 1].map(|k| camera.focal_px[k] * p[k] / p.z + camera.principal_px[k])
}

fn assert_same_picture(a: &Camera, b: &Camera, move_point: &dyn Fn(Vector3<f64>) -> Vector3<f64>) {
    for p in [[0.0, 0.0, 0.0], [0.5, -0.25, 1.0], [-1.0, 0.5, 2.0]] {
        let p = Vector3::from(p);
        let (one, two) = (seen(a, p), seen(b, move_point(p)));
        let off = (one[0] - two[0]).abs() + (one[1] - two[1]).abs();
        assert!(off < 1e-9, "{one:?} {two:?}");
    }
}

/// The scene of nerfstudio is the scene of COLMAP after the stored transform; its pictures are the same.
#[test]
fn the_stored_transform_of_nerfstudio_is_found_and_completes_the_applied_one() {
    let folder = tempfile::tempdir().unwrap();
    let orientation = Rotation3::from_euler_angles(0.4, -0.2, 1.3).into_inner();
    let (turn, shift, scale) =
        (orientation * rotation(&APPLIED), Vector3::new(0.5, -1.0, 2.0), 0.125);
    let trained = |p: Vector3<f64>| (turn * p + shift) * scale;
    let stored = json!({"transform": rows(&turn, shift), "scale": scale});
    write(folder.path(), "transforms.json", &transforms(Some(&APPLIED)));
    let alone = load(folder.path(), CameraTransform::Found).unwrap();
    assert!(
        alone.warnings[0].contains("keep the file's applied_transform"),
        "{:?}",
        alone.warnings
    );
    let undone = load(folder.path(), CameraTransform::Undo).unwrap();
    assert_same_picture(&camera_in_colmap(), &undone.cameras[0], &|p| p);

    write(folder.path(), "dataparser_transforms.json", &stored);
    let found = load(folder.path(), CameraTransform::Found).unwrap();
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    assert!(found.remarks[0].contains("dataparser_transforms.json"), "{:?}", found.remarks);
    assert_same_picture(&camera_in_colmap(), &found.cameras[0], &trained);
    assert!((found.cameras[0].eye() - trained(camera_in_colmap().eye())).norm() < 1e-12);
    let kept = load(folder.path(), CameraTransform::Identity).unwrap();
    assert_eq!(kept.cameras, alone.cameras);

    // Without an applied transform, the file is in COLMAP's world.
    write(folder.path(), "transforms.json", &transforms(None));
    let found = load(folder.path(), CameraTransform::Found).unwrap();
    assert_same_picture(&camera_in_colmap(), &found.cameras[0], &trained);
    let message = load(folder.path(), CameraTransform::Undo).unwrap_err().to_string();
    assert!(message.contains("applied_transform, which can be undone"), "{message}");
}

#[test]
fn a_transform_beside_the_scene_or_given_is_applied_too() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    fs::create_dir(&model).unwrap();
    write(folder.path(), "transforms.json", &transforms(None));
    let (turn, shift) = (rotation(&APPLIED), Vector3::new(1.0, 2.0, 3.0));
    let stored = model.join("dataparser_transforms.json");
    let document = json!({"transform": rows(&turn, shift), "scale": 2});
    fs::write(&stored, document.to_string()).unwrap();
    let options =
        CameraOptions { scene: Some(model.join("splat.ply")), ..CameraOptions::default() };
    let path = folder.path().join("transforms.json");
    let found = load_cameras_with(&path, &options).unwrap();
    assert_same_picture(&camera_in_colmap(), &found.cameras[0], &|p| (turn * p + shift) * 2.0);
    let given = load(folder.path(), CameraTransform::File(stored.clone())).unwrap();
    assert_eq!(given.cameras, found.cameras);
    for (document, words) in [
        (json!({"transform": [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0]]}), "a rigid transform"),
        (json!({"transform": [[1, 0, 0, 0]]}), "rows"),
        (json!({"transform": rows(&turn, shift), "scale": 0}), "scale: expected a number above 0"),
        (json!({"scale": 1}), "top level"),
    ] {
        fs::write(&stored, document.to_string()).unwrap();
        let wrong = load(folder.path(), CameraTransform::File(stored.clone()));
        let message = wrong.unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

/// `cx` and `cy`, which other tools write into a cameras.json, are honoured and written back.
#[test]
fn principal_points_of_a_cameras_json_are_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cameras.json");
    let entry = json!([{"img_name": "sub/a.jpg", "width": 980, "height": 545, "fx": 640, "fy": 650, "cx": 400,
        "cy": 200.5, "position": [0, 0, -5], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]);
    fs::write(&path, entry.to_string()).unwrap();
    let file = load_cameras(&path).unwrap();
    assert_eq!(file.cameras[0].principal_px, [400.0, 200.5]);
    assert_eq!(
        (file.cameras[0].name.as_str(), file.names_in_file[0].as_str()),
        ("sub_a", "sub/a.jpg")
    );
    fs::write(&path, quadrille::write_inria_json(&file.cameras)).unwrap();
    assert_eq!(load_cameras(&path).unwrap().cameras, file.cameras);
}
