//! The `convert` command: formats, the order of actions, errors.

use std::fs;

use serde_json::Value;

use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};

/// Exit code of a failed check.
const CHECK_FAILED: i32 = 1;

/// Number of splats in the scene of [`Place`].
const SPLATS: u64 = 300;

/// The arguments in a line, none of which has a blank.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

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
        ("a.usdz", "USD", "none, USDZ"),
        ("a.usda", "USD", "none, text"),
    ] {
        let document = place.document(&["convert", "scene.ply", "-o", name, "--json"]);
        assert_eq!(document["output"]["splats"], SPLATS, "{document}");
        let bytes = fs::metadata(place.path(name)).unwrap().len();
        assert_eq!(document["output"]["file_bytes"], bytes);
        let info = place.document(&["info", name, "--json"]);
        assert_eq!(info["format"], format, "{info}");
        assert_eq!(info["splats"], SPLATS);
        let encoding = &info["encoding"];
        assert!(encoding["compression"].as_str().unwrap().contains(packing), "{info}");
        assert!(!encoding["losses"].as_str().unwrap().is_empty());
        let page = String::from_utf8(place.expect(DONE, &["info", name]).stdout).unwrap();
        assert!(page.contains("losses") && page.lines().all(|line| line.len() <= 120), "{page}");
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
        place.expect(DONE, &[&["convert", "scene.ply", "-o", "b.ply"], arguments].concat());
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
    let names: Vec<&str> = actions.iter().map(|a| a["action"].as_str().unwrap()).collect();
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
        assert_eq!((&info["format"], &info["splats"]), (&"SOG".into(), &SPLATS.into()));
    }
    place.expect_error(USAGE, &["convert", "b", "-o", "b/meta.json"], &["-o", "which is an input"]);
    fs::write(place.path("b/notes"), "").unwrap();
    place.expect_error(
        UNWRITABLE,
        &["convert", "scene.ply", "-o", "b/meta.json"],
        &["notes", "would be lost"],
    );
}

#[test]
fn levels_of_detail_that_cannot_be_written_are_refused() {
    let place = Place::new();
    for (line, expected) in [
        ("-o a.ssog --lod-levels 0", "1 to 8"),
        ("-o a.ssog --lod-levels 9", "1 to 8"),
        ("-o a.ssog --lod-levels two", "1 to 8"),
        ("-o a.sog --lod-levels 2", "a streamed SOG"),
        ("-o a/meta.json --lod-levels 2", "a streamed SOG"),
        ("-o a.ply --lod-levels 1", "a streamed SOG"),
    ] {
        let arguments = [&["convert", "scene.ply"], &words(line)[..]].concat();
        place.expect_error(USAGE, &arguments, &["--lod-levels", expected]);
    }
    assert!(place.names().iter().all(|name| !name.starts_with("a")));
}

