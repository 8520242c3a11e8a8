//! `bench`: shards that are killed and merged, matrices, views without a camera file, CSV.
use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::bench::{SMALL, kill_after, lines, plain, rows};
use crate::support::program::{DONE, Place, UNREADABLE, USAGE};

/// Exit code of a merge of shards that are not complete.
const INCOMPLETE: i32 = 1;

/// A suite of two scenes, a matrix, and views of every kind: 16 jobs.
const MATRIX: &str = "method = [\"baseline\", \"het\"]
[matrix]
seed = [3, 4]
tc.bins = [8, 32]
[[scene]]
name = \"file\"
path = \"scene.ply\"
orbit = 2
width = 40
height = 30
[[scene]]
name = \"vase\"
recipe = \"object\"
splats = 300
eye = [0, -2, -6]
target = [0, -1, 0]
fov = 40
width = 32
height = 24
[[scene]]
name = \"room\"
recipe = \"room\"
splats = 200
view = \"0..2\"
width = 32
";
const JOBS: usize = 2 * 2 + 2 * 2 + 2 * 2 * 2;

fn place(suite: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("suite.toml"), suite).unwrap();
    place
}

fn run(place: &Place, code: i32, arguments: &[&str]) -> String {
    let all = [&["bench", "suite.toml", "-q"], arguments].concat();
    String::from_utf8(place.expect(code, &all).stdout).unwrap()
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// A suite of all workloads.
const MIXED: &str = "method = [\"baseline\"]
workload = \"merging\"
[[scene]]
name = \"file\"
path = \"scene.ply\"
view = \"shot_2\"
width = 32
[[mesh]]
name = \"plane\"
mesh = \"plane\"
tessellate = 60
width = 32
height = 24
[[study]]
name = \"units\"
method = [\"none\", \"qfm\"]
[[study]]
name = \"frames\"
workload = \"deferred\"
method = \"sds\"
samples = 4
";

#[test]
fn one_suite_runs_scenes_meshes_and_deferred_frames() {
    let place = place(MIXED);
    run(&place, DONE, &["-o", "rows.jsonl"]);
    let rows: Vec<_> = lines(&place.path("rows.jsonl")).iter().map(|l| parsed(l)).collect();
    let of = |workload: &str| -> Vec<_> {
        rows.iter().filter(|row| row["workload"].as_str().unwrap_or("") == workload).collect()
    };
    let ([scene], [merging], [deferred]) = (&of("")[..], &of("merging")[..], &of("deferred")[..])
    else {
        panic!("{rows:?}");
    };
    // The camera file beside the scene has the view, as for `render --view`.
    assert_eq!(scene["view"]["name"], "shot_2");
    assert_eq!(merging["rows"].as_array().unwrap().len(), 2);
    assert_eq!(deferred["study"], "frames");
}

#[test]
fn old_words_are_taken_with_a_warning() {
    let old = MIXED.replace("view =", "views =").replacen("method =", "variants =", 1);
    let place = place(&old);
    let output = place.expect(DONE, &["bench", "suite.toml", "-o", "rows.jsonl"]);
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("suite.toml: line 1: `variants` is now `method`"), "{warnings}");
    assert!(warnings.contains("line 6: `views` is now `view`"), "{warnings}");
    let flags = ["mesh", "plane", "--unit", "qfm", "--width", "32", "--json"];
    let output = place.expect(DONE, &flags);
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("--unit is now --method"), "{warnings}");
}

