//! `sim` as other programs see it, on the project's own scene.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use quadrille::gpu::config::PRESETS;
use quadrille::{Config, config_toml};
use serde_json::Value;

use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};

/// The project's own scene, and its cameras.
const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.ply");
const CAMERAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.cameras.json");

/// The view that most tests run, and its size.
const VIEW: [&str; 7] = ["sim", SCENE, "--cameras", CAMERAS, "--width", "256", "-q"];
const SIZE: [u32; 2] = [256, 144];

/// Columns and lines of a page.
const SCREEN: (usize, usize) = (100, 25);

/// The views of a document.
fn sims(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let all = [&VIEW[..], &["--json"], arguments].concat();
    let document = place.document(&all);
    document["views"].as_array().unwrap().clone()
}

/// The only view of a document.
fn sim(place: &Place, arguments: &[&str]) -> Value {
    let mut views = sims(place, arguments);
    assert_eq!(views.len(), 1);
    views.remove(0)
}

/// The record of a method in a document.
pub(crate) fn variant<'a>(document: &'a Value, name: &str) -> &'a Value {
    let mut variants = document["methods"].as_array().unwrap().iter();
    variants.find(|v| v["name"] == name).unwrap()
}

/// The number at a JSON pointer.
pub(crate) fn number(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    assert!(found.is_some(), "no number at {path} of {value}");
    found.unwrap()
}

