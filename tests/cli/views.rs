//! The flags that choose views and the size of pictures.
use std::fs;

use quadrille::Frame;

use crate::support::program::{CAMERAS, DONE, Place, SHOT, USAGE};

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
    assert_eq!(
        size(&resized("d.npy", &["--width", "30", "--height", "40"])),
        (30, 40)
    );
    let mean = |f: &Frame| {
        let sum: f64 = f.pixels().iter().map(|p| f64::from(p[1])).sum();
        sum / f64::from(f.width() * f.height())
    };
    let (large, small) = (
        mean(&resized("b.npy", &["--width", "120"])),
        mean(&resized("a.npy", &[])),
    );
    assert!((large / small - 1.0).abs() < 0.1, "{large} {small}");
}

#[test]
fn views_are_chosen_by_index_name_range_or_all() {
    let place = Place::new();
    let chosen = |view: &[&str]| {
        let arguments = [&["--repeat", "1", "--cameras", "cameras.json"], view].concat();
        let views = place.json(&arguments)["views"].as_array().unwrap().clone();
        views
            .iter()
            .map(|v| v["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[]), ["shot_0"]);
    assert_eq!(chosen(&["--view", "2"]), ["shot_2"]);
    assert_eq!(chosen(&["--view", "shot_1"]), ["shot_1"]);
    assert_eq!(chosen(&["--view", "1..3"]), ["shot_1", "shot_2"]);
    assert_eq!(chosen(&["--view", "..2"]), ["shot_0", "shot_1"]);
    assert_eq!(chosen(&["--view", "all"]), ["shot_0", "shot_1", "shot_2"]);
    for bad in ["3", "shot_9", "2..1", "0..4"] {
        let arguments = [
            "render",
            "scene.ply",
            "--repeat",
            "1",
            "--cameras",
            "cameras.json",
            "--view",
            bad,
        ];
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
        count(&[
            "--eye", "-3,-1,2", "--target", "0,0,0", "--up", "0,-1,0", "--fov", "60"
        ]),
        1
    );
    place.expect_error(
        USAGE,
        &["render", "scene.ply", "--repeat", "1", "--fov", "180"],
        &["--fov"],
    );
    let both = [
        "render",
        "scene.ply",
        "--repeat",
        "1",
        "--orbit",
        "2",
        "--cameras",
        "cameras.json",
    ];
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
    let line = text.lines().find(|line| line.contains("view "));
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
        // One side alone keeps pixels square; both change their shape, but not for described views.
        (
            "--cameras odd.json --width 320",
            "320 x 178 pixels, focal length 208.98 x 212.24 pixels",
        ),
        (
            "--cameras odd.json --width 98 --height 218",
            "98 x 218 pixels, focal length 64.00 x 260.00 pixels",
        ),
        (
            "--width 20 --height 80 --fov 90",
            "20 x 80 pixels, focal length 40.00 x 40.00 pixels",
        ),
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
