//! `bench`: suites that are stopped, resumed, changed, and wrong.
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sim::without_host;
use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};
use crate::support::skipped;

const ISLAND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/island.toml");

/// Views of the island's camera file.
const VIEWS: usize = 7;

/// Longest wait for a row: a watchdog for a program that hangs, not a limit on its speed.
const PATIENCE: Duration = Duration::from_secs(600);

/// The island's suite, its pictures `width` pixels wide.
fn tiny_island(place: &Place, width: u32) {
    let text = fs::read_to_string(ISLAND).unwrap();
    let scenes = concat!("\"", env!("CARGO_MANIFEST_DIR"), "/scenes/");
    let text = text.replace("\"../scenes/", scenes);
    let text = text.replace("width = 640", &format!("width = {width}"));
    assert!(text.contains(&format!("width = {width}")));
    fs::write(place.path("suite.toml"), text).unwrap();
}

/// Whole lines of a results file.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |at| &text[..=at]);
    whole.lines().map(str::to_owned).collect()
}

/// Rows without what differs from run to run, in order of their views.
pub(crate) fn rows(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "a torn line is left");
    let mut rows: Vec<_> = text.lines().map(plain).collect();
    rows.sort();
    rows
}

/// A row without the times of this machine.
pub(crate) fn plain(line: &str) -> String {
    let mut row: Value = serde_json::from_str(line).unwrap();
    assert!(row["host_s"].as_f64().unwrap() > 0.0);
    without_host(&mut row);
    row.to_string()
}

fn spawn(place: &Place, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quadrille"));
    command.args(arguments).current_dir(place.path(""));
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Runs until the file has `count` rows, or the program has ended, and kills.
pub(crate) fn kill_after(place: &Place, count: usize, arguments: &[&str], file: &Path) {
    let (mut child, start) = (spawn(place, arguments), Instant::now());
    while lines(file).len() < count && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "no row number {count}");
        sleep(Duration::from_millis(1));
    }
    // SIGKILL; a program that has ended by itself is not an error.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    if skipped::is_slow() {
        return;
    }
    let place = Place::new();
    tiny_island(&place, 160);
    let whole = place.expect(DONE, &["bench", "suite.toml", "-o", "whole.jsonl"]);
    let expected = rows(&place.path("whole.jsonl"));
    assert_eq!(expected.len(), VIEWS);

    let (file, arguments) = (place.path("cut.jsonl"), ["bench", "suite.toml", "-o", "cut.jsonl"]);
    for count in [1, 3, 4] {
        let before = lines(&file);
        kill_after(&place, count, &arguments, &file);
        let after = lines(&file);
        assert!(after.len() >= count && after.starts_with(&before), "rows were lost");
    }
    // Whatever the kills left: the same file as after one of its first rows.
    let first = lines(&file)[0].clone() + "\n";
    fs::write(&file, first).unwrap();
    let resumed = place.expect(DONE, &arguments);
    assert_eq!(rows(&file), expected);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).unwrap();
    assert_eq!(text(&resumed.stdout), text(&whole.stdout), "tables");
    for word in ["island", "qm on top"] {
        assert!(text(&whole.stdout).contains(word), "{word}");
    }
    // All variants are the default, merging without tile-grid coalescing too.
    let page = text(&whole.stdout);
    let columns: Vec<_> = page.lines().nth(1).unwrap().split_whitespace().collect();
    let speedups = ["qru", "qm", "het", "het+qru", "het+qm", "tgc"];
    assert_eq!(columns[2..8], speedups, "{page}");
    // Published figures stand beside scenes of the paper alone.
    assert!(!text(&whole.stdout).contains("published"));

    // Complete: nothing is computed, nothing written.
    let before = fs::read(&file).unwrap();
    let again = place.expect(DONE, &[&arguments[..], &["--threads", "1"]].concat());
    assert_eq!(again.stdout, resumed.stdout);
    assert_eq!(fs::read(&file).unwrap(), before);
}

/// A suite over the small scene: three views.
pub(crate) const SMALL: &str = "method = [\"baseline\", \"het+qm\"]
[[scene]]
name = \"small\"
path = \"scene.ply\"
cameras = \"cameras.json\"
";

