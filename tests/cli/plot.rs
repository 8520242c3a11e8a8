//! `plot`: any field of a results file over any other one, as SVG, PDF and numbers.
use std::collections::BTreeMap;
use std::fs;

use roxmltree::{Document, Node};

use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};

/// Two scenes with two views each, in three configurations.
const SUITE: &str = "method = [\"baseline\", \"het\", \"het+qm\"]
[matrix]
tc.bins = \"4..16*2\"
[[scene]]
name = \"small\"
path = \"scene.ply\"
orbit = 2
width = 40
height = 30
[[scene]]
name = \"a <b> & \\\"c\\\"\"
recipe = \"object\"
splats = 300
view = \"0..2\"
width = 32
height = 24
";

/// A folder with the results of the suite.
fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("suite.toml"), SUITE).unwrap();
    place.expect(DONE, &["bench", "suite.toml", "-o", "rows.jsonl", "-q"]);
    place
}

/// The lines of a table of comma-separated values, by the names of its columns.
fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(Result::unwrap);
    rows.collect()
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).unwrap()
}

fn plot(place: &Place, arguments: &[&str]) {
    let all = [&["plot", "rows.jsonl", "-q"], arguments].concat();
    place.expect(DONE, &all);
}

/// The rows of `bench --csv`.
fn rows(place: &Place) -> Vec<BTreeMap<String, String>> {
    let printed = place.expect(DONE, &["bench", "rows.jsonl", "--csv"]);
    table(&String::from_utf8(printed.stdout).unwrap())
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

/// A file without outside references, whose elements have all their colours and sizes.
fn check_svg(text: &str) {
    for word in ["class=", "<style", "style=", "href", "url(", "<script", "@import", "NaN", "inf"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let document = Document::parse(text).unwrap();
    let root = document.root_element();
    let fonts = root.attribute("font-family").unwrap();
    assert_eq!(fonts, "Liberation Sans, Arial, Helvetica, sans-serif");
    for node in root.descendants().filter(Node::is_element) {
        let has = |name| node.attribute(name).is_some();
        match node.tag_name().name() {
            "svg" | "title" => {}
            "text" => assert!(has("fill") && has("font-size"), "{node:?}"),
            "line" => assert!(has("stroke") && has("stroke-width"), "{node:?}"),
            _ => assert!(has("fill"), "{node:?}"),
        }
    }
}

/// A file whose table of objects is right, with an embedded font and without times.
fn check_pdf(bytes: &[u8]) {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    assert!(text.starts_with("%PDF-1.7") && text.trim_end().ends_with("%%EOF"));
    for word in ["/FontFile2", "/Subtype/TrueType", "/WinAnsiEncoding", "+LiberationSans"] {
        assert!(text.contains(word), "{word}");
    }
    for word in ["/CreationDate", "/ModDate", "/ID", "/URI", "/JavaScript"] {
        assert!(!text.contains(word), "{word}");
    }
    let (_, start) = text.rsplit_once("startxref").unwrap();
    let start: usize = start.split_whitespace().next().unwrap().parse().unwrap();
    let table = std::str::from_utf8(&bytes[start..]).unwrap();
    let table = table.strip_prefix("xref\n").unwrap();
    let mut found = 0;
    // Sections of the table: the first number and the count, then a line per object.
    let mut number = 0;
    for line in table.lines().take_while(|line| *line != "trailer") {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [first, _] => number = first.parse().unwrap(),
            [at, _, kind] => {
                let at: usize = at.parse().unwrap();
                let begins = format!("{number} 0 obj");
                let is_there = bytes[at..].starts_with(begins.as_bytes());
                assert!(kind == "f" || is_there, "{line}");
                found += usize::from(kind == "n");
                number += 1;
            }
            _ => panic!("{line}"),
        }
    }
    assert!(found >= 8, "{found} objects");
}

#[test]
fn numbers_are_those_of_the_csv() {
    let place = place();
    let one = ["--where", "scene=small", "--where", "view=orbit_00"];
    let lines = ["--x", "tc.bins", "--y", "speedup", "--series", "method", "-o", "one.svg"];
    plot(&place, &[&lines[..], &one].concat());
    let plotted = table(&read(&place, "one.plot.csv"));
    let all = rows(&place);
    let chosen: Vec<_> = all
        .iter()
        .filter(|row| row["scene"] == "small" && row["view"] == "orbit_00")
        .filter(|row| !row["speedup"].is_empty())
        .collect();
    assert_eq!(plotted.len(), chosen.len());
    assert_eq!(plotted.len(), 2 * 3);
    for row in &chosen {
        let is_same = |p: &&BTreeMap<String, String>| {
            p["tc.bins"] == row["tc.bins"] && p["method"] == row["method"]
        };
        let point = plotted.iter().find(is_same).unwrap();
        assert_eq!(number(&point["speedup"]), number(&row["speedup"]));
        assert_eq!(point["rows"], "1");
    }
    // Means, least and largest values over both views, and the geometric mean over the scenes.
    let bars = ["--x", "scene", "--y", "cycles", "--series", "method", "--where", "tc.bins=8"];
    let bars = [&bars[..], &["--summary", "geomean", "--spread", "-o", "bars.svg"]].concat();
    plot(&place, &bars);
    let plotted = table(&read(&place, "bars.plot.csv"));
    let mut means = Vec::new();
    for scene in ["small", "a <b> & \"c\""] {
        let is_chosen = |row: &&BTreeMap<String, String>| {
            row["scene"] == scene && row["tc.bins"] == "8" && row["method"] == "het"
        };
        let cycles: Vec<f64> = all.iter().filter(is_chosen).map(|r| number(&r["cycles"])).collect();
        assert_eq!(cycles.len(), 2);
        let is_point = |p: &&BTreeMap<String, String>| p["scene"] == scene && p["method"] == "het";
        let point = plotted.iter().find(is_point).unwrap();
        assert_eq!(number(&point["cycles"]), (cycles[0] + cycles[1]) / 2.0);
        assert_eq!(number(&point["min"]), cycles[0].min(cycles[1]));
        assert_eq!(number(&point["max"]), cycles[0].max(cycles[1]));
        means.push(number(&point["cycles"]));
    }
    let last = plotted.iter().find(|p| p["scene"] == "geomean" && p["method"] == "het").unwrap();
    let geomean = (means[0] * means[1]).sqrt();
    assert!((number(&last["cycles"]) / geomean - 1.0).abs() < 1e-12);
}

#[test]
fn every_kind_is_a_file_of_its_own() {
    let place = place();
    let kinds: [&[&str]; 5] = [
        &["--x", "tc.bins", "--y", "speedup", "--series", "method", "--spread", "--mark", "1"],
        &["--x", "scene", "--y", "speedup", "--series", "method", "--summary", "geomean"],
        &["--kind", "scatter", "--x", "quads_ratio", "--y", "speedup", "--series", "scene"],
        &["--x", "tc.bins", "--y", "scene", "--value", "speedup", "--where", "method=het"],
        &["--x", "tc.bins", "--y", "cycles", "--series", "variant,scene", "--log-x", "--log-y"],
    ];
    for kind in kinds {
        let sizes = ["--width", "84", "--height", "70", "--title", "a < b & c"];
        let outputs = ["-o", "a/plot.svg", "--pdf"];
        plot(&place, &[kind, &sizes, &outputs].concat());
        let svg = read(&place, "a/plot.svg");
        check_svg(&svg);
        assert!(svg.contains("width=\"84.00mm\" height=\"70.00mm\""), "{svg}");
        assert!(svg.contains(">a &lt; b &amp; c</text>"), "{svg}");
        let pdf = fs::read(place.path("a/plot.pdf")).unwrap();
        check_pdf(&pdf);
        // 84 mm and 70 mm in points.
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.contains("/MediaBox[0 0 238.11") && text.contains(" 198.42"), "{kind:?}");
        plot(&place, &[kind, &sizes, &["-o", "b.pdf", "-o", "b.svg"]].concat());
        assert_eq!(fs::read(place.path("b.pdf")).unwrap(), pdf, "{kind:?}");
        assert_eq!(read(&place, "b.svg"), svg);
        assert_eq!(read(&place, "b.plot.csv"), read(&place, "a/plot.plot.csv"));
    }
    let stdout = ["plot", "rows.jsonl", "--x", "view", "--y", "cycles", "-q", "-o", "-"];
    let printed = place.expect(DONE, &stdout).stdout;
    check_svg(&String::from_utf8(printed).unwrap());
}

