//! The flags that choose views and the size of pictures.
use std::fs;

use quadrille::Frame;
use serde_json::json;

use crate::support::program::{CAMERAS, DONE, Place, SHOT, UNREADABLE, UNWRITABLE, USAGE};

#[test]
fn several_views_want_a_name_each() {
    let place = Place::new();
    let cameras = ["--cameras", "cameras.json", "--view", "all"];
    let arguments = [&["render", "scene.ply", "-o", "a.png"], &cameras[..]].concat();
    place.expect_error(USAGE, &arguments, &["{view}", "3 views"]);
    let arguments = [&["render", "scene.ply", "-o", "v_{view}.png"], &cameras[..]].concat();
    place.expect(DONE, &arguments);
    for i in 0..CAMERAS {
        assert!(place.path(&format!("v_shot_{i}.png")).is_file());
    }
}

/// Twice the width is the same view in twice the pixels: each pixel is near the mean of four.
#[test]
fn a_side_alone_scales_the_whole_picture() {
    let place = Place::new();
    let size = |f: &Frame| (f.width(), f.height());
    let resized = |name, flags: &[&str]| place.picture(name, &[&SHOT[..], flags].concat());
    assert_eq!(size(&resized("a.npy", &[])), (60, 40));
    assert_eq!(size(&resized("b.npy", &["--width", "120"])), (120, 80));
    assert_eq!(size(&resized("c.npy", &["--height", "10"])), (15, 10));
    assert_eq!(size(&resized("d.npy", &["--width", "30", "--height", "40"])), (30, 40));
    let mean = |f: &Frame| {
        let sum: f64 = f.pixels().iter().map(|p| f64::from(p[1])).sum();
        sum / f64::from(f.width() * f.height())
    };
    let (large, small) =
        (mean(&resized("b.npy", &["--width", "120"])), mean(&resized("a.npy", &[])));
    assert!((large / small - 1.0).abs() < 0.1, "{large} {small}");
}

