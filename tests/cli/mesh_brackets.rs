//! The table of docs/mesh.md that holds published numbers against the range that open assumptions leave:
//! it follows from the results beside the suite, and the program still gives these results.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Part, scene, variant, set of assumptions, culling.
type Key = [String; 5];

fn read(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn results() -> HashMap<Key, Value> {
    let text = read("benches/mesh.results.jsonl");
    let rows = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        (serde_json::from_value(row["key"].clone()).unwrap(), row)
    });
    rows.collect()
}

/// What a published number is compared with.
#[derive(Clone, Copy)]
enum Measure {
    None,
    Qfm,
    TimesLess,
    ShareOfUnbounded,
    OverReyes { cull: &'static str },
    ReyesOver,
}

impl Measure {
    /// The culling that it needs beside that of quads.
    fn cull(self) -> Option<&'static str> {
        match self {
            Self::OverReyes { cull } => Some(cull),
            _ => None,
        }
    }

    /// The measure of a scene; `rows` are those of a key with quads or with grids culled.
    fn of(self, rows: impl Fn(&str) -> Value) -> f64 {
        let per_pixel = |cull: &str, unit: &str, buffer: Value| {
            let rows = rows(cull);
            let fits = |row: &&Value| row["unit"] == unit && row["buffer"] == buffer;
            let row = rows.as_array().unwrap().iter().find(fits).unwrap().clone();
            row["shaded"].as_f64().unwrap() / row["pixels"].as_f64().unwrap()
        };
        let none = || per_pixel("quads", "none", Value::Null);
        let qfm = |cull: &str| per_pixel(cull, "qfm", 32.into());
        let reyes = || per_pixel("quads", "reyes", Value::Null);
        match self {
            Self::None => none(),
            Self::Qfm => qfm("quads"),
            Self::TimesLess => none() / qfm("quads"),
            Self::ShareOfUnbounded => {
                let unbounded = per_pixel("quads", "qfm", "unbounded".into());
                100.0 * (none() - qfm("quads")) / (none() - unbounded)
            }
            Self::OverReyes { cull } => qfm(cull) / reyes(),
            Self::ReyesOver => reyes() / qfm("quads"),
        }
    }
}

/// Row of the table, published value, measure, scene or the mean of all, digits after the point.
const PUBLISHED: [(&str, &str, Measure, Option<&str>, usize); 10] = [
    ("times less, mean", "8.1", Measure::TimesLess, None, 2),
    (
        "% of an unbounded buffer's merges, mean",
        "over 90",
        Measure::ShareOfUnbounded,
        None,
        1,
    ),
    (
        "shadings per pixel with QFM, mean",
        "1.8",
        Measure::Qfm,
        None,
        2,
    ),
    (
        "shadings per pixel without merging, BIGGUY",
        "nearly 14",
        Measure::None,
        Some("BIGGUY"),
        1,
    ),
    (
        "shadings per pixel with QFM, BIGGUY",
        "1.8",
        Measure::Qfm,
        Some("BIGGUY"),
        2,
    ),
    (
        "QFM / Reyes, quads culled, mean",
        "0.83",
        Measure::OverReyes { cull: "quads" },
        None,
        2,
    ),
    (
        "QFM / Reyes, grids culled, mean",
        "1.12",
        Measure::OverReyes { cull: "grids" },
        None,
        2,
    ),
    (
        "QFM / Reyes, grids culled, PLANE",
        "about 1.12",
        Measure::OverReyes { cull: "grids" },
        Some("PLANE"),
        2,
    ),
    (
        "Reyes / QFM, FURBALL",
        "over 2",
        Measure::ReyesOver,
        Some("FURBALL"),
        2,
    ),
    (
        "Reyes / QFM, PTCLOUD",
        "over 2",
        Measure::ReyesOver,
        Some("PTCLOUD"),
        2,
    ),
];

/// The suite's sets of assumptions, those of the brackets before the extreme one.
fn sets() -> Vec<String> {
    let suite: toml::Table = read("benches/mesh.toml").parse().unwrap();
    let sets = suite["merging"]["set"].as_array().unwrap();
    let name = |set: &toml::Value| set["name"].as_str().unwrap().to_owned();
    let is_extreme = |set: &&toml::Value| set.get("extreme").is_some();
    assert!(is_extreme(&sets.last().unwrap()));
    assert_eq!(sets.iter().filter(is_extreme).count(), 1);
    sets.iter().map(name).collect()
}

