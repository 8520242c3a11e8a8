//! Scenes of any size in world units: a scene of a few millimetres has the same picture as one of kilometres.

use std::fs;

use serde_json::Value;

use crate::support::program::{DONE, Place};
use crate::support::shared;

/// Factors between the scenes that are compared.
const FACTORS: [&str; 5] = ["1e-3", "1e-2", "1", "1e2", "1e4"];
/// Least PSNR in dB between pictures of scenes of different sizes.
const SAME_DB: f64 = 60.0;

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn psnr_db(place: &Place, a: &str, b: &str) -> f64 {
    let output = place.expect(DONE, &["compare", a, b, "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    found["pairs"][0]["psnr_db"].as_f64().unwrap_or(f64::INFINITY)
}

/// Adds a small object scene with cameras around it, as `object.ply` and `around.json`.
fn object(place: &Place) {
    place.expect(DONE, &["synth", "object", "--splats", "4000", "-o", "object.ply"]);
    let around = ["render", "object.ply", "--orbit", "4", "--width", "240"];
    place.expect(DONE, &[&around[..], &["--cameras-out", "around.json"]].concat());
    // Without the camera file of another scene, notes do not name it.
    fs::remove_file(place.path("cameras.json")).unwrap();
}

/// Writes the cameras of the object, moved with a scene that is `factor` times as large.
fn scaled_cameras(place: &Place, factor: &str) -> String {
    let views = fs::read(place.path("around.json")).unwrap();
    let mut views: Value = serde_json::from_slice(&views).unwrap();
    let factor: f64 = factor.parse().unwrap();
    for view in views.as_array_mut().unwrap() {
        view.as_object_mut().unwrap().remove("near");
        for coordinate in view["position"].as_array_mut().unwrap() {
            *coordinate = (coordinate.as_f64().unwrap() * factor).into();
        }
    }
    let name = "scaled.json".to_owned();
    fs::write(place.path(&name), views.to_string()).unwrap();
    name
}

/// Scenes of all sizes have one picture, from a view that is chosen for them and from cameras that are scaled with them.
#[test]
fn pictures_do_not_depend_on_the_unit() {
    let place = Place::new();
    object(&place);
    // SOG stores positions on a logarithmic scale from one world unit on, so that its errors differ.
    for (end, least_db) in
        [(".ply", SAME_DB), (".glb", SAME_DB), (".compressed.ply", SAME_DB), (".sog", 50.0)]
    {
        let file = format!("scaled{end}");
        for factor in FACTORS {
            place.expect(DONE, &["convert", "object.ply", "--scale", factor, "-o", &file]);
            let chosen = format!("chosen_{factor}.png");
            place.expect(DONE, &["render", &file, "--width", "240", "-o", &chosen]);
            let placed = format!("placed_{factor}.png");
            let (cameras, near) = (scaled_cameras(&place, factor), near(factor));
            let lens = ["--cameras", &cameras, "--view", "0", "--near", &near];
            place.expect(DONE, &[&["render", &file, "-o", &placed], &lens[..]].concat());
        }
        for factor in FACTORS {
            for view in ["chosen", "placed"] {
                let [one, other] = ["1", factor].map(|factor| format!("{view}_{factor}.png"));
                let db = psnr_db(&place, &one, &other);
                assert!(db > least_db, "{end}, {view}, {factor}: {db}");
            }
        }
    }
}

/// Near plane in the cameras of [`scaled_cameras`].
fn near(factor: &str) -> String {
    (0.01 * factor.parse::<f64>().unwrap()).to_string()
}

/// SPZ stores logarithms of scales in steps of 1/16 from -10 on. Beside that, its loss does not depend on the unit.
#[test]
fn spz_loses_little_unless_it_warns() {
    let place = Place::new();
    object(&place);
    let convert = |factor: &str, cameras: &str| {
        let file = format!("scaled_{factor}.ply");
        place.expect(DONE, &["convert", "object.ply", "--scale", factor, "-o", &file]);
        let flags =
            ["-o", "a.spz", "--report", "r.json", "--cameras", cameras, "--near", &near(factor)];
        let output = place.expect(DONE, &[&["convert", &file], &flags[..]].concat());
        let report = fs::read(place.path("r.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        let db = report["report"]["mean"]["psnr_db"].as_f64().unwrap();
        (db, text(output.stderr).contains("scales below e^-10"))
    };
    let losses = ["1e-3", "1e-2", "1", "1e2"].map(|factor| {
        let cameras = scaled_cameras(&place, factor);
        convert(factor, &cameras)
    });
    let [(small, is_warned), others @ ..] = losses;
    assert!(is_warned && small > 20.0, "{losses:?}");
    assert!(others.iter().all(|(db, _)| *db > 42.0), "{losses:?}");
    assert!(!others[1].1, "{losses:?}");
}

#[test]
fn views_chosen_for_a_small_scene_show_it() {
    let place = Place::new();
    object(&place);
    place.expect(DONE, &["convert", "object.ply", "--scale", "1e-3", "-o", "small.ply"]);
    for flags in [&[][..], &["--orbit", "3"], &["--propose-views", "2"]] {
        let all = ["--width", "160", "-o", "{view}.png", "--json"];
        let render = [&["render", "small.ply"], flags, &all[..]].concat();
        let output = place.expect(DONE, &render);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        for view in found["views"].as_array().unwrap() {
            assert!(view["splats_in_frustum"].as_u64().unwrap() > 1000, "{flags:?}: {view}");
        }
        assert!(!text(output.stderr).contains("warning"), "{flags:?}");
    }
    // The flags and the camera file of a chosen view reproduce it.
    let chosen = ["render", "small.ply", "--width", "160", "-o", "chosen.png"];
    let page =
        text(place.expect(DONE, &[&chosen[..], &["--cameras-out", "saved.json"]].concat()).stdout);
    let flags = page.lines().find_map(|line| line.strip_prefix("flags of this view: ")).unwrap();
    assert!(flags.contains("--near"), "{flags}");
    let flags: Vec<&str> = flags.split(' ').collect();
    for flags in [&flags[..], &["--cameras", "saved.json"]] {
        let call = ["render", "small.ply", "--width", "160", "-o", "again.png"];
        place.expect(DONE, &[&call[..], flags].concat());
        let [a, b] = ["chosen.png", "again.png"].map(|name| fs::read(place.path(name)).unwrap());
        assert!(a == b, "{flags:?}");
    }
    // Simulations, films and reports choose views by the same rule.
    let sim = ["sim", "small.ply", "--method", "baseline", "--width", "80", "--json"];
    let found: Value = serde_json::from_slice(&place.expect(DONE, &sim).stdout).unwrap();
    assert!(found["views"][0]["view"]["splats_in_frustum"].as_u64().unwrap() > 1000);
    let report =
        ["convert", "small.ply", "-o", "small.glb", "--fail-under-psnr", "60", "--width", "160"];
    place.expect(DONE, &report);
    place.expect(
        DONE,
        &["compare", "small.ply", "small.glb", "--fail-under-psnr", "60", "--width", "160"],
    );
}

/// A camera file keeps the near plane of the profile; the warning names the flag that replaces it.
#[test]
fn near_planes_of_camera_files_are_replaced_by_a_flag() {
    let place = Place::new();
    object(&place);
    place.expect(DONE, &["convert", "object.ply", "--scale", "1e-3", "-o", "small.ply"]);
    let cameras = scaled_cameras(&place, "1e-3");
    let views = ["--cameras", &cameras, "--view", "0", "--width", "80"];
    let near = [&views[..], &["--near", "1e-4"]].concat();
    let render = ["render", "small.ply", "-o", "a.png"];
    let warnings = text(place.expect(DONE, &[&render[..], &views].concat()).stderr);
    assert!(warnings.contains("--near"), "{warnings}");
    for call in [
        &render[..],
        &["sim", "small.ply", "--method", "baseline"],
        &["compare", "small.ply", "small.ply", "--fail-under-psnr", "60"],
        &["convert", "small.ply", "-o", "b.ply", "--fail-under-psnr", "60"],
        &["convert", "small.ply", "-o", "c.ply", "--prune", "0.01"],
    ] {
        let output = place.expect(DONE, &[call, &near].concat());
        let warnings = text(output.stderr);
        assert!(!warnings.contains("near plane"), "{call:?}: {warnings}");
    }
}

/// A scene of 8 cm loses little more by SPZ than one of 8 units; with positions in steps of 1/4096, it had 28 dB.
#[test]
fn spz_of_a_small_scene_of_the_field_is_as_near_as_of_a_large_one() {
    let Some(folder) = shared::path("cases/splats-2/01-tiny-scene-spz") else { return };
    let place = Place::new();
    let scenes = ["unit.ply", "small.ply"].map(|name| folder.join(name).display().to_string());
    for (scene, picture) in scenes.iter().zip(["unit.png", "small.png"]) {
        place.expect(DONE, &["render", scene, "--width", "200", "-o", picture]);
        let gate = ["-o", "a.spz", "--fail-under-psnr", "42", "--width", "400"];
        place.expect(DONE, &[&["convert", scene], &gate[..]].concat());
    }
    assert!(psnr_db(&place, "unit.png", "small.png") > SAME_DB);
}
