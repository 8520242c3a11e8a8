//! `sim --set tc.bins=8,16`, several presets, and several configuration files.
use std::fs;

use crate::support::program::{DONE, Place, SHOT, USAGE};

fn run(place: &Place, arguments: &[&str]) -> String {
    let all = [&["sim", "scene.ply", "-q"], &SHOT[..], arguments].concat();
    String::from_utf8(place.expect(DONE, &all).stdout).unwrap()
}

fn cycles(place: &Place, arguments: &[&str]) -> Vec<u64> {
    let all = [&["sim", "scene.ply", "--json", "-q"], &SHOT[..], arguments].concat();
    let document = place.document(&all);
    let views = document["views"].as_array().unwrap().iter();
    let variants = views.flat_map(|view| view["variants"].as_array().unwrap());
    variants.map(|v| v["cycles"].as_u64().unwrap()).collect()
}

const VARIANTS: [&str; 2] = ["--method", "baseline,het+qm"];

#[test]
fn a_sweep_has_the_numbers_of_its_single_runs() {
    let place = Place::new();
    let set = [
        "--set",
        "tc.bins=2,8,32",
        "--set",
        "crop.format=rgba8,rgba16f",
    ];
    let swept = cycles(&place, &[&VARIANTS[..], &set].concat());
    let mut single = Vec::new();
    for bins in ["2", "8", "32"] {
        for format in ["rgba8", "rgba16f"] {
            let set = [format!("tc.bins={bins}"), format!("crop.format={format}")];
            let set = ["--set", &set[0], "--set", &set[1]];
            single.extend(cycles(&place, &[&VARIANTS[..], &set].concat()));
        }
    }
    assert_eq!(swept, single);
    let table = run(&place, &[&VARIANTS[..], &set].concat());
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0][..4], ["view", "crop.format", "tc.bins", "views"]);
    assert_eq!(lines[2][..4], ["shot_1", "rgba8", "2", "1"]);
    assert_eq!(lines[2][4], single[0].to_string());
    assert_eq!(lines[2][5], single[1].to_string());
    assert_eq!(lines[7][..2], ["rgba16f", "32"]);
    let speedup = single[10] as f64 / single[11] as f64;
    assert_eq!(lines[7].last(), Some(&format!("{speedup:.3}").as_str()));
}

#[test]
fn presets_and_files_are_swept_and_two_have_a_ratio() {
    let place = Place::new();
    let table = run(
        &place,
        &[&VARIANTS[..], &["--preset", "vr-pipe,orin"]].concat(),
    );
    for word in ["preset", "vr-pipe", "orin", "first / second"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    fs::write(place.path("a.toml"), "[tc]\nbins = 4\n").unwrap();
    fs::write(
        place.path("b.toml"),
        "[tc]\nbins = 8\n[l2]\nbytes = 262144\n",
    )
    .unwrap();
    let files = ["--config", "a.toml", "--config", "b.toml"];
    let table = run(&place, &[&VARIANTS[..], &files].concat());
    for word in ["a.toml", "b.toml", "l2.bytes", "first / second"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let suite = crate::bench::SMALL;
    fs::write(place.path("suite.toml"), suite).unwrap();
    let arguments = ["bench", "suite.toml", "-q", "--set", "tc.bins=4,8"];
    let output = place.expect(DONE, &arguments);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("tc.bins") && table.contains("first / second"),
        "{table}"
    );
}

#[test]
fn one_value_is_no_sweep_and_wrong_sweeps_are_refused() {
    let place = Place::new();
    let page = run(&place, &[&VARIANTS[..], &["--set", "tc.bins=8"]].concat());
    assert!(page.contains("limited by"), "{page}");
    let refused = |arguments: &[&str], words: &[&str]| {
        let all = [&["sim", "scene.ply"], &SHOT[..], arguments].concat();
        place.expect_error(USAGE, &all, words);
    };
    refused(&["--set", "tc.bins=8,x"], &["--set tc.bins", "\"x\""]);
    refused(
        &["--set", "tc.bins=8,"],
        &["tc.bins", "separated by commas"],
    );
    refused(
        &["--set", "tc.bins=8,8"],
        &["configurations", "tc.bins=8", "twice"],
    );
    refused(&["--set", "tc.bins=\"8,16\""], &["--set tc.bins"]);
    refused(
        &["--set", "tc.bins=8,16", "-o", "x-{variant}.png"],
        &["-o", "2 configurations"],
    );
    refused(&["--set", "tc.bins=8,16", "--maps", "m"], &["--maps"]);
    refused(
        &["--set", "tc.bins=8,16", "--trace", "t.json"],
        &["--trace"],
    );
    refused(&["--preset", "vr-pipe,fast"], &["--preset", "fast"]);
    let list: Vec<_> = (1..=70).map(|n| n.to_string()).collect();
    let sets = ["tc.bins", "tgc.bins"].map(|field| format!("{field}={}", list.join(",")));
    refused(&["--set", &sets[0], "--set", &sets[1]], &["4096", "4900"]);
    // Commands without sweeps refuse lists as they do any wrong value.
    place.expect_error(
        USAGE,
        &["microbench", "--set", "tc.bins=8,16"],
        &["tc.bins"],
    );
    let mesh = [
        "mesh", "furball", "--cycles", "--config", "a", "--config", "b",
    ];
    place.expect_error(USAGE, &mesh, &["--config", "one file"]);
}