/// Numbers of a map: u32, height x width.
fn counts(path: &Path) -> Vec<u32> {
    let bytes = fs::read(path).unwrap();
    let header = String::from_utf8_lossy(&bytes[10..128]).into_owned();
    assert!(header.contains("'<u4'"), "{header}");
    let shape = format!("({}, {})", SIZE[1], SIZE[0]);
    assert!(header.contains(&shape), "{header}");
    let elements = bytes[128..].chunks(4);
    elements.map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn sum(path: &Path) -> f64 {
    counts(path).iter().map(|&c| f64::from(c)).sum()
}

/// The document without this machine's times.
pub(crate) fn without_host(value: &mut Value) {
    if let Value::Object(object) = value {
        object.retain(|key, _| !key.starts_with("host_"));
    }
    match value {
        Value::Object(object) => object.values_mut().for_each(without_host),
        Value::Array(array) => array.iter_mut().for_each(without_host),
        _ => {}
    }
}

#[test]
fn json_has_the_promised_keys_and_adds_up() {
    let document = sim(&Place::new(), &[]);
    for path in [
        "/scene/path",
        "/view/name",
        "/config/crop/cache_bytes",
        "/host_ms",
        "/methods/0/name",
        "/methods/0/host_quads_per_s",
        "/methods/0/flushes/tgc/full",
        "/methods/0/flushes/tc/evicted",
        "/methods/0/units/crop/busy",
        "/methods/0/units/crop/idle",
    ] {
        assert!(document.pointer(path).is_some(), "{path} is missing");
    }
    let names = document["methods"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["baseline", "qm", "het", "het+qm", "tgc"]);
    for v in document["methods"].as_array().unwrap() {
        let at = |path: &str| number(v, path);
        assert_eq!(
            at("/fragments/rasterized"),
            at("/fragments/hidden") + at("/fragments/terminated") + at("/fragments/shaded")
        );
        assert_eq!(
            at("/quads/shaded"),
            ["pruned", "merged_pairs", "dropped", "blended"]
                .map(|fate| at(&format!("/quads/{fate}")))
                .iter()
                .sum::<f64>()
        );
        assert!(at("/fragments/late") <= at("/fragments/blended"));
        assert!((at("/frame_ms") - at("/cycles") / 612e3).abs() < 1e-9);
        for key in ["hits", "misses", "l2_bytes"] {
            assert!(at(&format!("/crop/{key}")) > 0.0, "{key}");
        }
        // The colour buffer fits the L2; vertices come from DRAM.
        assert_eq!(at("/crop/dram_bytes"), 0.0);
        assert!(at("/memory/vertex/dram_read_bytes") > 0.0);
        assert_eq!(at("/memory/colour/l2_read_bytes"), 32.0 * at("/crop/fetched"));
        for unit in v["units"].as_object().unwrap().values() {
            let idle = unit["idle"].as_object().unwrap().values();
            let idle: f64 = idle.map(|c| c.as_f64().unwrap()).sum();
            let cycles = number(unit, "/instances") * at("/cycles");
            assert_eq!(number(unit, "/busy") + idle, cycles);
        }
        assert_eq!(v["discrepancies"], Value::Array(Vec::new()));
    }
    let storage = |name| number(variant(&document, name), "/storage_bytes_per_gpc/total");
    let grids = 24_832.0 + 12_288.0;
    assert_eq!(
        [storage("baseline"), storage("tgc"), storage("het+qm")],
        [0.0, grids, grids + 1_296.0 + 10_752.0 + 272.0]
    );
}

#[test]
fn ratios_are_the_baseline_over_the_variant() {
    let place = Place::new();
    let document = sim(&place, &["--method", "het,baseline", "--method", "het+qm"]);
    let ratios = document["ratios"].as_object().unwrap();
    assert_eq!(ratios.keys().collect::<Vec<_>>(), ["het", "het+qm"]);
    let baseline = variant(&document, "baseline");
    for (name, ratios) in ratios {
        let of = variant(&document, name);
        for (key, path) in [
            ("speedup", "/cycles"),
            ("fragments", "/fragments/blended"),
            ("quads", "/quads/blended"),
        ] {
            let expected = number(baseline, path) / number(of, path);
            assert!((ratios[key].as_f64().unwrap() - expected).abs() < 1e-9);
        }
        assert!(ratios["quads"].as_f64().unwrap() > 1.5, "{ratios}");
    }
    let views = sims(&place, &["--method", "qru+het", "--view", "1..3"]);
    assert_eq!(views.len(), 2);
    assert_eq!(views[1]["methods"][0]["name"], "het+qru");
    assert_eq!(views[1]["ratios"], Value::Object(serde_json::Map::new()));
}

#[test]
fn every_file_appears_and_maps_add_up_to_the_counters() {
    let place = Place::new();
    let document = sim(
        &place,
        &[
            "--method",
            "baseline,het+qm",
            "-o",
            "{view}_{method}.npy",
            "--maps",
            "maps/here",
            "--trace",
            "{view}.json",
            "--reference",
        ],
    );
    for name in ["bay_baseline.npy", "bay_het+qm.npy"] {
        let picture = quadrille::read_picture(place.path(name)).unwrap();
        assert_eq!([picture.width(), picture.height()], SIZE);
    }
    let mut expected = BTreeSet::new();
    let all =
        ["shaded", "blended", "merged", "late", "blends_until_termination", "termination_cycle"];
    // Colours and stencil values stay in the L2, so that there is no map of bytes of DRAM.
    let of_tiles =
        ["cycles", "quads", "flushes", "l2_bytes", "terminated_quads", "terminated_fragments"];
    for (name, maps, of_tiles) in
        [("baseline", &all[..2], &of_tiles[..4]), ("het+qm", &all[..], &of_tiles[..])]
    {
        expected.insert(format!("bay.{name}.tiles.csv"));
        for map in of_tiles {
            expected.insert(format!("bay.{name}.tile_{map}.npy"));
            expected.insert(format!("bay.{name}.tile_{map}.png"));
        }
        for map in maps {
            for extension in ["npy", "png"] {
                expected.insert(format!("bay.{name}.{map}.{extension}"));
            }
            let path = place.path(&format!("maps/here/bay.{name}.{map}.png"));
            let picture = quadrille::read_picture(&path).unwrap();
            assert!(picture.width() >= 480 && picture.height() > SIZE[1]);
        }
        let of = variant(&document, name);
        let map = |map: &str| place.path(&format!("maps/here/bay.{name}.{map}.npy"));
        assert_eq!(sum(&map("shaded")), number(of, "/fragments/shaded"));
        assert_eq!(sum(&map("blended")), number(of, "/fragments/blended"));
        if name != "baseline" {
            assert_eq!(sum(&map("late")), number(of, "/fragments/late"));
            assert_eq!(sum(&map("merged")), number(of, "/fragments/merged"));
            let until = counts(&map("blends_until_termination"));
            let when = counts(&map("termination_cycle"));
            let terminated = until.iter().zip(&when).filter(|(until, when)| {
                assert_eq!(**until == 0, **when == 0, "both or neither");
                **until > 0
            });
            let terminated = terminated.count() as f64;
            assert_eq!(terminated, number(of, "/terminations"));
        }
        assert!(number(of, "/psnr_vs_reference_db") > 45.0);
    }
    let found = fs::read_dir(place.path("maps/here")).unwrap();
    let found: BTreeSet<_> =
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, expected);
    check_trace(&place.path("bay.json"), &document);
}

