//! Measured numbers beside the emulator's, and the program that measures rates through Vulkan.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::program::{DONE, Place, UNREADABLE, USAGE};
use crate::support::skipped;

const HEADER: &str = "item,scene,view,width,height,value,unit,device\n";

const SUITE: &str = "[[scene]]
name = \"vase\"
recipe = \"object\"
splats = 300
view = \"0..2\"
width = 32
height = 24
";

fn place(rows: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("suite.toml"), SUITE).unwrap();
    fs::write(place.path("measured.csv"), format!("{HEADER}{rows}")).unwrap();
    place
}

fn correlate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let all = ["figures", "--correlate", "measured.csv", "-o", "report", "-q"];
    [&all, more].concat()
}

fn rows(place: &Place, figure: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path("report").join(format!("{figure}.json"))).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    document["rows"].as_array().unwrap().clone()
}

/// The kernels that `sim` reports of the view, at the size and on the machine of the file.
fn kernels(place: &Place, preset: &str) -> Value {
    place.expect(
        DONE,
        &[
            "synth",
            "object",
            "--splats",
            "300",
            "-o",
            "vase.ply",
            "--cameras-out",
            "vase.cameras.json",
            "-q",
        ],
    );
    let run = ["sim", "vase.ply", "--cameras", "vase.cameras.json", "--view", "1", "--width", "48"];
    let rest = ["--height", "36", "--method", "compute-aabb", "--preset", preset, "--json"];
    let output = place.expect(DONE, &[&run[..], &rest[..]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["views"][0]["methods"][0].clone()
}

#[test]
fn kernels_are_compared_at_the_measured_size() {
    let place = place("");
    let probe = kernels(&place, "h200");
    let cameras = fs::read_to_string(place.path("vase.cameras.json")).unwrap();
    let cameras: Value = serde_json::from_str(&cameras).unwrap();
    let view = cameras[1]["img_name"].as_str().unwrap();
    let row =
        |item: &str, value: f64, unit: &str| format!("{item},vase,{view},48,36,{value},{unit},G\n");
    let csv = [
        HEADER.to_owned(),
        row("raster", 4.0, "us"),
        row("frame", 0.01, "ms"),
        row("pairs", 10.0, "count"),
        row("other-warps", 10.0, "count"),
    ];
    fs::write(place.path("measured.csv"), csv.concat()).unwrap();
    place.expect(DONE, &correlate(&["suite.toml", "--preset", "h200"]));
    let found = rows(&place, "hw-kernels");
    let cycles = |name: &str| {
        let kernels = probe["compute"]["kernels"].as_array().unwrap();
        let chosen = kernels.iter().filter(|kernel| name.is_empty() || kernel["name"] == name);
        chosen.map(|kernel| kernel["cycles"].as_f64().unwrap()).sum::<f64>()
    };
    let close = |row: usize, key: &str, expected: f64| {
        let number = found[row][key].as_f64().unwrap();
        assert!((number / expected - 1.0).abs() < 1e-9, "{row} {key}: {number} {expected}");
    };
    close(0, "emulated", cycles("raster") / 1980.0);
    close(0, "error", cycles("raster") / 1980.0 / 4.0 - 1.0);
    close(1, "emulated", cycles("") / 1980.0);
    close(1, "measured", 10.0);
    close(2, "emulated", probe["compute"]["pairs"].as_f64().unwrap());
    assert!(found[3]["emulated"].is_null() && found[3]["error"].is_null());
    let page = fs::read_to_string(place.path("report/index.html")).unwrap();
    for text in
        ["Measured on G, compared with the configuration h200", "Times, n = 2", "1 measured number"]
    {
        assert!(page.contains(text), "{text}");
    }
    // A second run takes the rows from the folder, and gives the same files.
    place.expect(DONE, &correlate(&["suite.toml", "--preset", "h200"]));
    assert_eq!(rows(&place, "hw-kernels"), found);
}

#[test]
fn rates_need_no_suite() {
    let place = place("blend-rgba16f,,,,,4.896,Gpixel/s,G\nblend-rgba8,,,96,96,4.896,Gpixel/s,G\n");
    place.expect(DONE, &correlate(&[]));
    let found = rows(&place, "hw-rates");
    // Eight pixels of 8 bytes and sixteen of 4 per cycle of 612 MHz, and one in a hundred more on the diagonal.
    let close = |row: usize, key: &str, expected: f64| {
        let number = found[row][key].as_f64().unwrap();
        assert!((number - expected).abs() < 0.02, "{row} {key}: {number}");
    };
    close(0, "error", 0.0);
    close(1, "error", 1.0);
    close(1, "relative_error", 1.0);
}

#[test]
fn files_that_do_not_fit_are_refused() {
    for (rows, more, expected) in [
        ("raster,vase,view_00,8,8,1,ms,G\n", vec![], "line 2: expected a suite"),
        (
            "raster,jug,v,8,8,1,ms,G\n",
            vec!["suite.toml"],
            "line 2: expected one of the scenes vase, found jug",
        ),
        ("raster,vase,v,8,8,1,ms,G\n", vec!["suite.toml"], "line 2: expected one of the views"),
        ("rastr,vase,v,8,8,1,ms,G\n", vec!["suite.toml"], "such as raster"),
        ("blend-rgba16,,,,,1,Gpixel/s,G\n", vec![], "such as blend-rgba16f"),
        ("raster,vase,v,8,8,1,ells,G\n", vec!["suite.toml"], "line 2: expected one of the units"),
    ] {
        let place = place(rows);
        let output = place.expect(UNREADABLE, &correlate(&more));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(expected), "{text}");
    }
    let place = place("copy,,,1,1,1,GB/s,G\n");
    place.expect(USAGE, &["figures", "suite.toml", "-o", "report", "--preset", "h200"]);
    place.expect(USAGE, &correlate(&["suite.toml", "--set", "tc.bins=8,16"]));
}

/// The rates of a software driver are compared like the rates of hardware. Skipped without the packages that the program
/// needs.
#[test]
fn rates_are_measured_through_vulkan() {
    if skipped::is_slow() {
        return;
    }
    if Command::new("glslangValidator").arg("--version").output().is_err() {
        return skipped::note("glslangValidator (package glslang-tools) is missing");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = root.join("benches/hardware/vulkan/Cargo.toml");
    let target = root.join("target/hardware");
    let build = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    let program = target.join("debug/quadrille-vulkan-rates");
    let arguments = ["--size", "96", "--time", "0.05", "--repeats", "1", "--only", "rgba16f"];
    let run = Command::new(&program).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&run.stderr).into_owned();
    if !run.status.success() {
        assert!(errors.contains("no Vulkan"), "{errors}");
        return skipped::note(format!("{} (package mesa-vulkan-drivers)", errors.trim()));
    }
    let place = place("");
    let measured = String::from_utf8(run.stdout).unwrap();
    // A busy machine may fail to time one of them, which it says.
    for item in ["blend-rgba16f", "write-rgba16f", "blend-rgba16f-4-quads"] {
        let is_there = measured.contains(&format!("\n{item},"));
        assert!(is_there || errors.contains(item), "{item}: {measured} {errors}");
    }
    // Which fields move the rate of quads on each other takes half a minute to find.
    let is_plain = |line: &&str| !line.contains("-quads,") && !line.contains("stacked");
    let plain: Vec<&str> = measured.lines().filter(is_plain).collect();
    fs::write(place.path("measured.csv"), plain.join("\n")).unwrap();
    place.expect(DONE, &correlate(&[]));
    let found = rows(&place, "hw-rates");
    let items: Vec<&str> = found.iter().map(|row| row["item"].as_str().unwrap()).collect();
    let measured = plain.iter().skip(1).map(|line| line.split(',').next().unwrap());
    assert_eq!(items, measured.collect::<Vec<_>>(), "{errors}");
    assert!(found.iter().all(|row| row["measured"].as_f64().unwrap() > 0.0));
    let arguments = ["--size", "1056", "--only", "warps-"];
    let run = Command::new(program).args(arguments).output().unwrap();
    check_warps(&String::from_utf8(run.stdout).unwrap());
}

/// A subgroup shades at most as many pixels as it has lanes, and squares on one tile share subgroups.
fn check_warps(measured: &str) {
    let rows = measured.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let (name, lanes) = match cells[0].strip_prefix("other-") {
            Some(name) => name.strip_suffix("-lanes").unwrap().split_once("-of-").unwrap(),
            None => (cells[0], "32"),
        };
        let lanes: f64 = lanes.parse().unwrap();
        (name.to_owned(), (cells[5].parse::<f64>().unwrap(), lanes))
    });
    let rows: BTreeMap<String, (f64, f64)> = rows.collect();
    assert_eq!(rows.len(), 6 + 8, "{measured}");
    let (warps, lanes) = rows["warps-rectangles-16"];
    assert!(warps >= 256.0 / lanes, "{measured}");
    let (warps, lanes) = rows["warps-tiles-8"];
    assert!((80.0 / lanes..=80.0).contains(&warps), "{measured}");
}