/// Values of all variants of a scene, and that of its default.
type Values = (Vec<f64>, f64);

/// Lowest, default and highest value, and that of the random order; NaN where grids alone were not
/// culled.
fn bracket(results: &HashMap<Key, Value>, measure: Measure, scene: Option<&str>) -> [f64; 4] {
    let sets = sets();
    // By set and scene: the values of all variants, with that of the default.
    let mut found: BTreeMap<(usize, String), Values> = BTreeMap::new();
    for key in results.keys() {
        let [part, of, variant, set, cull] = key;
        if part != "merging" || cull != "quads" || scene.is_some_and(|scene| of != scene) {
            continue;
        }
        let rows = |cull: &str| {
            let mut key = key.clone();
            cull.clone_into(&mut key[4]);
            results[&key]["rows"].clone()
        };
        let culled = |cull: &str| {
            let mut key = key.clone();
            cull.clone_into(&mut key[4]);
            results.contains_key(&key)
        };
        let is_missing = measure.cull().is_some_and(|cull| !culled(cull));
        let value = match is_missing {
            true => f64::NAN,
            false => measure.of(rows),
        };
        let set = sets.iter().position(|name| name == set).unwrap();
        let (values, default) = found.entry((set, of.clone())).or_default();
        if !value.is_nan() {
            values.push(value);
        }
        if variant == "default" {
            *default = value;
        }
    }
    let mean = |set: usize, choose: &dyn Fn(&Values) -> f64| {
        let scenes: Vec<f64> = (found.iter())
            .filter(|((of, _), _)| *of == set)
            .map(|(_, values)| choose(values))
            .collect();
        assert_eq!(scenes.len(), if scene.is_some() { 1 } else { 7 });
        scenes.iter().sum::<f64>() / scenes.len() as f64
    };
    let least = |of: &Values| of.0.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |of: &Values| of.0.iter().copied().fold(0.0, f64::max);
    let default = |of: &Values| of.1;
    let last = sets.len() - 1;
    [
        (0..last)
            .map(|set| mean(set, &least))
            .fold(f64::INFINITY, f64::min),
        mean(0, &default),
        (0..last).map(|set| mean(set, &most)).fold(0.0, f64::max),
        mean(last, &default),
    ]
}

/// Whether a published value, in the paper's words, lies between two values.
fn lies_between(said: &str, lowest: f64, highest: f64) -> bool {
    let value: f64 = said.split(' ').next_back().unwrap().parse().unwrap();
    let is_lower_bound = said.starts_with("over");
    highest >= value && (is_lower_bound || lowest <= value)
}

#[test]
fn published_numbers_lie_in_the_documented_ranges_or_are_said_not_to() {
    let (results, docs) = (results(), read("docs/mesh.md"));
    for (name, said, measure, scene, digits) in PUBLISHED {
        let line = line(name, said, bracket(&results, measure, scene), digits);
        assert!(docs.contains(&line), "docs/mesh.md has no line {line}");
    }
    let pixels = of_pixel_merging(&results);
    for (name, said, values) in &pixels {
        let line = line(name, said, *values, 1);
        assert!(docs.contains(&line), "docs/mesh.md has no line {line}");
    }
    let lines = docs
        .lines()
        .filter(|l| l.ends_with("| yes |") || l.ends_with("| no |"));
    assert_eq!(lines.count(), PUBLISHED.len() + pixels.len());
}

/// A line of the table; `-` where a value is NaN.
fn line(name: &str, said: &str, values: [f64; 4], digits: usize) -> String {
    let cells = values.map(|value| match value.is_nan() {
        true => "-".to_owned(),
        false => format!("{value:.digits$}"),
    });
    let [lowest, highest] = [&cells[0], &cells[2]].map(|cell| cell.parse::<f64>().unwrap());
    let inside = match lies_between(said, lowest, highest) {
        true => "yes",
        false => "no",
    };
    format!("| {name} | {said} | {} | {inside} |", cells.join(" | "))
}

