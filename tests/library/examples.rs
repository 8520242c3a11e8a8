//! The examples, each of which is a lesson of its own.

use std::path::Path;

use quadrille::gpu::extension::Extension;

#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/add_a_method.rs"]
mod add_a_method;
#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/convert_and_check.rs"]
mod convert_and_check;
#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/many_views.rs"]
mod many_views;
#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/mesh_heat_map.rs"]
mod mesh_heat_map;
#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/own_program.rs"]
mod own_program;
#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/replace_a_unit.rs"]
mod replace_a_unit;
#[allow(dead_code, reason = "its `main` is for `cargo run`")]
#[path = "../../examples/sweep_with_plot.rs"]
mod sweep_with_plot;

/// Most lines of a lesson; the unit of one's own takes more.
const MOST_LINES: usize = 60;
/// Most lines of the body of a program of the tour.
const MOST_LINES_OF_TOUR: usize = 15;

#[test]
fn examples_are_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "rs") || path.ends_with("add_a_unit.rs") {
            continue;
        }
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", path.display());
        count += 1;
    }
    assert!(count >= 4);
}

#[test]
fn programs_of_the_tour_are_short() {
    let text = include_str!("tour.rs");
    let programs: Vec<_> = text.split("#[test]\nfn ").skip(1).collect();
    assert!(programs.len() > 10, "the programs were not read");
    for program in programs {
        let (head, body) = program.split_once('\n').unwrap();
        let lines = body.lines().take_while(|line| *line != "}").count();
        assert!(lines <= MOST_LINES_OF_TOUR, "{head}: {lines} lines");
    }
}

#[test]
fn many_views_are_drawn_with_layers() {
    let folder = tempfile::tempdir().unwrap();
    let page = many_views::run(folder.path()).unwrap();
    let pictures = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(pictures > 1 && page.lines().count() == pictures, "{page}");
    assert!(!page.contains("at inf"), "{page}");
}

#[test]
fn a_converted_scene_looks_alike() {
    let folder = tempfile::tempdir().unwrap();
    let worst = convert_and_check::run(folder.path()).unwrap();
    assert!((30.0..90.0).contains(&worst), "{worst} dB");
}

#[test]
fn a_sweep_becomes_a_plot() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(sweep_with_plot::run(folder.path()).unwrap(), 0);
    let plot = std::fs::read_to_string(folder.path().join("bins.svg")).unwrap();
    assert!(plot.contains("het+qm") && plot.contains("tc.bins"), "{plot}");
}

/// Runs the program with an extension on a suite of one small view, and returns the rows as CSV by line and cell.
fn rows(own: Extension, suite: &str) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let [file, results] = ["suite.toml", "rows.jsonl"].map(|name| folder.path().join(name));
    let scene =
        "\n[[scene]]\nname = 'vase'\nrecipe = 'object'\nsplats = 500\nview = '0'\nwidth = 64\n";
    std::fs::write(&file, format!("{suite}{scene}")).unwrap();
    let words = ["own", "bench", "-q", "-o"].map(std::ffi::OsString::from).into_iter();
    let args = words.chain([results.clone().into(), file.into()]);
    assert_eq!(quadrille::cli::run_with([own], args), 0);
    let rows = quadrille::suite::RunRow::split(quadrille::suite::read_rows(&results).unwrap()).0;
    let table = quadrille::suite::csv::text(&rows, &[]);
    table.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn cells(rows: &[Vec<String>], column: &str) -> Vec<String> {
    let at = rows[0].iter().position(|name| name == column);
    let at = at.unwrap_or_else(|| panic!("no column {column}: {:?}", rows[0]));
    rows[1..].iter().map(|row| row[at].clone()).collect()
}

#[test]
fn a_program_with_its_own_unit_sweeps_its_field() {
    let suite = "method = ['baseline']\n[matrix]\nprobe.latency_cycles = [0, 20000]";
    let rows = rows(own_program::probe(), suite);
    let numbers = |column| cells(&rows, column).iter().map(|n| n.parse().unwrap()).collect();
    let cycles: Vec<u64> = numbers("cycles");
    assert!(cycles[1] >= cycles[0] + 20_000, "{cycles:?}");
    let full: Vec<u64> = numbers("counters.probe.full");
    assert!(full[0] > 0 && full[0] == full[1], "{full:?}");
    let args = ["own", "sim", "--config-dump", "--set", "probe.latency_cycles=8"];
    assert_eq!(quadrille::cli::run_with([own_program::probe()], args), 0);
    assert_eq!(quadrille::cli::run_from(args), 2);
}

/// Without a depth buffer Hi-Z drops nothing, so that another one with its rate takes the same cycles.
#[test]
fn another_unit_replaces_hi_z() {
    let suite = "method = ['baseline']\n[matrix]\nwide_hi_z.tiles_per_cycle = ['1/8', 2]";
    let rows = rows(replace_a_unit::wide_hi_z(), suite);
    let cycles: Vec<u64> =
        cells(&rows, "cycles").iter().map(|number| number.parse().unwrap()).collect();
    assert!(cycles[0] > cycles[1], "{cycles:?}");
}

#[test]
fn a_method_from_outside_has_rows_beside_the_others() {
    let suite = "method = ['baseline', 'het', 'het-fullest']\n[matrix]\ntc.bins = [2]";
    let rows = rows(add_a_method::fullest(), suite);
    assert_eq!(cells(&rows, "method"), ["baseline", "het", "het-fullest"]);
    let cycles = cells(&rows, "cycles");
    assert!(cycles[1] != cycles[2], "{cycles:?}");
    let error = quadrille::Method::parse("het-fullest").unwrap_err().to_string();
    assert!(error.contains("het+qm"), "{error}");
}

#[test]
fn merging_shades_pixels_less_often() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(mesh_heat_map::run(folder.path()), 0);
    // Counts of shadings per pixel stand behind the header of each .npy file, as little-endian u32.
    let shadings = |unit: &str| -> u64 {
        let bytes = std::fs::read(folder.path().join(format!("heat.{unit}.npy"))).unwrap();
        let counts = &bytes[bytes.len() - 320 * 180 * 4..];
        let counts = counts.as_chunks::<4>().0.iter();
        counts.map(|count| u64::from(u32::from_le_bytes(*count))).sum()
    };
    let (unmerged, merged) = (shadings("none-16x-1px"), shadings("qfm-32-16x-1px"));
    assert!(merged > 0 && merged < unmerged, "{unmerged} and {merged} shadings");
}
