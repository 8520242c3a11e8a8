//! What stood in the way of new users: messages, files in danger, flags that did not do what they
//! said.

use std::fs;

use serde_json::Value;

use crate::support::program::{DONE, Place, SHOT, UNREADABLE, UNWRITABLE, USAGE};

fn stdout(place: &Place, arguments: &[&str]) -> String {
    String::from_utf8(place.expect(DONE, arguments).stdout).unwrap()
}

fn stderr(place: &Place, arguments: &[&str]) -> String {
    String::from_utf8(place.expect(DONE, arguments).stderr).unwrap()
}

/// One dialect: our prefix, the flag, what was expected and what was found, exit code 2.
#[test]
fn wrong_flags_and_values_are_told_in_one_style() {
    let place = Place::new();
    let render = ["render", "scene.ply", "-o", "a.png"];
    for (flags, words) in [
        (&["--fov", "-20"][..], &["--fov: expected", "found -20"][..]),
        (&["--width", "-5"], &["--width: expected", "found -5"]),
        (
            &["--width", "100000"],
            &["--width: expected 1 to 32768 pixels"],
        ),
        (
            &["--width", "4294967296"],
            &["--width: expected a whole number"],
        ),
        (&["--view", "-1"], &["--view: expected", "\"-1\""]),
        (&["--orbit", "-1"], &["--orbit: expected", "found -1"]),
        (&["--threads", "-1"], &["--threads: expected", "found -1"]),
        (
            &["--background", "-1,0,0"],
            &["--background: expected", "0 to 1"],
        ),
        (
            &["--background", "255,0,0"],
            &["--background: expected", "1,0,0"],
        ),
        (
            &["--backend", "fast"],
            &["--backend: expected one of cpu", "found fast"],
        ),
        (&["--depth", "d.npy"], &["--depth", "expected a flag"]),
        (
            &["--profile", "nerf"],
            &["--profile: expected", "found nerf"],
        ),
        (&["--repeat", "3"], &["--repeat", "--output"]),
        (
            &["--cameras", "cameras.json", "--orbit", "3"],
            &["--orbit", "--cameras"],
        ),
    ] {
        let all = [&render[..], flags].concat();
        place.expect_error(USAGE, &all, words);
        let errors = String::from_utf8(place.run(&all).stderr).unwrap();
        assert!(errors.starts_with("quadrille: error: "), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    place.expect_error(USAGE, &["render"], &["<SCENE>", "quadrille: error: "]);
    place.expect_error(USAGE, &["dance"], &["command: expected", "found dance"]);
    place.expect_error(
        USAGE,
        &["mesh", "plane", "--tessellate", "-1"],
        &["--tessellate"],
    );
    assert!(!place.path("a.png").exists());
}

#[test]
fn counts_may_be_written_with_an_exponent() {
    let place = Place::new();
    place.expect(DONE, &["synth", "object", "--splats", "1e3", "-o", "s.ply"]);
    let document = place.document(&["info", "s.ply", "--json"]);
    assert_eq!(document["splats"], 1000);
    let view = place.json(&["-o", "a.npy", "--width", "1e2"])["views"][0].take();
    assert_eq!(view["width"], 100);
}

#[test]
fn no_input_is_overwritten() {
    let place = Place::new();
    let picture = |name: &str, eye: &str| {
        place.expect(
            DONE,
            &[
                "render",
                "scene.ply",
                "-o",
                name,
                "--width",
                "40",
                "--eye",
                eye,
            ],
        );
        fs::read(place.path(name)).unwrap()
    };
    let a = picture("a.png", "0,0,-5");
    picture("b.png", "0,0,-6");
    let diff = ["compare", "a.png", "b.png", "--diff"];
    for name in ["a.png", "./a.png", "b.png"] {
        place.expect_error(USAGE, &[&diff[..], &[name]].concat(), &["--diff", "input"]);
    }
    assert_eq!(fs::read(place.path("a.png")).unwrap(), a);
    let mesh = b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
        0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    fs::write(place.path("mesh.ply"), mesh).unwrap();
    place.expect_error(
        USAGE,
        &["mesh", "mesh.ply", "--to-splats", "mesh.ply"],
        &["--to-splats"],
    );
    assert_eq!(fs::read(place.path("mesh.ply")).unwrap(), mesh);
    let both = ["mesh", "mesh.ply", "-o", "x.png", "--heat", "x.png"];
    place.expect_error(USAGE, &both, &["--heat", "as for -o"]);
    let trace = [
        "sim",
        "scene.ply",
        "--variant",
        "qm",
        "--trace",
        "scene.ply",
    ];
    place.expect_error(USAGE, &trace, &["--trace"]);
    place.expect_error(USAGE, &["synth", "room", "-o", "r.splat"], &["-o", ".ply"]);
}

#[test]
fn folders_of_outputs_are_made_before_the_work() {
    let place = Place::new();
    place.expect(
        DONE,
        &[
            &["render", "scene.ply", "-o", "new/er/{view}.png"],
            &SHOT[..],
        ]
        .concat(),
    );
    assert!(place.path("new/er/shot_1.png").exists());
    let sim = [
        "sim",
        "scene.ply",
        "--variant",
        "qm",
        "--width",
        "40",
        "--trace",
        "traces/t.json",
    ];
    place.expect(DONE, &sim);
    assert!(place.path("traces/t.json").exists());
    // A file where a folder should be, and a folder where a file should be.
    for output in ["scene.ply/a.png", "new/er"] {
        let trace = ["sim", "scene.ply", "--trace", output];
        place.expect_error(UNWRITABLE, &trace, &[output]);
    }
}

#[test]
fn unknown_placeholders_are_refused() {
    let place = Place::new();
    let render = ["render", "scene.ply", "-o"];
    for name in ["{name}.png", "{variant}.png", "{View}.png"] {
        place.expect_error(USAGE, &[&render[..], &[name]].concat(), &["-o", "{view}"]);
    }
    let sim = ["sim", "scene.ply", "--trace", "{variant}.json"];
    place.expect_error(USAGE, &sim, &["--trace", "{view}"]);
    place.expect(
        DONE,
        &[&render[..], &["{1}{}.png", "--width", "40"]].concat(),
    );
}

#[test]
fn quiet_and_verbose_concern_stderr_alone() {
    let place = Place::new();
    // A camera that looks away from the scene.
    let away = ["--eye", "0,0,500", "--target", "0,0,1000", "--width", "40"];
    let render = [&["render", "scene.ply", "-o", "a.png"], &away[..]].concat();
    let plain = place.expect(DONE, &render);
    let quiet = place.expect(DONE, &[&render[..], &["-q"]].concat());
    assert!(String::from_utf8_lossy(&plain.stderr).contains("warning"));
    assert!(quiet.stderr.is_empty() && !quiet.stdout.is_empty());
    for command in [
        &["info", "scene.ply", "-v"][..],
        &[
            "render",
            "scene.ply",
            "--repeat",
            "1",
            "--width",
            "40",
            "-v",
        ],
        &["sim", "scene.ply", "--variant", "qm", "--width", "40", "-v"],
    ] {
        let remarks = stderr(&place, command);
        assert!(remarks.contains("scene.ply: PLY, 300 splats"), "{remarks}");
        assert_eq!(command[0] == "info", !remarks.contains("eye "), "{remarks}");
    }
    let compare = ["compare", "a.png", "a.png", "-v"];
    assert!(stderr(&place, &compare).contains("compared"));
}

#[test]
fn repeat_prints_medians_and_minima() {
    let place = Place::new();
    let page = stdout(
        &place,
        &["render", "scene.ply", "--repeat", "3", "--width", "40"],
    );
    assert!(
        page.contains("(median of 3)") && page.contains("(minimum)"),
        "{page}"
    );
}

#[test]
fn bench_without_a_baseline_prints_cycles_and_rows_may_go_to_stdout() {
    let place = Place::new();
    let suite = "variants = [\"qm\", \"het\"]\n[[scene]]\nname = \"small\"\npath = \"scene.ply\"\n\
        cameras = \"cameras.json\"\nviews = \"0..2\"\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let output = place.expect(DONE, &["bench", "suite.toml"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("cycles") && page.contains("shot_1"), "{page}");
    assert!(page.contains("baseline"), "{page}");
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("-o RESULTS.jsonl"), "{warnings}");
    let rows = stdout(&place, &["bench", "suite.toml", "-o", "-"]);
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1]["view"]["name"], "shot_1");
    assert!(!place.path("-").exists());
    place.expect_error(
        USAGE,
        &["bench", "suite.toml", "-o", "-", "--json"],
        &["--json"],
    );
}

