//! The `mesh` command: keys, tables, outputs, errors.
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::program::{DONE, Place, USAGE};
use crate::support::shared;
use serde_json::Value;

/// A control cage: a cube of six quads.
const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
                    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

fn quadrille(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    folder
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The only row of a document.
fn only_row(output: &Output) -> Value {
    let document = json(output);
    assert_eq!(document["rows"].as_array().unwrap().len(), 1);
    document["rows"][0].clone()
}

const SMALL: [&str; 4] = ["--width", "160", "--height", "100"];

#[test]
fn the_document_has_the_keys_that_programs_rely_on() {
    let folder = folder();
    let mut arguments = vec!["mesh", "cube.obj", "--tessellate", "2", "--msaa", "8", "--json"];
    arguments.extend(["--method", "qfm", "--psnr"]);
    arguments.extend(SMALL);
    let document = only_row(&quadrille(folder.path(), &arguments));
    for key in ["triangles", "fragments_shaded", "pixels_covered"] {
        assert!(document[key].as_u64().unwrap() > 0, "{key}");
    }
    assert_eq!(document["mesh"], "cube.obj");
    assert_eq!(
        (&document["view"]["name"], &document["view"]["width"]),
        (&"auto".into(), &160.into())
    );
    assert_eq!((&document["msaa"], &document["buffer"]), (&8.into(), &32.into()));
    assert_eq!(document["unit"], "qfm");
    let quads = |key: &str| document["quads"][key].as_u64().unwrap();
    assert_eq!(quads("rasterized"), quads("culled") + quads("merged") + quads("shaded"));
    assert!(quads("merged") > 0 && quads("partial") > 0);
    assert_eq!(document["fragments_shaded"].as_u64().unwrap(), 4 * quads("shaded"));
    for key in ["fragments_per_covered_pixel", "savings", "efficiency", "psnr_vs_none_db"] {
        assert!(document[key].as_f64().unwrap() > 0.0, "{key}");
    }
}

#[test]
fn combinations_make_rows_and_pictures() {
    let folder = folder();
    let mut arguments = vec!["mesh", "cube.obj", "--tessellate", "2,20", "--msaa", "1,4", "--json"];
    arguments.extend(["--method", "none,qfm,pmu,reyes", "--buffer", "4,64"]);
    arguments.extend(["-o", "p.{method}.npy", "--heat", "h.{method}.png"]);
    arguments.extend(SMALL);
    let document = json(&quadrille(folder.path(), &arguments));
    let rows = document["rows"].as_array().unwrap();
    // One of none and Reyes, two buffers of the others.
    assert_eq!(rows.len(), 2 * 2 * 6);
    assert!(folder.path().join("p.qfm-64-4x-20px.npy").is_file());
    assert!(folder.path().join("h.none-1x-2px.png").is_file());
    // Without --psnr nothing is compared.
    assert!(rows.iter().all(|r| r["psnr_vs_none_db"].is_null()));
    // One sample per pixel: every shading pixel is full or empty, so the pixel merge unit saves nothing.
    let of = |unit: &str, msaa: u64| {
        let row = rows.iter().find(|r| r["unit"] == unit && r["msaa"] == msaa);
        row.unwrap()["quads"]["merged"].as_u64().unwrap()
    };
    assert_eq!(of("pmu", 1), 0);
    assert!(of("pmu", 4) > 0);
    let page = quadrille(folder.path(), &[&["mesh", "cube.obj"], &SMALL[..]].concat());
    assert!(String::from_utf8_lossy(&page.stdout).contains("per px"));
}

/// PMU, section 3: five things that a shader may do turn the unit off.
#[test]
fn shader_effects_bar_the_pixel_merge_unit() {
    let folder = folder();
    let merged = |effect: &[&str], unit: &str| {
        let mut arguments =
            vec!["mesh", "cube.obj", "--tessellate", "4", "--json", "--method", unit];
        arguments.extend(SMALL);
        arguments.extend(effect);
        only_row(&quadrille(folder.path(), &arguments))
    };
    let saved = |document: &Value| document["quads"]["merged"].as_u64().unwrap();
    assert!(saved(&merged(&[], "pmu")) > 0);
    for effect in ["discard", "depth", "memory", "alpha-to-coverage", "primitive-id", "coverage"] {
        let document = merged(&["--shader-effects", effect], "pmu");
        assert_eq!(saved(&document), 0, "{effect}");
        let shaded = &document["quads"]["shaded"];
        assert_eq!(&document["unit_counters"]["barred"], shaded, "{effect}");
    }
    assert!(saved(&merged(&["--shader-effects", "depth"], "qfm")) > 0);
}

#[test]
fn the_picture_is_the_same_on_any_number_of_threads() {
    let folder = folder();
    let draw = |name: &str, threads: &str| {
        let mut arguments =
            vec!["mesh", "cube.obj", "--tessellate", "1", "--msaa", "16", "-o", name];
        arguments.extend(["--threads", threads, "--method", "qfm", "--checker", "8"]);
        arguments.extend(SMALL);
        assert!(quadrille(folder.path(), &arguments).status.success());
        fs::read(folder.path().join(name)).unwrap()
    };
    assert!(draw("one.exr", "1") == draw("three.exr", "3"));
}

#[test]
fn wrong_usage_and_bad_files_are_told_apart() {
    let folder = folder();
    fs::write(folder.path().join("bad.obj"), "v 0 0 0\nf 1 2 3\n").unwrap();
    let twice = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 3 1 2 1 4\n";
    fs::write(folder.path().join("twice.obj"), twice).unwrap();
    let cases: [(&[&str], i32, &str); 10] = [
        (&["bad.obj"], 3, "bad.obj: line 2"),
        (
            &["twice.obj", "--tessellate", "9"],
            3,
            "twice.obj: face 0 of a subdivision cage: expected vertices that exist, each once, found [2, 0, 1, 0, 3]",
        ),
        (&["none.obj"], 3, "none.obj: cannot read"),
        (&["cube.obj", "--msaa", "3"], 2, "1, 2, 4, 8 or 16"),
        (&["cube.obj", "--method", "qfm", "--buffer", "0"], 2, "--buffer"),
        (&["cube.obj", "--method", "pmu", "--buffer", "unbounded"], 2, "--buffer"),
        (&["cube.obj", "--tessellate", "0"], 2, "--tessellate"),
        (&["cube.obj", "--coarse", "--msaa", "8"], 2, "coarse"),
        (&["cube.obj", "--army", "2,2"], 2, "--army needs --tessellate"),
        (&["cube.obj", "--method", "none,qfm", "-o", "p.png"], 2, "{method}"),
    ];
    for (arguments, code, said) in cases {
        let output = quadrille(folder.path(), &[&["mesh"], arguments].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }
}

#[test]
fn truth_is_nearer_with_more_samples() {
    let folder = folder();
    let mut arguments = vec!["mesh", "cube.obj", "--tessellate", "8", "--msaa", "1,4,16", "--json"];
    arguments.extend(["--psnr-supersampled", "--width", "80", "--height", "50"]);
    let document = json(&quadrille(folder.path(), &arguments));
    let rows = document["rows"].as_array().unwrap();
    let db: Vec<_> = rows.iter().map(|r| r["psnr_vs_truth_db"].as_f64().unwrap()).collect();
    assert!(db[0] < db[1] && db[1] < db[2] && db[2] > 35.0, "{db:?}");
}

/// Real meshes: what merging does to BIGGUY at a quarter of the paper's picture.
#[test]
fn bigguy_is_shaded_as_often_as_documented() {
    let Some(cage) = shared::path("meshes/bigguy/bigguy.obj") else {
        return;
    };
    let mut arguments = vec!["mesh", cage.to_str().unwrap(), "--tessellate", "0.5,10"];
    arguments.extend(["--msaa", "16", "--method", "none,qfm", "--json"]);
    arguments.extend(["--width", "864", "--height", "540"]);
    let document = json(&quadrille(Path::new("."), &arguments));
    let rows = document["rows"].as_array().unwrap();
    let per_pixel = |k: usize| rows[k]["fragments_per_covered_pixel"].as_f64().unwrap();
    // As counted. The paper has about 14 and 1.8 at 0.5 px, about 4 and 2 at 10 px (Figure 9), at twice
    // the size and so with less outline; the kept counts of benches/mesh.toml are of that size.
    for (row, counted) in [18.61, 1.91, 4.10, 1.67].into_iter().enumerate() {
        let found = per_pixel(row);
        assert!((found - counted).abs() < 0.006, "{row}: {found}");
    }
}

/// Runs `mesh` on the cube with these arguments and a small picture; returns standard error.
fn mesh(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = quadrille(folder, &[&["mesh"], arguments, &SMALL[..]].concat());
    let [out, err] = [&output.stdout, &output.stderr];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(out), text(err))
}

#[test]
fn the_heat_map_of_reyes_is_that_of_its_vertices() {
    let folder = folder();
    let cube = ["cube.obj", "--tessellate", "2", "--heat"];
    let arguments = [&cube[..], &["h.{method}.png", "--method", "none,reyes"]].concat();
    let (code, _, err) = mesh(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{err}");
    let map = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for extension in ["png", "npy"] {
        let [none, reyes] = ["none", "reyes"].map(|unit| format!("h.{unit}-4x-2px.{extension}"));
        assert!(map(&none) != map(&reyes));
    }
    for most in ["8", "64"] {
        let name = format!("{most}.png");
        let arguments = [&cube[..], &[&name, "--heat-max", most]].concat();
        assert_eq!(mesh(folder.path(), &arguments).0, Some(0));
    }
    // The counts are the same; the colours are not.
    assert!(map("8.npy") == map("64.npy") && map("8.png") != map("64.png"));
    assert_eq!(mesh(folder.path(), &["cube.obj", "--heat-max", "9"]).0, Some(2));
}

/// Messages about inputs other than meshes name their kind and the remedy.
#[test]
fn inputs_that_are_no_meshes_are_named() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let properties = "x y z f_dc_0 f_dc_1 f_dc_2 opacity".split(' ');
    let properties: String = properties.map(|p| format!("property float {p}\n")).collect();
    let splats =
        format!("ply\nformat ascii 1.0\nelement vertex 1\n{properties}end_header\n0 0 0 0 0 0 0\n");
    fs::write(at("statue.ply"), splats).unwrap();
    fs::write(at("a.splat"), [0; 32]).unwrap();
    fs::write(at("README"), "October\n").unwrap();
    fs::create_dir(at("meshes")).unwrap();
    for (name, said) in [
        ("statue.ply", "`quadrille render`"),
        ("a.splat", "`quadrille render`"),
        ("README", ".glb or .bpt"),
        ("meshes", "found a folder"),
    ] {
        let (code, _, err) = mesh(folder.path(), &[name]);
        assert_eq!(code, Some(3), "{name}: {err}");
        assert!(err.contains(said), "{name}: {err}");
    }
}

#[test]
fn meshes_come_through_pipes() {
    let folder = folder();
    let cube = fs::File::open(folder.path().join("cube.obj")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_quadrille"));
    command.args(["mesh", "-", "--json"]).args(SMALL).stdin(cube);
    assert_eq!(json(&command.output().unwrap())["rows"][0]["triangles"], 12);
}

#[test]
fn flags_without_effect_are_warned_of_or_refused() {
    let folder = folder();
    let triangles = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    fs::write(folder.path().join("tetrahedron.obj"), triangles).unwrap();
    for (arguments, said) in [
        (&["cube.obj", "--hairs", "5"][..], "--hairs has no effect"),
        (&["plane", "--hair-order", "front-to-back"], "--hair-order has no effect"),
        (&["plane", "--bumps", "9,0.1"], "--bumps has no effect"),
        (&["plane", "--reorder", "random"], "--reorder has no effect"),
        (&["cube.obj", "--grid-order", "rings"], "--grid-order has no effect"),
        (&["cube.obj", "--seed", "5"], "--seed has no effect"),
        (&["cube.obj", "--cage-steps", "2"], "--cage-steps has no effect"),
        (&["plane", "--shininess", "5"], "--shininess has no effect"),
        (&["tetrahedron.obj", "--tessellate", "9"], "100 % of its faces are triangles"),
        (&["cube.obj", "--near", "100"], "nothing of the mesh is in view"),
    ] {
        let (code, _, err) = mesh(folder.path(), arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
    for (arguments, said) in [
        (&["cube.obj", "--method", "none,none"][..], "none twice"),
        (&["cube.obj", "--method", "all,qfm"], "qfm twice"),
        (&["cube.obj", "--msaa", "4,4"], "4 twice"),
        (&["cube.obj", "--tessellate", "2,2"], "2 twice"),
        (&["cube.obj", "--buffer", "32"], "--buffer needs the unit qfm or pmu"),
        (&["cube.obj", "--method", "reyes", "--cycles"], "other than reyes"),
        (&["cube.obj", "--method", "all", "-o", "p.png"], "combinations of settings"),
    ] {
        let (code, _, err) = mesh(folder.path(), arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
        assert!(err.contains(said) && !err.contains("--unit"), "{arguments:?}: {err}");
    }
}

/// Each assumption is a flag, and `--json` has the mean area of the triangles that are drawn.
#[test]
fn assumptions_are_flags() {
    let folder = folder();
    let row = |arguments: &[&str]| {
        let arguments = [&["mesh"], arguments, &SMALL[..], &["--json", "--method", "qfm"]].concat();
        only_row(&quadrille(folder.path(), &arguments))
    };
    let cage = ["cube.obj", "--tessellate", "2"];
    let plain = row(&cage);
    let with = |flags: &[&str]| row(&[&cage[..], flags].concat());
    assert!(plain["triangle_area_mean_px"].as_f64().unwrap() < 1.8);
    let mean = with(&["--area-is", "mean"])["triangle_area_mean_px"].as_f64().unwrap();
    assert!((1.85..2.15).contains(&mean), "{mean}");
    let rows = with(&["--grid-order", "rows", "--area-is", "bound"]);
    assert_eq!(rows["fragments_shaded"], plain["fragments_shaded"]);
    let shaded = |row: &Value| row["fragments_shaded"].as_u64().unwrap();
    let random = with(&["--grid-order", "random"]);
    assert!(shaded(&random) > shaded(&plain));
    let other = with(&["--grid-order", "random", "--seed", "2"]);
    assert_ne!(shaded(&random), shaded(&other));
    for arguments in [
        &["frog", "--bumps", "20,0.1"][..],
        &["furball", "--hairs", "50", "--hair-order", "back-to-front"],
        &["cube.obj", "--reorder", "vertex-cache"],
    ] {
        assert!(shaded(&row(arguments)) > 0, "{arguments:?}");
    }
    for flags in [["--bumps", "1"], ["--bumps", "-1,1"], ["--grid-order", "columns"]] {
        let output = quadrille(folder.path(), &[&["mesh", "frog"], &flags[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}

/// Columns that a flag asks for, and no figures of quads where there are none.
#[test]
fn the_table_shows_what_was_asked_for() {
    let folder = folder();
    let words =
        |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let (_, plain, _) = mesh(folder.path(), &["cube.obj", "--tessellate", "4", "--method", "all"]);
    let (table, _) = plain.split_once("\n\n").unwrap();
    let lines: Vec<_> = table.lines().map(words).collect();
    assert_eq!(lines.len(), 5);
    assert!(!table.contains("view") && !plain.contains("truth"));
    assert_eq!(lines[4][0], "reyes");
    assert!(lines[4][1..3].iter().all(|cell| cell == "-"), "{plain}");
    let (_, orbit, err) = mesh(folder.path(), &["cube.obj", "--orbit", "3", "--psnr-supersampled"]);
    let (table, _) = orbit.split_once("\n\n").unwrap();
    let lines: Vec<_> = table.lines().map(words).collect();
    assert_eq!((lines.len(), lines[0][0].as_str()), (4, "view"), "{err}");
    assert!(orbit.lines().next().unwrap().ends_with("truth dB"));
    assert!(lines[1][0] != lines[2][0] && lines[1].last().unwrap().parse::<f64>().is_ok());
}

#[test]
fn a_mesh_that_stands_along_z_is_shown_upright() {
    let folder = tempfile::tempdir().unwrap();
    // A pyramid on a square base at z = 0.
    let pyramid = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 0 2\n\
                   f 4 3 2 1\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
    fs::write(folder.path().join("pyramid.obj"), pyramid).unwrap();
    let draw = |picture: &str, flags: &[&str]| {
        let mut arguments = vec!["pyramid.obj", "-o", picture];
        arguments.extend(flags);
        let (code, _, stderr) = mesh(folder.path(), &arguments);
        assert_eq!(code, Some(0), "{stderr}");
        (stderr, fs::read(folder.path().join(picture)).unwrap())
    };
    let (said, found) = draw("found.png", &[]);
    assert!(said.contains("the mesh stands along z"), "{said}");
    let (said, given) = draw("given.png", &["--up", "0,0,1"]);
    assert!(!said.contains("stands along"), "{said}");
    assert_eq!(found, given);
    let (_, lying) = draw("lying.png", &["--up", "0,1,0"]);
    assert_ne!(found, lying);
}

#[test]
fn memory_is_limited() {
    let folder = folder();
    let mut arguments = vec!["cube.obj", "--tessellate", "0.1", "--memory", "1M"];
    let (code, _, stderr) = mesh(folder.path(), &arguments);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("--memory"), "{stderr}");
    arguments.pop();
    arguments.push("64M");
    let (code, ..) = mesh(folder.path(), &arguments);
    assert_eq!(code, Some(0));
    arguments.pop();
    arguments.push("0G");
    let (code, ..) = mesh(folder.path(), &arguments);
    assert_eq!(code, Some(2));
}

/// A flat mesh stands along z; seen along this guessed up direction, another one is taken.
#[test]
fn a_flat_mesh_is_seen_from_above_without_an_up_direction() {
    let place = Place::new();
    let square = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";
    fs::write(place.path("flat.obj"), square).unwrap();
    let view = ["mesh", "flat.obj", "--eye", "0,0,5", "--width", "16", "--height", "16"];
    place.expect(DONE, &view);
    // A given direction along the line of sight stays an error.
    place.expect_error(USAGE, &[&view[..], &["--up", "0,0,1"]].concat(), &["up"]);
}