/// Warps are counts, which are compared as they are.
#[test]
fn warps_are_compared_without_a_reference() {
    let counts = place("warps-tiles-33,,,,,330,count,G\nwarps-tiles-32,,,,,67,count,G\n");
    counts.expect(DONE, &correlate(&[]));
    let found = rows(&counts, "hw-rates");
    let error = |row: usize| found[row]["error"].as_f64().unwrap();
    assert!(error(0) == 0.0 && (error(1) - (64.0 / 67.0 - 1.0)).abs() < 1e-9, "{found:?}");
    assert!(found[0]["relative_error"].is_null());
    let wrong = place("warps-tiles-33,,,,,330,Gpixel/s,G\n");
    let output = wrong.expect(UNREADABLE, &correlate(&[]));
    assert!(String::from_utf8(output.stderr).unwrap().contains("a unit of warps-tiles-33: count"));
}

/// Presets of shader cores have no pipeline: alone they are refused by name, and in a list they are left out.
#[test]
fn presets_that_cannot_run_a_method_are_left_out_of_a_list() {
    let place = Place::new();
    let sim = ["sim", "scene.ply", "--width", "32", "--method", "baseline", "--preset"];
    place.expect_error(USAGE, &[&sim[..], &["h100"]].concat(), &["preset h100", "compute"]);
    let output = place.expect(DONE, &[&sim[..], &["vr-pipe,h100", "--csv"]].concat());
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("preset h100 cannot be used with method baseline"), "{warnings}");
    assert!(warnings.contains("the preset is left out"), "{warnings}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    let suite = "method = [\"baseline\"]\n[matrix]\npreset = [\"h100\", \"vr-pipe\"]\n[[scene]]\nname = \"a\"\n\
                 path = \"scene.ply\"\norbit = 1\nwidth = 32\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let output = place.expect(DONE, &["bench", "suite.toml", "--csv"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("the preset is left out"));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
}
