//! Files of `sim` for other programs: flat statistics, counters per tile and interval, traces of DRAM, and sequences of
//! frames. Every one of them adds up to the counters of `--json`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::sim::{number, variant};
use crate::support::program::{DONE, Place, USAGE};

/// The project's own scene, and its cameras.
const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.ply");
const CAMERAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/island.cameras.json");

const VIEW: [&str; 7] = ["sim", SCENE, "--cameras", CAMERAS, "--width", "160", "-q"];

/// A block of statistics: value, meaning and unit by name.
type Block = BTreeMap<String, [String; 3]>;

/// The blocks of a file, each of whose lines is one of the format.
fn blocks(text: &str) -> Vec<Block> {
    let begin = "---------- Begin Simulation Statistics ----------";
    let end = "---------- End Simulation Statistics   ----------";
    let parts = text.split(begin).skip(1);
    let block = |part: &str| {
        let (lines, rest) = part.split_once(end).unwrap();
        assert_eq!(rest.trim(), "");
        let mut block = Block::new();
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let (name, rest) = line.split_once(' ').unwrap();
            let (value, rest) = rest.split_once("  # ").unwrap();
            let (meaning, unit) = rest.strip_suffix(')').unwrap().rsplit_once(" (").unwrap();
            let line = [value.trim(), meaning, unit].map(str::to_owned);
            assert!(!line.iter().any(String::is_empty), "{name}: {line:?}");
            assert!(block.insert(name.to_owned(), line).is_none(), "{name}");
        }
        block
    };
    parts.map(block).collect()
}

/// Numbers and missing numbers of a record, with the names that statistics have.
fn leaves(name: &str, value: &Value, all: &mut BTreeMap<String, String>) {
    let below = |key: &str| match name {
        "" => key.replace(' ', "_"),
        _ => format!("{name}.{}", key.replace(' ', "_")),
    };
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter().filter(|(key, _)| !key.starts_with("host_")) {
                leaves(&below(key), value, all);
            }
        }
        Value::Array(list) => {
            for (place, value) in list.iter().enumerate() {
                let own = value["name"].as_str().map(str::to_owned);
                leaves(&below(&own.unwrap_or(place.to_string())), value, all);
            }
        }
        Value::Number(number) => {
            all.insert(name.to_owned(), number.to_string());
        }
        _ => {}
    }
}

fn number_of(block: &Block, name: &str) -> u64 {
    block[name][0].parse().unwrap()
}

#[test]
fn flat_statistics_hold_every_number_of_the_document() {
    let place = Place::new();
    let methods = "baseline,het+qm,multipass:2,shader-blend,interlock,compute,gscore";
    let call = [
        &VIEW[..],
        &["--view", "0..2", "--method", methods, "--frame", "--energy"],
        &["--stats", "new/stats.txt"],
    ];
    let call = call.concat();
    let document = place.document(&[&call[..], &["--json"]].concat());
    let text = fs::read_to_string(place.path("new/stats.txt")).unwrap();
    let blocks = blocks(&text);
    let views = document["views"].as_array().unwrap().iter();
    let runs: Vec<_> = views
        .flat_map(|view| {
            let runs = view["methods"].as_array().unwrap().iter();
            runs.map(move |run| (view["view"]["name"].as_str().unwrap(), run))
        })
        .collect();
    assert_eq!((runs.len(), blocks.len()), (14, 14));
    for ((view, run), block) in runs.iter().zip(&blocks) {
        assert_eq!(block["view"][0], *view);
        assert_eq!(Value::from(block["method"][0].as_str()), run["name"]);
        let mut expected = BTreeMap::new();
        leaves("", run, &mut expected);
        assert!(expected.len() > 15);
        for (name, value) in &expected {
            assert_eq!(&block[name][0], value, "{view}: {name}");
        }
    }
    for (name, [_, meaning, _]) in blocks.iter().flatten() {
        let is_name = *meaning == name.replace(['.', '_'], " ") && name.contains(['.', '_']);
        assert!(!is_name, "{name} has no meaning");
    }
    let line = |name: &str| blocks[1][name].each_ref().map(String::as_str);
    let [_, meaning, unit] = line("counters.crop.quads");
    assert_eq!([meaning, unit], ["Quads blended", "Count"]);
    let [_, meaning, unit] = line("memory.colour.l2_read_bytes");
    assert_eq!([meaning, unit], ["Bytes read from the L2", "Byte"]);
    assert_eq!(line("units.crop.busy")[2], "Cycle");
    assert_eq!(line("units.crop.throughput")[2], "Ratio");
    assert_eq!(line("limiting_unit")[2], "Name");
    // Another run writes the same bytes, on standard output too, in place of the pages.
    let again = [&call[..call.len() - 1], &["-", "--threads", "1"]].concat();
    let printed = String::from_utf8(place.expect(DONE, &again).stdout).unwrap();
    assert!(printed == text, "other statistics on one thread");
}