/// Counters in per cent, times within the frame, a process a variant.
fn check_trace(path: &Path, document: &Value) {
    let bytes = fs::read(path).unwrap();
    assert!(bytes.len() < 8 << 20, "{} bytes", bytes.len());
    let trace: Value = serde_json::from_slice(&bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for (v, pid) in document["methods"].as_array().unwrap().iter().zip(1..) {
        let end_us = number(v, "/frame_ms") * 1e3 + 1e-3;
        let mut names = BTreeSet::new();
        let mut last = 0.0;
        for event in events.iter().filter(|e| e["pid"] == pid && e["ph"] == "C") {
            let name = event["name"].as_str().unwrap().to_owned();
            last = if names.insert(name) { 0.0 } else { last };
            let at = number(event, "/ts");
            assert!((last..=end_us).contains(&at), "{event}");
            last = at;
            let shares = event["args"].as_object().unwrap().values();
            let shares: Vec<f64> = shares.map(|s| s.as_f64().unwrap()).collect();
            let total: f64 = shares.iter().sum();
            assert!(shares.iter().all(|s| (0.0..=100.0).contains(s)), "{event}");
            assert!(total == 0.0 || (total - 100.0).abs() < 0.5, "{event}");
        }
        // The ports of caches and storages have no timelines.
        const WITHOUT: [&str; 5] = ["_fill", "_write", "_buffer", "_fetch", "_updates"];
        let units = v["units"].as_object().unwrap().keys();
        let units = units.filter(|name| !WITHOUT.iter().any(|end| name.ends_with(end)));
        assert_eq!(names.len(), units.count());
        for name in &names {
            let samples = events.iter().filter(|e| e["pid"] == pid && e["name"] == name.as_str());
            assert!((2..=513).contains(&samples.count()), "{name}");
        }
    }
}

#[test]
fn the_same_bytes_with_any_number_of_threads() {
    let place = Place::new();
    let mut documents = Vec::new();
    let mut folders = Vec::new();
    for threads in ["1", "2", "7"] {
        let arguments = [
            "--threads",
            threads,
            "--method",
            "baseline,het+qm",
            "--width",
            "128",
            "--maps",
            threads,
            "--trace",
            &format!("{threads}/trace.json"),
            "-o",
            &format!("{threads}/{{method}}.exr"),
        ];
        let all = [&VIEW[..4], &["--json"], &arguments[..]].concat();
        let mut document = place.document(&all)["views"][0].take();
        without_host(&mut document);
        for v in document["methods"].as_array_mut().unwrap() {
            v["output"].take();
        }
        documents.push(document);
        let entries = fs::read_dir(place.path(threads)).unwrap();
        let mut files: Vec<_> = entries
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_owned();
                (name, fs::read(path).unwrap())
            })
            .collect();
        files.sort();
        // Maps of pixels and of tiles, tables of tiles, pictures, and the trace.
        assert_eq!(files.len(), 2 * 8 + 2 * 10 + 2 + 2 + 1);
        folders.push(files);
    }
    for i in 1..3 {
        assert_eq!(documents[0], documents[i]);
        assert!(folders[0] == folders[i], "files differ");
    }
}

