use clap::Parser;

use super::*;
use crate::scene::{Splat, Visibility};

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    view: ViewArgs,
}

const QUIET: Verbosity = Verbosity {
    quiet: true,
    verbose: false,
};

fn parsed(line: &str) -> ViewArgs {
    let words = std::iter::once("program").chain(line.split_whitespace());
    Program::try_parse_from(words).unwrap().view
}

fn scene() -> Splats {
    Splats::from_splats(
        0,
        (0..64).map(|i| Splat {
            mean: [(i % 4) as f32, (i / 4 % 4) as f32, (i / 16) as f32],
            scale: [0.1; 3],
            rotation: [1.0, 0.0, 0.0, 0.0],
            opacity: 0.9,
            sh: [[0.0; 3]; 25],
        }),
    )
}

fn views(line: &str) -> Result<Vec<Camera>> {
    parsed(line).views(&scene(), QUIET)
}

fn names(line: &str) -> Vec<String> {
    views(line).unwrap().into_iter().map(|c| c.name).collect()
}

/// A cameras.json of five views, 980 x 545 as the Tanks and Temples scenes are.
fn camera_file() -> (tempfile::TempDir, String) {
    let entries: Vec<String> = ["a", "b", "007", "3", "all"]
        .iter()
        .map(|name| {
            format!(
                r#"{{"img_name": "{name}", "width": 980, "height": 545, "fx": 640, "fy": 650,
                "position": [0, 0, 0], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}}"#
            )
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cameras.json");
    std::fs::write(&path, format!("[{}]", entries.join(","))).unwrap();
    let flags = format!("--cameras {}", path.display());
    (folder, flags)
}

#[test]
fn without_flags_a_view_shows_the_scene() {
    let found = views("").unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].width, found[0].height), (1280, 720));
    let seen = Visibility::of(&scene(), &found[0], 0.2);
    assert!(seen.in_view > 0.9, "{seen:?}");
}

#[test]
fn negative_points_parse() {
    let camera = &views("--eye -1,2,-3.5 --target -1,2,1 --up 0,-1,0 --fov 90").unwrap()[0];
    assert!((camera.eye() - Vector3::new(-1.0, 2.0, -3.5)).norm() < 1e-12);
    assert!((camera.focal_px[0] - 360.0).abs() < 1e-9);
    for bad in [
        "--eye 1,2",
        "--eye 1,2,x",
        "--up inf,0,0",
        "--eye 0,0,0 --cameras x",
    ] {
        let words = std::iter::once("program").chain(bad.split_whitespace());
        assert!(Program::try_parse_from(words).is_err(), "{bad}");
    }
}

#[test]
fn impossible_views_name_their_flag() {
    for (line, flag) in [
        ("--fov 180", "--fov"),
        ("--up 0,0,0", "--up"),
        ("--orbit 0", "orbit"),
        ("--width 0", "width"),
        ("--eye 1,1,1 --target 1,1,1", "target"),
        ("--orbit 4 --view 4", "view"),
    ] {
        let error = views(line).unwrap_err();
        assert!(matches!(error, Error::Argument { .. }), "{line}");
        assert!(error.to_string().contains(flag), "{error}");
    }
}

#[test]
fn views_are_chosen_by_index_name_and_range() {
    let (_folder, flags) = camera_file();
    for (view, expected) in [
        ("", &["a"][..]),
        ("--view 1", &["b"]),
        ("--view 3", &["3"]),
        ("--view 4", &["all"]),
        ("--view b", &["b"]),
        ("--view 007", &["007"]),
        ("--view 1..3", &["b", "007"]),
        ("--view 3..", &["3", "all"]),
        ("--view ..1", &["a"]),
        ("--view all", &["a", "b", "007", "3", "all"]),
    ] {
        assert_eq!(names(&format!("{flags} {view}")), expected, "{view}");
    }
    for view in ["5", "3..3", "2..1", "0..6", "x", "..x", "00"] {
        let message = views(&format!("{flags} --view {view}"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("view: expected an index below 5"),
            "{message}"
        );
        assert!(message.contains("a, b, 007, 3, all"), "{message}");
    }
    assert_eq!(names("--orbit 3"), ["orbit_00", "orbit_01", "orbit_02"]);
    assert_eq!(names("--orbit 3 --view orbit_01"), ["orbit_01"]);
}

#[test]
fn one_side_keeps_pixels_their_shape() {
    let (_folder, flags) = camera_file();
    let camera = &views(&format!("{flags} --width 320")).unwrap()[0];
    let factor = 320.0 / 980.0;
    assert_eq!((camera.width, camera.height), (320, 178));
    assert_eq!(camera.focal_px, [640.0 * factor, 650.0 * factor]);
    assert!((camera.principal_px[0] - 160.0).abs() < 1e-9);
    assert!((camera.principal_px[1] - 89.0).abs() < 1e-9);
    let camera = &views(&format!("{flags} --width 490 --height 1090")).unwrap()[0];
    assert_eq!(camera.focal_px, [320.0, 1300.0]);
    // Made-up views keep their vertical field of view and square pixels.
    let camera = &views("--width 100 --height 400 --fov 90").unwrap()[0];
    assert!((camera.focal_px[0] - 200.0).abs() < 1e-9);
    assert!(views(&format!("{flags} --width 4000000000")).is_err());
}
