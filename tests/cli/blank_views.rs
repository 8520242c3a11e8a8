//! Views that show nothing: not compared, not in a mean, and not passed by a gate.

use std::fs;

use serde_json::{Value, json};

use crate::support::program::{DONE, Place, USAGE};
use crate::support::shared;

const FAILED: i32 = 1;

/// Adds `views.json`: a view away from the scene and, if asked for, one of it.
fn write_views(place: &Place, has_shot: bool) {
    let views = fs::read(place.path("cameras.json")).unwrap();
    let views: Value = serde_json::from_slice(&views).unwrap();
    let mut away = views[0].clone();
    away["img_name"] = "away".into();
    away["position"] = json!([0, 0, 5000]);
    away["rotation"] = json!([[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    let views = if has_shot { json!([away, views[1]]) } else { json!([away]) };
    fs::write(place.path("views.json"), views.to_string()).unwrap();
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_comparison_of_nothing_is_not_identical() {
    let place = Place::new();
    write_views(&place, false);
    place.expect(DONE, &["convert", "scene.ply", "--decimate", "3", "-o", "few.ply"]);
    let compare = ["compare", "scene.ply", "few.ply", "--cameras", "views.json"];
    let gated = [&compare[..], &["--fail-under-psnr", "10"]].concat();
    let output = place.expect(FAILED, &gated);
    let (page, errors) = (text(output.stdout), text(output.stderr));
    assert!(page.contains("0 of 1 pairs were compared") && !page.contains("identical"), "{page}");
    assert!(errors.contains("view \"away\": expected a PSNR of at least 10 dB"), "{errors}");
    assert!(errors.contains("OpenGL"), "{errors}");
    let errors = text(place.expect(USAGE, &compare).stderr);
    assert!(errors.contains("at least one view that can be compared"), "{errors}");
    // The first side decides: a second scene that shows nothing differs from the first.
    place.expect(DONE, &["convert", "scene.ply", "--scale", "1e-4", "-o", "small.ply"]);
    let output = place.expect(
        FAILED,
        &[
            "compare",
            "scene.ply",
            "small.ply",
            "--cameras",
            "cameras.json",
            "--fail-under-psnr",
            "60",
        ],
    );
    assert!(text(output.stdout).contains("lowest PSNR"));
}

#[test]
fn a_blank_view_of_several_is_not_in_the_means() {
    let place = Place::new();
    write_views(&place, true);
    place.expect(DONE, &["convert", "scene.ply", "--decimate", "100", "-o", "few.ply"]);
    let json = |cameras: &str, view: &str| -> Value {
        let call =
            ["compare", "scene.ply", "few.ply", "--json", "--cameras", cameras, "--view", view];
        serde_json::from_slice(&place.expect(DONE, &call).stdout).unwrap()
    };
    let (both, one) = (json("views.json", "all"), json("views.json", "shot_1"));
    assert_eq!(both["mean"], one["mean"]);
    assert_eq!(both["not_compared"][0]["name"], "away");
    let gate =
        ["compare", "scene.ply", "few.ply", "--cameras", "views.json", "--fail-under-psnr", "1"];
    let errors = text(place.expect(FAILED, &gate).stderr);
    assert!(errors.contains("view \"away\""), "{errors}");
    // Photos are compared with pictures of the scene by the same rule.
    place.expect(
        DONE,
        &[
            "render",
            "scene.ply",
            "--cameras",
            "views.json",
            "--view",
            "all",
            "-o",
            "photos/{view}.png",
        ],
    );
    let photos = ["compare", "scene.ply", "photos", "--cameras", "views.json", "--json"];
    let found: Value = serde_json::from_slice(&place.expect(DONE, &photos).stdout).unwrap();
    assert_eq!(found["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(found["not_compared"][0]["name"], "away");
}

#[test]
fn a_conversion_is_not_accepted_by_a_blank_view() {
    let place = Place::new();
    for (has_shot, expected) in [(false, Value::Null), (true, json!(0))] {
        write_views(&place, has_shot);
        let call = [
            "convert",
            "scene.ply",
            "--decimate",
            "100",
            "--cameras",
            "views.json",
            "-o",
            "few.ply",
        ];
        let gated = [&call[..], &["--fail-under-psnr", "1"]].concat();
        let errors = text(place.expect(FAILED, &gated).stderr);
        assert!(errors.contains("view \"away\""), "{errors}");
        assert!(!place.path("few.ply").exists());
        let reported = [&call[..], &["--report", "report.json"]].concat();
        let warnings = text(place.expect(DONE, &reported).stderr);
        assert!(warnings.contains("behind the camera"), "{warnings}");
        fs::remove_file(place.path("few.ply")).unwrap();
        let report: Value =
            serde_json::from_slice(&fs::read(place.path("report.json")).unwrap()).unwrap();
        assert_eq!(report["report"]["blank_views"], json!(["away"]));
        assert_eq!(report["report"]["mean"]["identical"], expected);
    }
    let pruned =
        ["convert", "scene.ply", "--prune", "0.01", "--cameras", "views.json", "-o", "few.ply"];
    let warnings = text(place.expect(DONE, &pruned).stderr);
    assert!(warnings.contains("view \"away\""), "{warnings}");
}

#[test]
fn suites_and_simulations_warn_of_blank_views() {
    let place = Place::new();
    write_views(&place, false);
    let views = ["--cameras", "views.json"];
    let sim = [&["sim", "scene.ply", "--method", "qm", "--width", "40"], &views[..]].concat();
    let warnings = text(place.expect(DONE, &sim).stderr);
    assert!(warnings.contains("OpenGL"), "{warnings}");
    let suite = "method = [\"baseline\"]\n[[scene]]\nname = \"a\"\npath = \"scene.ply\"\ncameras = \"views.json\"\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let warnings = text(place.expect(DONE, &["bench", "suite.toml", "-o", "rows.jsonl"]).stderr);
    assert!(warnings.contains("OpenGL") && warnings.contains("ratios exclude"), "{warnings}");
}

/// Two pictures of nothing are no evidence that a unit or a method is exact.
#[test]
fn pictures_of_nothing_are_not_the_same() {
    let place = Place::new();
    write_views(&place, false);
    let sim = ["sim", "scene.ply", "--method", "qm", "--width", "40", "--cameras", "views.json"];
    let page = text(place.expect(DONE, &[&sim[..], &["--reference"]].concat()).stdout);
    assert!(page.contains("qm blank") && !page.contains("exact"), "{page}");
    let away = ["--eye", "0,0,50", "--target", "0,0,90", "--width", "16", "--height", "16"];
    let mesh = [&["mesh", "plane", "--method", "none,qfm", "--psnr"], &away[..]].concat();
    let page = text(place.expect(DONE, &mesh).stdout);
    assert!(!page.contains("same"), "{page}");
    let rows = place.document(&[&mesh[..], &["--json"]].concat());
    assert_eq!(rows["rows"][1]["same_as_none"], Value::Null);
}

#[test]
fn scenes_of_a_report_from_the_field_are_not_identical() {
    let Some(folder) = shared::path("cases/splats-2/13-blank-views") else { return };
    let place = Place::new();
    let [a, b, away] =
        ["a.ply", "b.ply", "away.json"].map(|name| folder.join(name).display().to_string());
    let gate = ["--cameras", &away, "--fail-under-psnr", "40"];
    place.expect(FAILED, &[&["compare", &a, &b], &gate[..]].concat());
    let convert = ["convert", &a, "--decimate", "3", "-o", "few.ply"];
    place.expect(FAILED, &[&convert[..], &gate].concat());
}
