//! The examples, each of which is a lesson of its own.

use std::path::Path;

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
