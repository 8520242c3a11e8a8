//! The program as other programs see it: `render`'s exit codes, JSON keys, outputs and views.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quadrille::image::{Frame, files};
use quadrille::scene::cameras::write_inria_json;
use quadrille::scene::ply::PlyWriter;
use serde_json::Value;

use support::scenes::{self, Random};

/// The program's exit codes.
const DONE: i32 = 0;
const USAGE: i32 = 2;
const UNREADABLE: i32 = 3;
const UNWRITABLE: i32 = 4;

/// Cameras in the camera file.
const CAMERAS: usize = 3;

/// A folder with `scene.ply` and `cameras.json`, and the program run in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let mut random = Random::new(3);
        let cameras: Vec<_> = (0..CAMERAS)
            .map(|i| {
                let mut camera = scenes::camera(&mut random, 60, 40);
                camera.name = format!("shot_{i}");
                // The file has no principal point.
                camera.principal_px = [30.0, 20.0];
                camera
            })
            .collect();
        let splats = scenes::splats(&mut random, &cameras[0], 300, 1);
        let file = File::create(place.path("scene.ply")).unwrap();
        let mut writer = PlyWriter::new(file, splats.len() as u64, 1, &[]).unwrap();
        for splat in splats.iter() {
            writer.push(&splat).unwrap();
        }
        writer.finish().unwrap();
        fs::write(place.path("cameras.json"), write_inria_json(&cameras)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_quadrille"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    fn expect(&self, code: i32, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        assert_eq!(
            code == DONE,
            !errors.contains("error:"),
            "{arguments:?}: {errors}"
        );
        output
    }

    /// Fails as it should, and says `words`.
    fn expect_error(&self, code: i32, arguments: &[&str], words: &[&str]) {
        let output = self.expect(code, arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        for word in words {
            assert!(
                errors.contains(word),
                "{arguments:?} does not say {word}: {errors}"
            );
        }
        assert!(output.stdout.is_empty(), "{arguments:?} prints results");
    }

    /// Renders with `--json`.
    fn json(&self, arguments: &[&str]) -> Value {
        let all = [&["render", "scene.ply", "--json"], arguments].concat();
        serde_json::from_slice(&self.expect(DONE, &all).stdout).unwrap()
    }

    /// Renders into `name` and reads that.
    fn picture(&self, name: &str, arguments: &[&str]) -> Frame {
        self.expect(
            DONE,
            &[&["render", "scene.ply", "-o", name], arguments].concat(),
        );
        files::read(&self.path(name)).unwrap()
    }

    fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

const SHOT: [&str; 4] = ["--cameras", "cameras.json", "--view", "shot_1"];

fn keys(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn assert_holds(value: &Value, expected: &[&str]) {
    let keys = keys(value);
    for key in expected {
        assert!(keys.contains(key), "{key} is missing: {value}");
    }
}

#[test]
fn each_fault_has_its_exit_code() {
    let place = Place::new();
    fs::write(
        place.path("broken.ply"),
        b"ply\nformat binary_little_endian 1.0\n",
    )
    .unwrap();
    fs::write(place.path("picture.txt"), b"neither").unwrap();
    let error = |code, arguments: &[&str], words: &[&str]| {
        place.expect_error(code, &[&["render"], arguments].concat(), words);
    };
    error(UNREADABLE, &["absent.ply", "-o", "a.png"], &["absent.ply"]);
    error(
        UNREADABLE,
        &["broken.ply", "-o", "a.png"],
        &["broken.ply", "expected"],
    );
    error(
        UNREADABLE,
        &["picture.txt", "-o", "a.png"],
        &["picture.txt"],
    );
    error(
        UNREADABLE,
        &["scene.ply", "-o", "a.png", "--cameras", "absent.json"],
        &["absent.json"],
    );
    error(
        USAGE,
        &["scene.ply", "-o", "a.jpg"],
        &["a.jpg", ".png", ".exr", ".npy"],
    );
    error(
        USAGE,
        &["scene.ply", "-o", "a.png", "--profile", "nerf"],
        &["nerf", "inria-aa"],
    );
    error(
        USAGE,
        &["scene.ply", "-o", "a.png", "--stop", "hw:2"],
        &["--stop", "hw:2"],
    );
    error(
        USAGE,
        &["scene.ply", "-o", "a.png", "--simd", "mmx"],
        &["mmx"],
    );
    error(
        USAGE,
        &["scene.ply", "-o", "a.png", "--background", "1,2"],
        &["--background"],
    );
    error(
        USAGE,
        &["scene.ply", "-o", "a.png", "--orbit", "3"],
        &["{view}"],
    );
    error(USAGE, &["scene.ply", "-o", "-", "--json"], &["--json"]);
    error(
        USAGE,
        &["scene.ply", "-o", "a.png", "--width", "0"],
        &["--width"],
    );
    error(USAGE, &["scene.ply"], &["--output"]);
    error(
        UNWRITABLE,
        &["scene.ply", "-o", "absent/a.png"],
        &["absent/a.png"],
    );
    let names = place.names();
    assert!(!names.iter().any(|n| n.starts_with("a.")), "{names:?}");
}

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

#[test]
fn json_has_the_promised_keys() {
    let place = Place::new();
    let document = place.json(&[&["-o", "a.npy"], &SHOT[..]].concat());
    assert_holds(&document, &["scene", "profile", "threads", "simd", "views"]);
    assert_holds(&document["scene"], &["path", "splats", "sh_degree"]);
    assert_eq!(document["scene"]["path"], "scene.ply");
    assert_eq!(document["scene"]["splats"], 300);
    assert_eq!(document["scene"]["sh_degree"], 1);
    assert_eq!(document["profile"], "inria");
    let view = &document["views"][0];
    let expected = [
        "name",
        "width",
        "height",
        "output",
        "splats_in_frustum",
        "fragments_blended",
        "ms",
    ];
    assert_holds(view, &expected);
    assert!(!keys(view).contains("ms_min"));
    assert_eq!(
        (&view["name"], &view["output"]),
        (&"shot_1".into(), &"a.npy".into())
    );
    assert_eq!((&view["width"], &view["height"]), (&60.into(), &40.into()));
    let stages = BTreeSet::from(["preprocess", "sort", "bin", "raster", "total"]);
    assert_eq!(keys(&view["ms"]), stages);
    assert!(
        stages
            .iter()
            .all(|s| view["ms"][s].as_f64().is_some_and(|ms| ms >= 0.0)),
        "{view}"
    );
}

#[test]
fn repeat_times_and_writes_nothing() {
    let place = Place::new();
    let before = place.names();
    let document = place.json(&[&["--repeat", "3", "--threads", "1"], &SHOT[..]].concat());
    assert_eq!(place.names(), before);
    assert_eq!(document["threads"], 1);
    let view = &document["views"][0];
    assert_eq!(keys(&view["ms"]), keys(&view["ms_min"]));
    assert!(view["ms_min"]["total"].as_f64() <= view["ms"]["total"].as_f64());
    assert!(view["output"].is_null());
    place.expect_error(
        USAGE,
        &["render", "scene.ply", "--repeat", "3", "-o", "a.png"],
        &["--repeat"],
    );
}

#[test]
fn a_dash_is_a_png_on_stdout() {
    let place = Place::new();
    let output = place.expect(
        DONE,
        &[&["render", "scene.ply", "-o", "-"], &SHOT[..]].concat(),
    );
    let picture = files::decode(&output.stdout, Path::new("stdout")).unwrap();
    assert_eq!(picture, place.picture("a.png", &SHOT));
    assert!(output.stdout.starts_with(b"\x89PNG"));
}

#[test]
fn backgrounds_are_black_for_png_and_none_for_floats() {
    let place = Place::new();
    let alphas = |f: &Frame| f.pixels().iter().map(|p| p[3]).fold(1.0, f32::min);
    assert!(alphas(&place.picture("a.png", &SHOT)) == 1.0);
    for name in ["a.npy", "a.exr"] {
        assert!(alphas(&place.picture(name, &SHOT)) < 1.0, "{name}");
    }
    let transparent = [&SHOT[..], &["--background", "transparent"]].concat();
    assert!(alphas(&place.picture("b.png", &transparent)) < 1.0);
    let (plain, red) = (
        place.picture("a.npy", &SHOT),
        place.picture("b.npy", &[&SHOT[..], &["--background", "1,0,0"]].concat()),
    );
    for (plain, red) in plain.pixels().iter().zip(red.pixels()) {
        assert!((red[0] - (plain[0] + 1.0 - plain[3])).abs() < 1e-6);
        assert_eq!((red[1], red[3]), (plain[1], 1.0));
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

/// A failed run leaves the old file, and no run leaves anything beside it.
#[test]
fn outputs_appear_whole_or_not_at_all() {
    let place = Place::new();
    fs::write(place.path("a.png"), b"old").unwrap();
    place.expect(UNREADABLE, &["render", "absent.ply", "-o", "a.png"]);
    assert_eq!(fs::read(place.path("a.png")).unwrap(), b"old");
    place.expect(
        DONE,
        &[&["render", "scene.ply", "-o", "a.png"], &SHOT[..]].concat(),
    );
    assert!(
        fs::read(place.path("a.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    let names = BTreeSet::from(["a.png", "cameras.json", "scene.ply"].map(str::to_owned));
    assert_eq!(place.names(), names);
    // A folder in the way.
    fs::create_dir(place.path("b.png")).unwrap();
    place.expect_error(
        UNWRITABLE,
        &["render", "scene.ply", "-o", "b.png"],
        &["b.png"],
    );
}

#[test]
fn both_backends_draw_the_same_picture() {
    let place = Place::new();
    let fast = place.picture("a.npy", &SHOT);
    let oracle = place.picture("b.npy", &[&SHOT[..], &["--backend", "reference"]].concat());
    let differences = support::pictures::Differences::between(&fast, &oracle);
    support::tolerances::hold("max", differences.max(), "cpu against reference");
}

#[test]
fn completions_and_manual_pages_go_to_stdout() {
    let place = Place::new();
    let stdout =
        |arguments: &[&str]| String::from_utf8(place.expect(DONE, arguments).stdout).unwrap();
    let script = stdout(&["completions", "bash"]);
    assert!(script.contains("_quadrille()") && script.contains("--cameras"));
    assert!(stdout(&["man"]).contains(".TH quadrille"));
    assert!(stdout(&["man", "render"]).contains("cameras"));
    place.expect_error(USAGE, &["completions", "dos"], &["bash"]);
    place.expect_error(USAGE, &["man", "dance"], &["dance"]);
    place.expect_error(USAGE, &["dance"], &["dance"]);
}
