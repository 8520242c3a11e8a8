//! What stood in the way of new users: messages, files in danger, flags that did not do what they
//! said.

use std::fs;

use serde_json::Value;

use crate::support::program::{DONE, Place, SHOT, UNREADABLE, UNWRITABLE, USAGE};

const COMMANDS: [&str; 12] = [
    "bench",
    "compare",
    "completions",
    "convert",
    "deferred",
    "info",
    "man",
    "mesh",
    "microbench",
    "render",
    "sim",
    "synth",
];

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
        (&["--width", "100000"], &["--width: expected 1 to 32768 pixels"]),
        (&["--width", "4294967296"], &["--width: expected a whole number"]),
        (&["--view", "-1"], &["--view: expected", "\"-1\""]),
        (&["--orbit", "-1"], &["--orbit: expected", "found -1"]),
        (&["--threads", "-1"], &["--threads: expected", "found -1"]),
        (&["--background", "-1,0,0"], &["--background: expected", "0 to 1"]),
        (&["--background", "255,0,0"], &["--background: expected", "1,0,0"]),
        (&["--backend", "fast"], &["--backend: expected one of cpu", "found fast"]),
        (&["--depth", "d.npy"], &["--depth", "expected a flag"]),
        (&["--profile", "nerf"], &["--profile: expected", "found nerf"]),
        (&["--repeat", "3"], &["--repeat", "--output"]),
        (&["--cameras", "cameras.json", "--orbit", "3"], &["--orbit", "--cameras"]),
    ] {
        let all = [&render[..], flags].concat();
        place.expect_error(USAGE, &all, words);
        let errors = String::from_utf8(place.run(&all).stderr).unwrap();
        assert!(errors.starts_with("quadrille: error: "), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    place.expect_error(USAGE, &["render"], &["<SCENE>", "quadrille: error: "]);
    place.expect_error(USAGE, &["dance"], &["command: expected", "found dance"]);
    place.expect_error(USAGE, &["mesh", "plane", "--tessellate", "-1"], &["--tessellate"]);
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
        place.expect(DONE, &["render", "scene.ply", "-o", name, "--width", "40", "--eye", eye]);
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
    place.expect_error(USAGE, &["mesh", "mesh.ply", "--to-splats", "mesh.ply"], &["--to-splats"]);
    assert_eq!(fs::read(place.path("mesh.ply")).unwrap(), mesh);
    let both = ["mesh", "mesh.ply", "-o", "x.png", "--heat", "x.png"];
    place.expect_error(USAGE, &both, &["--heat", "which is also the file of -o"]);
    let trace = ["sim", "scene.ply", "--method", "qm", "--trace", "scene.ply"];
    place.expect_error(USAGE, &trace, &["--trace"]);
    place.expect_error(USAGE, &["synth", "room", "-o", "r.splat"], &["-o", ".ply"]);
}

#[test]
fn folders_of_outputs_are_made_before_the_work() {
    let place = Place::new();
    place.expect(DONE, &[&["render", "scene.ply", "-o", "new/er/{view}.png"], &SHOT[..]].concat());
    assert!(place.path("new/er/shot_1.png").exists());
    let sim = ["sim", "scene.ply", "--method", "qm", "--width", "40", "--trace", "traces/t.json"];
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
    for name in ["{name}.png", "{method}.png", "{View}.png"] {
        place.expect_error(USAGE, &[&render[..], &[name]].concat(), &["-o", "{view}"]);
    }
    let sim = ["sim", "scene.ply", "--trace", "{method}.json"];
    place.expect_error(USAGE, &sim, &["--trace", "{view}"]);
    place.expect(DONE, &[&render[..], &["{1}{}.png", "--width", "40"]].concat());
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
        &["render", "scene.ply", "--repeat", "1", "--width", "40", "-v"],
        &["sim", "scene.ply", "--method", "qm", "--width", "40", "-v"],
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
    let page = stdout(&place, &["render", "scene.ply", "--repeat", "3", "--width", "40"]);
    assert!(page.contains("(median of 3)") && page.contains("(minimum)"), "{page}");
}

#[test]
fn bench_without_a_baseline_prints_cycles_and_rows_may_go_to_stdout() {
    let place = Place::new();
    let suite = "method = [\"qm\", \"het\"]\n[[scene]]\nname = \"small\"\npath = \"scene.ply\"\n\
        cameras = \"cameras.json\"\nviews = \"0..2\"\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let output = place.expect(DONE, &["bench", "suite.toml"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("cycles") && page.contains("shot_1"), "{page}");
    assert!(page.contains("baseline"), "{page}");
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("-o RESULTS.jsonl"), "{warnings}");
    let bench = ["bench", "suite.toml", "--method", "baseline,tgc", "-q"];
    let headings = stdout(&place, &bench);
    let headings: String = headings.lines().take(2).collect();
    assert!(headings.contains("tgc") && !headings.contains("het"), "{headings}");
    let rows = stdout(&place, &["bench", "suite.toml", "-o", "-"]);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1]["view"]["name"], "shot_1");
    assert!(!place.path("-").exists());
    place.expect_error(USAGE, &["bench", "suite.toml", "-o", "-", "--json"], &["--json"]);
}

