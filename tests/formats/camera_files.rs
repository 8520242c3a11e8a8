//! Camera files in JSON: poses, intrinsics, names, and the place that an error names.

use std::path::PathBuf;

use nalgebra::Vector3;
use proptest::prelude::*;
use quadrille::{
    CameraFile, CameraOptions, DistortedLens, DistortionModel, Error, FisheyeLens, Projection,
    Result, load_cameras as load, load_cameras_with, write_inria_json,
};

use crate::support::shared;

/// A `cameras.json` of two cameras.
pub(crate) const INRIA: &str = r#"[
 {"id": 0, "img_name": "a/b", "width": 200, "height": 100, "position": [1, 2, 3],
  "rotation": [[0, 0, 1], [1, 0, 0], [0, 1, 0]], "fx": 150.5, "fy": 151},
 {"id": 1, "width": 200.0, "height": 100, "position": [0, 0, -4],
  "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "fx": 150.5, "fy": 151, "extra": null}
]"#;

/// A `transforms.json` with intrinsics at the top level; the second frame overrides some of them.
pub(crate) const TRANSFORMS: &str = r#"{"fl_x": 100, "fl_y": 101, "cx": 33, "cy": 24, "w": 64.0, "h": 48, "k1": 0.0,
 "camera_model": "OPENCV", "frames": [
 {"file_path": "./images/one.png", "transform_matrix": [[1,0,0,5],[0,1,0,6],[0,0,1,7],[0,0,0,1]]},
 {"file_path": "./images/two.png", "w": 640, "h": 480, "cx": 320, "cy": 240, "fl_x": 1000, "fl_y": 1000,
  "transform_matrix": [[1,0,0,5],[0,1,0,6],[0,0,1,7]]}]}"#;

fn in_file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn load_text(text: &str) -> Result<CameraFile> {
    load_bytes(text.as_bytes())
}

fn load_bytes(bytes: &[u8]) -> Result<CameraFile> {
    let (_folder, path) = in_file("c.json", bytes);
    load(&path)
}

#[test]
fn inria_rotations_are_camera_to_world() {
    let file = load_text(INRIA).unwrap();
    assert_eq!(file.cameras.len(), 2);
    let camera = &file.cameras[0];
    assert_eq!(camera.name, "a_b");
    assert_eq!(file.cameras[1].name, "view_001");
    assert!((camera.eye() - Vector3::new(1.0, 2.0, 3.0)).norm() < 1e-12);
    assert_eq!(camera.focal_px, [150.5, 151.0]);
    assert_eq!(camera.principal_px, [100.0, 50.0]);
    // The third column of the file's rotation, (1, 0, 0), is where the camera looks.
    let ahead = camera.view_from_world * Vector3::new(2.0, 2.0, 3.0) + camera.translation_in_view;
    assert!((ahead - Vector3::new(0.0, 0.0, 1.0)).norm() < 1e-12);
}

#[test]
fn written_cameras_come_back() {
    let cameras = load_text(INRIA).unwrap().cameras;
    let back = load_text(&write_inria_json(&cameras)).unwrap().cameras;
    assert_eq!(cameras, back);
}

#[test]
fn transforms_look_along_minus_z() {
    let file = load_text(TRANSFORMS).unwrap();
    let [one, two] = &file.cameras[..] else {
        panic!("{file:?}");
    };
    assert!(file.warnings.is_empty());
    assert_eq!((one.name.as_str(), two.name.as_str()), ("one", "two"));
    assert_eq!((one.width, one.height), (64, 48));
    assert_eq!(one.focal_px, [100.0, 101.0]);
    assert_eq!(one.principal_px, [33.0, 24.0]);
    assert_eq!(two.principal_px, [320.0, 240.0]);
    // One ahead (minus z in OpenGL) and one up.
    let p = one.view_from_world * Vector3::new(5.0, 7.0, 6.0) + one.translation_in_view;
    assert!((p - Vector3::new(0.0, -1.0, 1.0)).norm() < 1e-12);
}