#[test]
fn views_are_chosen_by_index_name_range_or_all() {
    let place = Place::new();
    let chosen = |view: &[&str]| {
        let arguments = [&["--repeat", "1", "--cameras", "cameras.json"], view].concat();
        let views = place.json(&arguments)["views"].as_array().unwrap().clone();
        views.iter().map(|v| v["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[]), ["shot_0"]);
    assert_eq!(chosen(&["--view", "2"]), ["shot_2"]);
    assert_eq!(chosen(&["--view", "shot_1"]), ["shot_1"]);
    assert_eq!(chosen(&["--view", "1..3"]), ["shot_1", "shot_2"]);
    assert_eq!(chosen(&["--view", "..2"]), ["shot_0", "shot_1"]);
    assert_eq!(chosen(&["--view", "all"]), ["shot_0", "shot_1", "shot_2"]);
    for bad in ["3", "shot_9", "2..1", "0..4"] {
        let arguments =
            ["render", "scene.ply", "--repeat", "1", "--cameras", "cameras.json", "--view", bad];
        place.expect_error(USAGE, &arguments, &["--view", bad]);
    }
}

#[test]
fn views_are_made_up_from_flags() {
    let place = Place::new();
    let count = |flags: &[&str]| {
        let document = place.json(&[&["--repeat", "1", "--width", "50"], flags].concat());
        document["views"].as_array().unwrap().len()
    };
    assert_eq!(count(&[]), 1);
    assert_eq!(count(&["--orbit", "5"]), 5);
    assert_eq!(count(&["--orbit", "5", "--view", "1..3"]), 2);
    assert_eq!(
        count(&["--eye", "-3,-1,2", "--target", "0,0,0", "--up", "0,-1,0", "--fov", "60"]),
        1
    );
    place.expect_error(
        USAGE,
        &["render", "scene.ply", "--repeat", "1", "--fov", "180"],
        &["--fov"],
    );
    let both =
        ["render", "scene.ply", "--repeat", "1", "--orbit", "2", "--cameras", "cameras.json"];
    place.expect_error(USAGE, &both, &["--cameras"]);
}

/// A cameras.json of five views, 980 x 545 as the Tanks and Temples scenes are.
fn odd_names(place: &Place) {
    let entries: Vec<String> = ["a", "b", "007", "3", "all"]
        .iter()
        .map(|name| {
            format!(
                r#"{{"img_name": "{name}", "width": 980, "height": 545, "fx": 640, "fy": 650,
                "position": [0, 0, -5], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}"#
            )
        })
        .collect();
    fs::write(place.path("odd.json"), format!("[{}]", entries.join(","))).unwrap();
}

/// Names that could be taken for an index, a range or `all`.
#[test]
fn names_win_over_indices() {
    let place = Place::new();
    odd_names(&place);
    let odd = ["--repeat", "1", "--width", "20", "--cameras", "odd.json"];
    let chosen = |view: &[&str]| {
        let views = place.json(&[&odd[..], view].concat())["views"].take();
        let names = views.as_array().unwrap().iter().map(|v| v["name"].clone());
        names.collect::<Vec<_>>()
    };
    for (view, expected) in [
        ("1", &["b"][..]),
        ("3", &["3"]),
        ("4", &["all"]),
        ("b", &["b"]),
        ("007", &["007"]),
        ("1..3", &["b", "007"]),
        ("3..", &["3", "all"]),
        ("..1", &["a"]),
        ("all", &["a", "b", "007", "3", "all"]),
    ] {
        assert_eq!(chosen(&["--view", view]), expected, "{view}");
    }
    assert_eq!(chosen(&[]), ["a"]);
    for view in ["5", "3..3", "2..1", "0..6", "x", "..x", "00"] {
        let words = ["view: expected an index below 5", "a, b, 007, 3, all"];
        let arguments = [&["render", "scene.ply"], &odd[..], &["--view", view]].concat();
        place.expect_error(USAGE, &arguments, &words);
    }
}

/// The sentence of `-v` about the camera, for flags that describe one.
fn camera(place: &Place, flags: &[&str]) -> String {
    let render = ["render", "scene.ply", "--repeat", "1", "-v"];
    let output = place.expect(DONE, &[&render[..], flags].concat());
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find(|line| line.starts_with("quadrille: view "));
    line.unwrap_or_default().to_owned()
}

#[test]
fn flags_and_files_give_these_cameras() {
    let place = Place::new();
    odd_names(&place);
    for (flags, expected) in [
        ("--width 128", "128 x 72 pixels"),
        (
            "--eye -1,2,-3.5 --target -1,2,1 --up 0,-1,0 --fov 90 --width 128",
            "eye -1.0000,2.0000,-3.5000, 128 x 72 pixels, focal length 36.00 x 36.00 pixels",
        ),
        // Pixels stay square; both sides crop or extend the view, unless only rounding differs.
        ("--cameras odd.json --width 320", "320 x 178 pixels, focal length 208.98 x 212.24 pixels"),
        (
            "--cameras odd.json --width 98 --height 218",
            "98 x 218 pixels, focal length 256.00 x 260.00 pixels",
        ),
        (
            "--cameras odd.json --width 490 --height 272",
            "490 x 272 pixels, focal length 320.00 x 324.40 pixels",
        ),
        (
            "--cameras odd.json --picture-scale 1/2",
            "490 x 272 pixels, focal length 320.00 x 324.40 pixels",
        ),
        ("--width 20 --height 80 --fov 90", "20 x 80 pixels, focal length 40.00 x 40.00 pixels"),
        ("--orbit 3 --view orbit_01 --width 40", "view orbit_01"),
    ] {
        let flags: Vec<_> = flags.split(' ').collect();
        let line = camera(&place, &flags);
        assert!(line.contains(expected), "{flags:?}: {line}");
    }
}

#[test]
fn impossible_views_name_their_flag() {
    let place = Place::new();
    odd_names(&place);
    for (flags, flag) in [
        ("--fov 180", "--fov"),
        ("--up 0,0,0", "--up"),
        ("--up inf,0,0", "--up"),
        ("--orbit 0", "--orbit"),
        ("--width 0", "--width"),
        ("--cameras odd.json --width 4000000000", "--width"),
        ("--eye 1,2", "--eye"),
        ("--eye 1,2,x", "--eye"),
        ("--eye 1,1,1 --target 1,1,1", "target"),
        ("--eye 0,0,0 --cameras odd.json", "--eye"),
        ("--orbit 4 --view 4", "--view"),
        // Standard input has no name that tells the format.
        ("--cameras -", "--cameras: expected a file or folder"),
    ] {
        let render = ["render", "scene.ply", "--repeat", "1"];
        let flags: Vec<_> = flags.split(' ').collect();
        place.expect_error(USAGE, &[&render[..], &flags].concat(), &[flag]);
    }
}

#[test]
fn lists_of_views_come_in_their_order_each_once() {
    let place = Place::new();
    let chosen = |view: &str| {
        let flags = ["--repeat", "1", "--cameras", "cameras.json", "--view", view];
        let views = place.json(&flags)["views"].take();
        let names = views.as_array().unwrap().iter().map(|v| v["name"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(chosen("2,0,2"), ["shot_2", "shot_0"]);
    assert_eq!(chosen("..:2"), ["shot_0", "shot_2"]);
    assert_eq!(chosen("shot_1,..1"), ["shot_1", "shot_0"]);
    let render = ["render", "scene.ply", "-o", "a.png", "--cameras", "cameras.json"];
    let misspelt = [&render[..], &["--view", "SHOT1"]].concat();
    place.expect_error(USAGE, &misspelt, &["did you mean shot_1?"]);
}

/// The text of `-v` on standard error.
fn remarks(place: &Place, arguments: &[&str]) -> String {
    let output = place.expect(DONE, arguments);
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_camera_file_beside_the_scene_is_named_and_used_for_its_views() {
    let place = Place::new();
    let render = ["render", "scene.ply", "--repeat", "1", "-v"];
    let said = remarks(&place, &render);
    assert!(said.contains("cameras.json holds cameras"), "{said}");
    assert!(said.contains("view auto"), "{said}");
    let said = remarks(&place, &[&render[..], &["--view", "shot_2"]].concat());
    assert!(said.contains("cameras of cameras.json") && said.contains("view shot_2"), "{said}");
    // With a view that flags describe, it is not needed.
    let said = remarks(&place, &[&render[..], &["--orbit", "2", "--view", "1"]].concat());
    assert!(said.contains("view orbit_01"), "{said}");
    let inside = ["render", "scene.ply", "-o", "cameras.json/a.png", "--view", "0"];
    place.expect(UNWRITABLE, &inside);
}

#[test]
fn views_are_listed_and_their_cameras_written() {
    let place = Place::new();
    let render = ["render", "scene.ply", "--cameras", "cameras.json"];
    let list = place.expect(DONE, &[&render[..], &["--list-views"]].concat());
    let list = String::from_utf8(list.stdout).unwrap();
    assert_eq!(list.lines().count(), 1 + CAMERAS, "{list}");
    assert!(list.contains("shot_2"), "{list}");
    let json = place.document(&[&render[..], &["--list-views", "--json"]].concat());
    assert_eq!(json["views"][1]["name_in_file"], "shot_1");
    let out = ["--view", "1,2", "--cameras-out", "out/two.json"];
    place.expect(DONE, &[&render[..], &out].concat());
    let two = quadrille::load_cameras(place.path("out/two.json")).unwrap().cameras;
    let all = quadrille::load_cameras(place.path("cameras.json")).unwrap().cameras;
    assert_eq!(two.len(), 2);
    for (written, camera) in two.iter().zip(&all[1..]) {
        assert_eq!((&written.name, written.focal_px), (&camera.name, camera.focal_px));
        assert!((written.eye() - camera.eye()).norm() < 1e-9);
    }
    let over = [&render[..], &["--cameras-out", "cameras.json"]].concat();
    place.expect_error(USAGE, &over, &["--cameras-out", "which is an input"]);
}

/// The flags of a view that the program chose reproduce its picture bit by bit.
#[test]
fn the_chosen_view_is_told_as_flags_that_reproduce_it() {
    let place = Place::new();
    let size = ["--width", "50"];
    let automatic = place.picture("auto.npy", &size);
    let document = place.json(&["--repeat", "1", "--width", "50"]);
    let flags = document["view_flags"].as_str().unwrap();
    let words: Vec<&str> = flags.split(' ').collect();
    assert_eq!(
        words.iter().step_by(2).copied().collect::<Vec<_>>(),
        ["--eye", "--target", "--up", "--fov"]
    );
    let again = place.picture("again.npy", &[&size[..], &words].concat());
    assert_eq!(automatic.pixels(), again.pixels());
    assert!(document["views"][0]["camera"]["eye"].is_array());
    let page = place.expect(DONE, &["render", "scene.ply", "-o", "b.png", "--width", "50"]);
    assert!(String::from_utf8(page.stdout).unwrap().contains(flags));
}

#[test]
fn flags_that_a_camera_file_cannot_use_are_refused() {
    let place = Place::new();
    let render = ["render", "scene.ply", "--repeat", "1"];
    for (flags, words) in [
        (&["--cameras", "cameras.json", "--fov", "40"][..], &["--fov", "have their own"][..]),
        (&["--transform", "undo", "--orbit", "2"], &["--transform", "camera file"]),
        (&["--cameras", "cameras.json", "--picture-scale", "0"], &["--picture-scale", "1/4"]),
        (
            &["--cameras", "cameras.json", "--picture-scale", "1/2", "--width", "9"],
            &["--picture-scale", "--width"],
        ),
    ] {
        place.expect_error(USAGE, &[&render[..], flags].concat(), words);
    }
    let undo = ["--cameras", "cameras.json", "--transform", "undo"];
    place.expect_error(UNREADABLE, &[&render[..], &undo].concat(), &["applied_transform"]);
}

/// The folder of the original trainer: its last iteration, its cameras, and its split by names.
#[test]
fn a_folder_of_a_trainer_is_a_scene_with_cameras_and_a_split() {
    let place = Place::new();
    for iteration in ["iteration_7", "iteration_30"] {
        let folder = place.path("model/point_cloud").join(iteration);
        fs::create_dir_all(&folder).unwrap();
        fs::copy(place.path("scene.ply"), folder.join("point_cloud.ply")).unwrap();
    }
    // Test views come first, as the trainer writes them.
    let cameras: Vec<_> = [0, 8, 1, 2, 3, 4, 5, 6, 7]
        .map(|number| {
            json!({"img_name": format!("{number}.jpg"), "width": 32, "height": 24, "fx": 30.0, "fy": 30.0,
                "position": [0.0, 0.0, -4.0], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})
        })
        .into();
    let text = serde_json::Value::from(cameras).to_string();
    fs::write(place.path("model/cameras.json"), text).unwrap();
    let drawn = |list: &str| {
        let arguments = ["render", "model", "--view", list, "-o", "{view}.png", "--json"];
        let output = place.expect(DONE, &arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("iteration_30"), "{errors}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let views = document["views"].as_array().unwrap().iter();
        views.map(|view| view["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(drawn("test"), ["0", "8"]);
    assert_eq!(drawn("train").len(), 7);
    place.expect_error(
        UNREADABLE,
        &["info", "model/point_cloud"],
        &["found a folder with iteration_30, iteration_7"],
    );
}
