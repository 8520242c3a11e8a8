//! Meshes far from zero as splats, and alphas that equal their cutoff.

use std::fs;

use crate::support::program::{DONE, Place};
use crate::support::shared;

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
