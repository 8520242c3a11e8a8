//! `-vv` of a build with the feature `trace`: the times of the parts of a command, on standard error.

use crate::support::program::{DONE, Place, SHOT};

/// The spans that a command prints, from the outermost one on.
fn spans(place: &Place, arguments: &[&str]) -> Vec<String> {
    let errors = String::from_utf8(place.expect(DONE, arguments).stderr).unwrap();
    let span = |line: &str| {
        let (ms, names) = line.strip_prefix("quadrille: ")?.split_once(" ms  ")?;
        ms.trim().parse::<f64>().ok()?;
        Some(names.to_owned())
    };
    errors.lines().filter_map(span).collect()
}

#[test]
fn a_command_prints_the_times_of_its_parts() {
    let place = Place::new();
    let render = [&["render", "scene.ply", "-o", "a.png"], &SHOT[..]].concat();
    let printed = spans(&place, &[&render[..], &["-vv"]].concat());
    let has = |printed: &[String], name: &str| {
        let is_it = printed.iter().any(|span| span.rsplit(" > ").next() == Some(name));
        assert!(is_it, "{name}: {printed:?}");
    };
    // The file is read while its splats are projected.
    for name in ["preprocess", "bin", "sort", "raster", "write"] {
        has(&printed, name);
    }
    assert!(spans(&place, &[&render[..], &["-v"]].concat()).is_empty());

    let convert = ["convert", "scene.ply", "--scale", "2", "-o", "a.sog", "-vv"];
    let printed = spans(&place, &convert);
    for name in ["load", "step", "encode", "write"] {
        has(&printed, name);
    }
}

#[test]
fn a_suite_prints_the_time_of_each_row() {
    let place = Place::new();
    let suite = "method = [\"baseline\"]\n[[scene]]\nname = \"small\"\npath = \"scene.ply\"\ncameras = \"cameras.json\"\n";
    std::fs::write(place.path("suite.toml"), suite).unwrap();
    let printed = spans(&place, &["bench", "suite.toml", "-o", "rows.jsonl", "-vv"]);
    let rows = printed.iter().filter(|span| *span == "row").count();
    assert_eq!(rows, crate::support::program::CAMERAS, "{printed:?}");
    // Methods run on other threads, where the row is not around them.
    assert!(printed.iter().any(|span| span.ends_with("simulate")), "{printed:?}");
}
