//! Errors and notes that lead to the command that was meant.
use std::fs;

use crate::support::program::{DONE, Place, UNREADABLE, USAGE};

/// The arguments of a line.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn refuses(place: &Place, line: &str, expected: &[&str]) {
    place.expect_error(USAGE, &words(line), expected);
}

/// Standard error of a command that succeeds.
fn said(place: &Place, line: &str) -> String {
    let output = place.expect(DONE, &words(line));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn misspelt_names_of_all_kinds_get_a_proposal() {
    let place = Place::new();
    for (line, meant) in [
        ("render scene.ply -o a.png --widht 3", "--width"),
        ("--quite render scene.ply", "--quiet"),
        ("rneder scene.ply", "render"),
        ("hlep", "help"),
        ("man rneder", "render"),
        ("render scene.ply -o a.png --profile inira", "inria"),
        ("render scene.ply -o a.png --backend refernce", "reference"),
        ("sim scene.ply --preset oirn", "orin"),
        ("sim scene.ply --method basleine", "baseline"),
        ("sim scene.ply --method interlok", "interlock"),
        ("sim scene.ply --set tc.bisn=8", "bins"),
        ("sim scene.ply --set crop.format=rgab8", "rgba8"),
        ("sim scene.ply --set corp.fromat=rgba8", "crop"),
        ("synth rooom -o a.ply", "room"),
        ("microbench tile-bnis", "tile-bins"),
        ("figures suite.toml -o out --only fgi9", "fig9"),
        ("convert scene.ply -o a.ply --format sgo", "sog"),
    ] {
        refuses(&place, line, &[&format!("did you mean {meant}?")]);
    }
    for (suite, meant) in [
        ("method = [\"basleine\"]\n[[scene]]\nname = \"a\"\nrecipe = \"room\"\n", "baseline"),
        ("[[scene]]\nname = \"a\"\nrecipe = \"romo\"\n", "room"),
        ("[[scene]]\nname = \"a\"\nrecipe = \"room\"\nwidht = 3\n", "width"),
        (
            "workload = \"merging\"\n[[mesh]]\nname = \"a\"\nmesh = \"plane\"\nwidht = 3\n[[study]]\nname = \"s\"\n",
            "width",
        ),
    ] {
        fs::write(place.path("suite.toml"), suite).unwrap();
        let bench = words("bench suite.toml -o rows.jsonl");
        place.expect_error(UNREADABLE, &bench, &[&format!("did you mean {meant}?")]);
    }
}

#[test]
fn missing_meshes_list_the_procedural_ones() {
    let place = Place::new();
    for command in ["mesh", "deferred"] {
        let line = format!("{command} frgo");
        let expected = ["plane, sinewave, frog", "did you mean frog?"];
        place.expect_error(UNREADABLE, &words(&line), &expected);
        let line = format!("{command} nosuch");
        let output = place.expect(UNREADABLE, &words(&line));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("arcade") && !errors.contains("did you mean"), "{errors}");
    }
}

#[test]
fn inputs_beyond_those_of_a_command_get_the_remedy() {
    let place = Place::new();
    let compare = "compare a.png b.png c.png";
    refuses(&place, compare, &["c.png", "<A>, <B>", "two folders", "once per pair"]);
    refuses(&place, "render a.ply b.ply -o a.png", &["b.ply", "quadrille convert A B"]);
    refuses(&place, "mesh plane frog", &["frog", "once per input"]);
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let place = Place::new();
    for beside in ["--orbit 2", "--eye 1,1,1", "--target 0,0,0", "--cameras cameras.json"] {
        let line = format!("render scene.ply --repeat 1 --frames 3 {beside}");
        refuses(&place, &line, &["--frames", "--path", "--orbit N"]);
    }
    for (line, expected) in [
        ("mesh plane -o {view}.png --frames 3 --orbit 2", "--frames"),
        ("sim scene.ply --frames 3 --orbit 2", "--frames"),
        ("sim scene.ply --stencil-ops keep,keep,zero", "--stencil-test"),
        ("render scene.ply --repeat 1 --path cameras.json --propose-views 2", "--propose-views"),
        ("render scene.ply --resume --repeat 1", "--resume"),
        ("sim scene.ply --sensitivity --stats-every 100", "--stats-every"),
        ("compare a.exr b.exr --layers --markdown a.md", "--markdown"),
        ("compare a.exr b.exr --layers --latex a.tex", "--latex"),
        ("compare a.exr b.exr --layers --resume", "--resume"),
        ("compare a.exr b.exr --layers --lpips-weights a", "--lpips-weights"),
        ("mesh plane --versus scene.ply --crop 0,0,2,2", "--crop"),
        ("mesh plane --versus scene.ply --overlay quads", "--overlay"),
        ("mesh plane --versus scene.ply --aov depth", "--aov"),
    ] {
        refuses(&place, line, &[expected]);
    }
    place.picture("a.npy", &["--eye", "1,1,1", "--width", "16"]);
    let line = "compare a.npy a.npy --fail-over-share 0.1 --html page";
    refuses(&place, line, &["--fail-over-share", "--layers"]);
    for (flags, named) in [
        ("--view 0", "flags that choose views"),
        ("--width 8", "flags that choose views"),
        ("--lod 1", "--lod"),
        ("--profile gsplat", "--profile"),
    ] {
        let line = format!("compare a.npy a.npy {flags}");
        refuses(&place, &line, &[named, "scenes", "found pictures"]);
    }
}

