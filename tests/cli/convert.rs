//! The `convert` command: formats, the order of actions, errors.

use std::fs;

use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};

/// Number of splats in the scene of [`Place`].
const SPLATS: u64 = 300;

#[test]
fn every_format_is_written_and_described() {
    let place = Place::new();
    for (name, format, packing) in [
        ("a.ply", "PLY", "none, little-endian"),
        ("a.compressed.ply", "compressed PLY", "chunks of 256"),
        ("a.spz", "SPZ", "zstd streams, version 4"),
        ("a.sog", "SOG", "lossless WebP in a zip, version 2"),
        ("a.splat", ".splat", "8 bits"),
        ("a.glb", "glTF", "none, glTF 2.0"),
    ] {
        let document = place.document(&["convert", "scene.ply", "-o", name, "--json"]);
        assert_eq!(document["output"]["splats"], SPLATS, "{document}");
        let bytes = fs::metadata(place.path(name)).unwrap().len();
        assert_eq!(document["output"]["file_bytes"], bytes);
        let info = place.document(&["info", name, "--json"]);
        assert_eq!(info["format"], format, "{info}");
        assert_eq!(info["splats"], SPLATS);
        let encoding = &info["encoding"];
        assert!(
            encoding["compression"].as_str().unwrap().contains(packing),
            "{info}"
        );
        assert!(!encoding["losses"].as_str().unwrap().is_empty());
        let page = String::from_utf8(place.expect(DONE, &["info", name]).stdout).unwrap();
        assert!(
            page.contains("losses") && page.lines().all(|line| line.len() <= 120),
            "{page}"
        );
    }
    let info = place.document(&["info", "a.spz", "--json"]);
    assert_eq!(
        (&info["encoding"]["axes"], &info["encoding"]["axes_stated"]),
        (&"RUB".into(), &true.into())
    );
}

