//! Scenes that `convert` moves and joins: their cameras, near planes, models and the verdict about them.

use std::fs;

use serde_json::{Value, json};

use crate::support::program::{DONE, Place, SHOT, USAGE};

/// Mean PSNR of a comparison in dB; infinite for identical pictures.
fn psnr(place: &Place, call: &[&str]) -> f64 {
    let document = place.document(call);
    document["mean"]["psnr_db"].as_f64().unwrap_or(f64::INFINITY)
}

#[test]
fn cameras_of_a_smaller_world_have_a_smaller_near_plane() {
    let place = Place::new();
    // A near plane of 0.2 in this world would leave out everything.
    let convert = ["convert", "scene.ply", "--cameras", "cameras.json", "--scale", "0.01"];
    let outputs = ["-o", "small.ply", "--cameras-out", "small.json"];
    place.expect(DONE, &[&convert[..], &outputs].concat());
    for (scene, cameras, folder) in
        [("scene.ply", "cameras.json", "large"), ("small.ply", "small.json", "small")]
    {
        let output = format!("{folder}/{{view}}.npy");
        place
            .expect(DONE, &["render", scene, "--cameras", cameras, "--view", "all", "-o", &output]);
    }
    let found = psnr(&place, &["compare", "large", "small", "--protocol", "float", "--json"]);
    assert!(found > 60.0, "{found}");
    // Splats are pruned by the same views before and after the move.
    let count = |name: &str, steps: &[&str]| {
        let call = ["convert", "scene.ply", "--cameras", "cameras.json", "--json", "-o", name];
        place.document(&[&call[..], steps].concat())["output"]["splats"].as_u64().unwrap()
    };
    let first = count("a.ply", &["--prune", "0.05", "--scale", "0.01"]);
    assert_eq!(count("b.ply", &["--scale", "0.01", "--prune", "0.05"]), first);
}

#[test]
fn cameras_that_cannot_be_written_are_refused_before_the_scene_is() {
    let place = Place::new();
    for model in ["orthographic", "equirectangular"] {
        let convert =
            ["convert", "scene.ply", "--cameras", "cameras.json", "--camera-model", model];
        let outputs = ["-o", "moved.ply", "--cameras-out", "moved.json"];
        let errors = place.expect(USAGE, &[&convert[..], &outputs].concat()).stderr;
        let errors = String::from_utf8(errors).unwrap();
        assert!(errors.contains("pinholes, the only projection of a cameras.json"), "{errors}");
        assert!(!place.path("moved.ply").exists() && !place.path("moved.json").exists());
    }
}

#[test]
fn lost_discs_and_mirrored_scenes_are_warned_of() {
    let place = Place::new();
    crate::discs::write_discs(&place);
    let errors = |call: &[&str]| String::from_utf8(place.expect(DONE, call).stderr).unwrap();
    let warning = "the discs (2DGS) of discs.ply become flat 3D Gaussians";
    let joined = errors(&["convert", "discs.ply", "scene.ply", "-o", "both.ply"]);
    assert!(joined.contains(warning), "{joined}");
    let alike = errors(&["convert", "discs.ply", "discs.ply", "-o", "twice.ply"]);
    assert!(!alike.contains("become flat"), "{alike}");
    for (axes, is_mirrored) in [("RBU", true), ("RFU", false), ("RUF", true), ("RUB", false)] {
        let errors = errors(&["convert", "scene.ply", "--flip-axes", axes, "-o", "f.ply"]);
        assert_eq!(errors.contains("these axes mirror the scene"), is_mirrored, "{axes}: {errors}");
    }
}

#[test]
fn the_verdict_names_the_limits_of_all_levels() {
    let place = Place::new();
    let convert = ["convert", "scene.ply", "-o", "a.ssog", "--lod-levels", "2", "--width", "32"];
    let limits = [&SHOT[..], &["--fail-under-psnr", "12,1"]].concat();
    let page = place.expect(DONE, &[&convert[..], &limits].concat()).stdout;
    let page = String::from_utf8(page).unwrap();
    let verdict = "passed: a PSNR of at least 12 dB, a PSNR of at least 1 dB everywhere";
    assert!(page.contains(verdict), "{page}");
}