#[test]
fn killed_shards_are_retried_and_merge_to_the_rows_of_one_run() {
    let place = place(MATRIX);
    let table = run(&place, DONE, &["-o", "whole.jsonl"]);
    let whole: Vec<_> = lines(&place.path("whole.jsonl")).iter().map(|l| plain(l)).collect();
    assert_eq!(whole.len(), JOBS);
    let shards = ["1/3", "2/3", "3/3"];
    let file = |shard: &str| place.path(&format!("rows.{}.jsonl", shard.replace('/', "-of-")));
    for shard in shards {
        let arguments = ["bench", "suite.toml", "-o", "rows.jsonl", "--shard", shard];
        kill_after(&place, 1, &arguments, &file(shard));
    }
    // One shard has lost its file, and the last line of another is torn.
    fs::remove_file(file("1/3")).unwrap();
    let torn = lines(&file("2/3")).concat() + "\n{\"scene\": \"fi";
    let torn = torn.replacen("}{", "}\n{", JOBS);
    fs::write(file("2/3"), torn).unwrap();
    let output = place.expect(DONE, &["bench", "suite.toml", "-o", "rows.jsonl", "--shard", "2/3"]);
    assert!(!output.stdout.is_empty());
    run(&place, DONE, &["-o", "rows.jsonl", "--shard", "3/3"]);
    assert!(!place.path("rows.jsonl").exists());

    // Shards have no row in common, and only rows of the first one are missing.
    let merge = ["bench", "suite.toml", "-o", "rows.jsonl", "--merge"];
    let output = place.expect_failure(INCOMPLETE, &merge);
    assert!(output.contains("file orbit_00 40x30, vr-pipe tc.bins=8"), "{output}");
    let first = JOBS.div_ceil(3);
    assert!(output.contains(&format!("{first} of {JOBS} rows are missing")), "{output}");
    run(&place, DONE, &["-o", "rows.jsonl", "--shard", "1/3"]);
    let counts = shards.map(|shard| lines(&file(shard)).len());
    assert_eq!(counts.iter().sum::<usize>(), JOBS);

    let merged = run(&place, DONE, &["-o", "rows.jsonl", "--merge"]);
    assert_eq!(merged, table, "tables");
    let text = fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let found: Vec<_> = text.lines().map(plain).collect();
    assert_eq!(found, whole, "merged rows stand in the order of one run");
    // Merging again, and running the whole suite, change nothing.
    for arguments in [&["-o", "rows.jsonl", "--merge"][..], &["-o", "rows.jsonl"]] {
        run(&place, DONE, arguments);
        assert_eq!(fs::read_to_string(place.path("rows.jsonl")).unwrap(), text);
    }
}

