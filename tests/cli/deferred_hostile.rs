//! Hostile scenes, motions and sizes of the `deferred` command: each ends with a picture or a typed error, in
//! bounded time and memory.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use image::{ImageFormat, Rgba, RgbaImage};

use crate::support::program::{DONE, Place, USAGE};

/// Limit of the address space, in KiB: 512 MB. Two threads and their stacks fit.
const LIMIT_KIB: u64 = 512_000;
/// Longest run, with allowance for other tests at the same time: alone, each takes less than a second.
const LONGEST: Duration = Duration::from_secs(10);

/// A square of two triangles at distance 3, of which the camera of [`FLAGS`] sees the front.
const SQUARE: &str = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";

const FLAGS: [&str; 8] =
    ["--eye", "0,0,3", "--target", "0,0,0", "--up", "0,1,0", "--method", "sds,cached-decoupled"];
/// Width and height of the picture of tests that do not choose them.
const SIZE: [&str; 4] = ["--width", "64", "--height", "48"];

/// Runs the command on an OBJ text in bounded memory; returns the exit code, the table and the errors.
fn run(place: &Place, text: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    fs::write(place.path("mesh.obj"), text).unwrap();
    let limited = format!("ulimit -v {LIMIT_KIB} && exec \"$0\" \"$@\"");
    let size: &[&str] = if flags.contains(&"--width") { &[] } else { &SIZE };
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_quadrille")])
        .args(["deferred", "mesh.obj"])
        .args(FLAGS)
        .args(size)
        .args(flags)
        .args(["--threads", "2", "-o", "{method}.png", "--json"])
        .current_dir(place.path("."))
        .output()
        .unwrap();
    assert!(start.elapsed() < LONGEST, "{flags:?}: {:?}", start.elapsed());
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Expects pictures of both pipelines that are the same, and returns the first row.
fn drawn(place: &Place, text: &str, flags: &[&str]) -> serde_json::Value {
    let (code, table, errors) = run(place, text, flags);
    assert_eq!(code, Some(DONE), "{flags:?}: {errors}");
    let mut pictures = Vec::new();
    for entry in fs::read_dir(place.path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "png") {
            pictures.push(fs::read(&path).unwrap());
            fs::remove_file(path).unwrap();
        }
    }
    assert!(pictures.len() >= 2, "{flags:?}");
    assert!(pictures.iter().all(|p| *p == pictures[0]), "{flags:?}");
    let document: serde_json::Value = serde_json::from_str(&table).unwrap();
    document["rows"][0].clone()
}

fn covered(row: &serde_json::Value) -> u64 {
    row["pixels_covered"].as_u64().unwrap()
}

#[test]
fn triangles_without_area_or_with_turning_faces_are_drawn_where_they_show() {
    let place = Place::new();
    // No area at any time.
    let points = "v 0 0 0\nv 0 0 0\nv 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 4 5\n";
    assert_eq!(covered(&drawn(&place, points, &[])), 0);
    assert_eq!(covered(&drawn(&place, points, &["--move", "0.5,0.2,0", "--coc-px", "4"])), 0);
    let still = covered(&drawn(&place, SQUARE, &[]));
    assert!(still > 500, "{still}");
    // The square turns through its edge-on position half-way through the exposure, where its shading points
    // have no position: the positions at an end of the shutter are taken.
    let turned = drawn(&place, SQUARE, &["--spin", "0,1,0,80", "--faces", "both"]);
    assert!(covered(&turned) > 300);
    assert_eq!(turned["grids"]["barycentric"], 0);
    let edge_on = "v 0 -1 1\nv 0 -1 -1\nv 0 1 -1\nv 0 1 1\nf 1 2 3 4\n";
    let swung = drawn(&place, edge_on, &["--spin", "0,1,0,80", "--faces", "both"]);
    assert!(covered(&swung) > 50, "{swung}");
}

#[test]
fn corners_behind_the_eye_and_lenses_inside_surfaces_are_drawn() {
    let place = Place::new();
    for flags in [
        // The camera moves through the square, and backwards out of it.
        &["--camera-move", "0,0,6"][..],
        &["--camera-move", "0,0,-6"],
        &["--move", "0,0,2.999"],
        // In focus where a triangle is, beside it, at a point, and with an aperture of none.
        &["--aperture", "0.3", "--focus", "3"],
        &["--aperture", "0.3", "--focus", "1e-3"],
        &["--aperture", "0", "--focus", "3"],
        &["--coc-px", "40"],
        // Chords of more than half a turn.
        &["--camera-turn", "170,0,0"],
        &["--spin", "0,1,0,359"],
        // Sizes and tiles without common factors.
        &["--tile", "1", "--coc-px", "4"],
        &["--samples", "1", "--tile", "7"],
        &["--grid", "adaptive", "--aas-quality", "1", "--coc-px", "60"],
    ] {
        drawn(&place, SQUARE, flags);
    }
    for size in [["1", "1"], ["3", "2"], ["65", "1"], ["131", "67"]] {
        drawn(&place, SQUARE, &["--width", size[0], "--height", size[1], "--coc-px", "3"]);
    }
}

