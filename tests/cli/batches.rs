//! `render --memory`: scenes that are read in batches.

use std::fs;

use crate::support::program::{DONE, Place, UNREADABLE, USAGE};

const SCENE: [&str; 5] = [
    "render",
    "room.ply",
    "--cameras",
    "room.cameras.json",
    "--view",
];

fn room() -> Place {
    let place = Place::new();
    let scene = ["synth", "room", "--splats", "20000", "-o", "room.ply"];
    let cameras = ["--cameras-out", "room.cameras.json"];
    place.expect(DONE, &[&scene[..], &cameras].concat());
    place
}

#[test]
fn pictures_of_batches_are_those_of_the_whole_scene() {
    let place = room();
    for (name, memory) in [("whole", "1G"), ("few", "4M"), ("many", "3M")] {
        let out = format!("{name}_{{view}}.png");
        let flags = ["all", "--width", "200", "-o", &out, "--memory", memory];
        place.expect(DONE, &[&SCENE[..], &flags].concat());
    }
    for view in ["door", "sofa", "window", "table"] {
        let picture = |name: &str| fs::read(place.path(&format!("{name}_{view}.png"))).unwrap();
        assert!(picture("few") == picture("whole"), "{view}");
        assert!(picture("many") == picture("whole"), "{view}");
    }
}

#[test]
fn what_a_scene_in_batches_cannot_do_is_refused() {
    let place = room();
    let picture = ["0", "-o", "a.png", "--memory"];
    let refused = |flags: &[&str], names: &[&str]| {
        let arguments = [&SCENE[..], &picture, flags].concat();
        place.expect_error(USAGE, &arguments, names);
        assert!(!place.path("a.png").exists());
    };
    refused(&["4M", "--json"], &["--memory", "--json beside 4M"]);
    refused(&["4M", "--backend", "reference"], &["--memory", "renderer"]);
    refused(&["4"], &["512M or 4G"]);
    let scene = [
        "render", "room.ply", "--eye", "0,-1,0", "-o", "a.png", "--memory", "4M",
    ];
    place.expect_error(USAGE, &scene, &["--memory", "--cameras"]);
    // The camera file beside the scene gives no view that other flags describe.
    for described in [
        ["--eye", "0,-1,0"],
        ["--orbit", "1"],
        ["--propose-views", "1"],
    ] {
        let views = ["render", "room.ply", "--view", "0"];
        let output = ["-o", "a.png", "--memory", "2M"];
        let arguments = [&views[..], &described, &output].concat();
        place.expect_error(USAGE, &arguments, &["--memory", "the scene decides"]);
    }
    place.expect(DONE, &["convert", "room.ply", "-o", "room.sog"]);
    let other = ["render", "room.sog", "-o", "a.png", "--memory", "4M"];
    place.expect_error(UNREADABLE, &other, &["room.sog", "ply"]);
}

#[test]
fn too_little_memory_for_the_splats_in_view_is_an_error() {
    let place = room();
    let flags = ["0", "-o", "a.png", "--memory", "1M"];
    place.expect_error(
        UNREADABLE,
        &[&SCENE[..], &flags].concat(),
        &["splats in view"],
    );
    assert!(!place.path("a.png").exists());
}