#[test]
fn a_merge_keeps_other_lines_of_the_results_and_leaves_out_those_of_shards() {
    let place = place(SMALL);
    run(&place, DONE, &["-o", "rows.jsonl", "--set", "tc.bins=8"]);
    let other = fs::read_to_string(place.path("rows.jsonl")).unwrap() + "{\"note\":\"kept\"}\n";
    fs::write(place.path("rows.jsonl"), &other).unwrap();
    for shard in ["1/2", "2/2"] {
        run(&place, DONE, &["-o", "rows.jsonl", "--shard", shard]);
        run(&place, DONE, &["-o", "rows.jsonl", "--shard", shard, "--set", "tc.bins=4"]);
    }
    let arguments = ["bench", "suite.toml", "-o", "rows.jsonl", "--merge"];
    let output = place.expect(DONE, &arguments);
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("suite or configuration made are left out: 3"), "{warnings}");
    let text = fs::read_to_string(place.path("rows.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 3 + 4);
    assert!(text.ends_with(&other));
}

#[test]
fn equal_keys_with_other_numbers_are_refused_by_runs_merges_and_prints() {
    let place = place(SMALL);
    run(&place, DONE, &["-o", "rows.jsonl"]);
    let text = fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let first = text.lines().next().unwrap();
    let mut wrong = parsed(first);
    let cycles = wrong["methods"][1]["cycles"].as_u64().unwrap();
    wrong["methods"][1]["cycles"] = (cycles + 1).into();
    fs::write(place.path("rows.jsonl"), format!("{text}{wrong}\n")).unwrap();
    let found = format!("het+qm.cycles {} instead of {cycles}", cycles + 1);
    let words = ["rows.jsonl: line 4", "line 1 of rows.jsonl", "small shot_0", &found];
    place.expect_error(UNREADABLE, &["bench", "suite.toml", "-o", "rows.jsonl"], &words);
    place.expect_error(UNREADABLE, &["bench", "rows.jsonl", "--csv"], &words);
    fs::write(place.path("rows.jsonl"), &text).unwrap();
    fs::write(place.path("rows.1-of-2.jsonl"), format!("{wrong}\n")).unwrap();
    place.expect_error(
        UNREADABLE,
        &["bench", "suite.toml", "-o", "rows.jsonl", "--merge"],
        &["rows.1-of-2.jsonl: line 1", "line 1 of rows.jsonl", &found],
    );
    assert_eq!(fs::read_to_string(place.path("rows.jsonl")).unwrap(), text);
}

#[test]
fn rows_say_their_configuration_seed_counters_and_utilisation() {
    let place = place(MATRIX);
    run(&place, DONE, &["-o", "rows.jsonl"]);
    let rows: Vec<_> = lines(&place.path("rows.jsonl")).iter().map(|l| parsed(l)).collect();
    let named = |row: &Value| {
        let view = row["view"]["name"].as_str().unwrap().to_owned();
        (row["scene"].as_str().unwrap().to_owned(), row["seed"].as_u64(), view)
    };
    let mut found = BTreeMap::new();
    for row in &rows {
        *found.entry(named(row)).or_insert(0) += 1;
        assert_eq!(row["preset"], "vr-pipe");
        assert_eq!(row["profile"], "inria");
        let changed = row["changed"].as_object().unwrap();
        assert!(changed.is_empty() || changed["tc.bins"] == "8");
        for variant in row["methods"].as_array().unwrap() {
            let crop = &variant["units"]["crop"];
            assert!(crop["utilisation"].as_f64().is_some() && crop["idle"].is_object());
            assert!(variant["flushes"]["tc"]["end"].is_u64());
            assert!(variant["counters"]["coarse"]["screen_tiles"].is_u64());
            assert!(variant["l2"]["read_bytes"].as_u64().unwrap() > 0);
            assert!(variant["dram_bytes"].is_u64());
        }
    }
    let count = |scene: &str, seed: Option<u64>| {
        found.keys().filter(|(s, n, _)| s == scene && *n == seed).count()
    };
    assert_eq!([count("file", None), count("file", Some(3))], [2, 0]);
    assert_eq!([count("vase", Some(3)), count("vase", Some(4))], [1, 1]);
    assert_eq!([count("room", Some(3)), count("room", Some(4))], [2, 2]);
    assert!(found.values().all(|configurations| *configurations == 2));
    assert!(found.contains_key(&("vase".to_owned(), Some(3), "eye".to_owned())));
    // Seeds give other scenes.
    let cycles = |seed: u64| {
        let row = rows.iter().find(|row| row["scene"] == "vase" && row["seed"] == seed);
        row.unwrap()["methods"][0]["cycles"].as_u64()
    };
    assert_ne!(cycles(3), cycles(4));
}

#[test]
fn a_described_view_is_that_of_sim() {
    let place = place(MATRIX);
    run(&place, DONE, &["-o", "rows.jsonl", "--method", "het"]);
    let synth = ["synth", "object", "--splats", "300", "--seed", "4", "-o", "vase.ply"];
    place.expect(DONE, &synth);
    let document = place.document(&[
        "sim",
        "vase.ply",
        "--eye",
        "0,-2,-6",
        "--target",
        "0,-1,0",
        "--fov",
        "40",
        "--width",
        "32",
        "--height",
        "24",
        "--method",
        "het",
        "--json",
        "--set",
        "tc.bins=8",
    ]);
    let rows = lines(&place.path("rows.jsonl"));
    let row = rows
        .iter()
        .map(|line| parsed(line))
        .find(|row| row["scene"] == "vase" && row["seed"] == 4 && row["changed"]["tc.bins"] == "8");
    let row = row.unwrap();
    let simulated = &document["views"][0]["methods"][0];
    for (key, value) in row["methods"][0].as_object().unwrap() {
        if !key.starts_with("host_") {
            assert_eq!(value, &simulated[key], "{key}");
        }
    }
}

#[test]
fn widths_of_the_matrix_scale_every_view() {
    let scenes = "method = [\"baseline\"]\n[matrix]\nwidth = [30, 15]\n[[scene]]\nname = \"file\"\n\
        path = \"scene.ply\"\ncameras = \"cameras.json\"\nviews = \"0..2\"\n[[scene]]\nname = \"auto\"\n\
        path = \"scene.ply\"\n[[scene]]\nname = \"vase\"\nrecipe = \"object\"\nsplats = 50\nviews = \"0\"\n";
    let place = place(scenes);
    run(&place, DONE, &["-o", "rows.jsonl"]);
    let lines = lines(&place.path("rows.jsonl"));
    let sizes = |scene: &str| -> Vec<(u64, u64)> {
        let rows = lines.iter().map(|line| parsed(line));
        let of_scene = rows.filter(|row| row["scene"] == scene);
        let side = |row: &Value, key: &str| row["view"][key].as_u64().unwrap();
        of_scene.map(|row| (side(&row, "width"), side(&row, "height"))).collect()
    };
    assert_eq!(sizes("file"), [(30, 20), (30, 20), (15, 10), (15, 10)]);
    // Views of no selection are proposed: the camera file beside the scene is not looked for.
    assert_eq!(sizes("auto"), [(30, 17), (15, 8)]);
    assert_eq!(sizes("vase").len(), 2);
}

#[test]
fn methods_that_a_row_lacks_are_run_alone() {
    let place = place(SMALL);
    run(&place, DONE, &["-o", "rows.jsonl"]);
    let all = "baseline,qm,het+qm";
    run(&place, DONE, &["-o", "rows.jsonl", "--method", all]);
    let found = rows(&place.path("rows.jsonl"));
    assert_eq!(found.len(), 6);
    run(&place, DONE, &["-o", "fresh.jsonl", "--method", all]);
    for row in rows(&place.path("fresh.jsonl")) {
        assert!(found.contains(&row), "joined rows are those of one run");
    }
    // Methods in another order, and fewer of them, need no run.
    let before = fs::read(place.path("rows.jsonl")).unwrap();
    run(&place, DONE, &["-o", "rows.jsonl", "--method", "qm,baseline"]);
    assert_eq!(fs::read(place.path("rows.jsonl")).unwrap(), before);
}

#[test]
fn two_configurations_stand_side_by_side() {
    let suite = format!(
        "[[configuration]]\nname = \"small bins\"\nset.tc.bins = 4\n[[configuration]]\n\
         name = \"slow raster\"\npreset = \"emerald-example\"\n{}",
        SMALL.replacen("method", "#", 1)
    );
    let place = place(&suite);
    let table = run(&place, DONE, &["-o", "rows.jsonl", "--method", "baseline,het"]);
    for word in ["small bins", "slow raster", "first / second", "emerald-example", "speedup"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert_eq!(table, {
        let output = place.expect(DONE, &["bench", "rows.jsonl"]);
        String::from_utf8(output.stdout).unwrap()
    });
    let arguments =
        ["bench", "suite.toml", "-o", "rows.jsonl", "--json", "--method", "baseline,het"];
    let document = place.document(&arguments);
    let configurations = document["configurations"].as_array().unwrap();
    assert_eq!(configurations[1]["config"]["coarse"]["tiles_per_cycle"], 1);
    assert_eq!(document["summaries"].as_array().unwrap().len(), 4);
    assert_eq!(document["summaries"][3]["configuration"], "slow raster");
}

#[test]
fn csv_has_a_line_per_row_and_method() {
    let place = place(MATRIX);
    let csv = run(&place, DONE, &["-o", "rows.jsonl", "--csv"]);
    let printed = place.expect(DONE, &["bench", "rows.jsonl", "--csv"]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), csv);
    // Of the cells of this suite, only lists of ports contain a comma.
    let cells_of = |line: &str| -> Vec<String> {
        let is_quoted = |(at, part): (usize, &str)| match at % 2 {
            0 => part.to_owned(),
            _ => part.replace(',', ";"),
        };
        let line: String = line.split('"').enumerate().map(is_quoted).collect();
        line.split(',').map(str::to_owned).collect()
    };
    let lines: Vec<Vec<String>> = csv.lines().map(cells_of).collect();
    assert_eq!(lines.len(), 1 + JOBS * 2);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    let column = |name: &str| lines[0].iter().position(|n| *n == name).unwrap();
    let cells = |name: &str| -> Vec<&str> {
        lines[1..].iter().map(|line| line[column(name)].as_str()).collect()
    };
    assert!(cells("tc.bins").chunks(4).all(|bins| bins == ["8", "8", "32", "32"]));
    assert!(cells("method").chunks(2).all(|names| names == ["baseline", "het"]));
    assert_eq!(cells("seed")[..2], ["", ""]);
    for name in
        ["units.crop.utilisation", "units.zrop.idle.starved", "fragments.blended", "quads.live.4"]
    {
        assert!(cells(name).iter().all(|cell| cell.parse::<f64>().is_ok()), "{name}");
    }
}

#[test]
fn wrong_suites_shards_and_merges_are_refused() {
    let place = place(SMALL);
    let run = |arguments: &[&'static str]| [&["bench", "suite.toml"], arguments].concat();
    for shard in ["0/4", "5/4", "x", "1/0"] {
        place.expect_error(USAGE, &run(&["--shard", shard]), &["--shard", "I/N"]);
    }
    place.expect_error(USAGE, &run(&["--merge"]), &["--output"]);
    let merge = ["-o", "rows.jsonl", "--merge"];
    place.expect_error(USAGE, &run(&merge), &["--merge", "rows.1-of-4.jsonl"]);
    place.expect_error(USAGE, &run(&["-o", "r.jsonl", "--merge", "--shard", "1/2"]), &["--shard"]);
    place.expect_error(USAGE, &run(&["-o", "-", "--csv"]), &["--csv"]);
    place.expect_error(USAGE, &["bench", "rows.jsonl", "--set", "tc.bins=8"], &["--set"]);
    place.expect_error(UNREADABLE, &["bench", "absent.jsonl"], &["absent.jsonl"]);
    let file = "[[scene]]\nname = \"s\"\npath = \"scene.ply\"\n";
    let recipe = "[[scene]]\nname = \"s\"\nrecipe = \"object\"\n";
    for (text, words) in [
        (format!("{file}fov = 180\n"), ["scene \"s\", fov", "180"]),
        (format!("{file}eye = [0, nan, 0]\n"), ["scene \"s\", eye", "finite"]),
        (format!("{file}up = [0, 0, 0]\n"), ["scene \"s\", up", "direction"]),
        (format!("{file}orbit = 0\n"), ["scene \"s\", orbit", "0"]),
        (format!("{file}eye = [1, 1, 1]\ntarget = [1, 1, 1]\n"), ["scene \"s\", camera", "eye"]),
        (
            format!("{file}orbit = 2\ncameras = \"cameras.json\"\n"),
            ["scene \"s\", cameras", "cannot be used with"],
        ),
        (format!("{file}seed = 1\n"), ["scene \"s\", seed", "recipe"]),
        (format!("{file}recipe = \"room\"\n"), ["scene \"s\", recipe", "either"]),
        (recipe.replace("object", "hat"), ["scene \"s\", recipe", "world"]),
        (format!("{recipe}splats = 0\n"), ["scene \"s\", splats", "0"]),
        (format!("{recipe}sh_degree = 4\n"), ["scene \"s\", sh_degree", "4"]),
        ("[[scene]]\nname = \"s\"\n".to_owned(), ["scene \"s\", path", "neither"]),
        (format!("{file}[matrix]\nseed = [1]\n"), ["matrix, seed", "recipe"]),
        (format!("{file}[matrix]\ntc.bins = [0]\n"), ["tc.bins", "0"]),
        (format!("{file}width = 8\n[matrix]\nwidth = [8, 16]\n"), ["scene \"s\", width", "matrix"]),
    ] {
        fs::write(place.path("suite.toml"), &text).unwrap();
        let words = ["suite.toml", words[0], words[1]];
        place.expect_error(UNREADABLE, &run(&["-o", "rows.jsonl"]), &words);
    }
    fs::write(place.path("suite.toml"), format!("{file}[matrix]\npreset = [\"orin\"]\n")).unwrap();
    place.expect_error(USAGE, &run(&["--preset", "ampere-gpc"]), &["--preset", "suite"]);
    fs::write(place.path("suite.toml"), format!("{file}[matrix]\ntc.bins = [8, 16]\n")).unwrap();
    place.expect_error(USAGE, &run(&["--set", "tc.bins=4"]), &["tc.bins=4", "twice"]);
}
