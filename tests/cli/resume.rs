//! Many views: a table that grows as they finish, and pictures that an earlier call has drawn.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::program::{ALL_VIEWS, CAMERAS, DONE, Place, USAGE};

/// A call that writes the pictures of all views.
fn all() -> Vec<&'static str> {
    [&ALL_VIEWS[..], &["-o", "out/{view}.png"]].concat()
}

/// Views of which the table says that they were kept.
fn kept(place: &Place, flags: &[&str]) -> usize {
    let output = place.expect(DONE, &[&all()[..], flags].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1 + CAMERAS, "{text}");
    text.lines().filter(|line| line.ends_with("(kept)")).count()
}

#[test]
fn pictures_of_the_same_command_are_not_drawn_again() {
    let place = Place::new();
    let picture = |view: &str| place.path(&format!("out/{view}.png"));
    assert_eq!(kept(&place, &["--resume"]), 0);
    let first = fs::read(picture("shot_0")).unwrap();
    assert_eq!(kept(&place, &["--resume"]), CAMERAS);
    assert_eq!(fs::read(picture("shot_0")).unwrap(), first);
    // The number of threads decides no picture.
    assert_eq!(kept(&place, &["--resume", "--threads", "2"]), CAMERAS);
    // A picture that lacks, or has other bytes, is drawn again.
    fs::remove_file(picture("shot_0")).unwrap();
    fs::write(picture("shot_1"), &first[..first.len() / 2]).unwrap();
    assert_eq!(kept(&place, &["--resume"]), CAMERAS - 2);
    assert_eq!(fs::read(picture("shot_0")).unwrap(), first);
    // So are all of them with other settings, with a changed scene, and without the flag.
    for changed in [
        &["--resume", "--background", "1,1,1"][..],
        &["--resume", "--profile", "gsplat"],
        &["--resume", "--width", "30"],
        &["--resume", "--where", "opacity > 0.3"],
        &[],
    ] {
        assert_eq!(kept(&place, changed), 0, "{changed:?}");
    }
    assert_eq!(kept(&place, &["--resume"]), 0);
    let scene = fs::read(place.path("scene.ply")).unwrap();
    let mut other = scene.clone();
    let byte = other.len() - 1;
    other[byte] ^= 1;
    fs::write(place.path("scene.ply"), other).unwrap();
    assert_eq!(kept(&place, &["--resume"]), 0);
    let json = place.document(&[&all()[..], &["--resume", "--json"]].concat());
    assert_eq!(json["views"][0]["kept"], true);
    assert!(json["views"][0]["ms"].is_null());
    for flags in [&["-o", "-.y4m"][..], &["-o", "-", "--view", "0"]] {
        let call = [&ALL_VIEWS[..4], &["--resume"], flags].concat();
        place.expect_error(USAGE, &call, &["--resume", "-o"]);
    }
}

/// The first line of a view comes before the last view is drawn: its picture cannot be written, since it is a pipe that
/// nobody reads yet.
#[cfg(unix)]
#[test]
fn lines_are_printed_as_views_finish() {
    let place = Place::new();
    fs::create_dir(place.path("out")).unwrap();
    let last = place.path(&format!("out/shot_{}.png", CAMERAS - 1));
    assert!(Command::new("mkfifo").arg(&last).status().unwrap().success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .args(all())
        .current_dir(place.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().starts_with("view"));
    for view in 0..CAMERAS - 1 {
        assert!(next().starts_with(&format!("shot_{view} ")));
    }
    assert!(!fs::read(&last).unwrap().is_empty());
    assert!(next().starts_with(&format!("shot_{} ", CAMERAS - 1)));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_conversion_of_the_same_call_is_not_made_again() {
    let place = Place::new();
    let is_kept = |flags: &[&str]| {
        let call = ["convert", "scene.ply", "-o", "a.spz", "--resume"];
        let output = place.expect(DONE, &[&call[..], flags].concat());
        String::from_utf8(output.stdout).unwrap().contains("kept")
    };
    assert!(!is_kept(&[]));
    let first = fs::read(place.path("a.spz")).unwrap();
    assert!(is_kept(&[]));
    assert!(!is_kept(&["--sh", "0"]), "another flag");
    assert!(is_kept(&["--sh", "0"]));
    assert!(!is_kept(&["--prune", "0.01", "--cameras", "cameras.json"]));
    assert!(is_kept(&["--prune", "0.01", "--cameras", "cameras.json"]));
    let cameras = fs::read_to_string(place.path("cameras.json")).unwrap();
    fs::write(place.path("cameras.json"), cameras + "\n").unwrap();
    assert!(!is_kept(&["--prune", "0.01", "--cameras", "cameras.json"]), "other cameras");
    assert!(!is_kept(&[]));
    fs::write(place.path("a.spz"), &first[..first.len() / 2]).unwrap();
    assert!(!is_kept(&[]), "half of the output");
    assert_eq!(fs::read(place.path("a.spz")).unwrap(), first);
    let mut scene = fs::read(place.path("scene.ply")).unwrap();
    let last = scene.len() - 1;
    scene[last] ^= 1;
    fs::write(place.path("scene.ply"), scene).unwrap();
    assert!(!is_kept(&[]), "another scene");
}
