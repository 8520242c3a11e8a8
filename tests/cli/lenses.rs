//! Fisheyes, panoramas and orthographic cameras of `render`.

use std::fs;

use quadrille::Frame;
use serde_json::json;

use crate::support::program::{DONE, Place, USAGE};

const EYE: [&str; 4] = ["--eye", "0,0,0", "--target", "0,0,1"];

/// Share of the pixels that a splat covers.
fn covered(frame: &Frame) -> f64 {
    let count = frame.pixels().iter().filter(|p| p[3] > 0.0).count();
    count as f64 / frame.pixels().len() as f64
}

#[test]
fn a_model_replaces_that_of_the_view() {
    let place = Place::new();
    let draw = |name: &str, flags: &[&str]| place.picture(name, &[&EYE[..], flags].concat());
    let size = |frame: &Frame| (frame.width(), frame.height());
    let panorama = draw("a.npy", &["--camera-model", "equirectangular", "--width", "128"]);
    assert_eq!(size(&panorama), (128, 64));
    let sides = ["--width", "60", "--height", "60"];
    let fisheye = |name: &str, fov: &[&str]| {
        draw(name, &[&["--camera-model", "fisheye"], &sides[..], fov].concat())
    };
    let half = fisheye("b.npy", &[]);
    assert!(covered(&panorama) > 0.02 && covered(&half) > 0.02);
    assert_eq!(half, fisheye("c.npy", &["--fov", "180"]));
    assert_ne!(fisheye("d.npy", &["--fov", "90"]), half);
    // The panorama of a camera file has its pose.
    let shot = ["--cameras", "cameras.json", "--view", "shot_1", "--width", "64"];
    let model = ["--camera-model", "equirectangular"];
    let from_file = place.picture("f.npy", &[&shot[..], &model].concat());
    assert_eq!(size(&from_file), (64, 32));
}

/// A plan shows the plane through the target as the pinhole does, and content before and behind it as large.
#[test]
fn an_orthographic_picture_has_the_scale_of_its_target() {
    let place = Place::new();
    let sides = ["--width", "48", "--height", "32"];
    let model = ["--camera-model", "orthographic"];
    let draw = |name: &str, flags: &[&[&str]]| {
        place.picture(name, &[&flags.concat()[..], &sides].concat())
    };
    let at = |eye| ["--eye", eye, "--target", "0,0,0", "--fov", "6"];
    let near = draw("a.npy", &[&at("0,0,-40"), &model]);
    assert!(covered(&near) > 0.02);
    // From twice the distance through half of the slope.
    let fov = (6_f64.to_radians() / 2.0).tan().atan2(2.0).to_degrees() * 2.0;
    let far = ["--eye", "0,0,-80", "--target", "0,0,0", "--fov", &fov.to_string()];
    let far = draw("b.npy", &[&far, &model]);
    let flat = near.pixels().iter().zip(far.pixels()).filter(|(a, b)| (a[3] - b[3]).abs() > 1e-3);
    assert_eq!(flat.count(), 0);
    assert_ne!(draw("c.npy", &[&at("0,0,-40")]), near);
    // Views of a file and views that are chosen find a target of their own.
    let shot = ["--cameras", "cameras.json", "--view", "shot_1"];
    let listed = draw("d.npy", &[&shot, &model]);
    assert_ne!(listed, draw("e.npy", &[&shot]));
    // A filter needs the whole scene in memory, which a single view of a PLY does not.
    let all = ["--where", "opacity > -1"];
    assert_eq!(draw("g.npy", &[&shot, &model, &all]), listed);
    assert!(covered(&draw("f.npy", &[&model])) > 0.02);
}

#[test]
fn a_file_of_a_fisheye_is_drawn_as_one() {
    let place = Place::new();
    let write = |model: &str, k1: f64| {
        let matrix = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 4], [0, 0, 0, 1]];
        let document = json!({"camera_model": model, "w": 48, "h": 32, "fl_x": 20, "fl_y": 20, "k1": k1,
            "frames": [{"file_path": "a.png", "transform_matrix": matrix}]});
        fs::write(place.path("transforms.json"), document.to_string()).unwrap();
    };
    let cameras = ["--cameras", "transforms.json"];
    let draw = |name: &str, flags: &[&str]| place.picture(name, &[&cameras[..], flags].concat());
    write("PINHOLE", 0.0);
    let pinhole = draw("a.npy", &[]);
    write("OPENCV_FISHEYE", 0.0);
    let fisheye = draw("b.npy", &[]);
    assert_ne!(fisheye, pinhole);
    assert_eq!(draw("c.npy", &["--camera-model", "pinhole"]), pinhole);
    write("OPENCV_FISHEYE", 0.05);
    assert_ne!(draw("d.npy", &[]), fisheye);
    // A cameras.json has pinholes only.
    let arguments = ["render", "scene.ply", "-o", "e.npy", "--cameras-out", "e.json"];
    place.expect_error(USAGE, &[&arguments[..], &cameras].concat(), &["--cameras-out", "pinholes"]);
    write("OPENCV_FISHEYE", -9.0);
    let arguments = [&["render", "scene.ply", "-o", "f.npy"], &cameras[..]].concat();
    let warning = String::from_utf8(place.expect(DONE, &arguments).stderr).unwrap();
    assert!(warning.contains("the lens shows directions up to 11.0 degrees"), "{warning}");
}

#[test]
fn fields_of_view_fit_the_model() {
    let place = Place::new();
    let error = |flags: &[&str], words: &[&str]| {
        let arguments = [&["render", "scene.ply", "-o", "a.png"], &EYE[..], flags].concat();
        place.expect_error(USAGE, &arguments, words);
    };
    error(&["--fov", "200"], &["--fov", "fisheye"]);
    error(&["--fov", "341"], &["340"]);
    let panorama = ["--camera-model", "equirectangular", "--fov", "90"];
    error(&panorama, &["--fov", "all directions"]);
    let fisheye = ["--camera-model", "fisheye", "--fov", "340", "--width", "30"];
    let arguments = [&["render", "scene.ply", "-o", "a.png"], &EYE[..], &fisheye].concat();
    place.expect(DONE, &arguments);
}

/// The flags that are printed for a view that was chosen reproduce it.
#[test]
fn a_chosen_view_is_reproduced_through_a_fisheye() {
    let place = Place::new();
    let model = ["--camera-model", "fisheye", "--width", "40", "--height", "40", "--fov", "150"];
    let flags = place.json(&[&["--repeat", "1"], &model[..]].concat())["view_flags"].clone();
    let flags = flags.as_str().unwrap().split(' ').collect::<Vec<_>>();
    assert!(flags.contains(&"fisheye") && flags.contains(&"150"), "{flags:?}");
    let sides = ["--width", "40", "--height", "40"];
    let chosen = place.picture("a.npy", &model);
    assert_eq!(place.picture("b.npy", &[&sides[..], &flags].concat()), chosen);
}