#[test]
fn intervals_add_up_to_the_totals() {
    let place = Place::new();
    for (every, methods) in [("20000", "baseline,het+qm,multipass:3"), ("7", "het")] {
        let call = ["--method", methods, "--set", "gpu.gpcs=2", "--stats", "s.txt"];
        place.expect(
            DONE,
            &[&VIEW[..], &call, &["--stats-every", every, "--trace", "t.json"]].concat(),
        );
        let blocks = blocks(&fs::read_to_string(place.path("s.txt")).unwrap());
        let (intervals, totals): (Vec<_>, Vec<_>) =
            blocks.iter().partition(|block| block.contains_key("interval.first_cycle"));
        assert_eq!(totals.len(), methods.split(',').count());
        for total in totals {
            let of_method = |block: &&&Block| block["method"] == total["method"];
            let mine: Vec<_> = intervals.iter().filter(of_method).collect();
            // 20,000 cycles stay; 7 cycles double until 4,096 intervals suffice.
            let length = number_of(mine[0], "interval.cycles");
            let first: u64 = every.parse().unwrap();
            assert!((length / first).is_power_of_two() && length.is_multiple_of(first));
            assert!(mine.len() > 3 && mine.len() <= 4096, "{}", mine.len());
            assert_eq!(length == first, first == 20_000);
            let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
            let mut end = 0;
            for block in mine {
                assert_eq!(number_of(block, "interval.first_cycle"), end);
                end += number_of(block, "interval.cycles");
                for (name, [value, ..]) in block.iter() {
                    if ["units.", "counters.", "memory."].iter().any(|p| name.starts_with(p)) {
                        *sums.entry(name).or_default() += value.parse::<u64>().unwrap();
                    }
                }
            }
            assert_eq!(end, number_of(total, "cycles"));
            for (name, sum) in &sums {
                assert_eq!(*sum, number_of(total, name), "{name}");
            }
            // Nothing that a unit counts is left out of all intervals.
            let units = ["fine", "tc", "prop", "zrop", "launch", "cores", "crop"];
            let is_kept = |name: &str| {
                let counted = units.iter().any(|u| name.starts_with(&format!("counters.{u}.")));
                let is_port = name.starts_with("units.") && name.ends_with(".busy");
                let is_cache = name.contains("_fill.") || name.contains("_write.");
                let is_memory = name.contains(".l2.") || name.contains(".dram.");
                counted || name.starts_with("memory.") || is_port && !is_cache && !is_memory
            };
            let names = total.keys().filter(|name| is_kept(name));
            for name in names.filter(|name| number_of(total, name) > 0) {
                assert!(sums.contains_key(name.as_str()), "{name}");
            }
        }
    }
}

