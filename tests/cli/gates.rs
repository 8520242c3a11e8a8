//! Limits of comparisons: whatever was not compared fails them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;

use quadrille::Frame;
use serde_json::{Value, json};

use crate::support::program::{ALL_VIEWS, CAMERAS, DONE, Place, UNREADABLE, USAGE};

const FAILED: i32 = 1;
const GATE: [&str; 2] = ["--fail-under-psnr", "5"];

fn grey(place: &Place, name: &str, value: f32) {
    let path = place.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    quadrille::write_picture(path, &Frame::from_pixels(8, 8, vec![[value; 4]; 64])).unwrap();
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Expects that `call` fails its limit for the reason `word`, also quietly and as JSON, where `missing` is listed, and that
/// `--allow-missing` lets it pass.
fn assert_missing_fails(place: &Place, call: &[&str], word: &str, missing: &[&str]) {
    let call = [call, &GATE[..]].concat();
    for flags in [&[][..], &["-q"], &["--json"]] {
        let output = place.expect(FAILED, &[&call[..], flags].concat());
        let last = errors(&output).lines().last().unwrap().to_owned();
        assert!(last.contains(word) && last.contains("--allow-missing"), "{last}");
        if flags == ["--json"] {
            let found = document(&output);
            assert_eq!(found["missing"], json!(missing));
            assert_eq!(
                (&found["passed"], &found["limit"]),
                (&json!(false), &json!({"psnr_db": 5.0}))
            );
        }
    }
    let allowed = place.expect(DONE, &[&call[..], &["--allow-missing", "--json"]].concat());
    assert_eq!(document(&allowed)["passed"], true);
}

#[test]
fn missing_partners_fail_a_limit() {
    let place = Place::new();
    for name in ["a/one.png", "b/one.png", "b/two.png", "a/.three.png", "c/one.png", "c/low/x.png"]
    {
        grey(&place, name, 0.5);
    }
    assert_missing_fails(&place, &["compare", "a", "b"], "b/two.png", &["b/two.png"]);
    assert_missing_fails(&place, &["compare", "b", "a"], "b/two.png", &["b/two.png"]);
    // A folder that is lost as a whole.
    assert_missing_fails(&place, &["compare", "a", "c"], "c/low/x.png", &["c/low/x.png"]);
    place.expect_error(USAGE, &["compare", "a", "b", "--allow-missing"], &["needs a limit"]);
    place.expect_error(USAGE, &["compare", "a", "b", "--junit", "j.xml"], &["needs a limit"]);
}

#[test]
fn missing_photos_and_shorter_films_fail_a_limit() {
    let place = Place::new();
    place.expect(DONE, &[&ALL_VIEWS[..], &["-o", "photos/{view}.png"]].concat());
    place.expect(DONE, &[&ALL_VIEWS[..], &["-o", "long.apng"]].concat());
    place.expect(DONE, &[&ALL_VIEWS[..4], &["--view", "..2", "-o", "short.apng"]].concat());
    fs::remove_file(place.path("photos/shot_2.png")).unwrap();
    let scene = ["compare", "scene.ply", "photos", "--cameras", "cameras.json"];
    assert_missing_fails(&place, &scene, "view \"shot_2\"", &["view \"shot_2\""]);
    let films = ["compare", "long.apng", "short.apng"];
    let last = format!("long.apng: frame {}", CAMERAS - 1);
    assert_missing_fails(&place, &films, &last, &[&last]);
}

#[test]
fn values_that_are_not_finite_fail_a_limit() {
    let place = Place::new();
    for (name, value) in [("nan.npy", f32::NAN), ("inf.npy", f32::INFINITY), ("half.npy", 0.5)] {
        grey(&place, name, value);
    }
    for pair in [["nan.npy", "nan.npy"], ["inf.npy", "inf.npy"], ["half.npy", "nan.npy"]] {
        let call = ["compare", pair[0], pair[1], "--protocol", "float", "-q"];
        let output = place.expect(FAILED, &[&call[..], &["--fail-under-psnr", "-9"]].concat());
        assert!(errors(&output).contains("expected finite values, found pixels"), "{pair:?}");
    }
    let page = place.expect(DONE, &["compare", "nan.npy", "nan.npy", "-q"]).stdout;
    assert!(!String::from_utf8(page).unwrap().contains("identical"));
    let layers = ["compare", "nan.npy", "nan.npy", "--layers", "-q", "--fail-over-share", "1"];
    assert!(errors(&place.expect(FAILED, &layers)).contains("found NaN or infinity in nan"));
}

#[test]
fn each_metric_has_a_limit_and_the_verdict_is_last() {
    let place = Place::new();
    for (name, value) in [("a/x.png", 0.5), ("b/x.png", 0.4), ("a/y.png", 0.5), ("b/y.png", 0.5)] {
        grey(&place, name, value);
    }
    let compare = ["compare", "a", "b"];
    for (flag, fails, passes) in [
        ("--fail-under-psnr", "30", "10"),
        ("--fail-under-ssim", "0.9999", "0.1"),
        ("--fail-over-flip", "0.01", "0.9"),
    ] {
        let output = place.expect(FAILED, &[&compare[..], &[flag, fails]].concat());
        assert!(errors(&output).contains("pair \"x\": expected a"), "{}", errors(&output));
        let output = place.expect(DONE, &[&compare[..], &[flag, passes]].concat());
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(page.lines().last().unwrap().starts_with("passed: a"), "{page}");
    }
    place.expect_error(USAGE, &[&compare[..], &["--fail-over-lpips", "1"]].concat(), &["--lpips"]);
    // A limit that no picture can break, or none can keep, is a mistake.
    for limit in [["--fail-over-flip", "5"], ["--fail-under-ssim", "1.5"]] {
        place.expect_error(
            USAGE,
            &[&compare[..], &limit].concat(),
            &[limit[0], "the range of the metric"],
        );
    }
    let two = [&compare[..], &["--fail-under-psnr", "30,20"]].concat();
    place.expect_error(USAGE, &two, &["one number", "30,20"]);
    let limits = ["--fail-under-psnr", "30", "--fail-over-flip", "0.9", "--junit", "j.xml"];
    place.expect(FAILED, &[&compare[..], &limits].concat());
    let junit = fs::read_to_string(place.path("j.xml")).unwrap();
    let junit = roxmltree::Document::parse(&junit).unwrap();
    let cases = junit.descendants().filter(|node| node.has_tag_name("testcase"));
    let failed = |case: roxmltree::Node<'_, '_>| {
        let is_failed = case.children().any(|child| child.has_tag_name("failure"));
        (case.attribute("name").unwrap().to_owned(), is_failed)
    };
    assert_eq!(
        cases.map(failed).collect::<Vec<_>>(),
        [("x".to_owned(), true), ("y".to_owned(), false)]
    );
}

#[test]
fn each_level_of_detail_has_a_limit_and_a_row() {
    let place = Place::new();
    let convert = ["convert", "scene.ply", "--cameras", "cameras.json", "--lod-levels", "3"];
    let convert = [&convert[..], &["-o", "a.ssog", "--report", "r.json"]].concat();
    place.expect(DONE, &convert);
    let report: Value = serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    let levels = report["report"]["coarser_levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    let lowest = |views: &Value| {
        let psnr = views.as_array().unwrap().iter().map(|view| view["psnr_db"].as_f64().unwrap());
        psnr.fold(f64::INFINITY, f64::min)
    };
    for (level, loss) in (1..).zip(levels) {
        let lod = level.to_string();
        let compare = ["compare", "scene.ply", "a.ssog", "--cameras", "cameras.json", "--json"];
        let output = place.expect(DONE, &[&compare[..], &["--lod", &lod]].concat());
        assert!((lowest(&loss["views"]) - lowest(&document(&output)["pairs"])).abs() < 1e-9);
        assert!(!errors(&output).contains("no level of detail"), "{}", errors(&output));
    }
    let [first, last] = [&report["report"]["views"], &levels[1]["views"]].map(lowest);
    assert!(first > last + 1.0);
    fs::remove_file(place.path("a.ssog")).unwrap();
    let between = format!("{}", last + 0.5);
    let output = place.expect(FAILED, &[&convert[..], &["--fail-under-psnr", &between]].concat());
    assert!(errors(&output).contains("level of detail 2, view"), "{}", errors(&output));
    // The verdict is the last line, and the row of the output tells that there is none.
    assert!(errors(&output).lines().last().unwrap().contains("expected a PSNR of at least"));
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.lines().any(|l| l.starts_with("a.ssog") && l.ends_with("not written")), "{page}");
    assert!(!place.path("a.ssog").exists());
    let each = format!("{between},1,1");
    place.expect(DONE, &[&convert[..], &["--fail-under-psnr", &each]].concat());
    let two = [&convert[..], &["--fail-under-psnr", "30,20"]].concat();
    place.expect_error(USAGE, &two, &["one number, or 3", "30,20"]);
}