#[test]
fn splats_are_merged_and_floaters_dropped() {
    let place = Place::new();
    let document = place.document(&words(
        "convert scene.ply --drop-floaters 3 --decimate 50% --decimate 100 -o a.ply --json",
    ));
    let left = |at: usize| document["actions"][at]["splats"].as_u64().unwrap();
    assert!(left(0) > SPLATS / 2 && left(0) <= SPLATS);
    assert_eq!(left(1), left(0).div_ceil(2));
    assert_eq!((left(2), &document["output"]["splats"]), (100, &100.into()));
    for (flag, value) in [("--decimate", "0"), ("--decimate", "101%"), ("--drop-floaters", "-1")] {
        place.expect_error(USAGE, &["convert", "scene.ply", "-o", "b.ply", flag, value], &[flag]);
    }
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let refused = |code: i32, arguments: &[&str], words: &[&str]| {
        place.expect_error(code, &[&["convert"], arguments].concat(), words);
    };
    refused(USAGE, &["scene.ply", "-o", "a.txt"], &["-o", "--format", "a.txt"]);
    refused(USAGE, &["scene.ply", "-o", "scene.ply"], &["-o", "which is an input"]);
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
    refused(USAGE, &["scene.ply", "-o", "a.ply", "--sh", "5"], &["--sh", "0 to 4"]);
    refused(
        USAGE,
        &["scene.ply", "-o", "a.ply", "--format", "zip"],
        &["--format", "compressed-ply"],
    );
    refused(
        UNREADABLE,
        &["scene.ply", "--translate", "4e3,0,0", "-o", "a.spz"],
        &["300 of 300 splats", "-2048 to 2048", "--drop-outside"],
    );
    refused(UNREADABLE, &["none.ply", "-o", "a.spz"], &["none.ply", "cannot read"]);
    assert!(!place.path("a.ply").exists() && !place.path("a.spz").exists());
    let output = place.expect(DONE, &["convert", "scene.ply", "-o", "a.splat"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("spherical harmonics of degree 1 are left out"), "{warning}");
}

#[test]
fn a_report_compares_every_view() {
    let place = Place::new();
    let document = place.document(&words(
        "convert scene.ply -o a.spz --cameras cameras.json --report report.json --json",
    ));
    let report = &document["report"];
    let views = report["views"].as_array().unwrap();
    assert_eq!(views.len(), 3);
    let psnr = |view: &serde_json::Value| view["psnr_db"].as_f64().unwrap();
    let worst = views.iter().min_by(|a, b| psnr(a).total_cmp(&psnr(b))).unwrap();
    assert_eq!(report["worst_view"], worst["name"]);
    assert!(report["attributes"]["opacity"]["max"].as_f64().unwrap() < 0.002);
    let text = fs::read_to_string(place.path("report.json")).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["report"], *report);
    let limit = format!("{}", psnr(worst) + 1.0);
    let arguments = words("convert scene.ply -o a.spz --cameras cameras.json --fail-under-psnr");
    place.expect_failure(1, &[&arguments[..], &[&limit]].concat());
    place.expect(DONE, &[&arguments[..], &["10"]].concat());
    // Nothing is lost from PLY to PLY, and pruning below no weight keeps what some view shows.
    let document = place.document(&words("convert scene.ply -o b.ply --report r.json --json"));
    assert!(document["report"]["worst_view"].is_null());
    let document = place
        .document(&words("convert scene.ply -o c.ply --prune 0.01 --cameras cameras.json --json"));
    let left = document["output"]["splats"].as_u64().unwrap();
    assert!(left > 0 && left < SPLATS, "{left}");
}

/// A place whose scene also lies where no camera file does.
fn place_with_alone() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("alone")).unwrap();
    fs::copy(place.path("scene.ply"), place.path("alone/scene.ply")).unwrap();
    place
}

