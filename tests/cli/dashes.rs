//! `-` is standard output for every flag that takes a file, or an error; never the name of a file.

use std::fs;

use crate::support::program::{DONE, Place};

/// Calls that end at once, one for each command with outputs; flags are added to them.
const CALLS: [&str; 8] = [
    "compare a.png a.png",
    "convert scene.ply -o b.ply",
    "deferred plane --width 16",
    "mesh plane --width 16",
    "plot rows.csv --x a --y b",
    "render scene.ply --width 16 -o b.png",
    "sim scene.ply --width 16 --method baseline",
    "synth world --splats 10 -o b.ply",
];

/// Flags of a command that take a value, from its help.
fn flags(place: &Place, command: &str) -> Vec<String> {
    let help = String::from_utf8(place.expect(DONE, &[command, "--help"]).stdout).unwrap();
    let flag = |line: &str| {
        let (flag, value) = line.trim_start().split_once(" <")?;
        let long = flag.split("--").nth(1)?;
        (line.starts_with(' ') && !value.is_empty()).then(|| format!("--{long}"))
    };
    help.lines().filter_map(flag).collect()
}

#[test]
fn no_flag_writes_a_file_that_is_called_dash() {
    let place = Place::new();
    fs::write(place.path("rows.csv"), "a,b\n1,2\n2,3\n").unwrap();
    let picture = ["render", "scene.ply", "--width", "16", "-o", "a.png"];
    place.expect(DONE, &picture);
    for call in CALLS {
        let words: Vec<&str> = call.split(' ').collect();
        let all = flags(&place, words[0]);
        assert!(all.len() > 3, "{call}: {all:?}");
        for flag in &all {
            // A call has an output of its own unless the flag names it.
            let own = words.iter().position(|word| *word == "-o").filter(|_| flag == "--output");
            let call = &words[..own.unwrap_or(words.len())];
            let output = place.run(&[call, &[flag, "-"]].concat());
            let names = place.names();
            assert!(!names.iter().any(|name| name.starts_with('-')), "{call:?} {flag}: {names:?}");
            assert!(output.status.code().is_some_and(|code| code < 5), "{call:?} {flag}");
        }
    }
}

/// An extension after the dash names the format.
#[test]
fn pictures_on_standard_output_have_the_format_of_their_extension() {
    let place = Place::new();
    for (extension, start) in
        [("exr", &b"\x76\x2f\x31\x01"[..]), ("npy", b"\x93NUMPY"), ("png", b"\x89PNG")]
    {
        let (stdout, file) = (format!("-.{extension}"), format!("a.{extension}"));
        for call in
            [&["render", "scene.ply", "--width", "16"][..], &["mesh", "plane", "--width", "16"]]
        {
            let output = place.expect(DONE, &[call, &["-o", &stdout]].concat()).stdout;
            place.expect(DONE, &[call, &["-o", &file]].concat());
            assert!(output.starts_with(start) && output == fs::read(place.path(&file)).unwrap());
        }
    }
    let layers = ["render", "scene.ply", "--width", "16", "--aov", "depth", "-o"];
    let output = place.expect(DONE, &[&layers[..], &["-.exr"]].concat()).stdout;
    place.expect(DONE, &[&layers[..], &["l.exr"]].concat());
    assert!(output == fs::read(place.path("l.exr")).unwrap());
    assert!(!place.names().iter().any(|name| name.starts_with('-')), "{:?}", place.names());
}

#[test]
fn files_on_standard_output_replace_the_page_there() {
    let place = Place::new();
    fs::write(place.path("rows.csv"), "a,b\n1,2\n2,3\n").unwrap();
    place.expect(DONE, &["render", "scene.ply", "--width", "16", "-o", "a.png"]);
    let compare = ["compare", "a.png", "a.png"];
    let plot = ["plot", "rows.csv", "--x", "a", "--y", "b"];
    let sim = ["sim", "scene.ply", "--width", "16", "--method", "baseline"];
    for (call, flag, file) in [
        (&compare[..], "--csv", "f.csv"),
        (&compare, "--markdown", "f.md"),
        (&compare, "--latex", "f.tex"),
        (&[&compare[..], &["--fail-under-psnr", "1"]].concat(), "--junit", "f.xml"),
        (&plot, "--latex", "g.tex"),
        (&plot, "-o", "g.svg"),
        (&sim, "--stats", "stats.txt"),
        (&sim, "--trace", "trace.json"),
        (&["convert", "scene.ply", "-o", "b.ply"], "--report", "r.json"),
        (&["convert", "scene.ply", "--format", "spz"], "-o", "c.spz"),
        (&["synth", "world", "--splats", "9", "-o", "w.ply"], "--cameras-out", "w.json"),
        (&["render", "scene.ply", "--width", "16", "-o", "a.png"], "--cameras-out", "o.json"),
    ] {
        let stdout = place.expect(DONE, &[call, &[flag, "-"]].concat()).stdout;
        place.expect(DONE, &[call, &[flag, file]].concat());
        let written = fs::read(place.path(file)).unwrap();
        if flag == "--junit" {
            // It names the call.
            assert!(stdout.starts_with(b"<?xml") && stdout.ends_with(b"</testsuites>\n"));
        } else {
            assert!(stdout == written, "{call:?} {flag}");
        }
    }
    let both = [&compare[..], &["--csv", "-", "--markdown", "-"]].concat();
    place.expect_error(2, &both, &["--markdown - cannot be used with --csv"]);
    let json = [&compare[..], &["--csv", "-", "--json"]].concat();
    place.expect_error(2, &json, &["--csv - cannot be used with --json"]);
}
