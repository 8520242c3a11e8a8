//! The program as other programs see it: `render`'s exit codes, JSON keys and outputs.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use quadrille::Frame;
use serde_json::Value;

use crate::support::program::{DONE, Place, SHOT, UNREADABLE, UNWRITABLE, USAGE};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
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
    fs::write(place.path("broken.ply"), b"ply\nformat binary_little_endian 1.0\n").unwrap();
    fs::write(place.path("picture.txt"), b"neither").unwrap();
    let error = |code, arguments: &[&str], words: &[&str]| {
        place.expect_error(code, &[&["render"], arguments].concat(), words);
    };
    error(UNREADABLE, &["absent.ply", "-o", "a.png"], &["absent.ply"]);
    error(UNREADABLE, &["broken.ply", "-o", "a.png"], &["broken.ply", "expected"]);
    error(UNREADABLE, &["picture.txt", "-o", "a.png"], &["picture.txt"]);
    error(UNREADABLE, &["scene.ply", "-o", "a.png", "--cameras", "absent.json"], &["absent.json"]);
    error(
        USAGE,
        &["scene.ply", "-o", "a.tiff"],
        &["a.tiff", ".png", ".jpg", ".webp", ".exr", ".npy"],
    );
    error(USAGE, &["scene.ply", "-o", "a.png", "--profile", "nerf"], &["nerf", "inria-aa"]);
    error(USAGE, &["scene.ply", "-o", "a.png", "--stop", "hw:2"], &["--stop", "hw:2"]);
    error(USAGE, &["scene.ply", "-o", "a.png", "--simd", "mmx"], &["mmx"]);
    error(USAGE, &["scene.ply", "-o", "a.png", "--background", "1,2"], &["--background"]);
    error(USAGE, &["scene.ply", "-o", "a.png", "--orbit", "3"], &["{view}"]);
    error(USAGE, &["scene.ply", "-o", "-", "--json"], &["--json"]);
    error(USAGE, &["scene.ply", "-o", "a.png", "--width", "0"], &["--width"]);
    error(USAGE, &["scene.ply"], &["--output"]);
    error(UNWRITABLE, &["scene.ply", "-o", "scene.ply/a.png"], &["scene.ply/a.png"]);
    let names = place.names();
    assert!(!names.iter().any(|n| n.starts_with("a.")), "{names:?}");
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
    let expected =
        ["name", "width", "height", "output", "splats_in_frustum", "fragments_blended", "ms"];
    assert_holds(view, &expected);
    assert!(!keys(view).contains("ms_min"));
    assert_eq!((&view["name"], &view["output"]), (&"shot_1".into(), &"a.npy".into()));
    assert_eq!((&view["width"], &view["height"]), (&60.into(), &40.into()));
    let stages = BTreeSet::from(["preprocess", "sort", "bin", "raster", "total"]);
    assert_eq!(keys(&view["ms"]), stages);
    assert!(stages.iter().all(|s| view["ms"][s].as_f64().is_some_and(|ms| ms >= 0.0)), "{view}");
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
    let output = place.expect(DONE, &[&["render", "scene.ply", "-o", "-"], &SHOT[..]].concat());
    let picture = quadrille::decode_picture(&output.stdout, Path::new("stdout")).unwrap();
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

/// A failed run leaves the old file, and no run leaves anything beside it.
#[test]
fn outputs_appear_whole_or_not_at_all() {
    let place = Place::new();
    fs::write(place.path("a.png"), b"old").unwrap();
    place.expect(UNREADABLE, &["render", "absent.ply", "-o", "a.png"]);
    assert_eq!(fs::read(place.path("a.png")).unwrap(), b"old");
    place.expect(DONE, &[&["render", "scene.ply", "-o", "a.png"], &SHOT[..]].concat());
    assert!(fs::read(place.path("a.png")).unwrap().starts_with(b"\x89PNG"));
    let names = BTreeSet::from(["a.png", "cameras.json", "scene.ply"].map(str::to_owned));
    assert_eq!(place.names(), names);
    // A folder in the way.
    fs::create_dir(place.path("b.png")).unwrap();
    place.expect_error(UNWRITABLE, &["render", "scene.ply", "-o", "b.png"], &["b.png"]);
}

#[test]
fn both_backends_draw_the_same_picture() {
    let place = Place::new();
    let fast = place.picture("a.npy", &SHOT);
    let oracle = place.picture("b.npy", &[&SHOT[..], &["--backend", "reference"]].concat());
    let differences = crate::support::pictures::Differences::between(&fast, &oracle);
    crate::support::tolerances::hold("max", differences.max(), "cpu against reference");
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

#[test]
fn common_words_lead_to_their_flags_and_distant_ones_nowhere() {
    let place = Place::new();
    for (command, flag, hint) in [
        ("convert", "--crop", "did you mean --keep-box or --keep-sphere?"),
        ("render", "--crop", "did you mean --keep-box or --keep-sphere?"),
        ("render", "--depth", "did you mean --aov?"),
        ("render", "--resize", "did you mean --width or --picture-scale?"),
        ("render", "--size", "did you mean --width or --picture-scale?"),
        ("render", "--format", "did you mean --output?"),
        ("render", "--camera", "did you mean --cameras?"),
        ("convert", "--reduce", "did you mean --decimate?"),
        ("mesh", "--samples", "did you mean --msaa?"),
        ("mesh", "--wireframe", "did you mean --overlay?"),
    ] {
        place.expect_error(USAGE, &[command, "scene.ply", "-o", "a.ply", flag, "1"], &[flag, hint]);
    }
    for (command, flag) in [("render", "--quality"), ("convert", "--depth"), ("info", "--crop")] {
        let output = place.expect(USAGE, &[command, "scene.ply", flag, "1"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!errors.contains("did you mean"), "{errors}");
    }
}
