//! Tests of the search for camera files beside scenes.

use std::fs;

use quadrille_scene::cameras::find_camera_file;

#[test]
fn the_own_file_comes_first_and_the_model_last() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("point_cloud/iteration_7");
    fs::create_dir_all(&deep).unwrap();
    let scene = deep.join("point_cloud.compressed.ply");
    assert_eq!(find_camera_file(&scene), None);
    let places = [
        folder.path().join("cameras.json"),
        deep.join("transforms.json"),
        deep.join("point_cloud.cameras.json"),
    ];
    for place in places {
        fs::write(&place, "[]").unwrap();
        assert_eq!(find_camera_file(&scene), Some(place));
    }
    fs::remove_dir_all(deep.parent().unwrap()).unwrap();
    let elsewhere = folder.path().join("models/x");
    fs::create_dir_all(&elsewhere).unwrap();
    assert_eq!(find_camera_file(&elsewhere.join("scene.ply")), None);
}
