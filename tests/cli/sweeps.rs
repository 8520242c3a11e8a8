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
    let variants = views.flat_map(|view| view["methods"].as_array().unwrap());
    variants.map(|v| v["cycles"].as_u64().unwrap()).collect()
}

const VARIANTS: [&str; 2] = ["--method", "baseline,het+qm"];

#[test]
fn a_sweep_has_the_numbers_of_its_single_runs() {
    let place = Place::new();
    let set = ["--set", "tc.bins=2,8,32", "--set", "crop.format=rgba8,rgba16f"];
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
    let lines: Vec<Vec<&str>> = table.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..4], ["view", "crop.format", "tc.bins", "views"]);
    assert_eq!(lines[2][..4], ["shot_1", "rgba8", "2", "1"]);
    assert_eq!(lines[2][4], single[0].to_string());
    assert_eq!(lines[2][5], single[1].to_string());
    assert_eq!(lines[7][..2], ["rgba16f", "32"]);
    let speedup = single[10] as f64 / single[11] as f64;
    assert_eq!(lines[7].last(), Some(&format!("{speedup:.3}").as_str()));
}

#[test]
fn ranges_and_sizes_are_lists_of_values() {
    let place = Place::new();
    let of = |set: [&str; 2]| {
        let set = ["--set", set[0], "--set", set[1]];
        cycles(&place, &[&VARIANTS[..], &set].concat())
    };
    let listed = of(["tc.bins=4,8,16,24", "l2.bytes=65536,131072"]);
    assert_eq!(listed.len(), 4 * 2 * 2);
    assert_eq!(of(["tc.bins=4..16*2,24", "l2.bytes=64KB..128KB*2"]), listed);
    assert_eq!(of(["tc.bins=4,8..24+8", "l2.bytes=64KiB,0.125MB"]), listed);
    let matrix = "[matrix]\ntc.bins = [4, \"8..24+8\"]\nl2.bytes = \"64KB..128KB*2\"\n";
    let suite = format!("{}{matrix}", crate::bench::SMALL);
    fs::write(place.path("suite.toml"), suite).unwrap();
    let rows = place.expect(DONE, &["bench", "suite.toml", "-q", "--csv"]).stdout;
    let rows = String::from_utf8(rows).unwrap();
    // Three views by two methods.
    assert_eq!(rows.lines().count(), 1 + 4 * 2 * 3 * 2);
    fs::write(place.path("my.toml"), "[l2]\nbytes = \"64KB\"\n").unwrap();
    let file =
        cycles(&place, &[&VARIANTS[..], &["--config", "my.toml", "--set", "tc.bins=4"]].concat());
    assert_eq!(file, listed[..2]);
}

/// One's own machine, in a file: `sim`, `bench`, a suite, a trace.
#[test]
fn a_machine_of_ones_own_goes_everywhere() {
    let place = Place::new();
    let machine = "[gpu]\nclock_mhz = 900.0\n[tc]\nbins = 8\n[l2]\nbytes = \"1MB\"\n";
    fs::write(place.path("my.toml"), machine).unwrap();
    let suite = crate::bench::SMALL;
    fs::write(place.path("suite.toml"), suite).unwrap();
    let named = "\n[[configuration]]\nname = \"mine\"\nconfig = \"my.toml\"\n\n[[configuration]]\nname = \"paper\"\n";
    fs::write(place.path("named.toml"), format!("{suite}{named}")).unwrap();
    let csv = |arguments: &[&str]| {
        let printed = place.expect(DONE, &[arguments, &["--csv", "-q"]].concat()).stdout;
        let text = String::from_utf8(printed).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.deserialize::<std::collections::BTreeMap<String, String>>();
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        rows
    };
    let sim = csv(&[
        &["sim", "scene.ply", "--config", "my.toml", "--view", "all"][..],
        &SHOT[..2],
        &VARIANTS,
    ]
    .concat());
    let bench = csv(&["bench", "suite.toml", "--config", "my.toml"]);
    let named = csv(&["bench", "named.toml"]);
    assert_eq!((sim.len(), bench.len(), named.len()), (6, 6, 12));
    let mine = named.iter().filter(|row| row["configuration"] == "mine");
    for ((sim, bench), mine) in sim.iter().zip(&bench).zip(mine) {
        assert_eq!((sim["scene"].as_str(), bench["scene"].as_str()), ("scene", "small"));
        for name in [
            "view",
            "method",
            "tc.bins",
            "l2.bytes",
            "cycles",
            "speedup",
            "frame_ms",
            "units.crop.utilisation",
        ] {
            assert_eq!(sim[name], bench[name], "{name}");
            assert_eq!(mine[name], bench[name], "{name}");
        }
        assert_eq!((bench["tc.bins"].as_str(), bench["l2.bytes"].as_str()), ("8", "1048576"));
    }
    let traced = ["--config", "my.toml", "--trace", "t.json"];
    run(&place, &[&VARIANTS[..], &traced].concat());
    assert!(fs::read_to_string(place.path("t.json")).unwrap().contains("crop"));
}

