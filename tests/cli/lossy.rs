//! Pictures to look at: JPEG and WebP.

use std::fs;

use crate::support::program::{ALL_VIEWS, DONE, Place, SHOT, USAGE};

#[test]
fn pictures_are_jpeg_and_webp_where_only_a_picture_is_wanted() {
    let place = Place::new();
    let render = [&["render", "scene.ply"], &SHOT[..]].concat();
    let drawn = |flags: &[&str]| {
        let output = place.run(&[&render[..], flags].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(DONE), "{errors}");
    };
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    for (name, start) in
        [("a.jpg", &b"\xff\xd8\xff"[..]), ("a.jpeg", b"\xff\xd8\xff"), ("a.webp", b"RIFF")]
    {
        drawn(&["-o", name]);
        assert!(fs::read(place.path(name)).unwrap().starts_with(start), "{name}");
    }
    drawn(&["-o", "b.jpg", "--quality", "30"]);
    drawn(&["-o", "c.jpg", "--quality", "90"]);
    assert!(size("b.jpg") < size("a.jpg"));
    assert_eq!(size("c.jpg"), size("a.jpg"));
    drawn(&["-o", "b.webp", "--background", "transparent"]);
    for command in ["mesh", "deferred"] {
        let name = format!("{command}.jpg");
        let flags = ["--width", "40", "--height", "30", "-o", &name];
        let output = place.run(&[&[command, "plane"], &flags[..]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(DONE), "{errors}");
        let transparent = [&[command, "plane"], &flags[..], &["--background", "transparent"]];
        place.expect_error(USAGE, &transparent.concat(), &["--background", "no alpha"]);
    }
    for (flags, words) in [
        (
            &["-o", "d.jpg", "--background", "transparent"][..],
            &["--background", "no alpha", ".webp"][..],
        ),
        (&["-o", "d.png", "--quality", "80"], &["--quality", ".jpg"]),
        (&["-o", "d.jpg", "--quality", "0"], &["--quality", "1 to 100"]),
        (&["-o", "d.jpg", "--aov", "depth"], &["--aov", ".exr or .npy"]),
        (&["-o", "d.jpg", "--colour", "linear"], &["--colour linear", ".exr or .npy"]),
        (&["-o", "d.webp", "--width", "16400", "--height", "8"], &["16383", ".webp", "16400 x 8"]),
        // A picture beyond the limit of files is refused before it is drawn.
        (
            &["-o", "d.exr", "--width", "32768", "--height", "16384"],
            &["picture size", "32768 x 16384"],
        ),
    ] {
        place.expect_error(USAGE, &[&render[..], flags].concat(), words);
    }
    let sim = [&["sim", "scene.ply"], &SHOT[..], &["-o", "d.jpg", "--method", "baseline"]].concat();
    place.expect_error(USAGE, &sim, &["-o", ".png, .exr or .npy", "compared"]);
    let mesh = ["mesh", "plane", "-o", "d.png", "--method", "qfm", "--diff-unmerged", "d.jpg"];
    place.expect_error(USAGE, &mesh, &["--diff-unmerged", ".png, .exr or .npy"]);
    assert!(!place.names().iter().any(|name| name.starts_with("d.")));
}

#[test]
fn films_of_other_kinds_are_named_with_the_way_to_them() {
    let place = Place::new();
    for (command, film) in [
        (&["render", "scene.ply"][..], "a.gif"),
        (&["render", "scene.ply"], "a.webm"),
        (&["sim", "scene.ply"], "a.mp4"),
        (&["mesh", "plane"], "a.gif"),
        (&["deferred", "plane"], "a.webm"),
    ] {
        let words = [film, ".y4m, .apng, .mp4", "ffmpeg", "frames/{view}.png"];
        place.expect_error(USAGE, &[command, &["-o", film]].concat(), &words);
    }
    let render = [&ALL_VIEWS[..], &["-o", "a.webp"]].concat();
    place.expect_error(USAGE, &render, &["{view}", ".apng"]);
}
