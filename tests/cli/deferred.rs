//! The `deferred` command: keys, rows, pictures, blur flags, errors.

use std::fs;
use std::process::Output;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{Rgba, RgbaImage};
use serde_json::{Value, json};

use crate::support::program::{DONE, Place, USAGE};
use crate::support::{shared, skipped};

const SMALL: [&str; 8] =
    ["deferred", "plane", "--tessellate", "60", "--width", "96", "--height", "64"];

fn run(place: &Place, flags: &[&str]) -> Output {
    place.expect(DONE, &[&SMALL, flags].concat())
}

fn rows(place: &Place, flags: &[&str]) -> Vec<Value> {
    let output = run(place, &[flags, &["--json"]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["rows"].as_array().unwrap().clone()
}

const BLUR: [&str; 4] = ["--camera-move", "0.2,0,0.1", "--coc-px", "12"];

#[test]
fn the_document_has_the_keys_that_programs_rely_on() {
    let place = Place::new();
    let flags = ["--method", "sds,jrk,jrk+z,msaa", "--traffic"];
    let rows = rows(&place, &[&flags[..], &BLUR].concat());
    let names: Vec<_> = rows.iter().map(|r| r["pipeline"].as_str().unwrap()).collect();
    assert_eq!(names, ["sds", "cached-decoupled", "cached-decoupled+z", "msaa"]);
    let [sds, cached, cached_z, msaa] = &rows[..] else { panic!("{rows:?}") };
    for row in &rows {
        assert_eq!((row["width"].as_u64(), row["samples"].as_u64()), (Some(96), Some(16)));
        assert_eq!(row["triangles"], sds["triangles"]);
        assert!(row["raster"]["hits"].as_u64() > Some(10_000));
        assert!(row["blur"]["motion_px"]["median"].as_f64() > Some(1.0));
        let (quads, runs) = (&row["shading"]["quads"], &row["shading"]["executions"]);
        assert_eq!(4 * quads.as_u64().unwrap(), runs.as_u64().unwrap());
    }
    let vertices = |row: &Value, what: &str| row["vertices"][what].as_u64().unwrap();
    let positions = vertices(cached, "positions");
    assert!(positions > 100 && vertices(cached, "attributes") == positions);
    assert_eq!(vertices(cached_z, "positions"), 2 * positions);
    assert_eq!(vertices(sds, "positions"), positions);
    assert!(vertices(sds, "attributes") > 0);
    let gops = |row: &Value| row["raster"]["gops"]["total"].as_f64().unwrap();
    assert_eq!(gops(cached_z), 2.0 * gops(cached));
    assert_eq!(gops(sds), gops(msaa));
    let quads = |row: &Value| row["shading"]["quads"].as_u64().unwrap();
    assert!(quads(cached_z) <= quads(sds) && quads(sds) < quads(msaa));
    assert!(quads(cached) <= quads(msaa));
    assert!(sds["spid"]["bits"].as_f64() < Some(64.0));
    assert!(sds["sort"]["passes_mean"].as_f64() > Some(1.0));
    assert!(cached["memo"]["misses"].as_u64() == Some(quads(cached)));
    assert!(cached["traffic_bytes"]["total"].as_u64() > sds["traffic_bytes"]["total"].as_u64());
}

#[test]
fn pictures_are_the_same_for_all_pipelines_and_tiles() {
    let place = Place::new();
    let flags = ["--method", "sds,cached-decoupled", "--tile", "16,whole", "-o", "{method}.png"];
    run(&place, &[&flags[..], &BLUR].concat());
    let read = |name: &str| fs::read(place.path(name)).unwrap();
    let picture = read("sds-16-60px.png");
    assert!(picture.len() > 1000);
    assert_eq!(picture, read("sds-whole-60px.png"));
    assert_eq!(picture, read("cached-decoupled-1024-60px.png"));
    // Sharp, the picture is another one.
    run(&place, &["-o", "sharp.png"]);
    assert_ne!(picture, read("sharp.png"));
    run(&place, &[&["--heat", "heat.png"][..], &BLUR].concat());
    assert!(read("heat.png").len() > 1000);
}

/// Draws a mesh with three blurs and compares the linear pictures of the sorted pipeline at four sizes of
/// tiles with the picture of the cached one.
fn compare_pipelines(place: &Place, mesh: &[&str]) {
    let sharp: &[&str] = &[];
    let motion = &["--camera-move", "0.02,0.01,0.03", "--spin", "0,1,0,6"];
    let both = &["--spin", "1,1,0,4", "--coc-px", "6", "--grid", "adaptive"];
    for blur in [sharp, motion, both] {
        let flags = [
            "--width",
            "120",
            "--height",
            "90",
            "--method",
            "sds,cached-decoupled",
            "--tile",
            "16,32,64,whole",
            "-o",
            "{method}.npy",
        ];
        place.expect(DONE, &[&["deferred"], mesh, &flags, blur].concat());
        let mut pictures = Vec::new();
        for entry in fs::read_dir(place.path("")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "npy") {
                pictures.push(fs::read(&path).unwrap());
                fs::remove_file(path).unwrap();
            }
        }
        assert_eq!(pictures.len(), 5, "{mesh:?}");
        let first = &pictures[0];
        assert!(first.iter().any(|byte| *byte != first[first.len() - 1]));
        assert!(pictures.iter().all(|p| p == first), "{mesh:?} {blur:?}");
    }
}

#[test]
fn the_pipelines_draw_the_same_picture_of_procedural_meshes() {
    let place = Place::new();
    for mesh in [
        &["arcade", "--tessellate", "40"][..],
        &["plane", "--tessellate", "30", "--checker", "8"],
        &["furball", "--hairs", "300", "--tessellate", "40"],
    ] {
        compare_pipelines(&place, mesh);
    }
}

#[test]
fn the_pipelines_draw_the_same_picture_of_files() {
    if skipped::is_slow() {
        return;
    }
    let place = Place::new();
    for (file, flags) in [
        ("bigguy/bigguy.obj", &["--tessellate", "40"][..]),
        ("flighthelmet/FlightHelmet.gltf", &[]),
        ("hairy_object/hair_ribbons.ply", &[]),
        ("shadowcolumns/testscene.obj", &[]),
        ("spot/spot_triangulated.obj", &["--checker", "4"]),
        ("osd_shapes/catmark_helmet.obj", &["--tessellate", "40"]),
    ] {
        let Some(path) = shared::path(&format!("meshes/{file}")) else {
            return;
        };
        compare_pipelines(&place, &[&[path.to_str().unwrap()], flags].concat());
    }
}

/// A floor that passes below the camera, by half of its side and the repetitions of its texture.
fn floor(half: f64, repetitions: u32) -> String {
    format!(
        "v -{half} 0 -{half}\nv {half} 0 -{half}\nv {half} 0 {half}\nv -{half} 0 {half}\n\
         vt 0 0\nvt {repetitions} 0\nvt {repetitions} {repetitions}\nvt 0 {repetitions}\n\
         f 1/1 4/4 3/3 2/2\n"
    )
}

/// Writes cards with a texture of holes, one behind the other and slanted, before a wall.
fn write_cards(place: &Place) {
    let holes = RgbaImage::from_fn(64, 64, |x, y| {
        let alpha = if (x / 8 + y / 8) % 2 == 0 { 255 } else { 20 };
        Rgba([60 + 3 * x as u8, 160, 40 + y as u8, alpha])
    });
    holes.save(place.path("holes.png")).unwrap();
    let materials = "newmtl card\nKd 1 1 1\nmap_Kd holes.png\nmap_d holes.png\n\
                     newmtl wall\nKd 0.7 0.3 0.2\n";
    fs::write(place.path("cards.mtl"), materials).unwrap();
    let mut text = "mtllib cards.mtl\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n".to_owned();
    let mut quad = |material: &str, [x, y]: [f64; 2], side: f64, z: [f64; 2]| {
        let (x1, y1, [z0, z1]) = (x + side, y + side, z);
        text += &format!("usemtl {material}\n");
        text += &format!("v {x} {y} {z0}\nv {x1} {y} {z1}\nv {x1} {y1} {z1}\nv {x} {y1} {z0}\n");
        text += "f -4/1 -3/2 -2/3 -1/4\n";
    };
    for k in 0..5 {
        let k = f64::from(k);
        quad("card", [0.5 * k - 2.2, -1.0], 2.0, [0.6 * k - 2.0, 0.6 * k - 1.5]);
    }
    quad("wall", [-2.0, -2.0], 4.0, [-3.0, -3.0]);
    fs::write(place.path("cards.obj"), text).unwrap();
}

/// A square whose corners have colours.
const COLOURED: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
    property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
    element face 1\nproperty list uchar int vertex_indices\nend_header\n\
    -1 -1 0 255 0 0\n1 -1 0 0 255 0\n1 1 0 0 0 255\n-1 1 0 255 255 255\n4 0 1 2 3\n";

/// The PSNR of a picture of `deferred` without blur against the picture of `mesh`, in dB; infinite if they are equal.
fn psnr_to_mesh(place: &Place, mesh: &[&str]) -> f64 {
    let size = ["--width", "320", "--height", "180"];
    let samples = ["--samples", "4", "--pattern", "standard", "-o", "a.png"];
    place.expect(DONE, &[&["deferred"], mesh, &size, &samples].concat());
    let samples = ["--msaa", "4", "-o", "b.png"];
    place.expect(DONE, &[&["mesh"], mesh, &size, &samples].concat());
    let document = place.document(&["compare", "a.png", "b.png", "--json"]);
    document["mean"]["psnr_db"].as_f64().unwrap_or(f64::INFINITY)
}

#[test]
fn a_sharp_picture_is_that_of_mesh() {
    let place = Place::new();
    fs::write(place.path("floor.obj"), floor(50.0, 40)).unwrap();
    fs::write(place.path("plain.obj"), floor(5000.0, 4000)).unwrap();
    fs::write(place.path("coloured.ply"), COLOURED).unwrap();
    write_cards(&place);
    let above = ["--eye", "0,1,3", "--target", "0,0.8,0", "--checker", "2"];
    let before = ["cards.obj", "--eye", "0,0,4", "--target", "0,0,0"];
    let columns = shared::path("meshes/shadowcolumns/testscene.obj");
    let columns = columns.as_ref().map(|path| [path.to_str().unwrap()]);
    let mut meshes = vec![
        [&["floor.obj"], &above[..]].concat(),
        [&["plain.obj"], &above[..]].concat(),
        vec!["arcade", "--tessellate", "200", "--checker", "8"],
        [&before[..], &["--light", "sky", "--exposure", "1"]].concat(),
        vec!["coloured.ply"],
    ];
    meshes.extend(columns.map(Vec::from));
    for mesh in &meshes {
        let psnr = psnr_to_mesh(&place, mesh);
        assert!(psnr > 50.0, "{mesh:?}: {psnr} dB");
    }
}

/// A blended square and, behind its lower left quarter, an opaque one; the blended one is first in the file.
fn pane() -> String {
    let corners = [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]];
    let floats = corners.map(|[x, y]: [i16; 2]| [x, y, 0].map(f32::from));
    let bytes: Vec<u8> = (floats.as_flattened().iter()).flat_map(|v| v.to_le_bytes()).collect();
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes));
    let primitive = |material: u32| json!([{"attributes": {"POSITION": 0}, "material": material}]);
    let unlit = json!({"KHR_materials_unlit": {}});
    json!({
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "translation": [1, 1, 0.5]}, {"mesh": 1, "translation": [0, 0, -0.5]}],
        "meshes": [{"primitives": primitive(0)}, {"primitives": primitive(1)}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 72}],
        "buffers": [{"byteLength": 72, "uri": uri}],
        "materials": [
            {"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 1, 0.25]}, "alphaMode": "BLEND", "extensions": unlit},
            {"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}, "extensions": unlit}
        ],
        "extensionsUsed": ["KHR_materials_unlit"]
    })
    .to_string()
}