#[test]
fn folders_are_compared_to_the_end() {
    let place = Place::new();
    for (name, width) in [("a/0", "40"), ("a/1", "40"), ("b/0", "30"), ("b/1", "40")] {
        let name = format!("{name}.png");
        place.expect(
            DONE,
            &["render", "scene.ply", "-o", &name, "--width", width],
        );
    }
    let output = place.run(&["compare", "a", "b", "--json"]);
    assert_eq!(output.status.code(), Some(UNREADABLE));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("b/0.png") && errors.contains("30 x"),
        "{errors}"
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["pairs"].as_array().unwrap().len(), 1);
    fs::create_dir(place.path("photos")).unwrap();
    fs::write(place.path("photos/0.jpg"), b"").unwrap();
    place.expect_error(
        UNREADABLE,
        &["compare", "a", "photos"],
        &[".png, .exr and .npy"],
    );
}

#[test]
fn empty_views_are_said_to_be_empty() {
    let place = Place::new();
    let away = ["--eye", "0,0,500", "--target", "0,0,1000", "--width", "40"];
    let sim = [&["sim", "scene.ply", "--variant", "qm"], &away[..]].concat();
    let output = place.expect(DONE, &sim);
    let (page, warnings) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(warnings.contains("no splat is in view"), "{warnings}");
    let limit = page.lines().find(|l| l.starts_with("limited by")).unwrap();
    assert!(limit.ends_with('-'), "{limit}");
}

