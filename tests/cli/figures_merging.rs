//! `figures --kept`: the figures of quad-fragment merging and of the pixel merge unit, and the tables of docs/ that
//! follow from kept counts.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::figures::unexplained;
use crate::support::program::{DONE, Place, UNREADABLE, USAGE};
use crate::support::skipped;

/// Figures and tables of both papers.
const FIGURES: usize = 13;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn kept() -> String {
    let path = repository("benches/mesh.results.jsonl");
    path.to_str().unwrap().to_owned()
}

/// The Markdown files of a folder with their texts, by name.
fn pages(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let pages = entries.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let mut pages: Vec<_> = pages
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    pages.sort();
    pages
}

/// The tables between markers are those that the program writes from the kept counts.
#[test]
fn tables_of_the_documentation_follow_from_kept_counts() {
    let place = Place::new();
    let docs = pages(&repository("docs"));
    let markers: usize =
        docs.iter().map(|(_, text)| text.matches("\n<!-- figures: ").count()).sum();
    assert_eq!(markers, FIGURES);
    fs::create_dir(place.path("docs")).unwrap();
    for (name, text) in &docs {
        // Tables of a folder that lost its numbers are written again.
        let torn = text.replace("| PLANE |", "| PLAIN |");
        fs::write(place.path("docs").join(name), torn).unwrap();
    }
    let kept = kept();
    place.expect(DONE, &["figures", "--kept", &kept, "-o", "out", "--docs", "docs", "-q"]);
    for ((name, text), (_, written)) in docs.iter().zip(pages(&place.path("docs"))) {
        assert!(*text == written, "`figures --kept {kept} -o DIR --docs docs` changes docs/{name}");
    }
    let page = fs::read_to_string(place.path("out").join("index.html")).unwrap();
    assert_eq!(page.matches("<section").count(), FIGURES);
    assert!(!page.contains("Incomplete.") && !page.contains("NaN"));
    let document = |figure: &str| -> Value {
        let text = fs::read_to_string(place.path("out").join(format!("{figure}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(unexplained(&place, "out"), [""; 0]);
    // The page says itself which published numbers lie outside what open assumptions leave.
    let claims = |figure: &str| {
        let claim = &document(figure)["claims"][0];
        [&claim["holds"], &claim["of"]].map(|n| n.as_u64().unwrap())
    };
    assert_eq!(claims("qfm-brackets"), [6, 9]);
    assert_eq!(claims("pmu-brackets"), [3, 5]);
    assert_eq!(document("pmu-fig5")["rows"].as_array().unwrap().len(), 6 + 1);
}

const SUITE: &str = r#"workload = "merging"
[[mesh]]
name = "PLANE"
mesh = "plane"
[[study]]
name = "merging"
width = 96
height = 64
msaa = 4
tessellate = 20
method = ["none", "qfm", "reyes"]
buffer = [32, "unbounded"]
[[study.axis]]
name = "assumptions"
points = [{ name = "bound, rows" }]
[[study.axis]]
name = "culling"
points = [{ name = "quads" }, { name = "grids", cull = "grids" }]
[[study]]
name = "buffers"
width = 96
height = 64
msaa = 4
tessellate = 20
method = "pmu"
buffer = [16, 64, 256, 512, 1024]
"#;

/// A suite makes the figures, and the counts that it keeps make the same ones.
#[test]
fn kept_counts_of_a_suite_draw_its_figures() {
    let place = Place::new();
    fs::write(place.path("suite.toml"), SUITE).unwrap();
    place.expect(DONE, &["figures", "suite.toml", "-o", "run", "-q"]);
    place.expect(DONE, &["figures", "--kept", "run/counts.jsonl", "-o", "kept", "-q"]);
    let read =
        |folder: &str, name: &str| fs::read_to_string(place.path(folder).join(name)).unwrap();
    for figure in ["qfm-fig13", "qfm-fig14", "pmu-fig4", "pmu-fig5", "summary"] {
        let name = format!("{figure}.csv");
        assert_eq!(read("run", &name), read("kept", &name));
    }
    let saved = place.document(&[
        "mesh",
        "plane",
        "--width",
        "96",
        "--height",
        "64",
        "--msaa",
        "4",
        "--tessellate",
        "20",
        "--method",
        "pmu",
        "--buffer",
        "64",
        "--json",
    ]);
    let csv = read("run", "pmu-fig5.csv");
    let cell = csv.lines().nth(1).unwrap().split(',').nth(3).unwrap();
    let savings = saved["rows"][0]["savings"].as_f64().unwrap();
    assert!((cell.parse::<f64>().unwrap() - savings).abs() < 1e-12);
}

#[test]
fn wrong_kept_files_are_errors() {
    let place = Place::new();
    let arguments = ["figures", "--kept", "kept.jsonl", "-o", "out", "-q"];
    place.expect_error(UNREADABLE, &arguments, &["kept.jsonl"]);
    fs::write(place.path("kept.jsonl"), "{\"study\": \"merging\"}\n").unwrap();
    place.expect_error(UNREADABLE, &arguments, &["kept.jsonl", "line 1", "mesh"]);
    let kept = kept();
    let only = ["figures", "--kept", &kept, "-o", "out", "--only", "fig9"];
    place.expect_error(USAGE, &only, &["--only", "qfm-fig9"]);
}

/// FROG with bumps gains least of all scenes, as the paper says of its FROG and FURBALL.
#[test]
fn the_frog_gains_least() {
    let text = fs::read_to_string(kept()).unwrap();
    let runs = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let culls_quads = |run: &Value| run["settings"]["culling"] == "quads";
    let runs: Vec<Value> = runs.filter(culls_quads).collect();
    let shaded = |run: &Value, unit: &str, buffer: &Value| {
        let rows = run["rows"].as_array().unwrap();
        let mut rows = rows.iter().filter(|row| row["unit"] == unit && row["buffer"] == *buffer);
        rows.next().unwrap()["shaded"].as_f64().unwrap()
    };
    let gain = |run: &Value| shaded(run, "none", &Value::Null) / shaded(run, "qfm", &32.into());
    let frog = runs.iter().find(|run| run["variant"] == "bumps").unwrap();
    let default = |run: &&Value| run["settings"]["assumptions"] == "bound, rows";
    let others: Vec<_> = runs.iter().filter(default).collect();
    assert_eq!(others.len(), 7);
    for run in others.into_iter().filter(|run| run["mesh"] != "FROG") {
        assert!(gain(frog) < gain(run), "{}", run["mesh"]);
    }
}

/// The program still makes the kept counts: one run of the suite, drawn again.
#[test]
fn a_run_of_the_kept_counts_is_found_again() {
    if skipped::is_slow() {
        return;
    }
    let place = Place::new();
    let words = "plane --width 1728 --height 1080 --msaa 16 --tessellate 0.5 --method none,qfm,reyes --buffer 32,unbounded \
                 --memory 8G --area-is mean --grid-order rings --cull quads";
    let words: Vec<&str> = ["mesh"].into_iter().chain(words.split_whitespace()).collect();
    let found = place.document(&[&words[..], &["--json"]].concat());
    let text = fs::read_to_string(kept()).unwrap();
    let runs = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_it = |run: &Value| {
        let settings = &run["settings"];
        run["mesh"] == "PLANE"
            && settings["assumptions"] == "mean, rings"
            && settings["culling"] == "quads"
    };
    let kept = runs.into_iter().find(is_it).unwrap();
    let (found, kept) = (found["rows"].as_array().unwrap(), kept["rows"].as_array().unwrap());
    assert_eq!(found.len(), kept.len());
    for (found, kept) in found.iter().zip(kept) {
        assert_eq!(found["unit"], kept["unit"]);
        assert_eq!(found["fragments_shaded"], kept["shaded"], "{}", kept["unit"]);
        assert_eq!(found["pixels_covered"], kept["pixels"]);
        assert_eq!(found["quads"]["rasterized"], kept["rasterized"]);
        let [area, kept] = [&found["triangle_area_mean_px"], &kept["mean_px"]];
        assert!((area.as_f64().unwrap() - kept.as_f64().unwrap()).abs() < 1e-9);
    }
}