fn small() -> Place {
    let place = Place::new();
    fs::write(place.path("suite.toml"), SMALL).unwrap();
    place
}

#[test]
fn a_shard_with_one_configuration_of_several_names_it() {
    let place = Place::new();
    let suite = "method = [\"baseline\"]\n[matrix]\ntc.bins = [8, 16]\n[[scene]]\nname = \"s\"\nrecipe = \"object\"\n\
                 splats = 50\nview = \"0\"\nwidth = 16\n";
    fs::write(place.path("two.toml"), suite).unwrap();
    for (shard, bins) in [("1/2", 8), ("2/2", 16)] {
        let call = ["bench", "two.toml", "-o", "rows.jsonl", "--shard", shard];
        let page = String::from_utf8(place.expect(DONE, &call).stdout).unwrap();
        let expected = format!(
            "shard {} alone, in the configuration vr-pipe tc.bins={bins};",
            shard.replace('/', "-of-")
        );
        assert!(page.contains(&expected), "{page}");
    }
}

/// Without a terminal, a line for each job of a few, and none with `-q`.
#[test]
fn progress_is_told_in_lines() {
    let place = Place::new();
    let suite = "method = [\"baseline\"]\n[[scene]]\nname = \"s\"\nrecipe = \"object\"\nsplats = 50\nview = \"0,1,2\"\nwidth = 16\n";
    std::fs::write(place.path("few.toml"), suite).unwrap();
    let lines = |more: &[&str]| {
        let output = place.expect(DONE, &[&["bench", "few.toml"], more].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        errors.lines().filter(|line| line.contains(" of 3 runs")).map(str::to_owned).collect()
    };
    let told: Vec<String> = lines(&[]);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("quadrille: 1 of 3 runs, about "), "{told:?}");
    assert_eq!(told[2], "quadrille: 3 of 3 runs");
    assert_eq!(lines(&["-q"]), Vec::<String>::new());
}

const RUN: [&str; 4] = ["bench", "suite.toml", "-o", "rows.jsonl"];

#[test]
fn a_torn_last_line_is_dropped_and_done_again() {
    let place = small();
    let file = place.path("rows.jsonl");
    place.expect(DONE, &RUN);
    let (text, expected) = (fs::read_to_string(&file).unwrap(), rows(&file));
    assert_eq!(expected.len(), 3);
    // Torn everywhere in the last row: at its start, inside, before its line feed.
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    for end in [last, last + 1, last + 100, text.len() - 2, text.len() - 1] {
        fs::write(&file, &text[..end]).unwrap();
        place.expect(DONE, &RUN);
        assert_eq!(rows(&file), expected, "torn at {end} of {}", text.len());
        assert!(fs::read_to_string(&file).unwrap().starts_with(&text[..last]));
    }
}

#[test]
fn rows_of_other_configurations_stay_and_are_not_used() {
    let place = small();
    let file = place.path("rows.jsonl");
    place.expect(DONE, &RUN);
    let first = fs::read_to_string(&file).unwrap();
    let mut rows_in_file = 3;
    let mut grows = |arguments: &[&str], by: usize| {
        let before = fs::read_to_string(&file).unwrap();
        place.expect(DONE, &[&RUN[..], arguments].concat());
        let after = fs::read_to_string(&file).unwrap();
        assert!(after.starts_with(&before), "{arguments:?}");
        rows_in_file += by;
        assert_eq!(after.lines().count(), rows_in_file, "{arguments:?}");
    };
    grows(&["--set", "tc.bins=4"], 3);
    grows(&["--preset", "orin"], 3);
    grows(&["--set", "tc.bins=4"], 0);
    grows(&[], 0);
    let change = |from: &str, to: &str| {
        let suite = SMALL.replace(from, to);
        assert_ne!(suite, SMALL);
        fs::write(place.path("suite.toml"), suite).unwrap();
    };
    change("\"het+qm\"", "\"het\"");
    grows(&[], 3);
    change("cameras.json\"", "cameras.json\"\nwidth = 30");
    grows(&[], 3);
    change("cameras.json\"", "cameras.json\"\nprofile = \"mip-splatting\"");
    grows(&[], 3);
    change("cameras.json\"", "cameras.json\"\nviews = \"1..3\"");
    grows(&[], 0);
    // Another scene of the same name and size.
    fs::write(place.path("suite.toml"), SMALL).unwrap();
    let mut ply = fs::read(place.path("scene.ply")).unwrap();
    *ply.last_mut().unwrap() ^= 1;
    fs::write(place.path("scene.ply"), ply).unwrap();
    grows(&[], 3);
    assert!(fs::read_to_string(&file).unwrap().starts_with(&first));
    // Rows of another make are kept too.
    let other = fs::read_to_string(&file).unwrap() + "{\"other\": 1}\n\n";
    fs::write(&file, &other).unwrap();
    place.expect(DONE, &RUN);
    assert_eq!(fs::read_to_string(&file).unwrap(), other);
}