#[test]
fn blended_surfaces_are_those_of_mesh() {
    let place = Place::new();
    fs::write(place.path("pane.gltf"), pane()).unwrap();
    let view = ["--eye", "0,0,5", "--target", "0,0,0", "--fov", "60", "--background", "0,0,0"];
    let mesh = [&["pane.gltf"], &view[..]].concat();
    let psnr = psnr_to_mesh(&place, &mesh);
    assert!(psnr > 60.0, "{psnr} dB");
    let size = ["--width", "100", "--height", "100"];
    for unit in ["none", "qfm", "pmu", "reyes"] {
        let flags = ["--method", unit, "-o", "pane.png"];
        place.expect(DONE, &[&["mesh"], &mesh[..], &size, &flags].concat());
        let picture = image::open(place.path("pane.png")).unwrap().to_rgb8();
        // Over the distance from the eye: the square alone, the pane before it, the pane alone, nothing.
        for ([x, y], [red, blue]) in [
            ([-0.1, -0.1], [1.0, 0.0]),
            ([0.1, 0.1], [0.75, 0.25]),
            ([0.3, 0.3], [0.0, 0.25]),
            ([-0.3, 0.3], [0.0, 0.0]),
        ] {
            let focal = 50.0 / 30.0_f64.to_radians().tan();
            let pixel = [50.0 + x * focal, 50.0 - y * focal].map(|v| v as u32);
            let found = picture.get_pixel(pixel[0], pixel[1]).0;
            // The transfer function of sRGB above 0.0031308.
            let encode = |v: f64| {
                if v > 0.0 { 1.055 * v.powf(1.0 / 2.4) - 0.055 } else { 0.0 }
            };
            let expected = [red, 0.0, blue].map(|v| encode(v) * 255.0);
            let off = [0, 1, 2].map(|k| (f64::from(found[k]) - expected[k]).abs());
            assert!(off.iter().all(|off| *off < 1.0), "{unit}: {found:?} at {x}, {y}");
        }
    }
    for mesh in
        ["cases/meshes/public/AlphaBlendModeTest.glb", "meshes/flighthelmet/FlightHelmet.gltf"]
    {
        if let Some(path) = shared::path(mesh) {
            let psnr = psnr_to_mesh(&place, &[path.to_str().unwrap()]);
            assert!(psnr > 60.0, "{mesh}: {psnr} dB");
        }
    }
}

