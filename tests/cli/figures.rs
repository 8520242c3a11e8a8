//! `figures`: the page and its files; shards, kills and resumed runs give the same.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;

use crate::bench::{kill_after, lines};
use crate::support::program::{DONE, Place, UNREADABLE, USAGE};
use crate::support::{shared, skipped};

/// Exit code of a report with gaps.
const INCOMPLETE: i32 = 1;

/// Two scenes with two views each, a large one that is small, and a path.
const SUITE: &str = "[[scene]]
name = \"file & <co>\"
path = \"scene.ply\"
orbit = 2
width = 40
height = 30
[[scene]]
name = \"vase\"
recipe = \"object\"
splats = 300
view = \"0..2\"
width = 32
height = 24
[[scene]]
name = \"far\"
recipe = \"world\"
splats = 400
view = \"0\"
width = 32
height = 24
large = true
[[scene]]
name = \"flight\"
recipe = \"object\"
splats = 300
camera_path = \"interpolate\"
frames = 3
warm = true
width = 32
height = 24
";

/// Figures and tables of the page, each of which has a file beside the file of the published numbers.
const SECTIONS: usize = 27;

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("suite.toml"), SUITE).unwrap();
    place
}

fn arguments<'a>(folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["figures", "suite.toml", "-o", folder, "-q"], more].concat()
}

fn run(place: &Place, code: i32, folder: &str, more: &[&str]) -> String {
    let output = place.expect(code, &arguments(folder, more));
    String::from_utf8(output.stdout).unwrap()
}

/// The contents of all files of this kind in a folder, by name.
fn files(folder: &Path, extension: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let chosen = entries.filter(|p| p.extension().is_some_and(|e| e == extension));
    let named = chosen.map(|p| {
        let name = p.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(p).unwrap())
    });
    named.collect()
}

/// The text of a page without the folder that its commands name.
fn plain(place: &Place, folder: &str) -> String {
    let page = fs::read_to_string(place.path(folder).join("index.html")).unwrap();
    page.replace(&format!("-o {folder}"), "-o DIR")
}