#[test]
fn an_angle_of_view_needs_a_size() {
    let text = r#"{"camera_angle_x": 1.5707963267948966, "frames": [
        {"file_path": "./train/r_0", "transform_matrix": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}"#;
    let file = load_text(text).unwrap();
    assert_eq!((file.cameras[0].width, file.cameras[0].height), (800, 800));
    assert!((file.cameras[0].focal_px[0] - 400.0).abs() < 1e-9);
    assert_eq!(file.warnings.len(), 1);
    let (_folder, path) = in_file("t.json", text.as_bytes());
    let options = CameraOptions { fallback_size_px: Some([100, 50]), ..CameraOptions::default() };
    let file = load_cameras_with(&path, &options).unwrap();
    assert_eq!((file.cameras[0].width, file.cameras[0].height), (100, 50));
    assert!((file.cameras[0].focal_px[1] - 50.0).abs() < 1e-9);
    assert!(file.warnings.is_empty());
}

#[test]
fn fisheyes_and_panoramas_are_read_as_such() {
    let pinholes = load_text(TRANSFORMS).unwrap().cameras;
    let with_keys = |keys: &str| load_text(&TRANSFORMS.replace("\"k1\": 0.0", keys));
    let file = with_keys("\"k1\": 0.1, \"p2\": -0.01, \"k3\": 0.02").unwrap();
    assert!(
        file.remarks[0].contains("distortion of 2 of 2 cameras is drawn"),
        "{:?}",
        file.remarks
    );
    let expected = DistortedLens::new(DistortionModel::OpenCv, &[0.1, 0.0, 0.0, -0.01, 0.02]);
    assert_eq!(file.cameras[0].projection, Projection::Distorted(expected.unwrap()));
    assert_eq!(file.cameras[0].as_pinhole(), pinholes[0]);
    let error = with_keys("\"k4\": 0.1").unwrap_err().to_string();
    assert!(error.contains("k4: expected a k4 of 0"), "{error}");
    let fisheye = load_text(&TRANSFORMS.replace("\"OPENCV\"", "\"OPENCV_FISHEYE\"")).unwrap();
    assert!(fisheye.warnings.is_empty(), "{:?}", fisheye.warnings);
    let expected = Projection::Fisheye(FisheyeLens::EQUIDISTANT);
    assert_eq!(fisheye.cameras[0].projection, expected);
    assert_eq!(fisheye.cameras[0].as_pinhole(), pinholes[0]);
    let lens = "\"k1\": 0.1, \"k2\": -0.02, \"k3\": 0.003, \"k4\": 0.0004";
    let with_lens = |lens: &str| {
        let text = TRANSFORMS.replace("\"OPENCV\"", "\"OPENCV_FISHEYE\"");
        load_text(&text.replace("\"k1\": 0.0", lens))
    };
    let Projection::Fisheye(found) = with_lens(lens).unwrap().cameras[1].projection else {
        panic!("a fisheye");
    };
    assert_eq!(found.coefficients(), [0.1, -0.02, 0.003, 0.0004]);
    // Distortion beyond a polynomial of the angle.
    let tangential = with_lens("\"k1\": 0.1, \"p1\": 0.01, \"sx1\": 0.02").unwrap();
    let coefficients = [0.1, 0.0, 0.01, 0.0, 0.0, 0.0, 0.02];
    let expected = DistortedLens::new(DistortionModel::ThinPrismFisheye, &coefficients);
    assert_eq!(tangential.cameras[0].projection, Projection::Distorted(expected.unwrap()));
    let other = load_text(&TRANSFORMS.replace("\"OPENCV\"", "\"FISHEYE624\"")).unwrap();
    assert_eq!(other.cameras[0].projection, Projection::Fisheye(FisheyeLens::EQUIDISTANT));
    assert!(
        other.warnings[0].contains("of 2 FISHEYE624 frames is not read"),
        "{:?}",
        other.warnings
    );
    // The distance turns after 11 degrees, and what lies beyond is not drawn.
    let narrow = with_lens("\"k1\": -9.0").unwrap();
    assert!(
        matches!(narrow.cameras[0].projection, Projection::Fisheye(lens) if lens.max_angle() < 0.2)
    );
    let message = with_lens("\"k3\": 1e30").unwrap_err().to_string();
    assert!(message.contains("fisheye coefficients"), "{message}");
    assert!(message.contains("frames[0]"), "{message}");
    let panorama = load_text(&TRANSFORMS.replace("\"OPENCV\"", "\"EQUIRECTANGULAR\"")).unwrap();
    assert!(panorama.warnings.is_empty(), "{:?}", panorama.warnings);
    assert_eq!(panorama.cameras[0].projection, Projection::Equirectangular);
    // The whole sphere in 64 x 48 pixels, and the pose of the file.
    let focal_px = [32.0 / std::f64::consts::PI, 48.0 / std::f64::consts::PI];
    assert_eq!(panorama.cameras[0].focal_px, focal_px);
    assert_eq!(panorama.cameras[0].principal_px, [32.0, 24.0]);
    assert_eq!(panorama.cameras[0].eye(), pinholes[0].eye());
    let unknown = TRANSFORMS.replace("\"OPENCV\"", "\"ORTHOPHOTO\"");
    let message = load_text(&unknown).unwrap_err().to_string();
    assert!(message.contains("camera_model: expected a perspective, fisheye"), "{message}");
}