#[test]
fn a_failure_is_a_json_document_too() {
    let place = Place::new();
    for call in [&["compare", "nosuch", "b", "--json"][..], &["info", "nosuch.ply", "--json"]] {
        let output = place.expect(UNREADABLE, call);
        let found = document(&output);
        assert!(found["error"].as_str().unwrap().contains("nosuch"), "{found}");
        assert_eq!(found["exit_code"], UNREADABLE);
    }
}

#[test]
fn files_of_other_kinds_fail_a_limit() {
    let place = Place::new();
    for name in ["a/x.png", "b/x.png"] {
        grey(&place, name, 0.5);
    }
    let call = [&["compare", "a", "b"][..], &GATE].concat();
    place.expect(DONE, &call);
    // Pictures of a format that is not read, in both folders.
    for folder in ["a", "b"] {
        fs::write(place.path(&format!("{folder}/y.webp")), b"RIFF\0\0\0\0WEBPVP8 ").unwrap();
    }
    let output = place.expect(UNREADABLE, &call);
    assert!(errors(&output).contains("y.webp"), "{}", errors(&output));
    for folder in ["a", "b"] {
        fs::remove_file(place.path(&format!("{folder}/y.webp"))).unwrap();
        fs::write(place.path(&format!("{folder}/turn.apng")), b"").unwrap();
    }
    let output = place.expect(FAILED, &[&call[..], &["-q"]].concat());
    assert!(errors(&output).contains("turn.apng"), "{}", errors(&output));
}

