//! Files of poses and camera paths: nerfstudio's viewer and exporter, splat-transform, `SuperSplat`.

use std::fs;

use nalgebra::Vector3;
use quadrille::{
    CameraFile, CameraOptions, CameraTransform, FisheyeLens, Projection, Result, load_cameras_with,
};
use serde_json::{Value, json};

/// Camera-to-world in OpenGL axes: at 5, 6, 7, along minus z.
const MATRIX: [f64; 16] =
    [1.0, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0, 0.0, 0.0, 0.0, 1.0];

fn load_with(document: &Value, options: &CameraOptions) -> Result<CameraFile> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("path.json");
    fs::write(&path, document.to_string()).unwrap();
    load_cameras_with(&path, options)
}

fn load(document: &Value) -> CameraFile {
    load_with(document, &CameraOptions::default()).unwrap()
}

fn error(document: &Value) -> String {
    let options = CameraOptions::default();
    load_with(document, &options).unwrap_err().to_string()
}

fn assert_near(a: Vector3<f64>, b: [f64; 3]) {
    assert!((a - Vector3::from(b)).norm() < 1e-9, "{a} is not {b:?}");
}

pub(crate) fn nerfstudio_path() -> Value {
    let frame = |fov: f64| json!({"camera_to_world": MATRIX, "fov": fov, "aspect": 1.5});
    json!({"camera_type": "perspective", "render_height": 40, "render_width": 60, "fps": 24, "seconds": 1,
        "camera_path": [frame(90.0), frame(60.0)]})
}

#[test]
fn a_camera_path_of_nerfstudio_has_a_camera_per_frame() {
    let file = load(&nerfstudio_path());
    assert_eq!(file.frame_rate, Some(24.0));
    assert_eq!(file.cameras[1].name, "frame_0001");
    let camera = &file.cameras[0];
    assert_eq!((camera.width, camera.height), (60, 40));
    assert!((camera.focal_px[0] - 20.0).abs() < 1e-12 && (camera.focal_px[1] - 20.0).abs() < 1e-12);
    assert_near(camera.eye(), [5.0, 6.0, 7.0]);
    let ahead = camera.view_from_world * Vector3::new(5.0, 6.0, 6.0) + camera.translation_in_view;
    assert_near(ahead, [0.0, 0.0, 1.0]);
    let mut path = nerfstudio_path();
    path["camera_type"] = "equirectangular".into();
    let panorama = load(&path);
    assert_eq!(panorama.cameras[0].projection, Projection::Equirectangular);
    path["camera_type"] = "fisheye".into();
    let fisheye = load(&path);
    let expected = Projection::Fisheye(FisheyeLens::EQUIDISTANT);
    assert_eq!(fisheye.cameras[0].projection, expected);
    assert_eq!(fisheye.cameras[0].focal_px, file.cameras[0].focal_px);
    assert!(panorama.warnings.is_empty() && fisheye.warnings.is_empty());
}

#[test]
fn poses_of_ns_export_take_their_lens_from_the_options() {
    let rows = [&MATRIX[..4], &MATRIX[4..8], &MATRIX[8..12]];
    let poses = json!([{"file_path": "images/frame_00002.jpg", "transform": rows}]);
    let message = error(&poses);
    assert!(message.contains("fov: expected a vertical field of view"), "{message}");
    let options = CameraOptions {
        fallback_fov_degrees: Some(90.0),
        fallback_size_px: Some([80, 60]),
        ..CameraOptions::default()
    };
    let file = load_with(&poses, &options).unwrap();
    assert_eq!(file.cameras[0].name, "frame_00002");
    assert!((file.cameras[0].focal_px[0] - 30.0).abs() < 1e-12);
    assert_near(file.cameras[0].eye(), [5.0, 6.0, 7.0]);
    assert!(file.warnings.is_empty());
    let moved = CameraOptions { transform: CameraTransform::Undo, ..options };
    let message = load_with(&poses, &moved).unwrap_err().to_string();
    assert!(message.contains("transform: expected none"), "{message}");
}

/// The tools of `PlayCanvas` show a trained scene turned by 180 degrees about z.
#[test]
fn frames_of_splat_transform_are_turned_to_the_axes_of_the_scene() {
    let file = load(&json!({"frameRate": 25, "frames": [
        {"position": [1, 2, 3], "target": [1, 2, 5], "fov": 90},
        {"position": [1, 2, 3], "target": [1, 2, 5], "up": [1, 0, 0]},
    ]}));
    assert_eq!(file.frame_rate, Some(25.0));
    let camera = &file.cameras[0];
    assert_near(camera.eye(), [-1.0, -2.0, 3.0]);
    assert_near(camera.view_from_world.row(2).transpose(), [0.0, 0.0, 1.0]);
    // y up there is -y here: down in the picture is +y.
    assert_near(camera.view_from_world.row(1).transpose(), [0.0, 1.0, 0.0]);
    assert_near(file.cameras[1].view_from_world.row(1).transpose(), [1.0, 0.0, 0.0]);
    assert_eq!((camera.width, camera.height), (1280, 720));
    assert!((camera.focal_px[1] - 360.0).abs() < 1e-9);
}

