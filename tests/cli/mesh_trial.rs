//! Meshes far from zero as splats, and alphas that equal their cutoff.

use std::fs;

use crate::support::program::{DONE, Place};
use crate::support::shared;

/// Standard output of a call.
fn printed(place: &Place, call: &[&str]) -> String {
    String::from_utf8(place.expect(DONE, call).stdout).unwrap()
}

#[test]
fn splats_of_a_mesh_far_from_zero_are_where_the_mesh_is() {
    let place = Place::new();
    let square = |x: f64| {
        let corner = |dx: f64, y: f64| format!("v {} {y} 800\n", x + dx);
        [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), "f 1 2 3\n".to_owned()].concat()
    };
    for (name, x) in [("near", 0.0), ("far", 4_500_000.0)] {
        fs::write(place.path(&format!("{name}.obj")), square(x)).unwrap();
        let (mesh, splats) = (format!("{name}.obj"), format!("{name}.ply"));
        let axes = ["--front", "+z", "--up", "0,1,0", "--width", "32"];
        let call = [&["mesh", mesh.as_str(), "--to-splats", splats.as_str()][..], &axes].concat();
        place.expect(DONE, &call);
        let document = place.document(&["info", &splats, "--json"]);
        let least = document["bounds"]["min"][0].as_f64().unwrap();
        // The centroid of the triangle is a third of a unit beside its middle.
        assert!((least - x - 1.0 / 3.0).abs() < 1e-4, "{name}: {least}");
    }
}

/// glTF draws a fragment whose alpha is at least the cutoff: the whole square of 44 pixels.
#[test]
fn a_surface_whose_alpha_is_the_cutoff_is_whole() {
    let Some(folder) = shared::path("cases/meshes-2/23-mask") else { return };
    let place = Place::new();
    for name in ["cut0", "cut1", "factor_eq", "nearest_one", "vertex_eq", "vertex_one"] {
        let mesh = folder.join(name).with_extension("gltf");
        let view = ["--eye", "0,0,4", "--target", "0,0,0", "--fov", "40", "--msaa", "1"];
        let size = ["--width", "64", "--height", "64", "--json"];
        let document =
            place.document(&[&["mesh", mesh.to_str().unwrap()], &view[..], &size].concat());
        assert_eq!(document["rows"][0]["pixels_covered"], 44 * 44, "{name}");
    }
}

/// A mesh of any size fills its default view.
#[test]
fn tiny_meshes_are_drawn() {
    let Some(folder) = shared::path("cases/meshes-2/40-scale") else { return };
    let place = Place::new();
    let covered = |name: &str| {
        let mesh = folder.join(name).with_extension("obj");
        let size = ["--width", "64", "--height", "64", "--json"];
        let document = place.document(&[&["mesh", mesh.to_str().unwrap()][..], &size].concat());
        document["rows"][0]["pixels_covered"].as_u64().unwrap()
    };
    let whole = covered("e0");
    for name in ["e-9", "e-10", "e-12", "e-20", "e-30", "e37"] {
        assert_eq!(covered(name), whole, "{name}");
    }
}

#[test]
fn info_describes_a_mesh() {
    let place = Place::new();
    let square = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 9 9 9\nusemtl red\nf 1 2 3 4\n";
    fs::write(place.path("square.obj"), square).unwrap();
    let document = place.document(&["info", "square.obj", "--json"]);
    assert_eq!(document["format"], "mesh");
    assert_eq!((&document["faces"], &document["triangles"]), (&1.into(), &2.into()));
    assert_eq!((&document["vertices"], &document["unused_vertices"]), (&4.into(), &1.into()));
    assert_eq!(document["bounds"]["max"], serde_json::json!([2.0, 1.0, 0.0]));
    assert_eq!(document["materials"][0]["name"], "red");
    let warning = document["warnings"][0].as_str().unwrap();
    assert!(warning.contains("\"red\" has no description"), "{warning}");
    let page = printed(&place, &["info", "square.obj"]);
    assert!(page.contains("2 triangles in 1 faces"), "{page}");
    // The printed view is the default view.
    let flags = document["view"].as_str().unwrap().to_owned();
    place.expect(DONE, &["mesh", "square.obj", "--width", "64", "-o", "default.png"]);
    let mut call = vec!["mesh", "square.obj", "--width", "64", "-o", "stated.png"];
    call.extend(flags.split(' '));
    place.expect(DONE, &call);
    let picture = |name: &str| fs::read(place.path(name)).unwrap();
    assert_eq!(picture("default.png"), picture("stated.png"), "{flags}");
    // A GLB of points is not a mesh: the reason why it is no scene is told.
    let points = br#"{"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"mode": 0, "attributes": {}}]}]}"#;
    fs::write(place.path("points.gltf"), points).unwrap();
    place.expect_error(3, &["info", "points.gltf"], &["points.gltf"]);
    fs::write(place.path("broken.obj"), "f 1 2 3\n").unwrap();
    place.expect_error(3, &["info", "broken.obj"], &["line 1", "the index of a vertex"]);
}

#[test]
fn rows_of_meshes_are_plotted_from_csv_and_from_json() {
    let place = Place::new();
    let call = [
        "mesh",
        "sinewave",
        "--tessellate",
        "20,5",
        "--width",
        "64",
        "--height",
        "48",
        "--method",
        "none,qfm",
    ];
    let csv = printed(&place, &[&call[..], &["--csv"]].concat());
    let json = printed(&place, &[&call[..], &["--json"]].concat());
    assert_eq!(csv.lines().count(), 5, "{csv}");
    fs::write(place.path("a.csv"), csv).unwrap();
    fs::write(place.path("a.json"), json).unwrap();
    for file in ["a.csv", "a.json"] {
        let axes =
            ["--x", "triangle_area_px", "--y", "fragments_per_covered_pixel", "--series", "method"];
        place.expect(DONE, &[&["plot", file, "-o", "a.svg"][..], &axes].concat());
        let plotted = fs::read_to_string(place.path("a.plot.csv")).unwrap();
        assert_eq!(plotted.lines().count(), 5, "{file}: {plotted}");
        fs::rename(place.path("a.plot.csv"), place.path(&format!("{file}.plotted"))).unwrap();
    }
    let plotted = |name: &str| fs::read(place.path(name)).unwrap();
    assert_eq!(plotted("a.csv.plotted"), plotted("a.json.plotted"));
}

#[test]
fn objects_without_faces_are_refused_in_every_format() {
    let place = Place::new();
    fs::write(place.path("points.obj"), "v 0 0 0\nv 1 0 0\np 1 2\n").unwrap();
    let header = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
                  property float z\nelement face 0\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n";
    fs::write(place.path("points.ply"), header).unwrap();
    for name in ["points.obj", "points.ply"] {
        place.expect_error(3, &["mesh", name, "-o", "a.png"], &["faces", "at least one"]);
    }
}