#[test]
fn json_holds_rows_and_summaries() {
    let place = small();
    let document = place.document(&["bench", "suite.toml", "--json", "--set", "tc.bins=8"]);
    assert_eq!(document["config"]["tc"]["bins"], 8);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let [baseline, both] = [0, 1].map(|i| &row["methods"][i]);
        let blended = |v: &Value| v["fragments"]["blended"].as_f64().unwrap();
        let expected = blended(baseline) / blended(both);
        assert_eq!(row["ratios"]["het+qm"]["fragments"].as_f64(), Some(expected));
        assert!(baseline["cycles"].as_u64().unwrap() > 0);
        assert!(baseline["critical_unit"].is_string());
        assert!(baseline["critical_occupancy"].as_f64().unwrap() > 0.0);
        assert_eq!(row["view"]["width"], 60);
        assert!(row["termination_ratio"].is_null());
    }
    let statistic = &document["summaries"][0]["statistics"][0];
    assert_eq!(statistic["published_mean"], 2.07);
    let names = place.names();
    assert!(!names.iter().any(|n| n.contains("jsonl")), "{names:?}");
}

#[test]
fn bad_suites_are_refused_by_key() {
    let place = small();
    let scene = "[[scene]]\nname = \"s\"\npath = \"scene.ply\"\ncameras = \"cameras.json\"\n";
    let with = |line: &str| format!("{scene}{line}\n");
    for (text, words) in [
        (with("hight = 3"), ["suite.toml", "hight"]),
        (format!("speed = 1\n{scene}"), ["suite.toml", "speed"]),
        (with("width = nan"), ["suite.toml", "width = nan"]),
        (with("width = -1"), ["suite.toml", "width = -1"]),
        (with("height = 1.5"), ["suite.toml", "height = 1.5"]),
        (with("width = 0"), ["suite.toml", "scene \"s\", width"]),
        (with("profile = \"x\""), ["suite.toml", "scene \"s\", profile"]),
        (with("view = \"9..12\""), ["suite.toml", "scene \"s\", view"]),
        (with("view = \"nowhere\""), ["shot_0", "scene \"s\", view"]),
        (with("width = 70000"), ["suite.toml", "scene \"s\", width"]),
        (scene.replace("scene.ply", "absent.ply"), ["scene \"s\", path", "absent.ply"]),
        (scene.replace("cameras.json", "absent.json"), ["scene \"s\", cameras", "absent.json"]),
        (scene.replace("name = \"s\"\n", ""), ["suite.toml", "name"]),
        (format!("{scene}{scene}"), ["suite.toml", "scene \"s\", name"]),
        (format!("method = [\"het\", \"hot\"]\n{scene}"), ["method", "hot"]),
        (format!("method = [\"qm\", \"tgc+qru\"]\n{scene}"), ["method", "again"]),
        (format!("method = []\n{scene}"), ["suite.toml", "method"]),
        (String::new(), ["suite.toml", "[[scene]]"]),
        ("[[scene".to_owned(), ["suite.toml", "line 1"]),
    ] {
        fs::write(place.path("suite.toml"), &text).unwrap();
        place.expect_error(UNREADABLE, &RUN, &words);
        assert!(!place.path("rows.jsonl").exists(), "{text}");
    }
    place.expect_error(UNREADABLE, &["bench", "absent.toml"], &["absent.toml"]);
}