#[test]
fn folders_are_compared_to_the_end() {
    let place = Place::new();
    for (name, width) in [("a/0", "40"), ("a/1", "40"), ("b/0", "30"), ("b/1", "40")] {
        let name = format!("{name}.png");
        place.expect(DONE, &["render", "scene.ply", "-o", &name, "--width", width]);
    }
    let output = place.run(&["compare", "a", "b", "--json"]);
    assert_eq!(output.status.code(), Some(UNREADABLE));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("b/0.png") && errors.contains("30 x"), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["pairs"].as_array().unwrap().len(), 1);
    for (folder, name, words) in [
        ("photos", "0.tiff", "0.tiff: first bytes: expected a picture: PNG, JPEG, OpenEXR or NPY"),
        ("notes", "0.txt", ".png, .jpg, .exr and .npy"),
    ] {
        fs::create_dir(place.path(folder)).unwrap();
        fs::write(place.path(folder).join(name), b"").unwrap();
        let output = place.expect(UNREADABLE, &["compare", "a", folder]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(words), "{errors}");
    }
}

#[test]
fn empty_views_are_said_to_be_empty() {
    let place = Place::new();
    let away = ["--eye", "0,0,500", "--target", "0,0,1000", "--width", "40"];
    let sim = [&["sim", "scene.ply", "--method", "qm"], &away[..]].concat();
    let output = place.expect(DONE, &sim);
    let (page, warnings) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(warnings.contains("of the splats are behind the camera"), "{warnings}");
    let background = [&sim[..], &["--background", "1,1,1"]].concat();
    let expected = "--background has no effect";
    assert!(stderr(&place, &background).contains(expected));
    let limit = page.lines().find(|l| l.starts_with("limited by")).unwrap();
    assert!(limit.ends_with('-'), "{limit}");
    // Software writes the picture all the same: nothing is a multiple of no cycles and of no energy.
    let methods = ["baseline,het,compute,gscore", "--energy"];
    let all = stdout(&place, &[&["sim", "scene.ply", "--method"], &methods[..], &away].concat());
    assert!(!all.contains("0.00x") && !all.contains("NaN"), "{all}");
}

#[test]
fn dumps_name_their_presets_sources_and_the_mesh_path_has_one() {
    let place = Place::new();
    let dump = stdout(&place, &["sim", "--preset", "orin", "--config-dump"]);
    assert!(dump.contains("# Preset orin: Jetson AGX Orin"), "{dump}");
    let set = ["--set", "qfm.quads_per_cycle=2", "--set", "l2.bytes=1048576"];
    let dump = stdout(&place, &[&["mesh", "--config-dump"], &set[..]].concat());
    for unit in ["[qfm]", "[pmu]", "[pixel_shader]", "[crop]", "bytes = 1048576\n"] {
        assert!(dump.contains(unit), "{unit}");
    }
    fs::write(place.path("mesh.toml"), &dump).unwrap();
    assert_eq!(stdout(&place, &["mesh", "--config-dump", "--config", "mesh.toml"]), dump);
}

/// A unit's track has one name, whatever units a variant adds before it.
#[test]
fn tracks_have_the_same_names_in_all_variants() {
    let place = Place::new();
    let sim = ["sim", "scene.ply", "--method", "baseline,het+qm", "--trace", "t.json"];
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
    assert!(baseline.iter().all(|name| both.contains(name)), "{baseline:?} {both:?}");
}

#[test]
fn long_names_do_not_widen_tables() {
    let place = Place::new();
    let cameras = fs::read_to_string(place.path("cameras.json")).unwrap();
    let long = cameras.replace("shot_1", &"n".repeat(200));
    fs::write(place.path("long.json"), long).unwrap();
    let render = ["render", "scene.ply", "--cameras", "long.json", "--view", "1"];
    let page = stdout(&place, &[&render[..], &["--repeat", "1"]].concat());
    let widest = page.lines().map(|line| line.chars().count()).max();
    assert!(widest < Some(140), "{page}");
}