#[test]
fn a_verdict_of_an_earlier_run_does_not_stay() {
    let place = Place::new();
    for name in ["a/x.png", "b/x.png"] {
        grey(&place, name, 0.5);
    }
    let call = [&["compare", "a", "b", "--junit", "v.xml"][..], &GATE].concat();
    place.expect(DONE, &call);
    fs::rename(place.path("b"), place.path("c")).unwrap();
    place.expect(UNREADABLE, &call);
    let verdict = fs::read_to_string(place.path("v.xml")).unwrap();
    assert!(verdict.contains("errors=\"1\"") && verdict.contains("<error message="), "{verdict}");
    // A service that finds no verdict would not know of the error.
    fs::remove_file(place.path("v.xml")).unwrap();
    place.expect(UNREADABLE, &call);
    let verdict = fs::read_to_string(place.path("v.xml")).unwrap();
    assert!(verdict.contains("errors=\"1\""), "{verdict}");
    // A file that is no verdict stays.
    fs::write(place.path("v.xml"), "mine").unwrap();
    place.expect(UNREADABLE, &call);
    assert_eq!(fs::read_to_string(place.path("v.xml")).unwrap(), "mine");
}

/// Whoever reads only a table, or calls quietly and without a limit, sees what was not compared and what is not finite.
#[test]
fn tables_mark_missing_partners_and_numbers_that_are_not_finite() {
    let place = Place::new();
    for name in ["a/one.npy", "b/one.npy", "b/two.npy", "a/nan.npy"] {
        grey(&place, name, 0.5);
    }
    let nan = Frame::from_pixels(8, 8, vec![[f32::NAN; 4]; 64]);
    quadrille::write_picture(place.path("b/nan.npy"), &nan).unwrap();
    let files = ["--csv", "t.csv", "--markdown", "t.md", "--latex", "t.tex", "--html", "page"];
    let output = place.expect(DONE, &[&["compare", "a", "b", "-q"], &files[..]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let marks = ["pixels that are NaN or infinite: 64", "no partner", "b/two.npy"];
    let names = ["t.csv", "t.md", "t.tex", "page/index.html"];
    let written = names.map(|name| fs::read_to_string(place.path(name)).unwrap());
    for table in written.iter().chain([&text]) {
        assert!(marks.iter().all(|mark| table.contains(mark)), "{table}");
    }
    assert!(text.contains("2 of 3 pairs were compared"), "{text}");
    let mut csv = csv::Reader::from_reader(written[0].as_bytes());
    let lines = csv.deserialize().map(Result::unwrap);
    let lines: Vec<BTreeMap<String, String>> = lines.collect();
    assert_eq!(
        lines.iter().map(|line| &line["mark"][..]).collect::<Vec<_>>(),
        [marks[0], "", marks[1]]
    );
}

/// The linear light of an EXR and the display values of a PNG are not the same numbers.
#[test]
fn linear_light_beside_display_values_is_told() {
    let place = Place::new();
    let mesh = ["mesh", "plane", "--width", "16", "--height", "12"];
    for name in ["a.exr", "b.exr", "a.png", "b.png"] {
        place.expect(DONE, &[&mesh[..], &["-o", name]].concat());
    }
    let told = |a: &str, b: &str| errors(&place.expect(DONE, &["compare", a, b]));
    let expected = "a.exr holds linear light and a.png does not say so";
    assert!(told("a.exr", "a.png").contains(expected), "{}", told("a.exr", "a.png"));
    assert!(told("a.png", "a.exr").contains(expected));
    assert_eq!([told("a.exr", "b.exr"), told("a.png", "b.png")], ["", ""]);
}