/// Rows about the pixel merge unit: name, published value, lowest, default and highest value, and that of
/// the random order.
fn of_pixel_merging(results: &HashMap<Key, Value>) -> Vec<(String, &'static str, [f64; 4])> {
    let of = |keep: &dyn Fn(&Key) -> bool| -> Vec<&Value> {
        let kept = results.iter().filter(|(key, _)| keep(key));
        kept.map(|(_, row)| &row["rows"][0]).collect()
    };
    let number = |row: &Value, field: &str| row[field].as_f64().unwrap();
    let merged = |row: &Value| {
        let tested = number(row, "rasterized") - number(row, "culled");
        (tested - number(row, "shaded") / 4.0, tested)
    };
    let saved = |row: &&Value| 100.0 * merged(row).0 / merged(row).1;
    let efficiency = |row: &&Value| 100.0 * merged(row).0 / number(row, "partial");
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let most = |values: Vec<f64>| values.into_iter().fold(f64::MIN, f64::max);
    let least = |values: Vec<f64>| values.into_iter().fold(f64::MAX, f64::min);
    let over = |choose: &dyn Fn(Vec<&Value>) -> f64| {
        let [file, random, cache] = ["file", "random", "vertex-cache"].map(|order| {
            let rows = of(&|key| key[0] == "meshes" && key[2] == "pmu" && key[3] == order);
            assert_eq!(rows.len(), 6, "{order}");
            choose(rows)
        });
        [file.min(cache), file, file.max(cache), random]
    };
    let dense = of(&|key| key[0] == "pixels" && key[3] == "dense");
    let dense: Vec<f64> = dense.iter().map(efficiency).collect();
    assert_eq!(dense.len(), 4);
    let efficient = |rows: Vec<&Value>| most(rows.iter().map(efficiency).collect());
    let [lowest, default, highest, random] = over(&efficient);
    let [lowest, highest] = [lowest.min(least(dense.clone())), highest.max(most(dense))];
    let mut rows = vec![
        (
            "PMU, quads saved in %, mean".to_owned(),
            "8",
            over(&|rows| mean(rows.iter().map(saved).collect())),
        ),
        (
            "PMU, quads saved in %, most".to_owned(),
            "at most 15",
            over(&|rows| most(rows.iter().map(saved).collect())),
        ),
        (
            "PMU, efficiency in %, most".to_owned(),
            "up to 64",
            [lowest, default, highest, random],
        ),
    ];
    for (look, name) in [("plain", "own textures"), ("checker", "checker")] {
        let found = of(&|key| key[0] == "pixels" && key[3] == look);
        assert_eq!(found.len(), 6, "{look}");
        let db: Vec<f64> = found
            .iter()
            .map(|row| number(row, "psnr_covered_db"))
            .collect();
        let values = [least(db.clone()), mean(db.clone()), most(db), f64::NAN];
        rows.push((format!("PMU, PSNR in dB, {name}"), "48.6", values));
    }
    rows
}

/// FROG with bumps gains least of all scenes, as the paper says of its FROG and FURBALL.
#[test]
fn the_frog_gains_least() {
    let results = results();
    let gain = |scene: &str, variant: &str| {
        let key = |cull: &str| ["merging", scene, variant, "bound, rows", cull].map(str::to_owned);
        Measure::TimesLess.of(|cull| results[&key(cull)]["rows"].clone())
    };
    let frog = gain("FROG", "bumps");
    for scene in ["PLANE", "SINEWAVE", "BIGGUY", "ARMY", "PTCLOUD", "FURBALL"] {
        assert!(frog < gain(scene, "default"), "{scene}");
    }
}

/// The program still counts what the results hold: one row of the suite, drawn again.
#[test]
fn a_row_of_the_results_is_found_again() {
    let key = ["merging", "PLANE", "default", "mean, rings", "quads"].map(str::to_owned);
    let row = &results()[&key];
    let command = row["command"].as_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .args(["mesh", "--json", "-q"])
        .args(command.split_whitespace())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (found, kept) = (
        found["rows"].as_array().unwrap(),
        row["rows"].as_array().unwrap(),
    );
    assert_eq!(found.len(), kept.len());
    for (found, kept) in found.iter().zip(kept) {
        assert_eq!(found["unit"], kept["unit"]);
        assert_eq!(
            found["fragments_shaded"], kept["shaded"],
            "{}",
            kept["unit"]
        );
        assert_eq!(found["pixels_covered"], kept["pixels"]);
        assert_eq!(found["quads"]["rasterized"], kept["rasterized"]);
        let [area, kept] = [&found["triangle_area_mean_px"], &kept["mean_px"]];
        assert!((area.as_f64().unwrap() - kept.as_f64().unwrap()).abs() < 1e-9);
    }
}