#[test]
fn tiles_add_up_to_the_counters() {
    let place = Place::new();
    let call = ["--method", "baseline,het+qm,multipass:2,interlock", "--maps", "maps", "--json"];
    // An L2 of 64 KB, half of which holds the results of vertex shading, writes colours to DRAM.
    let small = ["--set", "l2.bytes=65536", "--set", "gpu.gpcs=2"];
    let document = place.document(&[&VIEW[..], &call, &small].concat());
    for run in document["views"][0]["methods"].as_array().unwrap() {
        let name = run["name"].as_str().unwrap();
        let stem = format!("maps/bay.{}", name.replace(':', "-"));
        let table = fs::read_to_string(place.path(&format!("{stem}.tiles.csv"))).unwrap();
        let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let heading = lines.next().unwrap();
        let rows: Vec<_> = lines.collect();
        // 160 x 90 pixels are 10 x 6 tiles.
        assert_eq!(rows.len(), 60);
        assert_eq!(rows[23][..2], ["3", "2"]);
        let mut totals = BTreeMap::new();
        leaves("", run, &mut totals);
        for (column, title) in heading.iter().enumerate().skip(2) {
            let sum: u64 = rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum();
            assert_eq!(sum.to_string(), totals[*title], "{name}: {title}");
        }
        let has = |title: &str| assert!(heading.contains(&title), "{name}: {title}");
        has("units.zrop.busy");
        has("units.crop.busy");
        has("counters.fine.quads");
        has("counters.tc.full");
        has("counters.zrop.fragments.terminated");
        has("counters.cores.fragments_shaded");
        has("memory.colour.dram_written_bytes");
        // The counters of regions that interlocked warps read belong to no tile.
        assert_eq!(heading.contains(&"memory.colour.l2_read_bytes"), name != "interlock");
        if name == "het+qm" {
            let map = |map: &str| {
                let bytes = fs::read(place.path(&format!("{stem}.{map}.npy"))).unwrap();
                assert!(String::from_utf8_lossy(&bytes[..128]).contains("(6, 10)"));
                let numbers = bytes[128..].chunks(4);
                let numbers = numbers.map(|b| u32::from_le_bytes(b.try_into().unwrap()));
                numbers.map(u64::from).sum::<u64>() as f64
            };
            assert_eq!(map("tile_quads"), number(run, "/quads/rasterized"));
            assert_eq!(map("tile_terminated_quads"), number(run, "/quads/terminated"));
            assert_eq!(map("tile_flushes"), number(run, "/flushes/tc/total"));
            assert_eq!(map("tile_cycles"), number(run, "/units/crop/busy"));
            let colours = number(run, "/memory/colour/dram_read_bytes")
                + number(run, "/memory/colour/dram_written_bytes");
            let depths = number(run, "/memory/depth/dram_read_bytes")
                + number(run, "/memory/depth/dram_written_bytes");
            assert!(colours > 0.0);
            assert_eq!(map("tile_dram_bytes"), colours + depths);
            let picture = quadrille::read_picture(place.path(&format!("{stem}.tile_quads.png")));
            assert!(picture.unwrap().height() > 90);
        }
    }
}

/// Whether a line of a trace stores, and its address, by the rules of Ramulator 2's front end `LoadStoreTrace`: two words
/// between single blanks, `LD` or `ST` and an address, hexadecimal behind `0x` and otherwise decimal, that fits into 63
/// bits. `None` where the front end ends with an error.
fn load_or_store(line: &str) -> Option<(bool, i64)> {
    let [operation, address] = line.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let is_store = ["LD", "ST"].iter().position(|word| *word == operation)? == 1;
    let address = match address.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => address.parse().ok()?,
    };
    (address >= 0).then_some((is_store, address))
}

#[test]
fn dram_traces_hold_every_byte_in_the_order_of_cycles() {
    let place = Place::new();
    let call = [
        "--method",
        "baseline,multipass:2",
        "--dram-trace",
        "{view}.{method}.trace",
        "--set",
        "l2.bytes=65536",
        "--json",
    ];
    let document = place.document(&[&VIEW[..], &call].concat());
    for name in ["baseline", "multipass:2"] {
        let run = variant(&document["views"][0], name);
        let file = format!("bay.{}.trace", name.replace(':', "-"));
        let trace = fs::read_to_string(place.path(&file)).unwrap();
        let cycles = fs::read_to_string(place.path(&format!("{file}.cycles.csv"))).unwrap();
        let mut rows = cycles.lines();
        assert_eq!(rows.next(), Some("cycle,bytes,client"));
        assert_eq!(rows.clone().count(), trace.lines().count());
        let mut sums: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        let mut last = 0;
        // The front end reads up to line feeds, and a trace without lines makes it divide by zero.
        assert!(!trace.contains('\r') && trace.ends_with('\n'));
        for (line, row) in trace.lines().zip(rows) {
            let Some((is_store, address)) = load_or_store(line) else {
                panic!("{line:?} is neither a load nor a store");
            };
            let operation = if is_store { "ST" } else { "LD" };
            assert_eq!(address % 32, 0);
            let row: Vec<_> = row.split(',').collect();
            let cycle: u64 = row[0].parse().unwrap();
            assert!(last <= cycle);
            last = cycle;
            *sums.entry((row[2], operation)).or_default() += row[1].parse::<u64>().unwrap();
        }
        assert!(last as f64 <= number(run, "/cycles"));
        for client in ["vertex", "vertex_results", "depth", "colour"] {
            for (operation, key) in [("LD", "dram_read_bytes"), ("ST", "dram_written_bytes")] {
                let moved = sums.get(&(client, operation)).copied().unwrap_or(0);
                let path = format!("/memory/{client}/{key}");
                assert_eq!(moved as f64, number(run, &path), "{name}: {path}");
            }
        }
        assert!(sums[&("colour", "ST")] > 0);
    }
}

