//! The flags that choose views and the size of pictures.
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