/// The fault of a file or, if others can be drawn, of its first camera that cannot.
fn fault(loaded: Result<CameraFile>) -> String {
    match loaded {
        Ok(file) => file.refused[0].error.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_the_place() {
    for (from, to, expected) in [
        (
            "[1, 2, 3]",
            "[1, 2]",
            "[0].position: expected an array of 3 numbers, found an array of 2 items",
        ),
        ("[0, 1, 0]]", "[0, 1, 0], []]", "[0].rotation: expected an array of 3 rows"),
        (
            "[[0, 0, 1]",
            "[[0, \"x\", 1]",
            "[0].rotation[0][1]: expected a finite number, found the string \"x\"",
        ),
        (
            "\"width\": 200,",
            "\"width\": 200.5,",
            "[0].width: expected a whole number of pixels, found 200.5",
        ),
        (
            "\"width\": 200,",
            "\"width\": -1,",
            "[0].width: expected a whole number of pixels, found -1",
        ),
        ("\"width\": 200,", "\"width\": 99999,", "width: expected 1 to 32768 pixels, found 99999"),
        ("\"fx\": 150.5,", "", "[0]: expected an object with \"fx\""),
        ("\"fx\": 150.5", "\"fx\": NaN", "finite numbers, found NaN"),
        ("[[0, 0, 1]", "[[0, 0, -1]", "[0]: camera \"a/b\": rotation: expected a right-handed"),
    ] {
        let message = fault(load_text(&INRIA.replacen(from, to, 1)));
        assert!(message.contains(expected), "{message}\nwithout\n{expected}");
    }
    let bad = TRANSFORMS.replace("[[1,0,0,5],[0,1,0,6],[0,0,1,7]]", "[[1,0,0,5],[0,1,0,6]]");
    let message = fault(load_text(&bad));
    assert!(message.contains("frames[1].transform_matrix"), "{message}");
    for (text, expected) in [
        ("{}", "\"frames\""),
        ("[]", "at least one camera"),
        ("{\"frames\": []}", "at least one camera"),
        ("3", "\"frames\""),
        ("{}", "found an object without keys"),
        (
            "",
            "expected a camera file: cameras.json, transforms.json or a COLMAP model, found an empty file",
        ),
        ("ply\nformat ascii 1.0", "found a PLY file: a scene"),
        ("\u{1}\u{0}", "found a binary file"),
        (
            "[1,\n Infinity]",
            "line 2, column 2: expected valid JSON with finite numbers, found Infinity",
        ),
        ("[[[[", "line 1"),
        (r#"{"fl_x": 1, "frames": [{}]}"#, "\"fl_x\" is in pixels"),
        (r#"{"w": 1, "frames": [{}]}"#, "height"),
        (r#"{"frames": [{}]}"#, "focal length"),
    ] {
        let message = load_text(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}\nwithout\n{expected}");
    }
}

#[test]
fn deep_nesting_and_lost_files_are_errors() {
    assert!(load_text(&"[".repeat(100_000)).is_err());
    let folder = tempfile::tempdir().unwrap();
    let message = load(folder.path()).unwrap_err().to_string();
    assert!(message.contains("COLMAP"), "{message}");
    assert!(matches!(load(folder.path().join("no.json")), Err(Error::Read { .. })));
}

/// The names that cameras called `names` in their file get.
fn renamed(names: &[&str]) -> Vec<String> {
    let entry = |name: &&str| {
        let name = serde_json::Value::from(*name);
        format!(
            r#"{{"img_name": {name}, "width": 2, "height": 2, "position": [0, 0, 0],
            "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "fx": 2, "fy": 2}}"#
        )
    };
    let entries: Vec<String> = names.iter().map(entry).collect();
    let file = load_text(&format!("[{}]", entries.join(","))).unwrap();
    file.cameras.into_iter().map(|c| c.name).collect()
}

#[test]
fn duplicate_names_get_a_free_number() {
    assert_eq!(renamed(&["a", "a_2", "a", "A", "b"]), ["a", "a_2", "a_3", "A_4", "b"]);
}

#[test]
fn no_name_leaves_the_output_folder() {
    assert_eq!(
        renamed(&["../x", "", "..", "a\u{0}b", "c:\\d", "  "]),
        [".._x", "view_001", "view_002", "a_b", "c__d", "view_005"]
    );
    let long = "é".repeat(400);
    assert_eq!(renamed(&[&long])[0].len(), 200);
}

#[test]
fn frames_are_named_without_folders_and_extensions() {
    let paths = [
        ("./train/r_0", "r_0"),
        ("images/frame_00001.jpg", "frame_00001"),
        ("a\\b.c.png", "b.c"),
        (".hidden", ".hidden"),
        ("", "view_004"),
    ];
    let frame = |(path, _): &(&str, &str)| {
        let path = serde_json::Value::from(*path);
        format!(r#"{{"file_path": {path}, "transform_matrix": [[1,0,0,0],[0,1,0,0],[0,0,1,0]]}}"#)
    };
    let frames: Vec<String> = paths.iter().map(frame).collect();
    let text = format!(r#"{{"fl_x": 1, "w": 2, "h": 2, "frames": [{}]}}"#, frames.join(","));
    let file = load_text(&text).unwrap();
    for (camera, (path, expected)) in file.cameras.iter().zip(paths) {
        assert_eq!(camera.name, expected, "{path}");
    }
}

proptest! {
    #[test]
    fn damaged_json_never_panics(
        second in any::<bool>(), cut in 0_usize..900, at in 0_usize..900, byte in any::<u8>(),
    ) {
        let mut bytes = if second { TRANSFORMS } else { INRIA }.as_bytes().to_vec();
        bytes.truncate(cut.max(bytes.len() / 2));
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = load_bytes(&bytes);
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = load_bytes(&bytes);
    }

    #[test]
    fn any_numbers_make_a_camera_or_an_error(numbers in prop::collection::vec(any::<f64>(), 16)) {
        let n: Vec<String> = numbers.iter().map(|x| format!("{x:e}")).collect();
        let text = format!(
            r#"[{{"width": {}, "height": {}, "fx": {}, "fy": {}, "position": [{}], "rotation": [[{}],[{}],[{}]]}}]"#,
            n[0], n[1], n[2], n[3], n[4..7].join(","), n[7..10].join(","), n[10..13].join(","), n[13..].join(",")
        );
        if let Ok(file) = load_text(&text) {
            prop_assert!(file.cameras[0].translation_in_view.iter().all(|t| t.is_finite()));
        }
    }
}

#[test]
fn real_cameras_have_the_positions_in_their_files() {
    let Some(folder) = shared::path("scenes") else {
        return;
    };
    for path in folder.read_dir().unwrap().map(|e| e.unwrap().path()) {
        if !path.to_string_lossy().ends_with(".cameras.json") {
            continue;
        }
        let cameras = load(&path).unwrap().cameras;
        let value: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(cameras.len(), value.as_array().unwrap().len());
        for (camera, entry) in cameras.iter().zip(value.as_array().unwrap()) {
            let position = Vector3::from_fn(|i, _| entry["position"][i].as_f64().unwrap());
            let off = (camera.eye() - position).norm();
            let (file, name) = (path.display(), &camera.name);
            assert!(off < 1e-5, "{file}: {name} is off by {off}");
        }
    }
}
