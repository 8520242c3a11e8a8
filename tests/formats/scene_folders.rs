//! Folders that hold a scene, and the files that a scene consists of.

use std::fs;

use quadrille_scene::formats::{scene_file, source_files};

#[test]
fn the_last_iteration_is_the_scene_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let found = || scene_file(root).map_err(|error| error.to_string());
    assert!(found().unwrap_err().ends_with("found an empty folder"));
    fs::write(root.join("cfg_args"), "").unwrap();
    assert!(found().unwrap_err().ends_with("found a folder with cfg_args"));
    fs::create_dir(root.join("ply")).unwrap();
    for number in [999, 29_999] {
        fs::write(root.join(format!("ply/point_cloud_{number}.ply")), "").unwrap();
    }
    assert_eq!(found(), Ok(root.join("ply/point_cloud_29999.ply")));
    for number in [7000, 30_000] {
        let iteration = root.join(format!("point_cloud/iteration_{number}"));
        fs::create_dir_all(&iteration).unwrap();
        fs::write(iteration.join("point_cloud.ply"), "").unwrap();
    }
    fs::create_dir(root.join("point_cloud/iteration_x")).unwrap();
    let last = root.join("point_cloud/iteration_30000/point_cloud.ply");
    assert_eq!(found(), Ok(last.clone()));
    assert_eq!(scene_file(&last).unwrap(), last);
    fs::write(root.join("meta.json"), "").unwrap();
    assert_eq!(found(), Ok(root.join("meta.json")));
}

#[test]
fn descriptions_list_the_files_that_they_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
    std::fs::create_dir(path("0")).unwrap();
    write("lod-meta.json", r#"{"filenames": ["0/meta.json", "absent.json"]}"#);
    write("0/meta.json", r#"{"means": {"files": ["a.webp", "../scene.ply"]}}"#);
    write("0/a.webp", "picture");
    write("scene.ply", "ply");
    let expected = ["lod-meta.json", "0/meta.json", "0/a.webp"].map(path);
    assert_eq!(source_files(folder.path()).unwrap(), expected);
    assert_eq!(source_files(path("scene.ply")).unwrap(), [path("scene.ply")]);
    assert!(source_files(path("none.ply")).is_err());
}