#[test]
fn fields_are_searched_over_units() {
    let place = Place::new();
    let refused = |set: &str, words: &[&str]| {
        let all = [&["sim", "scene.ply"], &SHOT[..], &["--set", set]].concat();
        place.expect_error(USAGE, &all, words);
    };
    refused("het.threshold=0.9", &["--set het.threshold=0.9", "as in zrop.threshold,"]);
    refused("threshold=0.9", &["as in zrop.threshold=0.9,"]);
    refused("bins=8", &["tgc.bins=8 or tc.bins=8"]);
    refused("zrop.bins=8", &["as in binning.bins or tc.bins or tgc.bins"]);
    refused("tc.bins=8KB", &["tc.bins", "not a size in bytes", "8KB"]);
    refused("tc.bins=8..60*2", &["tc.bins", "they meet 32 and 64", "8..60*2"]);
    refused("tc.bins=8..", &["tc.bins", "both ends"]);
    refused("l2.bytes=1MB..4MB", &["l2.bytes", "1MB..4MB*2"]);
    refused("zrop.threshold=0..1e9+0.001", &["zrop.threshold", "4096"]);
}

#[test]
fn presets_and_files_are_swept_and_two_have_a_ratio() {
    let place = Place::new();
    let table = run(&place, &[&VARIANTS[..], &["--preset", "vr-pipe,orin"]].concat());
    for word in ["preset", "vr-pipe", "orin", "first / second"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    fs::write(place.path("a.toml"), "[tc]\nbins = 4\n").unwrap();
    fs::write(place.path("b.toml"), "[tc]\nbins = 8\n[l2]\nbytes = 262144\n").unwrap();
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
    assert!(table.contains("tc.bins") && table.contains("first / second"), "{table}");
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
    refused(&["--set", "tc.bins=8,"], &["tc.bins", "separated by commas"]);
    refused(&["--set", "tc.bins=8,8"], &["configurations", "tc.bins=8", "twice"]);
    refused(&["--set", "tc.bins=\"8,16\""], &["--set tc.bins"]);
    refused(&["--set", "tc.bins=8,16", "-o", "x-{method}.png"], &["-o", "2 configurations"]);
    refused(&["--set", "tc.bins=8,16", "--maps", "m"], &["--maps"]);
    refused(&["--set", "tc.bins=8,16", "--trace", "t.json"], &["--trace"]);
    refused(&["--preset", "vr-pipe,fast"], &["--preset", "fast"]);
    let list: Vec<_> = (1..=70).map(|n| n.to_string()).collect();
    let sets = ["tc.bins", "tgc.bins"].map(|field| format!("{field}={}", list.join(",")));
    refused(&["--set", &sets[0], "--set", &sets[1]], &["4096", "4900"]);
    // Commands without sweeps refuse lists as they do any wrong value.
    place.expect_error(USAGE, &["microbench", "--set", "tc.bins=8,16"], &["tc.bins"]);
    let mesh = ["mesh", "furball", "--cycles", "--config", "a", "--config", "b"];
    place.expect_error(USAGE, &mesh, &["--config", "one file"]);
}