#[test]
fn alpha_tested_draws_are_the_same_in_all_pipelines() {
    let place = Place::new();
    write_cards(&place);
    let view = ["--eye", "0,0,4", "--target", "0,0,0"];
    compare_pipelines(&place, &[&["cards.obj"], &view[..]].concat());
    // The holes show the wall, and are shaded before they are discarded.
    let flags = ["--method", "cached-decoupled,cached-decoupled+z,msaa,sds", "--traffic"];
    let arguments = [&["deferred", "cards.obj", "--json"], &view[..], &flags].concat();
    let document = place.document(&arguments);
    let rows = document["rows"].as_array().unwrap();
    let quads = |k: usize| rows[k]["shading"]["quads"].as_u64().unwrap();
    assert!(quads(0) == quads(1) && quads(0) <= quads(2) && quads(0) <= quads(3));
    let bytes = |k: usize| rows[k]["traffic_bytes"]["total"].as_u64().unwrap();
    assert!(bytes(3) < bytes(0) && bytes(0) < bytes(1));
}

#[test]
fn more_seeds_come_closer_to_the_truth() {
    let place = Place::new();
    let psnr = |samples: &str| {
        let flags = ["--samples", samples, "--truth", "8"];
        rows(&place, &[&flags[..], &BLUR].concat())[0]["psnr_db"].as_f64().unwrap()
    };
    let (few, many) = (psnr("1"), psnr("16"));
    assert!(few > 10.0 && many > few + 5.0, "{few} {many}");
}

