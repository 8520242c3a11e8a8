//! Explanations of the `mesh` command: its table, the cycles of units, drawings over pictures.

use std::path::Path;
use std::process::Command;

/// Exit code, standard output and standard error of `mesh`.
fn mesh(folder: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quadrille"));
    let command = command.arg("mesh").args(arguments.split_whitespace());
    let output = command.current_dir(folder).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), out, err)
}

/// Headings of the first table.
fn headings(page: &str) -> Vec<&str> {
    let first = page.lines().next().unwrap();
    first.split("  ").map(str::trim).filter(|h| !h.is_empty()).collect()
}

#[test]
fn tables_have_the_columns_that_say_something() {
    let folder = tempfile::tempdir().unwrap();
    let page = |arguments: &str| {
        let size = "plane --tessellate 20 --width 96 --height 60";
        let (code, out, err) = mesh(folder.path(), &format!("{size} {arguments}"));
        assert_eq!(code, Some(0), "{err}");
        out
    };
    let alone = page("");
    assert_eq!(headings(&alone), ["triangles", "quads", "partial", "shaded", "per px"]);
    assert!(alone.contains("\nin all rows: view auto, area px 20, msaa 4, unit none\n"), "{alone}");
    // A plane hides nothing, and every unit sees the same quads.
    let units = page("--method none,qfm --psnr");
    let expected = ["unit", "buffer", "shaded", "per px", "less", "saved", "effic."];
    assert_eq!(headings(&units), expected);
    for heading in expected.into_iter().chain(["view", "msaa", "triangles"]) {
        let explained = units.lines().filter(|line| line.starts_with(&format!("{heading:15}")));
        assert_eq!(explained.count(), 1, "{heading}: {units}");
    }
    assert_eq!(headings(&page("--msaa 1,4"))[0], "msaa");
}

/// The sentence names the port that limits the frame; raising the rate that it names lets the cycles fall.
#[test]
fn cycles_say_what_a_unit_costs() {
    let folder = tempfile::tempdir().unwrap();
    let page = |more: &str| {
        let arguments = "plane --tessellate 2 --width 320 --height 200 --cycles --method";
        let (code, out, err) = mesh(folder.path(), &format!("{arguments} {more}"));
        assert_eq!(code, Some(0), "{err}");
        out
    };
    let times = |page: &str, unit: &str| -> f64 {
        let mut lines = page.lines();
        let line = lines.find(|line| line.starts_with(&format!("{unit} ("))).unwrap();
        let times = line.split(" less in ").nth(1).unwrap();
        times.split(' ').next().unwrap().parse().unwrap()
    };
    let before = page("none,qfm,pmu");
    for unit in ["qfm", "pmu"] {
        assert!(times(&before, unit) > 1.5, "{before}");
        assert!(before.contains(&format!("the frame is limited by {unit} (")), "{before}");
        let knob = format!("--set {unit}.quads_per_cycle=");
        assert!(before.contains(&knob), "{before}");
        let after = page(&format!("none,{unit} {knob}4"));
        assert!(times(&after, unit) < 0.6 * times(&before, unit), "{after}");
    }
    assert!(before.contains("and without the unit by quads, crop ("), "{before}");
    assert!(!page("qfm").contains("without the unit"));
}

#[test]
fn drawings_need_pixels_and_quads() {
    let folder = tempfile::tempdir().unwrap();
    let small = "plane --width 40 --height 30 -o p.{method}.png";
    let drawn = format!("{small} --method none,qfm --overlay quads,edges,samples --heat-max 4");
    let (code, _, err) = mesh(folder.path(), &drawn);
    assert_eq!(code, Some(0), "{err}");
    let picture = quadrille::read_picture(folder.path().join("p.qfm-32-4x-10px.png")).unwrap();
    // Sixteen times as large, with a legend below.
    assert_eq!((picture.width(), picture.height()), (640, 536));
    let crop = format!("{small} --method reyes --overlay vertices --crop 4,4,10,8,20");
    assert_eq!(mesh(folder.path(), &crop).0, Some(0));
    let picture = quadrille::read_picture(folder.path().join("p.reyes-4x-10px.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (200, 160));
    for (arguments, said) in [
        (
            "--method none,reyes --overlay quads --width 40",
            "--overlay quads cannot be used with --method reyes",
        ),
        ("--overlay edges,edges --width 40", "edges twice"),
        ("--overlay edges --heat-max 4 --width 40", "--heat-max"),
        ("--overlay edges --width 1280", "--overlay: expected a zoom of 4 or more"),
        ("--overlay edges --crop 4,4,9,9,2 --width 40", "--overlay: expected a zoom of 4 or more"),
        ("--overlay edges --crop 39,4,9,9 --width 40", "--crop"),
        ("--overlay edges --aov id --width 40", "--aov"),
    ] {
        let (code, _, err) =
            mesh(folder.path(), &format!("plane --height 30 -o p.{{method}}.png {arguments}"));
        assert_eq!(code, Some(2), "{arguments}: {err}");
        assert!(err.contains(said), "{arguments}: {err}");
    }
}