#[test]
fn modelled_times_and_energies_are_columns_of_csv() {
    let place = Place::new();
    let sim = ["sim", "scene.ply", "--width", "32", "--method", "baseline,het", "--csv"];
    let call = [&sim[..], &SHOT, &["--frame", "--energy"]].concat();
    let csv = String::from_utf8(place.expect(DONE, &call).stdout).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    for name in ["frame.preprocess_ms", "energy_mj.total"] {
        let at = names.iter().position(|found| *found == name);
        let at = at.unwrap_or_else(|| panic!("{name}: {names:?}"));
        for line in csv.lines().skip(1) {
            let value: f64 = line.split(',').nth(at).unwrap().parse().unwrap();
            assert!(value > 0.0, "{name}: {line}");
        }
    }
    // Without the flags, there are no such columns.
    let plain = place.expect(DONE, &[&sim[..], &SHOT].concat()).stdout;
    assert!(!String::from_utf8(plain).unwrap().contains("frame.preprocess_ms"));
}

#[test]
fn a_count_of_splats_is_named_with_its_range() {
    let place = Place::new();
    for count in ["top:33", "top:0", "top:x"] {
        let call = ["render", "scene.ply", "--aov", count, "-o", "a.exr"];
        place.expect_error(USAGE, &call, &["--aov", "expected top:1 to top:32", count]);
    }
}

/// Rows of a scene that was changed in place are left out of plots, as out of tables; and two series have two names.
#[test]
fn plots_leave_out_older_rows_and_keep_series_apart() {
    let place = Place::new();
    let suite = "method = [\"baseline\", \"het\"]\n[[scene]]\nname = \"a\"\npath = \"scene.ply\"\n\
                 cameras = \"cameras.json\"\nview = \"0\"\nwidth = 32\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let bench = ["bench", "suite.toml", "-o", "rows.jsonl"];
    place.expect(DONE, &bench);
    place.expect(DONE, &["convert", "scene.ply", "--scale", "0.5", "-o", "half.ply"]);
    fs::rename(place.path("half.ply"), place.path("scene.ply")).unwrap();
    place.expect(DONE, &bench);
    let plot = ["plot", "rows.jsonl", "--x", "method", "--y", "cycles", "--markdown", "-"];
    let output = place.expect(DONE, &[&plot[..], &["-o", "p.svg"]].concat());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("that are left out: 1"), "{errors}");
    let csv = place.expect(DONE, &["bench", "rows.jsonl", "--csv"]).stdout;
    let csv = String::from_utf8(csv).unwrap();
    let at = csv.lines().next().unwrap().split(',').position(|name| name == "cycles").unwrap();
    let newest = csv.lines().nth(1).unwrap().split(',').nth(at).unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains(newest), "{newest}: {table}");
    let series = ["plot", "rows.jsonl", "--x", "scene", "--y", "cycles", "--series", "method"];
    let names = ["--name", "het=A", "--name", "baseline=A", "-o", "q.svg"];
    let call = [&series[..], &names].concat();
    place.expect_error(USAGE, &call, &["a name of its own for each series"]);
}

/// A row of a changed scene or mesh makes all older rows of it stale, also in configurations that are not run again.
#[test]
fn tables_have_one_version_of_a_scene_and_of_a_mesh() {
    let place = Place::new();
    let scene = "[[scene]]\nname = \"a\"\npath = \"scene.ply\"\ncameras = \"cameras.json\"\nview = \"0\"\n\
                 width = 32\n";
    let mesh = "[[mesh]]\nname = \"m\"\nmesh = \"m.obj\"\nwidth = 16\n[[study]]\nname = \"s\"\n\
                workload = \"merging\"\n";
    let triangle = |x: f64| format!("v 0 0 0\nv {x} 0 0\nv 0 1 0\nf 1 2 3\n");
    let run = |methods: &str, bins: &str, units: &str| {
        let text = format!(
            "method = [{methods}]\n[matrix]\ntc.bins = [{bins}]\n{scene}{mesh}method = [{units}]\n"
        );
        fs::write(place.path("suite.toml"), text).unwrap();
        place.expect(DONE, &["bench", "suite.toml", "-o", "rows.jsonl"]);
    };
    fs::write(place.path("m.obj"), triangle(1.0)).unwrap();
    run("\"baseline\"", "16, 8", "\"none\", \"qfm\"");
    place.expect(DONE, &["convert", "scene.ply", "--scale", "0.5", "-o", "half.ply"]);
    fs::rename(place.path("half.ply"), place.path("scene.ply")).unwrap();
    fs::write(place.path("m.obj"), triangle(0.5)).unwrap();
    run("\"baseline\"", "8", "\"qfm\"");
    let output = place.expect(DONE, &["bench", "rows.jsonl", "--json"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("that are left out: 3"), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().any(|row| row["changed"] == json!({"tc.bins": "8"})));
}