pub(crate) fn settings(smoothness: f64) -> Value {
    json!({"version": 2, "animTracks": [{"name": "fly", "duration": 2, "frameRate": 10, "loopMode": "repeat",
        "interpolation": "spline", "smoothness": smoothness, "keyframes": {"times": [0, 10], "values": {
            "position": [0, 0, 0, 2, 0, 0], "target": [0, 0, 1, 2, 0, 1], "fov": [60, 80]}}}],
        "cameras": [{"initial": {"position": [0, 0, 2], "target": [0, 0, 0], "fov": 75}}]})
}

#[test]
fn tracks_of_supersplat_are_sampled_frame_by_frame() {
    let file = load(&settings(1.0));
    assert_eq!((file.cameras.len(), file.frame_rate), (20, Some(10.0)));
    assert_near(file.cameras[0].eye(), [0.0, 0.0, 0.0]);
    assert_near(file.cameras[10].eye(), [-2.0, 0.0, 0.0]);
    // A loop of two keys half a period apart is symmetric.
    assert_near(file.cameras[5].eye(), [-1.0, 0.0, 0.0]);
    assert_near(file.cameras[15].eye(), [-1.0, 0.0, 0.0]);
    // The field of view belongs to the longer side.
    let tangent = 640.0 / file.cameras[0].focal_px[0];
    assert!((tangent - 30_f64.to_radians().tan()).abs() < 1e-12, "{tangent}");
    // Version 1: times in seconds, one field of view for all keys.
    let mut old = settings(0.0);
    let track = &mut old["animTracks"][0];
    track["keyframes"]["values"]["fov"] = Value::Null;
    track["keyframes"]["times"] = json!([0, 1]);
    track["frameRate"] = Value::Null;
    old["camera"] = json!({"fov": 60});
    let file = load(&old);
    assert_eq!((file.cameras.len(), file.frame_rate), (60, Some(30.0)));
    assert_near(file.cameras[30].eye(), [-2.0, 0.0, 0.0]);
}

#[test]
pub(crate) fn settings_without_a_track_have_still_cameras() {
    let mut still = settings(1.0);
    still["animTracks"] = json!([]);
    let file = load(&still);
    assert_eq!(file.cameras.len(), 1);
    assert_near(file.cameras[0].eye(), [0.0, 0.0, 2.0]);
    assert_eq!(file.frame_rate, None);
}

/// A change of a document, and words of the error that it causes.
type Damage = (fn(&mut Value), &'static str);

#[test]
fn errors_name_the_frame_or_key() {
    let path: [Damage; 5] = [
        (|p| p["camera_path"][1]["fov"] = json!(180), "camera_path[1].fov: expected degrees"),
        (|p| p["camera_path"][1]["camera_to_world"] = json!([1]), "camera_path[1].camera_to_world"),
        (|p| p["render_width"] = Value::Null, "\"render_width\""),
        (|p| p["fps"] = json!(0), "fps: expected a number above 0"),
        (|p| p["camera_path"] = json!([]), "at least one camera"),
    ];
    let track: [Damage; 6] = [
        (|p| p["animTracks"][0]["keyframes"]["times"] = json!([10, 0]), "ascending times"),
        (|p| p["animTracks"][0]["keyframes"]["times"] = json!([]), "ascending times"),
        (
            |p| p["animTracks"][0]["keyframes"]["values"]["fov"] = json!([60]),
            "fov: expected 2 numbers",
        ),
        (
            |p| p["animTracks"][0]["keyframes"]["values"]["fov"] = json!([60, 190]),
            "between 0 and 180",
        ),
        (|p| p["animTracks"][0]["duration"] = json!(1e9), "at most 108000 frames"),
        (
            |p| p["animTracks"][0]["keyframes"]["values"]["target"] = json!([0, 0, 0, 2, 0, 0]),
            "an eye that differs from the target",
        ),
    ];
    let start = [(nerfstudio_path(), &path[..]), (settings(1.0), &track[..])];
    for (whole, damages) in start {
        for (damage, words) in damages {
            let mut document = whole.clone();
            damage(&mut document);
            let message = error(&document);
            assert!(message.contains(words), "{message}\nwithout\n{words}");
        }
    }
}