#[test]
fn wrong_usage_and_wrong_results_files_are_refused() {
    let place = small();
    let run = |arguments: &[&'static str]| [&["bench", "suite.toml"], arguments].concat();
    place.expect_error(USAGE, &run(&["--preset", "fast"]), &["--preset", "vr-pipe"]);
    place.expect_error(USAGE, &run(&["--set", "tc.bins=0"]), &["tc.bins"]);
    place.expect_error(USAGE, &run(&["--set", "tc.bin=1"]), &["--set", "bin_size"]);
    place.expect_error(USAGE, &run(&["--threads", "99999"]), &["--threads"]);
    place.expect_error(UNREADABLE, &run(&["--config", "no.toml"]), &["no.toml"]);
    place.expect_error(
        UNWRITABLE,
        &run(&["-o", "scene.ply/rows.jsonl"]),
        &["scene.ply/rows.jsonl"],
    );
    // Files without results are not changed.
    for content in ["not json\n", "{}\n[1]\n", "some text", "{}\n\u{89}PNG"] {
        fs::write(place.path("other"), content).unwrap();
        place.expect_error(UNREADABLE, &run(&["-o", "other"]), &["other", "line"]);
        assert_eq!(fs::read_to_string(place.path("other")).unwrap(), content);
    }
    fs::write(place.path("empty.jsonl"), "").unwrap();
    place.expect_error(UNREADABLE, &["bench", "empty.jsonl"], &["empty.jsonl", "rows of results"]);
}

#[test]
fn the_repositorys_suites_are_whole_or_say_what_is_missing() {
    let place = small();
    let trained = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/trained.toml");
    fs::copy(trained, place.path("trained.toml")).unwrap();
    let words = ["scene \"udon\", path", "shared/scenes/udon.ply"];
    place.expect_error(UNREADABLE, &["bench", "trained.toml"], &words);
}

/// Runs the suite again, expects `added` rows, and the table of a run without rows.
fn expect_run_again(place: &Place, added: usize) {
    let file = place.path("rows.jsonl");
    let before = lines(&file).len();
    let again = place.expect(DONE, &RUN);
    assert_eq!(lines(&file).len(), before + added);
    let fresh = place.expect(DONE, &["bench", "suite.toml", "-o", "fresh.jsonl"]);
    assert_eq!(again.stdout, fresh.stdout);
    place.expect(DONE, &RUN);
    assert_eq!(lines(&file).len(), before + added, "only once");
    // The file alone prints the newest rows too, and tells of the others.
    let printed = |file: &str| {
        let output = place.expect(DONE, &["bench", file]);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let mut table: Vec<String> = text(output.stdout).lines().map(str::to_owned).collect();
        table.sort();
        (table, text(output.stderr))
    };
    let (table, errors) = printed("rows.jsonl");
    assert_eq!(table, printed("fresh.jsonl").0);
    assert!(errors.contains(&format!("left out: {added}")), "{errors}");
}

#[test]
fn a_changed_camera_file_is_run_again() {
    let place = small();
    let before = place.expect(DONE, &RUN).stdout;
    let file = place.path("cameras.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut cameras: Value = serde_json::from_str(&text).unwrap();
    let x = cameras[1]["position"][0].as_f64().unwrap();
    cameras[1]["position"][0] = (x + 0.25).into();
    fs::write(&file, cameras.to_string()).unwrap();
    expect_run_again(&place, 1);
    assert_ne!(place.expect(DONE, &RUN).stdout, before);
}

#[test]
fn a_changed_file_of_a_scene_in_a_folder_is_run_again() {
    let place = small();
    place.expect(DONE, &["convert", "scene.ply", "-o", "sog/meta.json"]);
    for path in ["sog/meta.json", "sog"] {
        let suite = SMALL.replace("scene.ply", path);
        fs::write(place.path("suite.toml"), suite).unwrap();
        place.expect(DONE, &RUN);
        // Other positions, from another scene of as many splats.
        let means = place.path("sog/means_u.webp");
        let (own, other) =
            (fs::read(&means).unwrap(), fs::read(place.path("sog/scales.webp")).unwrap());
        fs::write(&means, other).unwrap();
        expect_run_again(&place, 3);
        fs::write(&means, own).unwrap();
        fs::remove_file(place.path("rows.jsonl")).unwrap();
        fs::remove_file(place.path("fresh.jsonl")).unwrap();
    }
}