#[test]
fn motions_beyond_numbers_are_errors_or_drop_triangles() {
    let place = Place::new();
    for flags in [
        &["--move", "nan,0,0"][..],
        &["--move", "inf,0,0"],
        &["--camera-turn", "0,inf,0"],
        &["--coc-px", "nan"],
        &["--aperture", "0.1", "--focus", "-1"],
        &["--aperture", "0.1", "--focus", "0"],
    ] {
        let (code, _, errors) = run(&place, SQUARE, flags);
        assert_eq!(code, Some(USAGE), "{flags:?}: {errors}");
        assert!(errors.contains("expected"), "{flags:?}: {errors}");
    }
    let dropped = drawn(&place, SQUARE, &["--move", "1e300,0,0"]);
    assert!(dropped["raster"]["not_finite"].as_u64() > Some(0), "{dropped}");
    drawn(&place, SQUARE, &["--move", "1e30,0,0"]);
    // A motion file with numbers that JSON has, and f64 has not.
    fs::write(place.path("motion.json"), r#"{"camera": {"move": [1e999, 0, 0]}}"#).unwrap();
    let (code, _, errors) = run(&place, SQUARE, &["--motion", "motion.json"]);
    assert!(code != Some(DONE) && errors.contains("motion.json"), "{errors}");
}

#[test]
fn duplicates_empty_scenes_and_huge_triangles_are_drawn() {
    let place = Place::new();
    // The same triangles a hundred times, at the same depth: the first one shows.
    let faces = "f 1 2 3 4\n".repeat(100);
    let many = drawn(&place, &SQUARE.replace("f 1 2 3 4\n", &faces), &["--coc-px", "6"]);
    let one = drawn(&place, SQUARE, &["--coc-px", "6"]);
    assert_eq!(covered(&many), covered(&one));
    assert_eq!(many["shading"]["quads"], one["shading"]["quads"]);
    // A triangle far larger than the picture: its grid is clipped around the picture, where its points fit.
    let huge = "v -1e5 -1e5 0\nv 1e5 -1e5 0\nv 1e5 1e5 0\nv -1e5 1e5 0\nf 1 2 3 4\n";
    let row = drawn(&place, huge, &["--spin", "0,1,0,3"]);
    assert!(covered(&row) > 1000, "{row}");
    assert_eq!(row["grids"]["coarsened"], 0, "{row}");
    // Nothing but alpha-tested triangles: half of their texels are holes.
    let holes = RgbaImage::from_fn(16, 16, |x, y| Rgba([255, 255, 255, 255 * ((x + y) % 2) as u8]));
    // Not by the name of a picture that is drawn.
    let path = place.path("holes.texture");
    holes.save_with_format(path, ImageFormat::Png).unwrap();
    let material = "newmtl holes\nmap_Kd holes.texture\nmap_d holes.texture\n";
    fs::write(place.path("holes.mtl"), material).unwrap();
    let corners = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl holes\nf 1/1 2/2 3/3 4/4\n";
    let tested = SQUARE.replace("f 1 2 3 4\n", corners);
    let row = drawn(&place, &format!("mtllib holes.mtl\n{tested}"), &[]);
    let whole = covered(&drawn(&place, SQUARE, &[]));
    let kept = covered(&row);
    assert!(4 * kept > whole && 4 * kept < 3 * whole, "{kept} of {whole}");
    assert_eq!(row["grids"]["visible"], 0);
    // Only behind the camera.
    let behind = SQUARE.replace(" 0\n", " 9\n");
    assert_eq!(covered(&drawn(&place, &behind, &["--coc-px", "6", "--focus", "2"])), 0);
    assert_eq!(covered(&drawn(&place, &behind, &["--coc-px", "0"])), 0);
    // A tile of a whole picture with 2^18 samples and more, each of a triangle of its own.
    let flags = ["--width", "256", "--height", "256", "--tile", "128,whole"];
    let mut text = String::new();
    for k in 0..4096 {
        let [x, y] = [k % 64, k / 64].map(|v| f64::from(v) / 32.0 - 1.0);
        text += &format!("v {x} {y} 0\nv {} {y} 0\nv {x} {} 0\n", x + 0.04, y + 0.04);
        text += &format!("f {} {} {}\n", 3 * k + 1, 3 * k + 2, 3 * k + 3);
    }
    let row = drawn(&place, &text, &flags);
    assert!(covered(&row) > 20_000, "{row}");
}