#[test]
fn names_and_combinations_that_cannot_be_are_refused() {
    let place = Place::new();
    let refuse = |flags: &[&str], words: &[&str]| {
        place.expect_error(USAGE, &[&VIEW[..], flags].concat(), words);
    };
    refuse(&["--stats", "-", "--json"], &["--stats - cannot be used with --json"]);
    refuse(
        &["--stats", "-", "-o", "-", "--method", "het"],
        &["--stats - cannot be used with -o -"],
    );
    refuse(&["--stats-every", "5"], &["--stats"]);
    refuse(&["--stats", "s.txt", "--stats-every", "0"], &["--stats-every"]);
    let none = &["--method compute", "no pipeline"];
    for flags in [
        &["--dram-trace", "t"][..],
        &["--maps", "t"],
        &["--stats", "s.txt", "--stats-every", "100"],
    ] {
        refuse(&[flags, &["--method", "compute,gscore"]].concat(), none);
    }
    for flag in ["--frame", "--energy", "--relief"] {
        refuse(&[flag, "--method", "gscore"], &[flag, "--method gscore"]);
    }
    refuse(&["--dram-trace", "t", "--method", "baseline,het"], &["--dram-trace", "{method}"]);
    refuse(&["--stats", "s.txt", "--set", "tc.bins=8,16"], &["--stats", "2 configurations"]);
    refuse(&["--warm", "--method", "baseline,compute"], &["--method", "compute", "--warm"]);
    refuse(&["--warm", "--set", "tc.bins=8,16"], &["--warm", "2 configurations"]);
    refuse(&["--stereo", "0"], &["--stereo", "above 0"]);
    assert!(!place.path("s.txt").exists() && !place.path("t").exists());
}

/// The frames of a sequence add up: two views with two eyes each, in an L2 that holds all splats.
#[test]
fn frames_of_sequences_add_up() {
    let place = Place::new();
    let call = ["--view", "0..2", "--stereo", "0.06", "--method", "baseline,het"];
    let call = [&VIEW[..], &call, &["--set", "l2.bytes=16777216"]].concat();
    let [cold, warm] = [&[][..], &["--warm"]]
        .map(|flags| place.document(&[&call[..], &["--json"], flags].concat()));
    for document in [&cold, &warm] {
        let views = document["views"].as_array().unwrap();
        let frames = document["sequence"]["frames"].as_array().unwrap();
        assert_eq!((views.len(), frames.len()), (4, 2));
        for method in ["baseline", "het"] {
            let of = |view: &Value, path: &str| number(variant(view, method), path);
            let read = |view: &Value| {
                let clients = ["vertex", "depth", "colour"];
                let paths = clients.map(|client| format!("/memory/{client}/dram_read_bytes"));
                paths.iter().map(|path| of(view, path)).sum::<f64>()
            };
            for (frame, pair) in frames.iter().zip(views.chunks(2)) {
                let names: Vec<_> = pair.iter().map(|view| &view["view"]["name"]).collect();
                assert_eq!(&frame["views"], &serde_json::json!(names));
                let sums = &frame["methods"][method];
                let cycles: f64 = pair.iter().map(|view| of(view, "/cycles")).sum();
                assert_eq!(number(sums, "/cycles"), cycles);
                let bytes: f64 = pair.iter().map(read).sum();
                assert_eq!(number(sums, "/dram_read_bytes"), bytes);
            }
            let total = &document["sequence"]["total"][method];
            let sum: f64 = views.iter().map(|view| of(view, "/cycles")).sum();
            assert_eq!(number(total, "/cycles"), sum);
        }
    }
    let read = |document: &Value| number(&document["sequence"]["total"], "/het/dram_read_bytes");
    // The first of the four draws finds nothing, and the others find nearly all splats.
    assert!(read(&warm) < 0.4 * read(&cold), "{} {}", read(&warm), read(&cold));
    let page = place.expect(DONE, &[&call[..], &["--warm"]].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("bay.left + bay.right") && page.contains("total"));
}