#[test]
fn scenes_and_meshes_are_told_apart() {
    let place = Place::new();
    place.expect_error(UNREADABLE, &["mesh", "scene.ply"], &["quadrille render"]);
    fs::write(place.path("cube.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let render = ["render", "cube.obj", "-o", "a.png"];
    place.expect_error(UNREADABLE, &render, &["quadrille mesh"]);
}

/// The master side of a pseudo-terminal counts as a terminal.
#[cfg(target_os = "linux")]
#[test]
fn pictures_and_scenes_do_not_go_to_a_terminal() {
    let place = Place::new();
    let terminal = || {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).open("/dev/ptmx").unwrap()
    };
    for (arguments, what) in [
        (&["render", "scene.ply", "-o", "-"][..], "a picture"),
        (&["sim", "scene.ply", "--method", "qm", "-o", "-"], "a picture"),
        (&["mesh", "plane", "-o", "-"], "a picture"),
        (&["synth", "object", "--splats", "10", "-o", "-"], "a scene"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_quadrille"));
        command.args(arguments).current_dir(place.path(""));
        let output = command.stdout(terminal()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(USAGE), "{arguments:?}: {errors}");
        let expected = format!("-o -: expected a file or a pipe for {what}, found a terminal");
        assert!(errors.contains(&expected), "{arguments:?}: {errors}");
    }
}

/// Names among which a field chooses are listed.
#[test]
fn wrong_names_in_configurations_name_their_field() {
    let place = Place::new();
    for (command, flag) in [("sim", "crop.format=foo"), ("mesh", "crop.format=foo")] {
        let expected = "crop.format: expected one of rgba8, rgba16f, rgba32f, found \"foo\"";
        let arguments = [command, "--config-dump", "--set", flag];
        place.expect_error(USAGE, &arguments, &["--set crop.format=foo", expected]);
    }
    let units = ["pixel_shader", "qfm", "crop"];
    let arguments = ["mesh", "--config-dump", "--set", "foo.x=1"];
    place.expect_error(USAGE, &arguments, &units);
    fs::write(place.path("c.toml"), "[zrop]\nfeedback = \"slow\"\n").unwrap();
    let arguments = ["sim", "--config-dump", "--config", "c.toml"];
    let words = ["c.toml: zrop.feedback: expected timed or ideal, found \"slow\""];
    place.expect_error(USAGE, &arguments, &words);
}

/// A scene that is given as a configuration or a suite is not read whole, and the error names its first byte
/// that is not text.
#[test]
fn configurations_and_suites_are_text_of_limited_size() {
    let place = Place::new();
    fs::write(place.path("binary"), b"ply\n\xff\n").unwrap();
    fs::write(place.path("large"), vec![b'#'; (1 << 20) + 1]).unwrap();
    for (command, what) in
        [(&["bench"][..], "a suite"), (&["sim", "--config-dump", "--config"], "a configuration")]
    {
        let text = format!("binary: byte 4: expected {what} in UTF-8, found the byte 0xff");
        place.expect_error(UNREADABLE, &[command, &["binary"]].concat(), &[&text]);
        let limit = format!("large: bytes of {what}");
        place.expect_error(UNREADABLE, &[command, &["large"]].concat(), &[&limit, "1048576"]);
    }
}

/// `sim` and `mesh` name variants and units alike.
#[test]
fn sim_and_mesh_share_names_of_flags_and_units() {
    let place = Place::new();
    let sim = ["sim", "scene.ply", "--method", "qm", "--width", "40", "--json"];
    let sim = place.document(&sim)["views"][0]["methods"][0].take();
    assert_eq!(sim["name"], "qm");
    let mesh = ["mesh", "plane", "--method", "none,qfm,pmu", "--cycles", "--json"];
    let mesh = place.document(&[&mesh[..], &["--width", "40", "--height", "30"]].concat());
    for (row, own) in mesh["rows"].as_array().unwrap().iter().zip(["passthrough", "qfm", "pmu"]) {
        let timed = &row["timed"];
        for key in ["crop", "zrop_cache"] {
            assert!(timed[key]["hits"].is_u64() && sim[key]["hits"].is_u64(), "{key}");
        }
        let units = timed["units"].as_object().unwrap();
        assert!(units.contains_key(own), "{own}");
        for shared in ["setup", "coarse", "hi_z", "fine", "prop", "zrop", "launch", "cores", "crop"]
        {
            assert!(units.contains_key(shared), "{shared}");
            assert!(sim["units"][shared].is_object(), "{shared}");
        }
    }
}

/// The rows in cycles name their settings; Reyes has none.
#[test]
fn cycles_of_meshes_stand_in_a_table() {
    let place = Place::new();
    let mesh = ["mesh", "plane", "--method", "all", "--cycles"];
    let page = stdout(&place, &[&mesh[..], &["--width", "40", "--height", "30"]].concat());
    let parts: Vec<_> = page.split("\n\n").collect();
    let [counts, cycles] = [parts[0], parts[1]];
    assert_eq!((counts.lines().count(), cycles.lines().count()), (5, 4), "{page}");
    let heading = cycles.lines().next().unwrap();
    for word in ["unit", "buffer", "cycles", "frame ms", "busiest units"] {
        assert!(heading.contains(word), "{word}: {page}");
    }
    assert!(page.contains("in all rows: view auto, area px 10, msaa 4"), "{page}");
    assert!(counts.contains("reyes") && !cycles.contains("reyes"), "{page}");
}

/// A finite and an unbounded buffer in one call: the pixel merge unit has no unbounded one.
#[test]
fn units_take_the_buffers_that_they_can_have() {
    let place = Place::new();
    let mesh = ["mesh", "plane", "--width", "40", "--height", "30", "--buffer"];
    let both = ["16,unbounded", "--method", "qfm,pmu", "--json"];
    let document = place.document(&[&mesh[..], &both].concat());
    let rows = document["rows"].as_array().unwrap().iter();
    let found: Vec<_> = rows.map(|row| (&row["unit"], &row["buffer"])).collect();
    let expected = [("qfm", 16.into()), ("qfm", "unbounded".into()), ("pmu", 16.into())];
    let expected: [(Value, Value); 3] = expected.map(|(unit, buffer)| (unit.into(), buffer));
    assert!(found.into_iter().eq(expected.iter().map(|(unit, buffer)| (unit, buffer))));
    let alone = ["unbounded", "--method", "qfm,pmu"];
    let words = ["--buffer: expected a number of entries"];
    place.expect_error(USAGE, &[&mesh[..], &alone].concat(), &words);
}

/// The map has a legend below it, and its counts stand in a file beside it.
#[test]
fn heat_maps_of_meshes_have_legends_and_counts() {
    let place = Place::new();
    let mesh = ["mesh", "plane", "--width", "40", "--height", "30", "--heat"];
    place.expect(DONE, &[&mesh[..], &["heat.png"]].concat());
    let picture = quadrille::read_picture(place.path("heat.png")).unwrap();
    // Enlarged eight times, and at least as wide as the legend.
    assert_eq!(picture.width(), 480);
    assert!(picture.height() > 8 * 30, "{}", picture.height());
    let counts = fs::read(place.path("heat.npy")).unwrap();
    assert!(counts.starts_with(b"\x93NUMPY"));
    let header = String::from_utf8_lossy(&counts[..128]).into_owned();
    assert!(header.contains("<u4") && header.contains("(30, 40)"), "{header}");
    let words = ["--heat: expected a name that ends in .png"];
    place.expect_error(USAGE, &[&mesh[..], &["heat.exr"]].concat(), &words);
    let twice = [&mesh[..], &["heat.png", "-o", "heat.npy"]].concat();
    place.expect_error(USAGE, &twice, &["--heat", "which is also the file of -o"]);
}

/// Flags of the host are accepted where they have an effect.
#[test]
fn microbenchmarks_have_no_flags_of_the_host() {
    let place = Place::new();
    for flag in ["--threads", "--simd"] {
        let arguments = ["microbench", "tile-bins", flag, "1"];
        place.expect_error(USAGE, &arguments, &[flag, "expected a flag"]);
    }
}

/// Examples fit the screen, and the parser accepts them.
#[test]
fn examples_of_help_pages_are_accepted() {
    let place = Place::new();
    for command in COMMANDS {
        let page = stdout(&place, &[command, "--help"]);
        let (_, examples) = page.split_once("Examples:\n").unwrap();
        for line in examples.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for example in examples.replace("\\\n", "").lines() {
            let words = example.split(['>', '|']).next().unwrap_or_default();
            // Every second piece stands between quotes, and is one word.
            let pieces = words.split('\'').enumerate();
            let words = pieces.flat_map(|(at, piece)| match at % 2 {
                0 => piece.split_whitespace().collect(),
                _ => vec![piece],
            });
            let words: Vec<_> = words.collect();
            assert_eq!(words[..2], ["quadrille", command], "{example}");
            // Values are parsed before the help page is printed.
            place.expect(DONE, &[&words[1..], &["--help"]].concat());
        }
    }
}

/// Every help page is a screen wide, and every command has an example.
#[test]
fn help_pages_fit_and_give_examples() {
    let place = Place::new();
    for command in COMMANDS {
        let page = stdout(&place, &[command, "--help"]);
        let first = page.lines().next().unwrap();
        assert!(first.chars().count() <= 80, "{command}: {first}");
        assert!(page.contains("Examples:"), "{command} has no example");
        assert!(page.contains(&format!("  quadrille {command}")), "{command}");
        let short = stdout(&place, &["--help"]);
        let line = short.lines().find(|l| l.trim_start().starts_with(&format!("{command} ")));
        let about = line.unwrap().trim_start().trim_start_matches(command).trim();
        assert!(about.chars().count() <= 80, "{about}");
    }
}