#[test]
fn impossible_blur_is_refused_and_wild_motion_is_drawn() {
    let place = Place::new();
    for (flags, words) in [
        (&["--camera-move", "nan,0,0"][..], "--camera-move: expected"),
        (&["--move", "1,2"], "--move: expected"),
        (&["--spin", "0,0,0,9"], "--spin: expected an axis"),
        (&["--aperture", "-1"], "--aperture: expected"),
        (&["--coc-px", "4", "--focus", "0"], "--focus: expected"),
        (&["--coc-px", "4", "--focus-at", "0,9,999"], "--focus-at: expected"),
        (&["--shutter", "0.5"], "--shutter: expected several views"),
        (&["--shutter", "2"], "--shutter: expected"),
        (&["--tile", "0"], "--tile: expected"),
        (&["--set", "memory.bus_bytes=1"], "memory.bus_bytes: expected"),
        (&["--set", "x.y=1"], "expected a table named after a unit"),
        (&["--tile", "8,8"], "--tile: expected each value once"),
        (&["--memo", "x"], "--memo: expected"),
        (&["--samples", "3"], "samples per pixel: expected"),
        (&["--method", "sds,cached-decoupled", "-o", "a.png"], "-o: expected {method}"),
        (&["--heat", "a.exr"], "--heat: expected"),
    ] {
        let output = place.expect(USAGE, &[&SMALL, flags].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(words), "{flags:?}: {text}");
    }
    for flags in [
        &["--move", "1e30,0,0"][..],
        &["--move", "1e300,0,0"],
        &["--camera-move", "0,0,1e9"],
        &["--aperture", "1e20"],
        &["--camera-move", "0,0,3"],
    ] {
        let output = run(&place, flags);
        assert!(!output.stdout.is_empty(), "{flags:?}");
    }
}