#[test]
fn a_page_fits_a_screen() {
    let place = Place::new();
    let page = |arguments: &[&str]| {
        let output = place.expect(DONE, &[&VIEW[..], arguments].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = |page: &str| {
        let widest = page.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= SCREEN.0, "{widest} columns:\n{page}");
        assert!(!page.contains('\u{1b}'), "colours");
        page.lines().count()
    };
    let all = page(&["--reference"]);
    assert!(lines(&all) <= SCREEN.1, "{all}");
    for word in ["het+qm", "limited by", "crop", "dB", "96%", "1.00x"] {
        assert!(all.contains(word), "{word} is missing:\n{all}");
    }
    let one = page(&["--method", "qm", "--set", "gpu.clock_mhz=123.25"]);
    assert!(lines(&one) <= SCREEN.1 && one.contains("123.25 MHz") && !one.contains("1.00x"));
    // Seven variants: two pages, and a line between them.
    let seven = page(&["--method", "all"]);
    assert!(lines(&seven) <= 2 * SCREEN.1 + 1 && seven.contains("het+qru"));
}

#[test]
fn configurations_are_read_back_and_checked() {
    let place = Place::new();
    let dump = |arguments: &[&str]| {
        let all = [&["sim", "--config-dump"], arguments].concat();
        String::from_utf8(place.expect(DONE, &all).stdout).unwrap()
    };
    let text = dump(&["--preset", "orin", "--set", "tc.bins=7", "--set", "crop.format=rgba8"]);
    assert!(text.contains("bins = 7\n") && text.contains("assumption: "));
    fs::write(place.path("my.toml"), &text).unwrap();
    // A file does not say which preset its values began as.
    let fields = |dump: &str| {
        let lines = dump.lines().filter(|line| !line.starts_with("# Preset "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(fields(&dump(&["--config", "my.toml"])), fields(&text));
    // Preset, then file, then assignments.
    fs::write(place.path("part.toml"), "[tc]\nbins = 9\nbin_size = 64\n").unwrap();
    let layered = dump(&["--preset", "orin", "--config", "part.toml", "--set", "tc.bins=11"]);
    for line in ["clock_mhz = 1300.0", "bin_size = 64", "bins = 11"] {
        assert!(layered.lines().any(|l| l == line), "{line}");
    }
    for (arguments, words) in [
        (&["--set", "tc.bin=3"][..], &["tc", "bin_size"][..]),
        (&["--set", "tc.bins=0"], &["tc.bins", "from 1 to"]),
        (&["--set", "bins"], &["unit.field=value"]),
        (&["--preset", "tpu"], &["tpu", "rtx-a6000"]),
        (&["--config", "wrong.toml"], &["wrong.toml", "tile.bins", "tc.bins or tgc.bins"]),
    ] {
        fs::write(place.path("wrong.toml"), "[tile]\nbins = 9\n").unwrap();
        let all = [&["sim", "--config-dump"], arguments].concat();
        place.expect_error(USAGE, &all, words);
    }
    let absent = ["sim", "--config-dump", "--config", "absent.toml"];
    place.expect_error(UNREADABLE, &absent, &["absent.toml"]);
}

#[test]
fn wrong_usage_is_refused_before_anything_is_drawn() {
    let place = Place::new();
    let error = |code, arguments: &[&str], words: &[&str]| {
        place.expect_error(code, &[&["sim"], arguments].concat(), words);
    };
    error(USAGE, &["scene.ply", "--method", "hat"], &["--method", "hat", "het+qm"]);
    error(USAGE, &["scene.ply", "-o", "a.png"], &["-o", "{method}", "5 methods"]);
    error(
        USAGE,
        &["scene.ply", "-o", "{method}.png", "--orbit", "3"],
        &["-o", "{view}", "3 views"],
    );
    error(
        USAGE,
        &["scene.ply", "--trace", "t.json", "--orbit", "3"],
        &["--trace", "{view}", "3 views"],
    );
    error(USAGE, &["scene.ply", "-o", "-", "--json", "--method", "qm"], &["--json"]);
    error(USAGE, &["scene.ply", "--width", "0"], &["--width"]);
    error(USAGE, &[], &["SCENE"]);
    error(UNREADABLE, &["absent.ply"], &["absent.ply"]);
    error(UNWRITABLE, &["scene.ply", "--trace", "scene.ply/t.json"], &["scene.ply/t.json"]);
    error(UNWRITABLE, &["scene.ply", "--maps", "scene.ply"], &["scene.ply"]);
    error(USAGE, &["--json"], &["SCENE"]);
}

#[test]
fn render_shows_the_same_colour_buffer() {
    let place = Place::new();
    place.expect(DONE, &[&VIEW[..], &["--method", "baseline", "-o", "sim.npy"]].concat());
    let arguments =
        [&["render"], &VIEW[1..], &["--backend", "gpu", "--json", "-o", "gpu.npy"]].concat();
    let document: Value = serde_json::from_slice(&place.expect(DONE, &arguments).stdout).unwrap();
    let bytes = |name| fs::read(place.path(name)).unwrap();
    assert!(bytes("sim.npy") == bytes("gpu.npy"), "pictures differ");
    assert_eq!(document["backend"], "gpu");
    assert!(number(&document, "/views/0/ms/raster") > 0.0);
    let simulated = sim(&place, &["--method", "baseline"]);
    assert_eq!(
        number(&document, "/views/0/fragments_blended"),
        number(&simulated, "/methods/0/fragments/blended")
    );
    let stopped = ["render", "scene.ply", "-o", "a.png", "--backend", "gpu", "--stop", "none"];
    place.expect_error(USAGE, &stopped, &["--stop"]);
}

/// Dumps read back, and explain every field.
#[test]
fn dumps_of_all_presets_read_back() {
    for preset in PRESETS {
        let config = Config::preset(preset.name).unwrap();
        let text = config_toml(&config, preset.name);
        let read = Config::default().overlaid(&text, "dump").unwrap();
        assert_eq!(read, config);
        assert_eq!(config_toml(&read, preset.name), text);
    }
    let text = config_toml(&Config::preset("orin").unwrap(), "orin");
    let lines: Vec<_> = text.lines().collect();
    let is_field = |pair: &&[&str]| !pair[1].starts_with('#') && pair[1].contains(" = ");
    let fields: Vec<_> = lines.windows(2).filter(is_field).collect();
    for pair in &fields {
        let kinds = ["source: ", "assumption: ", "calibrated against: "];
        let explains = kinds.iter().any(|kind| pair[0].contains(kind));
        assert!(pair[0].starts_with("# ") && explains, "{pair:?}");
    }
    assert_eq!(fields.len(), Config::default().fields().len());
    assert!(text.contains("# Preset orin: Jetson AGX Orin"));
    assert!(text.contains("Default 612.0; source: VR-Pipe Table I.\nclock_mhz = 1300.0"));
}

/// Every assumed and calibrated number is varied, no published one, and the cycles equal the cycles of a run
/// with that value.
#[test]
fn sensitivity_varies_what_no_publication_states() {
    let place = Place::new();
    let scene = ["synth", "object", "--splats", "1000", "-o", "s.ply"];
    place.expect(DONE, &scene);
    let small = |arguments: &[&str]| {
        let variants = ["--width", "64", "--method", "baseline,het"];
        let all = [&["sim", "s.ply", "-q"], &variants[..], arguments].concat();
        place.expect(DONE, &all).stdout
    };
    let view = |arguments: &[&str]| {
        let document: Value =
            serde_json::from_slice(&small(&[arguments, &["--json"]].concat())).unwrap();
        document["views"][0].clone()
    };
    let varied = view(&["--sensitivity"]);
    let fields = varied["fields"].as_array().unwrap();
    let find = |name: &str| fields.iter().find(|f| f["field"] == name);
    assert!(find("tc.bins").is_none(), "published");
    assert_eq!(find("l2.latency_ns").unwrap()["source"], "assumed");
    let port = find("tc.quads_out_per_cycle").unwrap();
    assert_eq!(port["source"], "calibrated");
    let changes = port["changes"].as_array().unwrap();
    let values = |field: &Value| {
        let changes = field["changes"].as_array().unwrap().iter();
        changes.map(|c| c["value"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(values(port), "2 4 16 32");
    // Twice the value is beyond the bounds of the field.
    assert_eq!(values(find("crop.cache_ways").unwrap()), "16384 32768");
    // Half an item per cycle is a ratio.
    assert_eq!(values(find("launch.warps_per_cycle").unwrap()), "1/4 1/2 2 4");
    let half = view(&["--set", "tc.quads_out_per_cycle=4"]);
    for (at, name) in ["baseline", "het"].into_iter().enumerate() {
        let cycles = number(variant(&half, name), "/cycles");
        assert_eq!(changes[1]["cycles"][at].as_f64(), Some(cycles), "{name}");
    }
    // The table is in order of the swing.
    let swings: Vec<_> = fields.iter().map(|f| number(f, "/swing")).collect();
    assert!(swings.is_sorted_by(|a, b| a >= b) && swings[0] > 0.0, "{swings:?}");
    let table = String::from_utf8(small(&["--sensitivity"])).unwrap();
    let first = fields[0]["field"].as_str().unwrap();
    // Behind the title, the heading, and the rows of the configuration and of two presets.
    let row = table.lines().nth(5).unwrap();
    assert!(row.starts_with(first) && row.contains(", "), "{table}");
    for name in ["emerald-example", "measured-rop"] {
        let preset = view(&["--preset", name]);
        let cycles = |method| number(variant(&preset, method), "/cycles");
        let speedup = varied["presets"][name][1].as_f64();
        assert_eq!(speedup, Some(cycles("baseline") / cycles("het")), "{name}");
    }
    let single =
        ["sim", "s.ply", "-q", "--width", "64", "--method", "het", "--sensitivity", "--json"];
    let single = place.expect(DONE, &single);
    let single: Value = serde_json::from_slice(&single.stdout).unwrap();
    let cycles = number(variant(&view(&[]), "het"), "/cycles");
    assert_eq!(single["views"][0]["cycles"][0].as_f64(), Some(cycles));
}

/// Keys and sums of the software renderer, whose runs stand among the runs of the pipeline in the requested order.
#[test]
fn software_stands_beside_the_pipeline() {
    let place = Place::new();
    let methods = "compute,baseline,compute:none,compute-aabb:hw";
    let document = sim(&place, &["--method", methods, "-o", "{method}.npy"]);
    let runs = document["methods"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names.join(","), methods);
    let blended = |name| number(variant(&document, name), "/fragments/blended");
    assert_eq!(blended("compute:none"), blended("baseline"));
    assert!(blended("compute") < blended("baseline"));
    for v in runs.iter().filter(|v| v["name"] != "baseline") {
        let at = |path: &str| number(v, &format!("/compute/{path}"));
        let reasons = v["compute"]["cycles_by_reason"].as_object().unwrap();
        let names: Vec<_> = reasons.keys().map(String::as_str).collect();
        assert_eq!(names, ["issue", "chain", "barrier", "memory", "tail"]);
        let sum: f64 = reasons.values().map(|c| c.as_f64().unwrap()).sum();
        assert_eq!(sum, at("schedulers") * number(v, "/cycles"));
        assert!(at("lanes/blended") <= at("lanes/over_cut"));
        assert!(at("lanes/over_cut") <= at("lanes/live"));
        assert!(at("lanes/live") <= 32.0 * at("warp_entries"));
        assert_eq!(at("lanes/blended"), number(v, "/fragments/blended"));
        for path in ["pairs", "fragments_missed", "rounds", "warp_entries_blending"] {
            assert!(at(path) >= 0.0);
        }
        let kernels = v["compute"]["kernels"].as_array().unwrap();
        let names: Vec<_> = kernels.iter().map(|k| k["name"].as_str().unwrap()).collect();
        let all = ["preprocess", "scan", "duplicate", "sort", "ranges", "raster"];
        assert_eq!(names, all);
        assert_eq!(kernels[5]["cycles"], v["cycles"]);
        assert_eq!(kernels[3]["bytes"].as_f64().unwrap(), 128.0 * at("pairs"));
        assert_eq!(v["discrepancies"], Value::Array(Vec::new()));
    }
    let ratios = document["ratios"].as_object().unwrap();
    assert_eq!(ratios.len(), 3);
    assert!(ratios["compute"]["quads"].is_null());
    for file in ["compute.npy", "compute-none.npy", "compute-aabb-hw.npy"] {
        assert!(quadrille::read_picture(place.path(file)).is_ok(), "{file}");
    }
    let page = place.expect(DONE, &[&VIEW[..], &["--method", methods]].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    for line in ["raster cycles", "lanes blend", "memory", "sort ms", "crop"] {
        assert!(page.lines().any(|l| l.starts_with(line)), "{page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= SCREEN.0), "{page}");
    let wrong = place.expect(USAGE, &[&VIEW[..], &["--method", "compute:fast"]].concat());
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(text.contains("compute, compute:none or compute:hw"), "{text}");
}

/// The passes of multi-pass rendering in the document add up to its cycles, and the page and the maps name it.
#[test]
fn passes_are_reported() {
    let place = Place::new();
    let methods = ["--method", "multipass:4,baseline", "--maps", "maps"];
    let document = sim(&place, &methods);
    let multipass = variant(&document, "multipass:4");
    let passes = multipass["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 4);
    let sum = |key: &str| passes.iter().map(|pass| number(pass, key)).sum::<f64>();
    let drawn = sum("/draw_cycles") + sum("/update_cycles");
    assert_eq!(drawn + 6.0 * 3060.0, number(multipass, "/cycles"));
    assert_eq!(sum("/terminated_pixels"), number(multipass, "/terminations"));
    assert!(variant(&document, "baseline").get("passes").is_none());
    let cycles = number(variant(&document, "baseline"), "/cycles");
    let speedup = number(&document, "/ratios/multipass:4/speedup");
    assert!((speedup - cycles / number(multipass, "/cycles")).abs() < 1e-9);
    let maps = fs::read_dir(place.path("maps")).unwrap();
    let names = maps.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.filter(|n| n.contains(".multipass-4.")).count() > 0);
    let page = place.expect(DONE, &[&VIEW[..], &methods[..2]].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    for line in ["passes", "update cycles", "gap cycles", "terminated px"] {
        assert!(page.lines().any(|l| l.starts_with(line)), "{page}");
    }
    let wrong = place.expect(USAGE, &[&VIEW[..], &["--method", "multipass:0"]].concat());
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(text.contains("from 1 to 65536"), "{text}");
}

/// Both methods that blend in the shader, on the page, in the document, with estimates, maps and pictures.
#[test]
fn blending_in_shaders_is_reported() {
    let place = Place::new();
    let methods = ["--method", "baseline,shader-blend,interlock"];
    let more = ["--maps", "maps", "--frame", "--energy", "-o", "{method}.npy"];
    let document = sim(&place, &[&methods[..], &more].concat());
    let [baseline, raced, locked] =
        ["baseline", "shader-blend", "interlock"].map(|name| variant(&document, name));
    for method in [raced, locked] {
        for key in ["/fragments/blended", "/quads/blended", "/fragments/shaded"] {
            assert_eq!(number(method, key), number(baseline, key), "{key}");
        }
        assert_eq!(number(method, "/units/crop/busy"), 0.0);
        let preprocess = "/frame/preprocess_ms";
        assert_eq!(number(method, preprocess), number(baseline, preprocess));
        assert_eq!(number(method, "/energy_events/quads_blended"), 0.0);
        let instructions = "/energy_events/instructions";
        assert!(number(method, instructions) > number(baseline, instructions));
    }
    let lost = number(raced, "/shader_blend/lost_updates");
    assert!(lost > 0.0 && lost < number(raced, "/fragments/blended"));
    assert!(number(raced, "/shader_blend/psnr_vs_baseline_db") > 10.0);
    assert_eq!(number(raced, "/flushes/tc/conflict"), 0.0);
    let conflicts = number(locked, "/interlock/conflict_flushes");
    assert_eq!(conflicts, number(locked, "/flushes/tc/conflict"));
    assert!(conflicts > 0.0 && number(locked, "/interlock/wait_cycles") > 0.0);
    assert!(number(locked, "/interlock/handoffs") <= number(locked, "/interlock/tickets"));
    for (method, other) in [(baseline, "interlock"), (baseline, "shader_blend")] {
        assert!(method.get(other).is_none(), "{other}");
    }
    let read = |name: &str| fs::read(place.path(name)).unwrap();
    assert!(read("interlock.npy") == read("baseline.npy"));
    assert!(read("shader-blend.npy") != read("baseline.npy"));
    let page = place.expect(DONE, &[&VIEW[..], &methods].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    for line in ["lost updates", "vs baseline", "conflicts", "handoffs", "wait cycles"] {
        assert!(page.lines().any(|l| l.starts_with(line)), "{page}");
    }
    let unread = ["--method", "shader-blend", "--set", "crop.wait_queue=9"];
    let warned = place.expect(DONE, &[&VIEW[..6], &unread].concat());
    let text = String::from_utf8(warned.stderr).unwrap();
    assert!(text.contains("no run has blending in CROP"), "{text}");
    let none = ["--method", "interlock", "--set", "interlock.regions=0"];
    let refused = place.expect(USAGE, &[&VIEW[..], &none].concat());
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("interlock.regions"), "{text}");
}

/// The tile-based GPU on the page and in the document, with estimates, maps and pictures, also behind a mesh and on a phone.
#[test]
fn a_tile_based_gpu_stands_beside_the_pipeline() {
    let place = Place::new();
    let methods = ["--method", "baseline,tile-gpu,tile-gpu+het+qm,framebuffer-fetch"];
    let more = ["--maps", "maps", "--frame", "--energy", "-o", "{method}.npy"];
    let document = sim(&place, &[&methods[..], &more].concat());
    let baseline = variant(&document, "baseline");
    for name in ["tile-gpu", "framebuffer-fetch"] {
        let method = variant(&document, name);
        for key in ["/fragments/blended", "/quads/blended", "/frame/sort_ms"] {
            assert_eq!(number(method, key), number(baseline, key), "{name} {key}");
        }
        let lists = |key: &str| number(method, &format!("/counters/tile_lists/{key}"));
        assert!(lists("entries") >= lists("primitives") && lists("overflows") == 0.0);
        assert!(lists("binning_cycles") < number(method, "/cycles"));
        assert_eq!(number(method, "/storage_bytes_per_gpc/l2_vertex_results"), 0.0);
        assert_eq!(number(method, "/memory/depth/l2_read_bytes"), 0.0);
        let picture = |name: &str| fs::read(place.path(&format!("{name}.npy"))).unwrap();
        assert!(picture(name) == picture("baseline"), "{name}");
    }
    let page = place.expect(DONE, &[&VIEW[..], &methods].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    for word in ["binning", "tile_buffer", "framebuffer-fet…"] {
        assert!(page.contains(word), "{page}");
    }
    let mesh = ["--mesh", "frog", "--method", "baseline,tile-gpu", "-o", "{method}.mesh.npy"];
    place.expect(DONE, &[&VIEW[..], &mesh].concat());
    let picture = |name: &str| fs::read(place.path(&format!("{name}.mesh.npy"))).unwrap();
    assert!(picture("tile-gpu") == picture("baseline"));
    let phone = ["--preset", "mobile", "--method", "tile-gpu+qm", "--set", "crop.wait_queue=9"];
    let warned = place.expect(DONE, &[&VIEW[..6], &phone].concat());
    let text = String::from_utf8(warned.stderr).unwrap();
    assert!(text.contains("no run has blending in CROP"), "{text}");
    let several = ["--preset", "orin", "--method", "tile-gpu"];
    let refused = place.expect(USAGE, &[&VIEW[..], &several].concat());
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("gpu.gpcs: expected 1 for a tile-based GPU"), "{text}");
}

/// The accelerator on the page and in the document, in cycles of the emulated GPU.
#[test]
fn the_accelerator_stands_beside_the_pipeline() {
    let place = Place::new();
    let methods = ["--method", "baseline,gscore"];
    let document = sim(&place, &methods);
    let gscore = variant(&document, "gscore");
    let at = |path: &str| number(gscore, path);
    let cycles = (at("/gscore/raster_cycles") * 0.612).ceil();
    assert_eq!(at("/cycles"), cycles);
    assert!(at("/gscore/frame_cycles") > at("/gscore/raster_cycles"));
    assert!(at("/fragments/blended") > 0.0 && at("/gscore/pairs") >= at("/gscore/entries"));
    let speedup = number(&document, "/ratios/gscore/speedup");
    let baseline = number(variant(&document, "baseline"), "/cycles");
    assert!((speedup - baseline / cycles).abs() < 1e-9);
    let page = place.expect(DONE, &[&VIEW[..], &methods].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    for line in ["sort and render", "whole frame", "cull", "crop"] {
        assert!(page.lines().any(|l| l.starts_with(line)), "{page}");
    }
}

/// A bar for each kernel and stage, with its cycles; maps of the pipeline alone, and a warning of the others.
#[test]
fn other_methods_have_bars_in_the_trace_and_no_maps() {
    let place = Place::new();
    let flags = ["--method", "het,compute,gscore", "--trace", "t.json", "--maps", "maps"];
    let flags = [&VIEW[..4], &flags, &["--width", "64", "--json"]].concat();
    let output = place.expect(DONE, &flags);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("--maps leaves out compute, which has no pipeline"), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let methods = &document["views"][0]["methods"];
    let trace: Value = serde_json::from_slice(&fs::read(place.path("t.json")).unwrap()).unwrap();
    let bars = |pid: u64| {
        let events = trace["traceEvents"].as_array().unwrap().iter();
        events.filter(move |event| event["pid"] == pid && event["ph"] == "X").collect::<Vec<_>>()
    };
    let kernels = methods[1]["compute"]["kernels"].as_array().unwrap();
    let mut start = 0.0;
    for (bar, kernel) in bars(2).iter().zip(kernels) {
        assert_eq!([&bar["name"], &bar["args"]["cycles"]], [&kernel["name"], &kernel["cycles"]]);
        assert!((number(bar, "/ts") - start).abs() < 1e-6, "{bar}");
        start += number(bar, "/dur");
    }
    let stages = methods[2]["gscore"]["stages"].as_array().unwrap();
    for (bar, stage) in bars(3).iter().zip(stages) {
        assert_eq!([&bar["name"], &bar["args"]["bytes"]], [&stage["name"], &stage["bytes"]]);
        assert!((number(bar, "/dur") * 1e3 - number(stage, "/cycles")).abs() < 1e-3, "{bar}");
    }
    assert_eq!([bars(1).len(), bars(2).len(), bars(3).len()], [1, kernels.len(), stages.len()]);
    assert!(bars(2).last().unwrap()["args"]["rounds"].as_u64() > Some(0));
    let maps = fs::read_dir(place.path("maps")).unwrap();
    let names = maps.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| name.starts_with("bay.het.")));
    let page = place.expect(DONE, &[&VIEW[..], &["--method", "gscore", "--reference"]].concat());
    assert!(String::from_utf8(page.stdout).unwrap().contains("dB, 1000 MHz"));
}