#[test]
fn dumps_name_their_presets_sources_and_the_mesh_path_has_one() {
    let place = Place::new();
    let dump = stdout(&place, &["sim", "--preset", "orin", "--config-dump"]);
    assert!(dump.contains("# Preset orin: Jetson AGX Orin"), "{dump}");
    let dump = stdout(
        &place,
        &["mesh", "--config-dump", "--set", "qfm.quads_per_cycle=2"],
    );
    for unit in ["[qfm]", "[pmu]", "[pixel_shader]", "[crop]"] {
        assert!(dump.contains(unit), "{unit}");
    }
    fs::write(place.path("mesh.toml"), &dump).unwrap();
    assert_eq!(
        stdout(&place, &["mesh", "--config-dump", "--config", "mesh.toml"]),
        dump
    );
}

/// A unit's track has one name, whatever units a variant adds before it.
#[test]
fn tracks_have_the_same_names_in_all_variants() {
    let place = Place::new();
    let sim = [
        "sim",
        "scene.ply",
        "--variant",
        "baseline,het+qm",
        "--trace",
        "t.json",
    ];
    place.expect(DONE, &[&sim[..], &["--width", "40"]].concat());
    let trace: Value = serde_json::from_slice(&fs::read(place.path("t.json")).unwrap()).unwrap();
    let names = |pid: u64| {
        let events = trace["traceEvents"].as_array().unwrap().iter();
        let tracks = events.filter(|e| e["pid"] == pid && e["ph"] == "C");
        let mut names: Vec<_> = tracks.map(|e| e["name"].as_str().unwrap()).collect();
        names.dedup();
        names
    };
    let (baseline, both) = (names(1), names(2));
    assert!(baseline.len() < both.len());
    assert!(
        baseline.iter().all(|name| both.contains(name)),
        "{baseline:?} {both:?}"
    );
}

#[test]
fn long_names_do_not_widen_tables() {
    let place = Place::new();
    let cameras = fs::read_to_string(place.path("cameras.json")).unwrap();
    let long = cameras.replace("shot_1", &"n".repeat(200));
    fs::write(place.path("long.json"), long).unwrap();
    let render = [
        "render",
        "scene.ply",
        "--cameras",
        "long.json",
        "--view",
        "1",
    ];
    let page = stdout(&place, &[&render[..], &["--repeat", "1"]].concat());
    let widest = page.lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(140), "{page}");
}

#[test]
fn scenes_and_meshes_are_told_apart() {
    let place = Place::new();
    place.expect_error(UNREADABLE, &["mesh", "scene.ply"], &["quadrille render"]);
    fs::write(
        place.path("cube.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    )
    .unwrap();
    let render = ["render", "cube.obj", "-o", "a.png"];
    place.expect_error(UNREADABLE, &render, &["quadrille mesh"]);
}

/// Every help page is a screen wide, and every command has an example.
#[test]
fn help_pages_fit_and_give_examples() {
    let place = Place::new();
    for command in [
        "bench",
        "compare",
        "completions",
        "info",
        "man",
        "mesh",
        "microbench",
        "render",
        "sim",
        "synth",
    ] {
        let page = stdout(&place, &[command, "--help"]);
        let first = page.lines().next().unwrap();
        assert!(first.chars().count() <= 80, "{command}: {first}");
        assert!(page.contains("Examples:"), "{command} has no example");
        assert!(
            page.contains(&format!("  quadrille {command}")),
            "{command}"
        );
        let short = stdout(&place, &["--help"]);
        let line = short
            .lines()
            .find(|l| l.trim_start().starts_with(&format!("{command} ")));
        let about = line
            .unwrap()
            .trim_start()
            .trim_start_matches(command)
            .trim();
        assert!(about.chars().count() <= 80, "{about}");
    }
}