fn psnrs(views: &Value) -> Vec<f64> {
    let views = views.as_array().unwrap().iter();
    views.map(|view| view["psnr_db"].as_f64().unwrap()).collect()
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn pruning_needs_views_or_takes_the_cameras_beside_the_scene() {
    let place = place_with_alone();
    let prune = ["--prune", "0.01", "-o", "a.ply"];
    for views in [&[][..], &["--view", "all"], &["--target", "0,0,0"], &["--width", "32"]] {
        place.expect_error(
            USAGE,
            &[&["convert", "alone/scene.ply"][..], &prune, views].concat(),
            &["--prune", "--cameras FILE", "--orbit N", "no camera file beside alone/scene.ply"],
        );
    }
    assert!(!place.path("a.ply").exists());
    let output = place.expect(DONE, &[&["convert", "scene.ply"][..], &prune].concat());
    assert!(stderr(&output).contains("cameras of cameras.json"), "{}", stderr(&output));
    // The file that is found is an input as one that is named.
    let over = [&["convert", "scene.ply", "--report", "cameras.json"][..], &prune].concat();
    place.expect_error(USAGE, &over, &["--report", "which is an input"]);
    let beside = fs::read(place.path("a.ply")).unwrap();
    let given = [&["convert", "scene.ply", "--cameras", "cameras.json"][..], &prune].concat();
    place.expect(DONE, &given);
    assert_eq!(fs::read(place.path("a.ply")).unwrap(), beside);
}

#[test]
fn reports_look_from_other_views_than_pruning() {
    let place = place_with_alone();
    let convert = |views: &[&str]| {
        let prune = words("convert alone/scene.ply --prune 0.05 -o a.ply");
        let report = ["--report", "r.json", "--width", "60", "--json"];
        place.document(&[&prune[..], &report, views].concat())["report"].clone()
    };
    let report = convert(&["--orbit", "6"]);
    let pruned_by: Vec<&str> =
        report["pruned_by"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(pruned_by.len(), 6);
    assert_eq!(report["views_are_between"], true);
    let views = report["views"].as_array().unwrap();
    assert!(views.len() >= 3);
    for view in views {
        let (a, b) = view["name"].as_str().unwrap().split_once(" - ").unwrap();
        assert!(pruned_by.contains(&a) && pruned_by.contains(&b));
    }
    let report = convert(&["--eye", "0,0,-5", "--target", "0,0,0"]);
    assert_eq!(
        (&report["pruned_by"], &report["views_are_between"]),
        (&serde_json::json!(["eye"]), &false.into())
    );
    let one = words("convert alone/scene.ply --prune 0.05 -o a.ply --report r.json");
    let output = place.expect(DONE, &[&one[..], &["--eye", "0,0,-5"]].concat());
    assert!(stderr(&output).contains("the views by which splats were pruned"));
}

#[test]
fn a_failed_check_keeps_the_old_file() {
    let place = Place::new();
    for output in ["a.spz", "a.ply", "a.splat", "sog/meta.json"] {
        place.expect(DONE, &["convert", "scene.ply", "--sh", "0", "-o", output]);
        let old = fs::read(place.path(output)).unwrap();
        let failing = ["convert", "scene.ply", "--decimate", "10", "--json", "-q"];
        let check = ["--fail-under-psnr", "90", "--report", "r.json", "-o", output];
        let found = place.expect(CHECK_FAILED, &[&failing[..], &check].concat());
        assert_eq!(fs::read(place.path(output)).unwrap(), old, "{output}");
        let errors = stderr(&found);
        assert!(errors.contains("at least 90 dB") && errors.contains("not written"), "{errors}");
        let document: Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!(document["output"]["written"], false);
        assert!(document["output"]["file_bytes"].as_u64().unwrap() > 0);
        assert!(place.path("r.json").exists());
    }
    let names = place.names();
    assert!(!names.iter().any(|name| name.contains("part")), "{names:?}");
}

#[test]
fn reports_without_cameras_have_several_views_and_means() {
    let place = place_with_alone();
    let convert = words("convert alone/scene.ply --sh 0 --width 60 -o a.spz");
    let report = ["--report", "r.json"];
    let output = place.expect(DONE, &[&convert[..], &report].concat());
    assert!(stderr(&output).contains("a circle of 8"), "{}", stderr(&output));
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.lines().any(|line| line.starts_with("mean ")), "{page}");
    let document = place.document(&[&convert[..], &report, &["--json"]].concat());
    let report = &document["report"];
    let psnrs = psnrs(&report["views"]);
    assert_eq!((psnrs.len(), &report["views_from"]), (8, &"--orbit 8".into()));
    let mean = psnrs.iter().sum::<f64>() / 8.0;
    assert!((report["mean"]["psnr_db"].as_f64().unwrap() - mean).abs() < 1e-9);
}

#[test]
fn crops_and_moves_are_no_loss() {
    let place = Place::new();
    let report = |actions: &[&str]| {
        let convert = words("convert scene.ply -o a.ply --report r.json --json");
        place.document(&[&convert[..], actions].concat())["report"].clone()
    };
    let crop = report(&["--where", "x > 0 || y > 0", "--drop-nan"]);
    assert!(crop["worst_view"].is_null(), "{crop}");
    // Conditions on how splats are drawn lose something.
    assert!(!report(&["--where", "x > 0 || opacity > 0.5"])["worst_view"].is_null());
    // The views follow the scene, so that a loss is seen as it is seen without moves.
    let still = psnrs(&report(&["--sh", "0"])["views"]);
    for moves in [
        &["--rotate", "30,-70,110", "--translate", "1,2,3"][..],
        &["--flip-axes", "RUB"],
        &["--translate", "0,4,0", "--flip-axes", "RFU"],
    ] {
        for actions in [[moves, &["--sh", "0"]].concat(), [&["--sh", "0"], moves].concat()] {
            for (moved, still) in psnrs(&report(&actions)["views"]).iter().zip(&still) {
                assert!((moved - still).abs() < 0.3, "{actions:?}: {moved} {still}");
            }
        }
    }
    place.expect_error(
        USAGE,
        &words("convert scene.ply --flip-axes RUF -o b.ply --report r.json"),
        &["--flip-axes RUF", "mirror"],
    );
}

#[test]
fn actions_that_drop_everything_are_errors() {
    let place = Place::new();
    for (flag, value) in [
        ("--keep-box", "90,90,90,91,91,91"),
        ("--keep-sphere", "90,90,90,1"),
        ("--where", "opacity > 2"),
        ("--prune", "1"),
    ] {
        let action = ["convert", "scene.ply", "-o", "a.ply", "--morton", flag, value, "--sh", "0"];
        let found = format!("{flag} {value}");
        place.expect_error(
            USAGE,
            &action,
            &[&found, "at least one splat that stays", "none of 300"],
        );
        if flag != "--prune" {
            let render = ["render", "scene.ply", "-o", "a.png", flag, value];
            place.expect_error(USAGE, &render, &[&found, "none of 300"]);
        }
    }
    assert!(!place.path("a.ply").exists() && !place.path("a.png").exists());
}

#[test]
fn splats_outside_a_format_are_dropped_on_request() {
    let place = Place::new();
    let far = words("convert scene.ply --decimate 3 --translate 0,-5000,0 -o far.ply");
    let output = place.expect(DONE, &far);
    assert!(!stderr(&output).contains("is a count"), "3 of 300 is no small share");
    let join = ["convert", "scene.ply", "far.ply", "-o", "a.spz"];
    let words = ["3 of 303 splats outside", "the farthest at", "--drop-outside", "-2048 to 2048"];
    place.expect_error(UNREADABLE, &join, &words);
    let document = place.document(&[&join[..], &["--drop-outside", "--json"]].concat());
    assert_eq!(document["output"]["splats"], 300);
    assert_eq!(document["actions"][0]["action"], "--drop-outside");
    // A crop that comes first needs no other remedy.
    place.expect(DONE, &[&join[..], &["--keep-sphere", "0,0,0,1000"]].concat());
    let output = place.expect(DONE, &["convert", "scene.ply", "--decimate", "2", "-o", "b.ply"]);
    assert!(stderr(&output).contains("2 percent is written 2%"));
}

#[test]
fn scenes_are_compared_by_their_views() {
    let place = place_with_alone();
    let convert = words("convert scene.ply -o a.spz --report r.json --json");
    let report = place.document(&convert)["report"].clone();
    let document = place.document(&["compare", "scene.ply", "a.spz", "--json"]);
    let found = psnrs(&document["pairs"]);
    let mut expected = psnrs(&report["views"]);
    expected.sort_by(f64::total_cmp);
    assert_eq!((&found, document["views_from"].as_str()), (&expected, Some("cameras.json")));
    assert_eq!(document["mean"]["psnr_db"], report["mean"]["psnr_db"]);
    assert_eq!(document["pairs"][0]["a"], "scene.ply");
    let chosen = words("compare scene.ply a.spz --cameras cameras.json --view 1 --json");
    assert_eq!(psnrs(&place.document(&chosen)["pairs"]).len(), 1);
    let circle = place.document(&words("compare alone/scene.ply a.spz --width 40 --json"));
    assert_eq!(psnrs(&circle["pairs"]).len(), 8);
    let failing = words("compare scene.ply a.spz -q --fail-under-psnr 99");
    let output = place.expect(CHECK_FAILED, &failing);
    assert!(stderr(&output).contains("expected a PSNR of at least 99 dB"));
    // Each scene has the profile that its file names.
    let profiles = |flags: &[&str]| {
        let compare = ["compare", "scene.ply", "a.spz", "--json"];
        place.document(&[&compare[..], flags].concat())["profiles"].clone()
    };
    assert_eq!(profiles(&[]), serde_json::json!(["inria", "inria"]));
    assert_eq!(profiles(&["--profile", "gsplat"]), serde_json::json!(["gsplat", "gsplat"]));
    place.expect(DONE, &["render", "scene.ply", "--view", "0", "-o", "p.png"]);
    for pair in [["scene.ply", "p.png"], ["p.png", "a.spz"]] {
        let words = ["a scene", "to compare", "p.png, which is neither a scene nor a folder"];
        place.expect_error(USAGE, &[&["compare"][..], &pair].concat(), &words);
    }
    place.expect(DONE, &["compare", "scene.ply", "a.spz", "--diff", "d/{name}.png"]);
    assert!(place.path("d/shot_1.png").exists());
}
