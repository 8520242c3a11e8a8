//! What artists need: depths to look at, joined scenes in their places, cameras that follow, turntables.

use std::fs;

use quadrille::load_cameras;
use serde_json::Value;

use crate::support::program::{DONE, Place, SHOT, USAGE};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Depths of the first plane of an NPY of f32.
fn depths(place: &Place, name: &str) -> Vec<f32> {
    let bytes = fs::read(place.path(name)).unwrap();
    let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize + 10;
    let values = bytes[header..].chunks_exact(4);
    values.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn depths_are_greys_of_a_stated_range() {
    let place = Place::new();
    let render = [&["render", "scene.ply", "--aov", "depth,normal,count"], &SHOT[..]].concat();
    place.expect(DONE, &[&render[..], &["-o", "a.{aov}.npy"]].concat());
    let output = place.expect(DONE, &[&render[..], &["-o", "a.{aov}.png"]].concat());
    let depths = depths(&place, "a.depth.npy");
    let seen = || depths.iter().copied().filter(|depth| *depth > 0.0);
    let [near, far] = [seen().fold(f32::MAX, f32::min), seen().fold(0.0, f32::max)];
    let range = format!("a.depth.png: depth from {near} (65535) to {far} (1)");
    let notes = text(output.stderr);
    assert!(notes.contains(&range), "{notes}");
    // Greys give the depths back, to the step of 16 bits.
    let greys = quadrille::read_picture(place.path("a.depth.png")).unwrap();
    for (grey, depth) in greys.pixels().iter().zip(&depths) {
        let back = far + (grey[0] * 65535.0 - 1.0) / 65534.0 * (near - far);
        let expected = if *depth > 0.0 { back } else { 0.0 };
        assert!((expected - depth).abs() <= (far - near) / 60_000.0, "{grey:?} {depth}");
    }
    let fixed = [&render[..], &["-o", "b.{aov}.png", "--depth-range", "0.5,40"]].concat();
    assert!(text(place.expect(DONE, &fixed).stderr).contains("from 0.5 (65535) to 40 (1)"));
    place.expect_error(USAGE, &[&render[..], &["-o", "a.png"]].concat(), &["{aov} in the name"]);
    let ids = ["render", "scene.ply", "--aov", "id", "-o", "a.{aov}.png"];
    place.expect_error(USAGE, &ids, &["--aov id", ".exr or .npy"]);
    let mesh = ["mesh", "plane", "--width", "16", "--aov", "depth", "-o", "m.{aov}.png"];
    assert!(text(place.expect(DONE, &mesh).stderr).contains("m.depth.png: depth from"));
}

fn bounds(place: &Place, name: &str) -> Value {
    place.document(&["info", name, "--json"])["bounds"].clone()
}

#[test]
fn one_input_of_several_is_moved_and_cameras_follow_the_first() {
    let place = Place::new();
    place.expect(DONE, &["convert", "scene.ply", "--sh", "0", "-o", "flat.ply"]);
    let join = ["convert", "scene.ply", "flat.ply", "-o", "both.ply"];
    let moved = [&join[..], &["--input", "2", "--translate", "100,0,0"]].concat();
    let notes = text(place.expect(DONE, &moved).stderr);
    assert!(notes.contains("of degree 1, with zeros for flat.ply (0)"), "{notes}");
    let [one, both] = ["scene.ply", "both.ply"].map(|name| bounds(&place, name));
    assert_eq!(one["min"], both["min"]);
    let x = |bounds: &Value| bounds["max"][0].as_f64().unwrap();
    assert!((x(&both) - x(&one) - 100.0).abs() < 1e-3, "{both}");
    // Views of the moved first input from its moved cameras show the same picture.
    let alone = [
        "convert",
        "scene.ply",
        "--input",
        "1",
        "--scale",
        "2",
        "--input",
        "all",
        "--rotate",
        "0,0,90",
        "-o",
        "turned.ply",
        "--cameras-out",
        "turned.json",
    ];
    place.expect(DONE, &alone);
    assert_eq!(load_cameras(place.path("turned.json")).unwrap().cameras.len(), 3);
    let before = place.picture("a.npy", &SHOT);
    let turned = ["--cameras", "turned.json", "--view", "shot_1", "-o", "b.npy"];
    place.expect(DONE, &[&["render", "turned.ply"], &turned[..]].concat());
    let after = quadrille::read_picture(place.path("b.npy")).unwrap();
    let differences = crate::support::pictures::Differences::between(&before, &after);
    assert!(differences.max() < 0.05, "{}", differences.max());
    for (flags, words) in [
        (&["--input", "3", "--translate", "1,0,0"][..], "a number from 1 to 2"),
        (&["--input", "2", "--sh", "0"], "moves and crops"),
        (&["--input", "0", "--translate", "1,0,0"], "the number of an input"),
    ] {
        place.expect_error(USAGE, &[&join[..], flags].concat(), &[words]);
    }
}

#[test]
fn turntables_have_a_distance_and_a_height() {
    let place = Place::new();
    let orbit = ["render", "scene.ply", "--orbit", "4", "--width", "16", "--target", "0,0,0"];
    let flags = ["--radius", "5", "--elevation", "30", "-o", "{view}.png"];
    let cameras = ["--cameras-out", "orbit.json"];
    place.expect(DONE, &[&orbit[..], &flags, &cameras].concat());
    for camera in &load_cameras(place.path("orbit.json")).unwrap().cameras {
        let eye = camera.eye();
        // The up direction is -y.
        let elevation = (-eye.y / eye.norm()).asin().to_degrees();
        assert!((eye.norm() - 5.0).abs() < 1e-4 && (elevation - 30.0).abs() < 1e-3, "{eye}");
    }
    let film = [&orbit[..6], &["-o", "turn.apng"]].concat();
    assert!(text(place.expect(DONE, &film).stdout).contains("flags of this view: --eye"));
    for (flags, word) in [
        (&["--elevation", "90"][..], "-89 to 89"),
        (&["--radius", "0"], "above 0"),
        (&["--radius", "2", "--eye", "0,0,1"], "--eye"),
    ] {
        place.expect_error(USAGE, &[&orbit[..], &["-o", "{view}.png"], flags].concat(), &[word]);
    }
}

#[test]
fn levels_of_detail_have_counts_and_sizes() {
    let place = Place::new();
    place.expect(DONE, &["convert", "scene.ply", "-o", "a.ssog", "--lod-levels", "3"]);
    let document = place.document(&["info", "a.ssog", "--json"]);
    let levels = document["levels_of_detail"].as_array().unwrap();
    let splats: Vec<_> = levels.iter().map(|level| level["splats"].as_u64().unwrap()).collect();
    assert_eq!(splats, [300, 150, 75]);
    let bytes: Vec<_> = levels.iter().map(|level| level["bytes"].as_u64().unwrap()).collect();
    assert!(bytes[0] > bytes[1] && bytes[1] > bytes[2] && bytes[2] > 0, "{bytes:?}");
    let page = text(place.expect(DONE, &["info", "a.ssog"]).stdout);
    assert!(page.contains("level of detail") && page.lines().count() > 10, "{page}");
    assert!(place.document(&["info", "scene.ply", "--json"])["levels_of_detail"].is_null());
}

#[test]
fn messages_lead_artists_on() {
    let place = Place::new();
    fs::create_dir(place.path("photos")).unwrap();
    fs::write(place.path("photos/IMG_0000.png"), "").unwrap();
    let photos = ["compare", "scene.ply", "photos", "--cameras", "cameras.json"];
    place.expect_error(3, &photos, &["such as IMG_0000", "by name, not by order"]);
    let gif = ["render", "scene.ply", "--orbit", "2", "-o", "turn.gif"];
    place.expect_error(USAGE, &gif, &["found turn.gif. `render`", "ffmpeg -framerate"]);
    let focus = ["deferred", "plane", "--aperture", "0.1", "--focus-at", "240,150"];
    place.expect_error(USAGE, &focus, &["three coordinates of the world"]);
    let view = ["mesh", "plane", "--width", "16", "--view", "0", "-o", "m.png"];
    assert!(text(place.expect(DONE, &view).stderr).contains("view \"0\" is the automatic view"));
    let film = ["mesh", "plane", "--width", "16", "--method", "none,qfm", "--orbit", "2"];
    let film = [&film[..], &["-o", "t.apng"]].concat();
    place.expect_error(USAGE, &film, &["a film shows one"]);
}

#[test]
fn blurred_pictures_have_layers_and_the_frame_that_they_are_judged_by() {
    let place = Place::new();
    let view = ["--width", "48", "--eye", "0,1,3", "--target", "0,0,0"];
    let files = ["--aov", "depth,coverage", "-o", "d.{aov}.npy"];
    place.expect(DONE, &[&["deferred", "plane"], &view[..], &files].concat());
    // Without blur, they are those of the sharp picture.
    place.expect(
        DONE,
        &[&["mesh", "plane"], &view[..], &["--aov", "depth,coverage", "-o", "m.{aov}.npy"]]
            .concat(),
    );
    let [blurred, sharp] = ["d.depth.npy", "m.depth.npy"].map(|name| depths(&place, name));
    let [cover, whole] = ["d.coverage.npy", "m.coverage.npy"].map(|name| depths(&place, name));
    assert_eq!(blurred.len(), sharp.len());
    let mut inside = 0;
    for at in 0..sharp.len() {
        assert!((cover[at] - whole[at]).abs() <= 0.5, "{} {}", cover[at], whole[at]);
        if cover[at] == 1.0 && whole[at] == 1.0 {
            assert!((blurred[at] - sharp[at]).abs() < 0.02 * sharp[at], "{at}");
            inside += 1;
        }
    }
    assert!(inside > 50, "{inside}");
    let truth = ["--spin", "0,1,0,20", "--samples", "4", "--truth", "4", "--truth-out", "t.png"];
    let call = [&["deferred", "plane"], &view[..], &truth, &["-o", "o.png", "--json"]].concat();
    let stated = place.document(&call)["rows"][0]["psnr_db"].as_f64().unwrap();
    let compare = ["compare", "o.png", "t.png", "--protocol", "float", "--json"];
    let found = place.document(&compare)["pairs"][0]["psnr_db"].as_f64().unwrap();
    // To the rounding to 8 bits.
    assert!((found - stated).abs() < 0.05, "{found} {stated}");
    let alone = ["deferred", "plane", "--truth-out", "t.npy"];
    place.expect_error(USAGE, &alone, &["--truth"]);
    let png = ["deferred", "plane", "--width", "16", "--aov", "depth", "-o", "p.{aov}.png"];
    assert!(text(place.expect(DONE, &png).stderr).contains("p.depth.png: depth from"));
}

/// A PLY holds any float, so that a move beyond them would write infinities; and a comparison moves both sides, so that it
/// does not see what the positions have lost.
#[test]
fn moves_beyond_the_precision_of_numbers_are_refused_or_told() {
    let place = Place::new();
    let convert = ["convert", "scene.ply", "-o", "a.ply"];
    for (action, value) in [("--translate", "1e39,0,0"), ("--scale", "1e39")] {
        for input in [&[][..], &["--input", "1"]] {
            let call = [&convert[..], input, &[action, value]].concat();
            let step = format!("{action} {value}");
            place.expect_error(USAGE, &call, &[&step, "single precision", "300 of 300 splats"]);
        }
    }
    assert!(!place.path("a.ply").exists());
    let warnings =
        |flags: &[&str]| text(place.expect(DONE, &[&convert[..], flags].concat()).stderr);
    let report = ["--report", "r.json", "--orbit", "1", "--width", "16"];
    for flags in [&[][..], &report] {
        let far = warnings(&[&["--translate", "1e16,0,0"], flags].concat());
        assert!(far.contains("--translate 1e16,0,0: positions around (1e16, "), "{far}");
        assert!(
            far.contains("steps of 2.00e0") && far.contains(" of 300 splats are displaced"),
            "{far}"
        );
    }
    let back = warnings(&["--translate", "1e16,0,0", "--translate", "-1e16,0,0"]);
    assert!(back.contains("no later step brings them back"), "{back}");
    let near = warnings(&["--translate", "1e9,0,0", "--rotate", "10,20,30", "--scale", "3"]);
    assert!(!near.contains("steps of"), "{near}");
}