#[test]
fn options_that_a_scene_does_not_follow_are_warned_of() {
    let place = Place::new();
    for (flags, expected) in
        [("--axes LUF", "its axes are RDF; --axes LUF"), ("--lod 2", "no level of detail 2")]
    {
        let output = place.expect(DONE, &words(&format!("info scene.ply {flags}")));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{text}");
        let errors = said(&place, &format!("convert scene.ply -o a.spz {flags}"));
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn outputs_of_another_kind_lead_to_their_flag() {
    let place = Place::new();
    fs::write(place.path("suite.toml"), "[[scene]]\nname = \"a\"\nrecipe = \"room\"\n").unwrap();
    fs::write(place.path("rows.csv"), "scene,cycles\na,1\n").unwrap();
    for (line, remedy) in [
        ("sim scene.ply -o x.csv", "--csv > x.csv"),
        ("sim scene.ply -o x.json", "--json > x.json"),
        ("sim scene.ply -o x.txt", "--stats x.txt"),
        ("mesh plane -o x.csv", "--csv > x.csv"),
        ("deferred arcade -o x.json", "--json > x.json"),
        ("bench suite.toml -o x.csv", "--csv > x.csv"),
        ("bench suite.toml -o x.json", "--json > x.json"),
        ("plot rows.csv --x scene --y cycles -o x.tex", "--latex x.tex"),
        ("plot rows.csv --x scene --y cycles -o x.md", "--markdown x.md"),
    ] {
        refuses(&place, line, &["-o: expected", remedy]);
    }
    assert!(!place.names().contains("x.csv"));
}

#[test]
fn a_trace_of_several_views_names_them_and_the_remedy() {
    let place = Place::new();
    let line = "sim scene.ply --orbit 2 --width 16 --trace t.json";
    let expected = ["--trace", "{view}", "2 views", "--view"];
    refuses(&place, line, &expected);
    let output = place.expect(USAGE, &words(line));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("film"), "{errors}");
}

#[test]
fn a_decimation_without_effect_is_noted() {
    let place = Place::new();
    place.expect(DONE, &words("synth object --splats 20 -o few.ply"));
    let note = said(&place, "convert few.ply --decimate 25 -o a.ply");
    assert!(note.contains("all 20 splats are kept") && note.contains("25%"), "{note}");
    let note = said(&place, "convert few.ply --decimate 100% -o b.ply");
    assert!(note.contains("all 20 splats are kept"), "{note}");
    let note = said(&place, "convert few.ply --decimate 10 -o c.ply");
    assert!(!note.contains("are kept"), "{note}");
}

#[test]
fn the_time_of_a_sensitivity_is_estimated() {
    let place = Place::new();
    place.expect(DONE, &words("synth object --splats 50 -o few.ply"));
    let sim = "sim few.ply --sensitivity --width 16 --method baseline,het --threads 2 --json";
    let note = said(&place, sim);
    let (_, runs) = note.split_once("--sensitivity makes ").unwrap();
    let (runs, _) = runs.split_once(" runs").unwrap();
    let runs: usize = runs.parse().unwrap();
    let document = place.document(&words(&format!("{sim} -q")));
    let fields = document["views"][0]["fields"].as_array().unwrap().len();
    assert!(runs > 2 * fields && runs.is_multiple_of(2), "{note}");
    assert!(note.contains("threads: 2") && note.contains("second"), "{note}");
}
