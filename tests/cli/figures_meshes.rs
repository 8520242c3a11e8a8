//! `figures` with a suite of meshes: the page and files of the paper on sort-based deferred shading.

use std::fs;

use serde_json::Value;

use crate::support::program::{DONE, Place, UNREADABLE, USAGE};

/// Exit code of a report with gaps.
const INCOMPLETE: i32 = 1;

const SUITE: &str = r#"paper = "sort-based-deferred-shading"
[[scene]]
name = "plane"
mesh = "plane"
flags = ["--tessellate", "60", "--width", "96", "--height", "64", "--camera-move", "0.2,0,0.1"]
[[scene]]
name = "square"
mesh = "square.obj"
flags = ["--width", "64", "--height", "48", "--coc-px", "4"]
[[blur]]
name = "sharp"
mesh = "plane"
flags = ["--tessellate", "60", "--width", "96", "--height", "64"]
[[blur]]
name = "blurred"
mesh = "plane"
flags = ["--tessellate", "60", "--width", "96", "--height", "64", "--camera-move", "0.5,0,0", "--coc-px", "8"]
[[trace]]
name = "orbit"
mesh = "plane"
flags = ["--tessellate", "60", "--width", "48", "--height", "32", "--orbit", "3", "--shutter", "0.1"]
[[heat]]
name = "blurred"
mesh = "plane"
flags = ["--tessellate", "60", "--width", "96", "--height", "64", "--coc-px", "8"]
"#;

const FIGURES: [&str; 8] = [
    "sorting", "fig9", "table1", "fig10", "fig11", "fig12", "fig13", "memo",
];

fn place() -> Place {
    let place = Place::new();
    let suites = place.path("suites");
    fs::create_dir_all(&suites).unwrap();
    fs::write(suites.join("suite.toml"), SUITE).unwrap();
    let square = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";
    fs::write(suites.join("square.obj"), square).unwrap();
    place
}

fn arguments<'a>(folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["figures", "suites/suite.toml", "-o", folder, "-q"], more].concat()
}

fn read(place: &Place, folder: &str, name: &str) -> String {
    fs::read_to_string(place.path(folder).join(name)).unwrap()
}

fn document(place: &Place, folder: &str, figure: &str) -> Value {
    serde_json::from_str(&read(place, folder, &format!("{figure}.json"))).unwrap()
}

#[test]
fn shards_give_the_files_of_one_run() {
    let place = place();
    let whole = place.expect(DONE, &arguments("whole", &[]));
    assert!(String::from_utf8_lossy(&whole.stdout).contains("2 scenes, 2 amounts of blur"));
    let page = read(&place, "whole", "index.html");
    assert!(!page.contains("Incomplete.") && page.matches("<section").count() == FIGURES.len());
    assert_eq!(page.matches("data:image/png").count(), 2);
    // What the figures say is what `deferred` says.
    let flags = [
        "--camera-move",
        "0.2,0,0.1",
        "--pipeline",
        "jrk,sds",
        "--traffic",
    ];
    let size = [
        "--width",
        "96",
        "--height",
        "64",
        "--tessellate",
        "60",
        "--json",
    ];
    let rows = place.document(&[&["deferred", "plane"], &size[..], &flags].concat());
    let figure = document(&place, "whole", "fig10");
    let sds = rows["rows"][1]["traffic_bytes"]["total"].as_f64().unwrap() / 1e6;
    assert_eq!(figure["rows"][0]["sds_mb"].as_f64(), Some(sds));
    let gops = &rows["rows"][0]["raster"]["gops"]["total"];
    assert_eq!(document(&place, "whole", "table1")["rows"][0]["jrk"], *gops);
    assert_eq!(
        document(&place, "whole", "fig11")["rows"]
            .as_array()
            .unwrap()
            .len(),
        3
    );

    place.expect(INCOMPLETE, &arguments("parts", &["--shard", "2/2"]));
    assert!(read(&place, "parts", "index.html").contains("Incomplete."));
    assert_eq!(
        document(&place, "parts", "fig11")["missing"][0],
        "trace orbit"
    );
    // A line that a stopped run left incomplete is no result.
    let torn = place.path("parts").join("results.2-of-2.jsonl");
    let complete = fs::read_to_string(&torn).unwrap();
    let cut = complete.len() - 9;
    fs::write(&torn, &complete[..cut]).unwrap();
    place.expect(INCOMPLETE, &arguments("parts", &["--shard", "1/2"]));
    place.expect(DONE, &arguments("parts", &["--shard", "2/2"]));
    for figure in FIGURES {
        let name = format!("{figure}.csv");
        assert_eq!(read(&place, "parts", &name), read(&place, "whole", &name));
    }
    // Nothing is run again.
    let results = read(&place, "whole", "results.jsonl");
    place.expect(DONE, &arguments("whole", &[]));
    assert_eq!(read(&place, "whole", "results.jsonl"), results);
}

#[test]
fn chosen_figures_run_their_own_jobs() {
    let place = place();
    place.expect(DONE, &arguments("out", &["--only", "fig12", "--quick"]));
    assert_eq!(read(&place, "out", "results.jsonl").lines().count(), 1);
    assert!(!place.path("out").join("fig10.csv").exists());
    place.expect_error(
        USAGE,
        &arguments("out", &["--only", "fig16"]),
        &["--only", "fig13"],
    );
}

#[test]
fn the_suite_of_the_repository_is_read() {
    let place = Place::new();
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/deferred.toml");
    // A shard without jobs.
    let flags = ["figures", suite, "-o", "out", "-q", "--shard", "99/99"];
    place.expect(INCOMPLETE, &flags);
    let page = read(&place, "out", "index.html");
    assert!(page.contains("trace flight") && page.contains("heat column"));
}

#[test]
fn wrong_suites_are_errors() {
    let place = place();
    let cases = [
        ("sort-based-deferred", "other-paper", "paper"),
        ("mesh = \"plane\"", "mash = \"plane\"", "mash"),
        ("name = \"square\"", "name = \"plane\"", "name of its own"),
        ("name = \"orbit\"", "name = \"../orbit\"", "letters"),
        ("\"--orbit\"", "\"--orbits\"", "--orbits"),
        ("\"--shutter\", \"0.1\"", "\"--traffic\"", "--traffic"),
    ];
    for (before, after, word) in cases {
        let text = SUITE.replace(before, after);
        assert_ne!(text, SUITE);
        fs::write(place.path("suites").join("suite.toml"), text).unwrap();
        place.expect_error(UNREADABLE, &arguments("out", &[]), &["suite.toml", word]);
    }
    fs::write(
        place.path("suites").join("suite.toml"),
        "paper = \"sort-based-deferred-shading\"",
    )
    .unwrap();
    place.expect_error(UNREADABLE, &arguments("out", &[]), &["at least one"]);
}