#[test]
fn actions_run_in_the_order_in_which_they_are_given() {
    let place = Place::new();
    let first_x = |arguments: &[&str]| {
        place.expect(
            DONE,
            &[&["convert", "scene.ply", "-o", "b.ply"], arguments].concat(),
        );
        let splats = quadrille::load(place.path("b.ply")).unwrap().splats;
        splats.splat(0).mean[0]
    };
    let before = first_x(&[]);
    let moved_then_scaled = first_x(&["--translate", "1,0,0", "--scale", "2"]);
    let scaled_then_moved = first_x(&["--scale", "2", "--translate", "1,0,0"]);
    assert_eq!(moved_then_scaled, (before + 1.0) * 2.0);
    assert_eq!(scaled_then_moved, before * 2.0 + 1.0);
    let document = place.document(&[
        "convert",
        "scene.ply",
        "scene.ply",
        "--sh",
        "0",
        "--where",
        "opacity > 0.5",
        "--morton",
        "-o",
        "c.spz",
        "--json",
    ]);
    assert_eq!(document["inputs"].as_array().unwrap().len(), 2);
    let actions = document["actions"].as_array().unwrap();
    let names: Vec<&str> = actions
        .iter()
        .map(|a| a["action"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["--sh 0", "--where opacity > 0.5", "--morton"]);
    assert_eq!(actions[0]["splats"], 2 * SPLATS);
    let left = actions[1]["splats"].as_u64().unwrap();
    assert!(left > 0 && left < 2 * SPLATS && left.is_multiple_of(2));
    assert_eq!(document["output"]["sh_degree"], 0);
}

#[test]
fn sog_folders_are_written_and_kept_from_their_readers() {
    let place = Place::new();
    let convert = ["convert", "scene.ply", "--json", "-o"];
    for output in [&["new/a/meta.json"][..], &["b", "--format", "sog-folder"]] {
        let document = place.document(&[&convert[..], output].concat());
        let folder = output[0].trim_end_matches("/meta.json");
        let files = fs::read_dir(place.path(folder)).unwrap();
        let bytes: u64 = files.map(|f| f.unwrap().metadata().unwrap().len()).sum();
        assert_eq!(document["output"]["file_bytes"], bytes);
        let info = place.document(&["info", folder, "--json"]);
        assert_eq!(
            (&info["format"], &info["splats"]),
            (&"SOG".into(), &SPLATS.into())
        );
    }
    place.expect_error(
        USAGE,
        &["convert", "b", "-o", "b/meta.json"],
        &["-o", "which is read"],
    );
    fs::write(place.path("b/notes"), "").unwrap();
    place.expect_error(
        UNWRITABLE,
        &["convert", "scene.ply", "-o", "b/meta.json"],
        &["notes", "no part of it"],
    );
}

#[test]
fn splats_are_merged_and_floaters_dropped() {
    let place = Place::new();
    let document = place.document(&[
        "convert",
        "scene.ply",
        "--drop-floaters",
        "3",
        "--decimate",
        "50%",
        "--decimate",
        "100",
        "-o",
        "a.ply",
        "--json",
    ]);
    let left = |at: usize| document["actions"][at]["splats"].as_u64().unwrap();
    assert!(left(0) > SPLATS / 2 && left(0) <= SPLATS);
    assert_eq!(left(1), left(0).div_ceil(2));
    assert_eq!((left(2), &document["output"]["splats"]), (100, &100.into()));
    for (flag, value) in [
        ("--decimate", "0"),
        ("--decimate", "101%"),
        ("--drop-floaters", "-1"),
    ] {
        place.expect_error(
            USAGE,
            &["convert", "scene.ply", "-o", "b.ply", flag, value],
            &[flag],
        );
    }
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let refused = |code: i32, arguments: &[&str], words: &[&str]| {
        place.expect_error(code, &[&["convert"], arguments].concat(), words);
    };
    refused(
        USAGE,
        &["scene.ply", "-o", "a.txt"],
        &["-o", "--format", "a.txt"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "scene.ply"],
        &["-o", "which is read"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--where", "opacity >"],
        &["--where", "a number or the name"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--where", "w > 0"],
        &["--where", "scale_min", "found w"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--keep-box", "1,2"],
        &["--keep-box", "six numbers"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--keep-box", "1,1,1,0,2,2"],
        &["--keep-box", "least corner first", "found 1,1,1,0,2,2"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--keep-sphere", "0,0,0,-1"],
        &["--keep-sphere", "at least 0"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--sh", "5"],
        &["--sh", "0 to 4"],
    );
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--format", "zip"],
        &["--format", "compressed-ply"],
    );
    refused(
        UNREADABLE,
        &["scene.ply", "--translate", "4e3,0,0", "-o", "a.spz"],
        &["row 0", "-2048 to 2048"],
    );
    refused(
        UNREADABLE,
        &["none.ply", "-o", "a.spz"],
        &["none.ply", "cannot read"],
    );
    assert!(!place.path("a.ply").exists() && !place.path("a.spz").exists());
    let output = place.expect(DONE, &["convert", "scene.ply", "-o", "a.splat"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(
        warning.contains("spherical harmonics of degree 1 are left out"),
        "{warning}"
    );
}

#[test]
fn a_report_compares_every_view() {
    let place = Place::new();
    let document = place.document(&[
        "convert",
        "scene.ply",
        "-o",
        "a.spz",
        "--cameras",
        "cameras.json",
        "--report",
        "report.json",
        "--json",
    ]);
    let report = &document["report"];
    let views = report["views"].as_array().unwrap();
    assert_eq!(views.len(), 3);
    let psnr = |view: &serde_json::Value| view["psnr_db"].as_f64().unwrap();
    let worst = views
        .iter()
        .min_by(|a, b| psnr(a).total_cmp(&psnr(b)))
        .unwrap();
    assert_eq!(report["worst_view"], worst["name"]);
    assert!(report["attributes"]["opacity"]["max"].as_f64().unwrap() < 0.002);
    let text = fs::read_to_string(place.path("report.json")).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["report"], *report);
    let limit = format!("{}", psnr(worst) + 1.0);
    let arguments = [
        "convert",
        "scene.ply",
        "-o",
        "a.spz",
        "--cameras",
        "cameras.json",
        "--fail-under-psnr",
    ];
    place.expect_failure(1, &[&arguments[..], &[&limit]].concat());
    place.expect(DONE, &[&arguments[..], &["10"]].concat());
    // Nothing is lost from PLY to PLY, and pruning below no weight keeps what some view shows.
    let document = place.document(&[
        "convert",
        "scene.ply",
        "-o",
        "b.ply",
        "--report",
        "r.json",
        "--json",
    ]);
    assert!(document["report"]["worst_view"].is_null());
    let document = place.document(&[
        "convert",
        "scene.ply",
        "-o",
        "c.ply",
        "--prune",
        "0.01",
        "--cameras",
        "cameras.json",
        "--json",
    ]);
    let left = document["output"]["splats"].as_u64().unwrap();
    assert!(left > 0 && left < SPLATS, "{left}");
}
