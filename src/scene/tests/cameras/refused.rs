//! Tests of files in which only some cameras can be drawn.

use std::path::Path;

use quadrille_scene::cameras::{CameraOptions, PictureSize, load, load_bytes, load_views};
use serde_json::{Value, json};

/// A camera of a `cameras.json` that looks along z.
fn camera(name: &str) -> Value {
    json!({
        "img_name": name, "width": 64, "height": 48, "fx": 50.0, "fy": 50.0, "position": [0.0, 0.0, 0.0],
        "rotation": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    })
}

/// Cameras `a`, `b` with a mirrored rotation, `c`, and `d` without a focal length.
fn poses() -> Value {
    let [a, mut b, c, mut d] = ["a.jpg", "b.jpg", "c.jpg", "d.jpg"].map(camera);
    b["rotation"][0][0] = json!(-1.0);
    d.as_object_mut().unwrap().remove("fx");
    json!([a, b, c, d])
}

fn views(path: &Path, list: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let loaded = load_views(path, list, PictureSize::default());
    let (cameras, warnings) = loaded.map_err(|error| error.to_string())?;
    Ok((cameras.into_iter().map(|camera| camera.name).collect(), warnings))
}

#[test]
fn a_camera_that_cannot_be_drawn_is_an_error_only_when_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cameras.json");
    std::fs::write(&path, poses().to_string()).unwrap();
    let (names, warnings) = views(&path, "all").unwrap();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(warnings.len(), 1);
    for part in ["2 of 4 cameras", "b.jpg, d.jpg", "rotation"] {
        assert!(warnings[0].contains(part), "{warnings:?}");
    }
    // Indices count the views of the file.
    assert_eq!(views(&path, "2").unwrap().0, ["c"]);
    assert_eq!(views(&path, "1..3").unwrap().0, ["c"]);
    for list in ["b", "b.jpg", "1"] {
        let error = views(&path, list).unwrap_err();
        assert!(error.contains("[1]") && error.contains("rotation"), "{error}");
    }
    let error = views(&path, "d").unwrap_err();
    assert!(error.contains("[3]") && error.contains("fx"), "{error}");
    let refused = load(&path).unwrap().refused;
    assert_eq!(refused.iter().map(|camera| camera.index).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_file_without_a_camera_that_can_be_drawn_is_refused() {
    let only_bad = json!([poses()[1].clone(), poses()[3].clone()]);
    let error = load_bytes(only_bad.to_string().as_bytes(), &CameraOptions::default()).unwrap_err();
    assert!(error.to_string().contains("[0]"), "{error}");
}
