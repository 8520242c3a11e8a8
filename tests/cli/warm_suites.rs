//! `bench`: scenes whose views are frames that keep the caches.
use std::fs;

use serde_json::Value;

use crate::bench::{lines, plain};
use crate::sim::variant;
use crate::support::program::{DONE, Place, UNREADABLE};

const FRAMES: usize = 4;
const METHODS: [&str; 3] = ["het+qm", "tile-gpu+het", "gscore"];

/// A flight in two configurations, and one of its frames alone.
const SUITE: &str = "method = [\"het+qm\", \"tile-gpu+het\", \"gscore\"]
[matrix]
gscore.order = [\"sorted\", \"kept\"]
[[scene]]
name = \"flight\"
path = \"scene.ply\"
cameras = \"cameras.json\"
camera_path = \"interpolate\"
frames = 4
width = 48
warm = true
[[scene]]
name = \"still\"
path = \"scene.ply\"
cameras = \"cameras.json\"
view = \"0\"
width = 48
";
const JOBS: usize = 2 * FRAMES + 2;

fn place(suite: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("suite.toml"), suite).unwrap();
    place
}

fn run(place: &Place, arguments: &[&str]) -> String {
    let output = place.expect(DONE, &[&["bench", "suite.toml", "-q"], arguments].concat());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn found(place: &Place, name: &str) -> Vec<String> {
    lines(&place.path(name)).iter().map(|line| plain(line)).collect()
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// The frames are those of `sim --warm`, and each begins with the caches of the frame before it.
#[test]
fn frames_of_a_suite_are_those_of_sim() {
    let place = place(SUITE);
    run(&place, &["-o", "rows.jsonl"]);
    let rows: Vec<Value> = lines(&place.path("rows.jsonl")).iter().map(|l| parsed(l)).collect();
    assert_eq!(rows.len(), JOBS);
    let path = ["--path", "interpolate", "--frames", "4", "--width", "48", "--warm"];
    let call = ["sim", "scene.ply", "--cameras", "cameras.json", "-q", "--json"];
    for order in ["sorted", "kept"] {
        let order = format!("gscore.order={order}");
        let flags = ["--set", &order, "--method", "het+qm,tile-gpu+het,gscore"];
        let document = place.document(&[&call[..], &path, &flags].concat());
        let is_of = |row: &&Value| {
            let is_kept = row["changed"]["gscore.order"] == "\"kept\"";
            row["scene"] == "flight" && is_kept == order.ends_with("kept")
        };
        let frames: Vec<&Value> = rows.iter().filter(is_of).collect();
        let views = document["views"].as_array().unwrap();
        assert_eq!((frames.len(), views.len()), (FRAMES, FRAMES));
        for (number, (row, view)) in frames.into_iter().zip(views).enumerate() {
            assert_eq!(row["frame"], number);
            assert_eq!(row["view"]["name"], view["view"]["name"]);
            for method in METHODS {
                let [row, view] = [row, view].map(|document| variant(document, method));
                for key in ["cycles", "memory", "gscore"] {
                    assert_eq!(row.get(key), view.get(key), "frame {number}, {method}, {key}");
                }
            }
            let kept = variant(row, "gscore")["gscore"].get("kept");
            assert_eq!(kept.is_some(), number > 0 && order.ends_with("kept"));
        }
    }
    let still = rows.iter().find(|row| row["scene"] == "still").unwrap();
    assert!(still.get("frame").is_none());
    let read = |row: &Value| variant(row, "het+qm")["memory"]["vertex"]["dram_read_bytes"].clone();
    assert!(read(&rows[0]).as_u64().unwrap() > 0 && read(&rows[2 * (FRAMES - 1)]) == 0);
    // Lines of CSV have the number of the frame.
    let csv = run(&place, &["-o", "rows.jsonl", "--csv"]);
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert!(columns.contains(&"frame"), "{columns:?}");
}

/// A run that continues draws the frames before a missing one again, for the methods that need them.
#[test]
fn missing_frames_are_drawn_after_those_before_them() {
    let place = place(SUITE);
    run(&place, &["-o", "whole.jsonl"]);
    let whole = lines(&place.path("whole.jsonl"));
    let expected = found(&place, "whole.jsonl");
    // Of both configurations, the frames 1 and 3 are left; of frame 3 in one of them a single method.
    let mut partial = parsed(&whole[6]);
    partial["methods"].as_array_mut().unwrap().truncate(1);
    let left = [whole[2].clone(), whole[3].clone(), partial.to_string(), whole[7].clone()];
    fs::write(place.path("cut.jsonl"), left.join("\n") + "\n").unwrap();
    let [table, again] = ["whole.jsonl", "cut.jsonl"].map(|file| run(&place, &["-o", file]));
    assert_eq!(table, again, "tables");
    let mut rows = found(&place, "cut.jsonl");
    assert_eq!(rows.len(), 4 + JOBS - 4 + 1, "a row for the method that was missing");
    rows.retain(|row| expected.contains(row));
    rows.sort();
    let mut sorted = expected.clone();
    sorted.sort();
    assert_eq!(rows, sorted);
    // A path whose first frame is elsewhere makes all rows anew.
    let other = SUITE.replace("frames = 4", "view = \"1,2\"\nframes = 4");
    fs::write(place.path("suite.toml"), other).unwrap();
    run(&place, &["-o", "cut.jsonl"]);
    assert_eq!(found(&place, "cut.jsonl").len(), rows.len() + 1 + 2 * FRAMES);
}

/// A sequence in one configuration is a job of one shard.
#[test]
fn sequences_are_not_split() {
    let place = place(SUITE);
    let table = run(&place, &["-o", "rows.jsonl"]);
    let whole = found(&place, "rows.jsonl");
    fs::remove_file(place.path("rows.jsonl")).unwrap();
    for (shard, rows) in [("1/3", FRAMES + 1), ("2/3", FRAMES), ("3/3", 1)] {
        run(&place, &["-o", "rows.jsonl", "--shard", shard]);
        let name = format!("rows.{}.jsonl", shard.replace('/', "-of-"));
        assert_eq!(lines(&place.path(&name)).len(), rows, "{shard}");
    }
    assert_eq!(run(&place, &["-o", "rows.jsonl", "--merge"]), table);
    assert_eq!(found(&place, "rows.jsonl"), whole);
}

#[test]
fn wrong_sequences_are_refused() {
    for (from, to, words) in [
        ("\"gscore\"]", "\"compute\"]", ["scene \"flight\", warm", "method compute"]),
        ("method =", "relief = true\nmethod =", ["scene \"flight\", warm", "relief"]),
        ("warm = true", "warm = true\nlarge = true", ["scene \"flight\", warm", "large"]),
        ("camera_path = \"interpolate\"", "", ["scene \"flight\", camera_path", "none"]),
        ("frames = 4", "", ["scene \"flight\", frames", "none"]),
        ("frames = 4", "frames = 1", ["scene \"flight\", frames", "2 or more"]),
        ("\"interpolate\"", "\"spirl\"", ["scene \"flight\", camera_path", "mean spiral?"]),
        (
            "cameras = \"cameras.json\"\ncamera",
            "orbit = 3\ncamera",
            ["scene \"flight\", camera_path", "orbit"],
        ),
    ] {
        let place = place(&SUITE.replacen(from, to, 1));
        let words = [&["suite.toml: "][..], &words].concat();
        place.expect_error(UNREADABLE, &["bench", "suite.toml", "-o", "rows.jsonl"], &words);
    }
}
