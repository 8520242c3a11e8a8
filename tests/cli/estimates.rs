//! `sim --frame` and `sim --energy`: keys, sums, pages, and fields that change estimates alone.

use serde_json::Value;

use crate::sim::{number, variant};
use crate::support::program::{DONE, Place, USAGE};

/// The project's own scene, and its cameras.
const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.ply");
const CAMERAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.cameras.json");

const VIEW: [&str; 8] = [
    "sim",
    SCENE,
    "--cameras",
    CAMERAS,
    "--width",
    "160",
    "--method",
    "baseline,het+qm,compute,gscore",
];

fn sim(place: &Place, arguments: &[&str]) -> Value {
    let all = [&VIEW[..], &["-q", "--json"], arguments].concat();
    place.document(&all)["views"][0].clone()
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

/// Parts add up, ratios equal the ratios of the totals, and the band holds the total.
#[test]
fn json_has_estimates_that_add_up() {
    let place = Place::new();
    let document = sim(&place, &["--frame", "--energy"]);
    for name in ["baseline", "het+qm", "compute"] {
        let run = variant(&document, name);
        let frame = |key: &str| number(run, &format!("/frame/{key}"));
        let total = frame("total_ms");
        let parts = frame("preprocess_ms") + frame("sort_ms") + frame("raster_ms");
        assert!(is_near(parts, total), "{name}");
        assert!(is_near(frame("raster_ms"), number(run, "/frame_ms")), "{name}");
        assert!(is_near(frame("fps"), 1e3 / total), "{name}");
        assert!(is_near(frame("raster_share"), frame("raster_ms") / total), "{name}");
        let energy = |key: &str| number(run, &format!("/energy_mj/{key}"));
        let parts = ["static", "shader", "caches", "dram", "rop"].map(energy);
        assert!(is_near(parts.iter().sum(), energy("total")), "{name}");
        assert!(energy("total_low") < energy("total"), "{name}");
        assert!(energy("total") < energy("total_high"), "{name}");
        let ms = number(run, "/frame_ms");
        let watts = (energy("total") - energy("dram")) / ms;
        assert!(is_near(number(run, "/power_without_dram_w"), watts), "{name}");
        // 8 bits of 8 pJ.
        let bytes = number(run, "/energy_events/dram_bytes");
        assert!(is_near(energy("dram"), bytes * 64e-9), "{name}");
        if name != "baseline" {
            let of = |path: &str| number(variant(&document, "baseline"), path) / number(run, path);
            let ratio = |key: &str| number(&document, &format!("/ratios/{name}/{key}"));
            assert!(is_near(ratio("frame"), of("/frame/total_ms")), "{name}");
            assert!(is_near(ratio("energy"), of("/energy_mj/total")), "{name}");
            assert!(ratio("energy_low") <= ratio("energy"), "{name}");
            assert!(ratio("energy") <= ratio("energy_high"), "{name}");
        }
    }
    let accelerator = variant(&document, "gscore");
    // 0.87 W over the time at 1 GHz, and 64 pJ per byte of DRAM.
    let bytes: f64 =
        (0..3).map(|n| number(accelerator, &format!("/gscore/stages/{n}/bytes"))).sum();
    let expected = number(accelerator, "/gscore/frame_cycles") * 0.87e-6 + bytes * 64e-9;
    assert!(is_near(number(accelerator, "/gscore/frame_mj"), expected));
    assert!(number(accelerator, "/gscore/raster_mj") < expected);
    assert_eq!(number(accelerator, "/gscore/area_mm2"), 3.95);
    assert!(accelerator.get("frame").is_none() && accelerator.get("energy_mj").is_none());
    let plain = sim(&place, &[]);
    for key in ["frame", "energy_mj", "energy_events", "power_without_dram_w"] {
        assert!(variant(&plain, "baseline").get(key).is_none(), "{key}");
    }
    assert!(plain["ratios"]["het+qm"].get("energy").is_none());
}

/// A field of an estimate changes that estimate and nothing else.
#[test]
fn fields_of_estimates_change_no_cycle() {
    let place = Place::new();
    let flags = ["--frame", "--energy"];
    let set = ["--set", "energy.rail_w=15.2", "--set", "frame.key_bytes=8"];
    let before = sim(&place, &flags);
    let after = sim(&place, &[flags, [set[0], set[1]]].concat());
    let doubled = |run: &Value| number(run, "/energy_mj/static");
    for name in ["baseline", "het+qm", "compute"] {
        let [old, new] = [&before, &after].map(|document| variant(document, name));
        assert!(is_near(doubled(new), 2.0 * doubled(old)), "{name}");
        for key in ["cycles", "frame", "fragments", "units", "energy_events"] {
            assert_eq!(old[key], new[key], "{name}: {key}");
        }
    }
    let changed = |document: &Value| document["changed"].as_object().unwrap().clone();
    assert!(changed(&before).is_empty());
    assert_eq!(changed(&after).keys().collect::<Vec<_>>(), ["energy.rail_w"]);
    // Eight passes in place of four: a longer sort for the pipeline, none for software, and no other draw.
    let longer = sim(&place, &[flags, [set[2], set[3]]].concat());
    let sort = |document: &Value, name| number(variant(document, name), "/frame/sort_ms");
    assert!(sort(&longer, "baseline") > 1.5 * sort(&before, "baseline"));
    assert!(is_near(sort(&longer, "compute"), sort(&before, "compute")));
    let cycles = |document: &Value| variant(document, "baseline")["cycles"].clone();
    assert_eq!(cycles(&longer), cycles(&before));
}

/// The pages fit their width, name the parts, and say what the numbers are.
#[test]
fn pages_show_estimates() {
    let place = Place::new();
    let page = |arguments: &[&str]| {
        let output = place.expect(DONE, &[&VIEW[..], &["-q"], arguments].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let both = page(&["--frame", "--energy"]);
    for line in [
        "whole frame, modelled",
        "preprocess ms",
        "total ms",
        "fps",
        "raster share",
        "over compute",
        "over baseline",
        "energy of the draw, assumed; band: static 20..50 % of the rail, DRAM 4..14 pJ per bit, others 1/2..2",
        "static mJ",
        "total mJ",
        " band",
        "W, no DRAM",
    ] {
        assert!(both.lines().any(|l| l.starts_with(line)), "{line}: {both}");
    }
    assert!(both.lines().all(|line| line.chars().count() <= 100), "{both}");
    let frame = page(&["--frame"]);
    assert!(frame.contains("raster share") && !frame.contains("static mJ"), "{frame}");
    let energy = page(&["--energy"]);
    assert!(energy.contains("static mJ") && !energy.contains("fps"), "{energy}");
    assert!(!page(&[]).contains("modelled"));
}

/// Fields of estimates that nobody asked for have no effect, which a warning says; wrong ones are refused; a
/// table of a sweep has no room for estimates.
#[test]
fn flags_and_fields_are_checked() {
    let place = Place::new();
    let text = |exit, arguments: &[&str]| {
        let output = place.expect(exit, &[&VIEW[..], arguments].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let fields = ["--set", "energy.rail_w=5", "--set", "frame.key_bytes=8"];
    let warned = text(DONE, &fields);
    for said in [
        "energy.rail_w has no effect: no run has an estimate of energy",
        "frame.key_bytes has no effect: no run has an estimate of frame times",
    ] {
        assert!(warned.contains(said), "{warned}");
    }
    let read = text(DONE, &[&fields[..], &["--frame", "--energy"]].concat());
    assert!(!read.contains("has no effect"), "{read}");
    // The kernels ahead of a draw are read for frames, and by nothing else in the pipeline.
    let kernels = ["--method", "het", "--set", "kernels.gap_ns=0"];
    let view = &VIEW[..6];
    let errors = |arguments: &[&str]| {
        let output = place.expect(DONE, &[view, &kernels, arguments].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(errors(&[]).contains("kernels.gap_ns has no effect"));
    assert!(!errors(&["--frame"]).contains("has no effect"));
    let wrong = text(USAGE, &["--energy", "--set", "energy.static_share=1.5"]);
    assert!(wrong.contains("energy.static_share"), "{wrong}");
    let sweep = ["--set", "tc.bins=8,16"];
    let refused = text(USAGE, &[&sweep[..], &["--energy"]].concat());
    assert!(refused.contains("--energy without --json"), "{refused}");
    let swept = [&VIEW[..], &sweep, &["--energy", "--json", "-q"]].concat();
    let document = place.document(&swept);
    assert_eq!(document["views"].as_array().unwrap().len(), 2);
    text(USAGE, &["--sensitivity", "--frame"]);
    let dump = place.expect(DONE, &["sim", "--config-dump"]);
    let dump = String::from_utf8(dump.stdout).unwrap();
    for line in ["[frame]", "[energy]", "dram_pj_per_bit = 8.0", "static_share = 0.3"] {
        assert!(dump.lines().any(|l| l.starts_with(line)), "{line}: {dump}");
    }
}

/// 160 x 90 pixels are 60 tiles for 96 places of blocks; 640 x 360 are 920, fewer than ten blocks per place, and 720 x 405
/// are 1,170.
#[test]
fn small_pictures_of_software_are_remarked_on() {
    let place = Place::new();
    let remarked = |width: &str, method: &str| {
        let call = ["sim", SCENE, "--cameras", CAMERAS, "--view", "bay", "--width", width];
        let output = place.expect(DONE, &[&call[..], &["--method", method, "--json"]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        text.contains("places for blocks").then_some(text)
    };
    let text = remarked("160", "compute").unwrap();
    assert!(text.contains("60 tiles share 96 places") && text.contains("960 tiles"), "{text}");
    assert!(remarked("640", "compute").is_some());
    assert!(remarked("720", "compute").is_none());
    assert!(remarked("160", "baseline").is_none());
}

/// A draw that takes more than the rail of its GPU is warned of, by method and with both numbers.
#[test]
fn a_draw_beyond_the_rail_is_warned_of() {
    let place = Place::new();
    let warned = |rail: &str| {
        let set = format!("energy.rail_w={rail}");
        let output =
            place.expect(DONE, &[&VIEW[..], &["--energy", "--set", &set, "--json"]].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let within = warned("100");
    assert!(!within.contains("without DRAM, more than"), "{within}");
    let beyond = warned("0.5");
    for method in ["baseline", "compute"] {
        let start = format!("{method} takes ");
        assert!(beyond.contains(&start) && beyond.contains("more than the 0.5 W"), "{beyond}");
    }
}