#[test]
fn killed_shards_give_the_files_of_one_run() {
    let place = place();
    let summary = run(&place, DONE, "whole", &[]);
    assert!(summary.contains("2 scenes"), "{summary}");
    let whole = files(&place.path("whole"), "csv");
    assert_eq!(whole.len(), SECTIONS + 1);
    assert!(whole.values().all(|csv| csv.lines().count() > 1), "{whole:?}");

    // A counter that a figure does not find leaves its cells empty, as some are on purpose.
    let with_gaps = ["fig1", "fig12", "fig16", "summary", "table1", "table2", "table3"]
        .map(|id| format!("{id}.csv"));
    for (name, csv) in whole.iter().filter(|(name, _)| !with_gaps.contains(name)) {
        let is_full = |line: &str| !line.contains(",,") && !line.ends_with(',');
        assert!(csv.lines().all(is_full), "{name}: {csv}");
    }

    let results = |shard: &str| {
        let name = format!("results.{}.jsonl", shard.replace('/', "-of-"));
        place.path("parts").join(name)
    };
    let shards = ["1/3", "2/3", "3/3"];
    for shard in &shards[..2] {
        let arguments = arguments("parts", &["--shard", shard]);
        fs::create_dir_all(place.path("parts")).unwrap();
        kill_after(&place, 3, &arguments, &results(shard));
    }
    // The last line of one shard is torn.
    let torn = fs::read_to_string(results("1/3")).unwrap() + "{\"scene\": \"fi";
    fs::write(results("1/3"), torn).unwrap();
    let partial = place.expect(INCOMPLETE, &arguments("parts", &["--shard", "1/3"]));
    let errors = String::from_utf8(partial.stderr).unwrap();
    assert!(errors.contains("results are missing"), "{errors}");
    let page = fs::read_to_string(place.path("parts").join("index.html")).unwrap();
    assert!(page.contains("Incomplete.") && page.contains("incomplete</span>"));
    let gaps: Value = {
        let text = fs::read_to_string(place.path("parts").join("fig16.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert!(!gaps["missing"].as_array().unwrap().is_empty(), "{gaps}");
    run(&place, INCOMPLETE, "parts", &["--shard", "2/3"]);
    run(&place, DONE, "parts", &["--shard", "3/3"]);

    assert_eq!(files(&place.path("parts"), "csv"), whole);
    assert_eq!(plain(&place, "parts"), plain(&place, "whole"));
    let counts = shards.map(|shard| lines(&results(shard)).len());
    assert_eq!(
        counts.iter().sum::<usize>(),
        lines(&place.path("whole").join("results.jsonl")).len(),
        "no job is run twice"
    );
    // Once more without a shard: nothing is run.
    run(&place, DONE, "parts", &[]);
    assert_eq!(lines(&place.path("parts").join("results.jsonl")).len(), 0);
}

fn attribute<'a>(node: &Node<'a, 'a>, name: &str) -> &'a str {
    node.attribute(name).unwrap_or_default()
}

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let place = place();
    run(&place, DONE, "out", &["--only", "fig7,fig9,fig16,table2"]);
    let text = fs::read_to_string(place.path("out").join("index.html")).unwrap();
    assert!(text.len() < 10_000_000);
    for word in ["<script", "http:", "https:", "@import", "javascript:", "onload"] {
        assert!(!text.contains(word), "{word}");
    }
    // The font of the charts is in the page.
    assert!(text.split("url(").skip(1).all(|rest| rest.starts_with("data:font/ttf;base64,")));
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let page = Document::parse_with_options(&text, options).unwrap();
    let all: Vec<_> = page.descendants().filter(Node::is_element).collect();
    let sections: Vec<_> = all.iter().filter(|n| n.has_tag_name("section")).collect();
    let ids: Vec<_> = sections.iter().map(|s| attribute(s, "id")).collect();
    assert_eq!(ids, ["fig7", "fig9", "table2", "fig16"], "the chosen figures alone");
    assert!(!text.contains("Incomplete.") && !text.contains("class=\"summary\""));
    for link in all.iter().filter(|n| n.has_tag_name("a")) {
        let target = attribute(link, "href").strip_prefix('#').unwrap();
        assert!(sections.iter().any(|s| attribute(s, "id") == target), "{target}");
    }
    for node in &all {
        assert!(!node.has_tag_name("link") && !node.has_tag_name("iframe"));
        for a in node.attributes() {
            assert!(!a.name().starts_with("on"), "{}", a.name());
        }
        if node.has_tag_name("img") {
            assert!(attribute(node, "src").starts_with("data:image/png;base64,"));
        }
        if node.has_tag_name("svg") {
            let values = node.descendants().flat_map(|n| n.attributes());
            let mut values = values.map(|a| a.value());
            assert!(values.all(|v| !v.contains("NaN") && !v.contains("inf")));
        }
    }
    assert!(all.iter().any(|n| n.has_tag_name("img")), "the maps of Figure 7");
    assert!(all.iter().filter(|n| n.has_tag_name("svg")).count() >= 6);
    // Only the chosen figures have files; the name of the scene is text in all of them.
    let csv = files(&place.path("out"), "csv");
    let names: Vec<_> = csv.keys().map(String::as_str).collect();
    let expected = ["fig16.csv", "fig7.csv", "fig9.csv", "summary.csv", "table2.csv"];
    assert_eq!(names, expected);
    assert!(csv["summary.csv"].contains("\nvr-pipe,fig16,speedup of HET,mean,1.8,"));
    assert!(csv["fig9.csv"].contains("file & <co>,"));
    assert!(text.contains("file &amp; &lt;co&gt;") && !text.contains("<co>"));
    // Published numbers stand in the plot, in the table and in the file.
    let fig16 = sections.iter().find(|s| attribute(s, "id") == "fig16").unwrap();
    let titles = fig16.descendants().filter(|n| n.has_tag_name("title"));
    let titles: Vec<_> = titles.filter_map(|n| n.text()).collect();
    for bar in ["published, HET, published: 1.8", "published, HET+QM, published: 2.07"] {
        assert!(titles.contains(&bar), "{bar}: {titles:?}");
    }
    let document = fs::read_to_string(place.path("out").join("fig16.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    let values: Vec<_> = document["published"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["value"].as_f64().unwrap())
        .collect();
    assert_eq!(values, [1.49, 1.80, 2.07, 2.78]);
    let command = "quadrille figures suite.toml -o out --only fig16";
    assert_eq!(document["command"], command);
    let rows = document["rows"].as_array().unwrap();
    let last = rows[4..].iter().map(|row| row["scene"].as_str().unwrap());
    assert!(last.eq(["mean", "standard deviation"]), "behind four views: {rows:?}");
}

/// Charts are files beside the tables of their figures, with all colours and fonts of their own; the page has each
/// chart twice, and tables are there for LaTeX and Markdown. Absolute paths of this machine stand neither in the page nor in the documents.
#[test]
fn charts_are_files_of_their_own() {
    let place = place();
    let [suite, out] = ["suite.toml", "out"].map(|name| place.path(name).display().to_string());
    let chosen = ["--pdf", "--only", "fig1,fig16,fig20"];
    place.expect(DONE, &[&["figures", &suite, "-o", &out, "-q"], &chosen[..]].concat());
    let page = fs::read_to_string(place.path("out").join("index.html")).unwrap();
    let here = place.path("").display().to_string();
    assert!(
        !page.contains(&here)
            && page.contains("<code>quadrille figures suite.toml -o out --only fig16</code>")
    );
    let [wide, narrow] =
        ["wide", "narrow"].map(|class| page.matches(&format!("<svg class=\"{class}\"")).count());
    assert!(wide == 6 && wide == narrow, "{wide} and {narrow}");
    let charts = files(&place.path("out"), "svg");
    let names: Vec<_> = charts.keys().map(String::as_str).collect();
    let expected =
        ["fig1.svg", "fig16.svg", "fig20-1.svg", "fig20-2.svg", "fig20-3.svg", "fig20-4.svg"];
    assert_eq!(names, expected);
    for (name, text) in &charts {
        let chart = Document::parse(text).unwrap();
        let root = chart.root_element();
        assert!(root.has_tag_name(("http://www.w3.org/2000/svg", "svg")), "{name}");
        let nodes = || root.descendants().filter(Node::is_element);
        assert!(nodes().all(|n| !n.has_attribute("class") && !n.has_tag_name("style")));
        let font = attribute(&root, "font-family");
        assert!(font.ends_with("sans-serif") && !text.contains("url("), "{name}");
        let texts = nodes().filter(|n| n.tag_name().name() == "text");
        assert!(texts.clone().count() > 2);
        assert!(texts.clone().all(|n| n.has_attribute("fill") && n.has_attribute("font-size")));
        let pdf = fs::read(place.path("out").join(name.replace(".svg", ".pdf"))).unwrap();
        assert!(pdf.starts_with(b"%PDF-1.7"));
    }
    // The published 16 KB hold for rectangles of whole cache lines; at any position, fewer rectangles fit.
    let fig20 = fs::read_to_string(place.path("out").join("fig20.json")).unwrap();
    let fig20: Value = serde_json::from_str(&fig20).unwrap();
    let ours = |n: usize| {
        let quantity = fig20["published"][n]["quantity"].as_str().unwrap();
        assert!(quantity.contains("random"), "{quantity}");
        fig20["ours"][n].as_f64().unwrap()
    };
    assert!(ours(0) < 16.0 && (ours(1) - 16.0).abs() < 1e-9);
    let latex = fs::read_to_string(place.path("out").join("fig16.tex")).unwrap();
    assert!(latex.starts_with("\\begin{tabular}{llrrrrr}\n"), "{latex}");
    assert!(latex.contains("file \\& \\textless{}co\\textgreater{} & "), "{latex}");
    let markdown = fs::read_to_string(place.path("out").join("fig16.md")).unwrap();
    assert!(markdown.contains("| file & &lt;co> | "), "{markdown}");
    for table in [latex, markdown] {
        assert!(table.contains("HET+QM"), "{table}");
    }
}

#[test]
fn quick_runs_have_one_view_of_four_scenes() {
    let place = Place::new();
    let scenes = (0..5).map(|n| {
        format!(
            "[[scene]]\nname = \"s{n}\"\npath = \"scene.ply\"\norbit = 2\nwidth = 16\nheight = 12\n"
        )
    });
    fs::write(place.path("suite.toml"), scenes.collect::<String>()).unwrap();
    run(&place, DONE, "out", &["--quick", "--only", "fig21"]);
    let csv = fs::read_to_string(place.path("out").join("fig21.csv")).unwrap();
    let scenes: Vec<_> = csv.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(scenes, ["s0", "s1", "s2", "s3"]);
}

/// Published numbers of a report whose bound is broken, or from which ours deviates by more than 15 %, without a reason.
pub(crate) fn unexplained(place: &Place, folder: &str) -> Vec<String> {
    let summary = fs::read_to_string(place.path(folder).join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let rows = summary["rows"].as_array().unwrap().iter();
    let is_far = |row: &&Value| {
        row["holds"] == "no" || row["deviation"].as_f64().is_some_and(|d| d.abs() > 0.15)
    };
    let rows = rows.filter(|row| is_far(row) && row["reason"].as_str().is_none_or(str::is_empty));
    rows.map(ToString::to_string).collect()
}

/// The quick report of all papers has a reason beside every large deviation.
#[test]
fn deviations_of_a_quick_report_have_reasons() {
    if skipped::is_slow() || shared::path("scenes").is_none() {
        return;
    }
    let place = Place::new();
    let file = |name: &str| format!("{}/benches/{name}", env!("CARGO_MANIFEST_DIR"));
    let [splats, deferred, kept] =
        ["figures.toml", "deferred.toml", "mesh.results.jsonl"].map(file);
    let suites = ["figures", &splats, &deferred, "--kept", &kept];
    place.expect(DONE, &[&suites[..], &["--quick", "-o", "out", "-q"]].concat());
    assert_eq!(unexplained(&place, "out"), [""; 0]);
    let page = fs::read_to_string(place.path("out").join("index.html")).unwrap();
    assert!(page.matches("class=\"word whole reason\"").count() > 20);
}

#[test]
fn wrong_arguments_are_refused() {
    let place = place();
    place.expect_error(USAGE, &arguments("out", &["--only", "fig24"]), &["--only", "fig23"]);
    place.expect_error(USAGE, &arguments("out", &["--shard", "4/3"]), &["--shard", "I/N"]);
    place.expect_error(UNREADABLE, &["figures", "none.toml", "-o", "out"], &["none.toml"]);
    let twice = ["figures", "suite.toml", "suite.toml", "-o", "out"];
    place.expect_error(UNREADABLE, &twice, &["scenes whose names differ"]);
    let names = place.names();
    assert!(!names.contains("out"), "{names:?}");
}

/// Figures have configurations of their own: the configurations of the suite change nothing.
#[test]
fn a_matrix_is_left_out() {
    let place = place();
    let matrix =
        format!("[matrix]\ntc.bins = [8, 16]\nseed = [1, 2]\npreset = [\"orin\"]\n{SUITE}");
    fs::write(place.path("matrix.toml"), matrix).unwrap();
    let only = ["--only", "fig16"];
    let arguments = [&["figures", "matrix.toml", "-o", "matrix"], &only[..]].concat();
    let output = place.expect(DONE, &arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("matrix and configurations are not used"), "{errors}");
    run(&place, DONE, "out", &[&only[..], &["--pdf"]].concat());
    assert_eq!(files(&place.path("matrix"), "csv"), files(&place.path("out"), "csv"));
    // The foot of the page has the flags that made it.
    let page = &files(&place.path("out"), "html")["index.html"];
    assert!(page.contains("suite.toml -o out --only fig16 --pdf</code>"), "{page}");
}

#[test]
fn suites_of_the_repository_are_read() {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let entries = fs::read_dir(benches).unwrap().map(|e| e.unwrap().path());
    let suites: Vec<_> = entries
        // Suites of meshes are read by other tests.
        .filter(|p| {
            !["Cargo.toml", "mesh.toml", "deferred.toml"].iter().any(|name| p.ends_with(name))
        })
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    assert!(suites.iter().any(|p| p.ends_with("large.toml")), "{suites:?}");
    for suite in &suites {
        let read = quadrille::suite::Suite::read(suite);
        assert!(read.is_ok(), "{}: {read:?}", suite.display());
    }
}

#[test]
fn changed_scenes_and_camera_files_are_run_again() {
    let place = Place::new();
    let suite = "[[scene]]\nname = \"s\"\npath = \"scene.ply\"\ncameras = \"cameras.json\"\nviews = \"0\"\n";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let only = ["--only", "fig16"];
    let results = place.path("out").join("results.jsonl");
    let csv = |folder: &str| fs::read_to_string(place.path(folder).join("fig16.csv")).unwrap();
    run(&place, DONE, "out", &only);
    let jobs = lines(&results).len();
    run(&place, DONE, "out", &only);
    assert_eq!(lines(&results).len(), jobs, "unchanged inputs");
    let expect_run_again = |times: usize, folder: &str| {
        let before = csv("out");
        run(&place, DONE, "out", &only);
        assert_eq!(lines(&results).len(), (1 + times) * jobs);
        run(&place, DONE, folder, &only);
        assert_eq!(csv("out"), csv(folder));
        assert_ne!(csv("out"), before);
    };
    let larger = ["convert", "scene.ply", "-o", "larger.ply", "--scale", "1.1"];
    place.expect(DONE, &larger);
    fs::rename(place.path("larger.ply"), place.path("scene.ply")).unwrap();
    expect_run_again(1, "other-scene");
    let cameras = place.path("cameras.json");
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&cameras).unwrap()).unwrap();
    let x = text[0]["position"][0].as_f64().unwrap();
    text[0]["position"][0] = (x + 0.25).into();
    fs::write(&cameras, text.to_string()).unwrap();
    expect_run_again(2, "other-cameras");
}