#[test]
fn combined_rows_are_named() {
    let place = place();
    let arguments = ["--x", "tc.bins", "--y", "cycles", "--where", "method=het", "-o", "a.svg"];
    let output = place.expect(DONE, &[&["plot", "rows.jsonl"], &arguments[..]].concat());
    let errors = String::from_utf8(output.stderr).unwrap();
    let remark =
        "each point is the mean of up to 4 rows, which differ in scene, seed, view, width, height";
    assert!(errors.contains(remark), "{errors}");
    let list = place.expect(DONE, &["plot", "rows.jsonl", "--list-fields"]).stdout;
    let list = String::from_utf8(list).unwrap();
    for word in ["tc.bins", "units.crop.utilisation", "speedup"] {
        assert!(list.contains(word), "{word}: {list}");
    }
    let names = rows(&place)[0].len();
    assert_eq!(list.lines().count(), 1 + names);
}

#[test]
fn csv_and_several_files_are_read() {
    let place = place();
    let printed = place.expect(DONE, &["bench", "rows.jsonl", "--csv"]).stdout;
    fs::write(place.path("other.csv"), printed).unwrap();
    let fields = ["--x", "file", "--y", "cycles", "--series", "method", "-q", "-o", "a.svg"];
    place.expect(DONE, &[&["plot", "rows.jsonl", "other.csv"], &fields[..]].concat());
    let plotted = table(&read(&place, "a.plot.csv"));
    let of = |file: &str| {
        let points = plotted.iter().filter(|p| p["file"] == file);
        points.map(|p| p["cycles"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("rows").len(), 3);
    assert_eq!(of("rows"), of("other"));
    // Files of one name in two folders are two series, and one file is not counted twice.
    fs::create_dir(place.path("old")).unwrap();
    fs::copy(place.path("other.csv"), place.path("old/rows.csv")).unwrap();
    place.expect(DONE, &[&["plot", "rows.jsonl", "old/rows.csv"], &fields[..]].concat());
    let plotted = table(&read(&place, "a.plot.csv"));
    assert_eq!(plotted.iter().filter(|p| p["file"] == "old/rows.csv").count(), 3);
    // Rows and CSV come from a pipe, too.
    let of_bins = ["--x", "tc.bins", "--y", "cycles", "-q", "-o", "-"];
    let whole = place.fed("rows.jsonl", &[&["plot", "rows.jsonl"], &of_bins[..]].concat());
    for name in ["rows.jsonl", "other.csv"] {
        assert!(place.fed(name, &[&["plot", "-"], &of_bins[..]].concat()) == whole, "{name}");
    }
    let twice = [&["plot", "rows.jsonl", "./rows.jsonl"], &fields[..]].concat();
    place.expect_error(USAGE, &twice, &["each file once", "./rows.jsonl twice"]);
}

#[test]
fn rows_of_meshes_are_plotted() {
    let place = Place::new();
    let mesh =
        "[[mesh]]\nname = \"p\"\nmesh = \"plane\"\ntessellate = 30\nwidth = 48\nheight = 32\n";
    let study = "[[study]]\nname = \"blur\"\nmeshes = [\"p\"]\n";
    for (workload, settings, x, y, series) in [
        (
            "deferred",
            "method = [\"msaa\", \"sds\"]\ntile = [32, 64]",
            "tile_px",
            "shading.quads",
            "pipeline",
        ),
        (
            "merging",
            "method = [\"none\", \"qfm\"]\nbuffer = [4, 16]",
            "buffer",
            "quads.shaded",
            "unit",
        ),
    ] {
        let suite = format!("workload = \"{workload}\"\n{mesh}{study}{settings}\n");
        fs::write(place.path("suite.toml"), suite).unwrap();
        let results = format!("{workload}.jsonl");
        place.expect(DONE, &["bench", "suite.toml", "-o", &results, "-q"]);
        let fields = ["--x", x, "--y", y, "--series", series, "-o", "a.svg", "-q"];
        place.expect(DONE, &[&["plot", &results], &fields[..]].concat());
        assert_eq!(table(&read(&place, "a.plot.csv")).len(), 2, "{workload}");
        check_svg(&read(&place, "a.svg"));
    }
}

#[test]
fn wrong_plots_are_refused_by_flag() {
    let place = place();
    let refused = |arguments: &[&str], words: &[&str]| {
        let all = [&["plot", "rows.jsonl", "-o", "a.svg"], arguments].concat();
        place.expect_error(USAGE, &all, words);
    };
    let by_scene = ["--x", "scene", "--y", "cycles"];
    let with = |more: &[&'static str]| [&by_scene[..], more].concat();
    refused(&["--x", "scene"], &["--y"]);
    refused(&["--x", "scene", "--y", "cycle"], &["--y", "cycles", "--list-fields"]);
    refused(&["--x", "bins", "--y", "cycles"], &["--x", "tc.bins"]);
    refused(&["--x", "scene", "--y", "view"], &["numbers in the field view", "orbit_00"]);
    refused(&with(&["--kind", "lines"]), &["--x", "small", "bars"]);
    refused(&with(&["--kind", "pie"]), &["--kind", "heat"]);
    refused(&with(&["--kind", "heat"]), &["--value"]);
    refused(&with(&["--log-x"]), &["--log-x", "bars"]);
    refused(&with(&["--where", "scene=boat"]), &["--where", "small"]);
    refused(&with(&["--where", "scene"]), &["--where", "FIELD=VALUE"]);
    refused(&with(&["--width", "5"]), &["--width", "20 to 1000"]);
    refused(&with(&["--height", "21"]), &["--height", "at least", "mm"]);
    refused(&with(&["-o", "a.png"]), &["-o", ".svg or .pdf", "a.png"]);
    refused(&with(&["-o", "a.svg"]), &["-o", "a.svg"]);
    // Reads of what is written.
    let csv = place.expect(DONE, &["bench", "rows.jsonl", "--csv"]).stdout;
    fs::write(place.path("b.csv"), &csv).unwrap();
    fs::write(place.path("b.plot.csv"), &csv).unwrap();
    let over = ["plot", "b.plot.csv", "-o", "b.svg", "--x", "scene", "--y", "cycles"];
    place.expect_error(USAGE, &over, &["b.plot.csv", "which is an input"]);
    fs::create_dir(place.path("c.svg")).unwrap();
    let folder = ["plot", "b.csv", "-o", "c.svg", "--x", "scene", "--y", "cycles"];
    place.expect_error(UNWRITABLE, &folder, &["c.svg"]);
    assert!(!place.names().contains("a.svg") && !place.names().contains("a.plot.csv"));
}

#[test]
fn tables_of_plots_hold_the_plotted_numbers() {
    let place = Place::new();
    let rows = "scene,variant,tc.bins,crop.cache_bytes,speedup\n\
                a_b,het,8,8192,1.25\na_b,het,8,8192,1.75\na_b,qm,8,8192,1.123456\nc,het,16,16384,2\n";
    fs::write(place.path("rows.csv"), rows).unwrap();
    let tables = |arguments: &[&str]| {
        let files = ["--markdown", "t.md", "--latex", "t.tex", "-q"];
        place.expect(DONE, &[&["plot", "rows.csv"], arguments, &files].concat());
        ["t.md", "t.tex"].map(|name| read(&place, name))
    };
    let [markdown, latex] = tables(&[
        "--x", "scene", "--y", "speedup", "--series", "method", "--spread", "-o", "a.svg",
    ]);
    assert!(
        markdown.contains("| a_b | 1.50 (1.25–1.75, n = 2) | 1.12 (1.12–1.12, n = 1) |"),
        "{markdown}"
    );
    assert!(markdown.contains("| c | 2 (2–2, n = 1) | - |"), "{markdown}");
    assert!(latex.starts_with("\\begin{tabular}{lrr}"), "{latex}");
    assert!(latex.contains("a\\_b & 1.50 (1.25--1.75, n = 2) & 1.12"), "{latex}");
    // Without a plot, and with units of sizes.
    let [markdown, _] =
        tables(&["--x", "tc.bins", "--y", "speedup", "--series", "crop.cache_bytes"]);
    assert!(
        markdown.starts_with("| speedup by tc.bins, crop.cache_bytes | 8 KiB | 16 KiB |"),
        "{markdown}"
    );
    let [markdown, _] = tables(&["--x", "scene", "--y", "speedup", "--summary", "max"]);
    assert!(
        markdown.contains("| scene | speedup |") && markdown.contains("| max | 2 |"),
        "{markdown}"
    );
    let [markdown, _] = tables(&["--kind", "scatter", "--x", "tc.bins", "--y", "speedup"]);
    assert_eq!(markdown.lines().count(), 2 + 4, "{markdown}");
    let heat = ["--x", "tc.bins", "--y", "crop.cache_bytes", "--value", "speedup"];
    let [markdown, _] = tables(&heat);
    assert!(markdown.contains("| 16 | - | 2 |"), "{markdown}");
}

#[test]
fn sizes_in_legends_have_their_unit() {
    let place = Place::new();
    let rows = "scene,width,crop.cache_bytes,cycles\na,640,8192,5\nb,640,8192,6\na,320,16384,7\nb,320,16384,8\n";
    fs::write(place.path("rows.csv"), rows).unwrap();
    let plot = |series: &str| {
        let flags = ["--x", "scene", "--y", "cycles", "--series", series, "-o", "a.svg", "-q"];
        place.expect(DONE, &[&["plot", "rows.csv"], &flags[..]].concat());
        read(&place, "a.svg")
    };
    let svg = plot("width,crop.cache_bytes");
    assert!(svg.contains(">640 px, 8 KiB<") && svg.contains(">320 px, 16 KiB<"), "{svg}");
    assert!(plot("width").contains(">640 px<"));
    // The numbers stay numbers.
    let table = read(&place, "a.plot.csv");
    assert!(table.contains("a,320,7,7,7,,1"), "{table}");
}

#[test]
fn hostile_results_are_refused() {
    let place = Place::new();
    let unread = |name: &str, content: &str, words: &[&str]| {
        fs::write(place.path(name), content).unwrap();
        let arguments = ["plot", name, "--x", "a", "--y", "b", "-o", "p.svg"];
        place.expect_error(UNREADABLE, &arguments, words);
    };
    unread("a.jsonl", "", &["a.jsonl", "rows of results"]);
    unread("a.jsonl", "[1]\n", &["a.jsonl", "line 1"]);
    unread("a.jsonl", "{\"a\": 1}\n", &["a.jsonl", "rows of results"]);
    unread("a.jsonl", &"[".repeat(100_000), &["a.jsonl", "line 1"]);
    unread("a.jsonl", &format!("{{\"a\":{}\n", "[".repeat(100_000)), &["a.jsonl", "line 1"]);
    unread("a.csv", "a,b\n1\n", &["a.csv", "line 2"]);
    unread("a.csv", "a,a\n1,2\n", &["a.csv", "line 1"]);
    let none = ["plot", "none.jsonl", "--x", "a", "--y", "b", "-o", "p.svg"];
    place.expect_error(UNREADABLE, &none, &["none.jsonl"]);
}

#[test]
fn hostile_values_are_drawn_as_text() {
    let place = Place::new();
    let draw = |content: &str, more: &[&str]| {
        fs::write(place.path("a.csv"), content).unwrap();
        let arguments = ["plot", "a.csv", "--x", "a", "--y", "b", "-o", "p.svg", "--pdf"];
        let output = place.expect(DONE, &[&arguments[..], more].concat());
        check_pdf(&fs::read(place.path("p.pdf")).unwrap());
        let svg = read(&place, "p.svg");
        check_svg(&svg);
        (svg, String::from_utf8(output.stderr).unwrap())
    };
    let (svg, errors) = draw("a,b\n\"<x>\u{1b}[31m]]>&amp;\",1\n山,2\n", &[]);
    assert!(svg.contains("&lt;x&gt;[31m]]&gt;&amp;amp;"), "{svg}");
    assert!(errors.contains("山") && !errors.contains('\u{1b}'), "{errors}");
    fs::write(place.path("a.csv"), "a,b\n1,2\n2,1e308\n").unwrap();
    let huge = ["plot", "a.csv", "--x", "a", "--y", "b", "-o", "q.svg"];
    place.expect_error(USAGE, &huge, &["numbers in the field b", "1e308"]);
    for numbers in ["1e150,-1e150\n-1e150,1e150\n", "0,0\n", "1e-320,5e-324\n", "3,3\n3,3\n"] {
        draw(&format!("a,b\n{numbers}"), &[]);
        draw(&format!("a,b\n{numbers}"), &["--kind", "scatter", "--fit-x", "--fit-y"]);
        draw(&format!("a,b\n{numbers}"), &["--kind", "bars", "--spread"]);
        draw(&format!("a,b\n{numbers}"), &["--value", "b"]);
    }
    let many: String = (0..30_000).map(|n| format!("{n},1\n")).collect();
    fs::write(place.path("a.csv"), format!("a,b\n{many}")).unwrap();
    let arguments = ["plot", "a.csv", "--x", "a", "--y", "b", "-o", "q.svg"];
    place.expect_error(USAGE, &arguments, &["at most 20000 points", "--where"]);
}

/// Counts of pixels are squares from the top in SVG and PDF.
#[test]
fn arrays_of_pixels_are_plotted() {
    let place = Place::new();
    let mesh = ["mesh", "plane", "--width", "12", "--height", "8", "--heat", "heat.png"];
    place.expect(DONE, &mesh);
    let plot = ["plot", "heat.npy", "--x", "pixel_x", "--y", "pixel_y", "--value", "value"];
    place.expect(DONE, &[&plot[..], &["-o", "heat.svg", "--pdf"]].concat());
    check_svg(&read(&place, "heat.svg"));
    check_pdf(&fs::read(place.path("heat.pdf")).unwrap());
    let counts = quadrille_base::image::files::read_planes(&place.path("heat.npy")).unwrap();
    let plotted = table(&read(&place, "heat.plot.csv"));
    assert_eq!((plotted.len(), counts[0].values.len()), (96, 96));
    for point in &plotted {
        let [x, y] = ["pixel_x", "pixel_y"].map(|axis| number(&point[axis]) as usize);
        assert_eq!(number(&point["value"]), counts[0].values[12 * y + x]);
    }
    place.expect(
        DONE,
        &["render", "scene.ply", "--width", "16", "--aov", "normal", "-o", "a.{aov}.npy"],
    );
    let fields = place.expect(DONE, &["plot", "a.normal.npy", "--list-fields"]).stdout;
    assert!(String::from_utf8(fields).unwrap().contains("value.X"));
}