#[test]
fn motion_files_move_camera_and_draws() {
    let place = Place::new();
    let text =
        r#"{"camera": {"move": [0.2, 0, 0]}, "draws": [{"draws": "0..", "spin": [0, 1, 0, 4]}]}"#;
    fs::write(place.path("motion.json"), text).unwrap();
    let median = |flags: &[&str]| {
        let row = &rows(&place, flags)[0];
        row["blur"]["motion_px"]["median"].as_f64().unwrap()
    };
    let file = median(&["--motion", "motion.json"]);
    let flags = median(&["--camera-move", "0.2,0,0", "--spin", "0,1,0,4"]);
    assert!(file > 1.0 && (file - flags).abs() < 1e-9, "{file} {flags}");
    let before = [&SMALL[..], &["--motion", "motion.json", "-o", "motion.json"]].concat();
    place.expect(USAGE, &before);
    assert_eq!(fs::read_to_string(place.path("motion.json")).unwrap(), text);
}

#[test]
fn the_shutter_moves_towards_the_next_view() {
    let place = Place::new();
    let motion = |shutter: &str| {
        let flags = ["--orbit", "24", "--view", "3..5", "--shutter", shutter];
        let rows = rows(&place, &flags);
        assert_eq!(rows.len(), 2);
        rows[0]["blur"]["motion_px"]["median"].as_f64().unwrap()
    };
    let (whole, half) = (motion("1"), motion("0.5"));
    assert!(whole > 3.0 && (half / whole - 0.5).abs() < 0.1, "{half} {whole}");
}