/// Frames of a camera path are views of `sim`.
#[test]
fn paths_are_views() {
    let place = Place::new();
    let call = ["sim", SCENE, "--cameras", CAMERAS, "--width", "48", "-q", "--json"];
    let path = ["--path", "interpolate", "--frames", "3", "--method", "baseline", "--warm"];
    let document = place.document(&[&call[..], &path].concat());
    let frames = document["sequence"]["frames"].as_array().unwrap();
    assert_eq!((frames.len(), document["views"].as_array().unwrap().len()), (3, 3));
}

/// The accelerator keeps its order from frame to frame: the same view again has the same picture, and a moved camera one that
/// is near the picture in the exact order.
#[test]
fn an_order_is_kept_between_frames() {
    let place = Place::new();
    let call = ["sim", SCENE, "--cameras", CAMERAS, "--width", "160", "-q", "--json", "--warm"];
    let kept = ["--method", "gscore", "--set", "gscore.order=kept"];
    let of = |view: &Value, path: &str| number(variant(view, "gscore"), path);
    let path = ["--path", "interpolate", "--view", "0..2", "--frames", "4"];
    let document = place.document(&[&call[..], &kept, &path].concat());
    let views = document["views"].as_array().unwrap();
    assert!(variant(&views[0], "gscore")["gscore"].get("kept").is_none());
    for (before, view) in views.iter().zip(&views[1..]) {
        let pairs = of(before, "/gscore/pairs");
        assert_eq!(of(view, "/gscore/kept/table_pairs"), pairs);
        let [come, left] = ["incoming", "outgoing"].map(|n| of(view, &format!("/gscore/kept/{n}")));
        assert_eq!(pairs + come - left, of(view, "/gscore/pairs"));
        assert!(come > 0.0 && left > 0.0 && of(view, "/gscore/kept/inversions") > 0.0);
        assert!(of(view, "/gscore/kept/psnr_vs_sorted_db") > 25.0);
    }
    let bytes: f64 = (0..3).map(|n| of(&views[1], &format!("/gscore/stages/{n}/bytes"))).sum();
    let frame = &document["sequence"]["frames"][1]["methods"]["gscore"];
    assert_eq!((number(frame, "/dram_bytes"), &frame["dram_read_bytes"]), (bytes, &Value::Null));
    // A camera that rests.
    let camera = fs::read_to_string(CAMERAS).unwrap();
    let cameras: Value = serde_json::from_str(&camera).unwrap();
    let again = Value::from(vec![cameras[0].clone(); 3]);
    fs::write(place.path("rest.json"), again.to_string()).unwrap();
    let rest = ["sim", SCENE, "--cameras", "rest.json", "--view", "all", "--width", "160", "-q"];
    let document = place.document(&[&rest[..], &["--json", "--warm"], &kept].concat());
    let last = &document["views"][2];
    assert_eq!((of(last, "/gscore/kept/incoming"), of(last, "/gscore/kept/outgoing")), (0.0, 0.0));
    assert_eq!(of(last, "/gscore/kept/inversions"), 0.0);
    assert!(variant(last, "gscore")["gscore"]["kept"]["psnr_vs_sorted_db"].is_null());
    // Without a sequence, the order has no effect.
    let alone = ["sim", SCENE, "--cameras", CAMERAS, "--view", "0", "--width", "48"];
    let warned = place.expect(DONE, &[&alone[..], &kept].concat());
    let text = String::from_utf8(warned.stderr).unwrap();
    assert!(text.contains("gscore.order") && text.contains("--warm"), "{text}");
}
