//! Blur of motion and defocus in `render`.

use std::fs;

use quadrille::{Frame, read_picture};

use crate::support::program::{DONE, Place, USAGE};

const SIZE: [&str; 4] = ["--width", "96", "--height", "64"];

fn place() -> Place {
    let place = Place::new();
    let scene = ["synth", "room", "--splats", "3000", "-o", "room.ply", "--cameras-out"];
    place.expect(DONE, &[&scene[..], &["room.cameras.json"]].concat());
    place
}

fn drawn(place: &Place, name: &str, flags: &[&str]) -> Frame {
    let scene = ["render", "room.ply", "--cameras", "room.cameras.json", "-o", name];
    place.expect(DONE, &[&scene[..], &SIZE, flags].concat());
    read_picture(place.path(name)).unwrap()
}

fn furthest(a: &Frame, b: &Frame) -> f32 {
    let channels = a.pixels().iter().flatten().zip(b.pixels().iter().flatten());
    channels.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Mean in linear light of pictures, in f64, by the definition of the sRGB curve.
fn mean(pictures: &[Frame]) -> Vec<[f64; 4]> {
    let to_light = |c: f64| match c <= 0.04045 {
        true => c / 12.92,
        false => ((c + 0.055) / 1.055).powf(2.4),
    };
    let to_srgb = |c: f64| match c <= 0.003_130_8 {
        true => c * 12.92,
        false => 1.055 * c.powf(1.0 / 2.4) - 0.055,
    };
    let pixel = |at: usize| {
        let mut sum = [0.0; 4];
        for picture in pictures {
            let [r, g, b, a] = picture.pixels()[at].map(f64::from);
            let straight = |c: f64| if a > 0.0 { to_light(c / a) * a } else { to_light(c) };
            for (sum, c) in sum.iter_mut().zip([straight(r), straight(g), straight(b), a]) {
                *sum += c / pictures.len() as f64;
            }
        }
        let [r, g, b, a] = sum;
        let back = |c: f64| if a > 0.0 { to_srgb(c / a) * a } else { to_srgb(c) };
        [back(r), back(g), back(b), a]
    };
    (0..pictures[0].pixels().len()).map(pixel).collect()
}

#[test]
fn a_moving_camera_sees_the_mean_of_its_pictures() {
    let place = place();
    let found = drawn(
        &place,
        "found.npy",
        &["--view", "0", "--camera-move", "0.8,0,0", "--blur-samples", "4"],
    );
    // The middles of four intervals of a motion to the right, drawn one by one: the camera file holds rows of the rotation.
    let text = fs::read_to_string(place.path("room.cameras.json")).unwrap();
    let cameras: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pictures = [0.125, 0.375, 0.625, 0.875].map(|time| {
        let mut moved = cameras[0].clone();
        let right: Vec<f64> =
            (0..3).map(|row| moved["rotation"][row][0].as_f64().unwrap()).collect();
        for (axis, right) in right.iter().enumerate() {
            let place = moved["position"][axis].as_f64().unwrap();
            moved["position"][axis] = serde_json::json!(place + 0.8 * time * right);
        }
        let file = format!("{time}.json");
        fs::write(place.path(&file), serde_json::json!([moved]).to_string()).unwrap();
        let name = format!("{time}.npy");
        let flags = ["render", "room.ply", "--cameras", &file, "--view", "0", "-o", &name];
        place.expect(DONE, &[&flags[..], &SIZE].concat());
        read_picture(place.path(&name)).unwrap()
    });
    let expected = mean(&pictures);
    for (found, expected) in found.pixels().iter().zip(&expected) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 2e-5, "{found} for {expected}");
        }
    }
    assert!(furthest(&pictures[0], &pictures[3]) > 0.1, "the motion is visible");
}

#[test]
fn a_closed_aperture_and_a_still_camera_draw_the_sharp_picture() {
    let place = place();
    let sharp = drawn(&place, "sharp.npy", &["--view", "0"]);
    let still = drawn(&place, "still.npy", &["--view", "0", "--shutter", "0"]);
    assert!(furthest(&sharp, &still) < 1e-5);
    let closed = drawn(&place, "closed.npy", &["--view", "0", "--aperture", "0"]);
    assert!(furthest(&sharp, &closed) < 1e-5);
    let open = drawn(&place, "open.npy", &["--view", "0", "--coc-px", "12", "--focus", "2"]);
    assert!(furthest(&sharp, &open) > 0.05);
}

#[test]
fn bytes_do_not_depend_on_threads_and_the_scalar_renderer_agrees() {
    let place = place();
    let blur = ["--view", "1", "--f-stop", "0.05", "--blur-samples", "9", "--shutter", "0.2"];
    let bytes = ["1", "2", "3"].map(|threads| {
        drawn(&place, "threads.npy", &[&blur[..], &["--threads", threads]].concat());
        fs::read(place.path("threads.npy")).unwrap()
    });
    assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2]);
    let fast = drawn(&place, "fast.npy", &blur);
    let scalar = drawn(&place, "scalar.npy", &[&blur[..], &["--backend", "reference"]].concat());
    assert!(furthest(&fast, &scalar) < 2e-5, "{}", furthest(&fast, &scalar));
}

/// A frame of a film is the still of its view, which moves towards the next one.
#[test]
fn frames_of_films_are_blurred_as_stills() {
    let place = place();
    let blur = ["--shutter", "0.5", "--coc-px", "4", "--blur-samples", "5"];
    let scene = ["render", "room.ply", "--cameras", "room.cameras.json"];
    let film = ["--view", "all", "-o", "film.y4m"];
    place.expect(DONE, &[&scene[..], &film, &SIZE, &blur].concat());
    let film = fs::read(place.path("film.y4m")).unwrap();
    let views = film.windows(6).filter(|bytes| *bytes == b"FRAME\n").count();
    assert!(views > 2, "{views}");
    for view in ["1", "2"] {
        let one = ["--view", view, "-o", "one.y4m"];
        place.expect(DONE, &[&scene[..], &one, &SIZE, &blur].concat());
        let one = fs::read(place.path("one.y4m")).unwrap();
        let frame = &one[one.len() - 96 * 64 * 3 / 2..];
        assert!(film.windows(frame.len()).any(|bytes| bytes == frame), "view {view}");
    }
}

#[test]
fn what_a_blur_cannot_have_is_refused() {
    let place = place();
    let refused = [
        (&["--blur-samples", "8"][..], "--blur-samples"),
        (&["--focus", "3"], "--focus"),
        (&["--coc-px", "3", "--aperture", "1"], "--aperture"),
        (&["--f-stop", "2", "--sensor-height", "0"], "--sensor-height"),
        (&["--coc-px", "3", "--blur-samples", "5000"], "1 to 4096"),
        (&["--coc-px", "3", "--aov", "depth"], "--aov"),
        (&["--coc-px", "3", "--backend", "gpu"], "--backend gpu"),
        (&["--shutter", "1.5"], "from 0 to 1"),
        (&["--coc-px", "3", "--camera-model", "fisheye"], "pinhole"),
        (&["--rolling-shutter", "top-to-bottom"], "--camera-turn"),
        (&["--rolling-shutter", "top-to-bottom", "--camera-turn", "3,0,0"], "gsplat-ut"),
        (
            &["--rolling-shutter", "top-to-bottom", "--camera-turn", "3,0,0", "--coc-px", "3"],
            "--rolling-shutter cannot be used with",
        ),
    ];
    for (flags, named) in refused {
        let call = ["render", "room.ply", "--cameras", "room.cameras.json", "-o", "no.exr"];
        place.expect_error(USAGE, &[&call[..], flags].concat(), &[named]);
        assert!(!place.path("no.exr").exists());
    }
}

#[test]
fn kept_pictures_of_other_blurs_are_drawn_again() {
    let place = place();
    let resumed = |blur: &str| {
        let flags = ["render", "room.ply", "--cameras", "room.cameras.json", "--view", "0"];
        let flags = [&flags[..], &SIZE, &["--resume", "-o", "kept.png", "--coc-px", blur]].concat();
        let printed = place.expect(DONE, &flags).stdout;
        String::from_utf8(printed).unwrap().contains("(kept)")
    };
    assert!(!resumed("4"));
    assert!(resumed("4"));
    assert!(!resumed("5"));
}

/// Every backend and layers take the camera; a film takes the next frame as its end.
#[test]
fn rolling_shutters_skew_the_picture() {
    let place = place();
    let points = ["--view", "1", "--profile", "gsplat-ut", "--background", "0,0,0"];
    let rolling = ["--rolling-shutter", "left-to-right", "--camera-turn", "4,1,0"];
    let flags = [&points[..], &rolling].concat();
    let fast = drawn(&place, "fast.npy", &flags);
    let layers = ["render", "room.ply", "--cameras", "room.cameras.json", "--aov", "depth", "-o"];
    place.expect(DONE, &[&layers[..], &["rolling.exr"], &SIZE, &flags].concat());
    let scalar = drawn(&place, "scalar.npy", &[&flags[..], &["--backend", "reference"]].concat());
    assert!(furthest(&fast, &scalar) < 1e-5);
    assert!(furthest(&fast, &drawn(&place, "still.npy", &points)) > 0.1);
    let read = ["render", "room.ply", "--cameras", "room.cameras.json", "--view", "0..2", "--path"];
    let film = ["interpolate", "--frames", "3", "--profile", "gsplat-ut", "-o"];
    let call = [&read[..], &film, &["still.y4m"], &SIZE].concat();
    place.expect(DONE, &call);
    let rolling = ["--shutter", "1", "--rolling-shutter", "top-to-bottom"];
    let call = [&read[..], &film, &["rolling.y4m"], &SIZE, &rolling].concat();
    place.expect(DONE, &call);
    let [still, rolled] =
        ["still.y4m", "rolling.y4m"].map(|name| fs::read(place.path(name)).unwrap());
    assert!(still.len() == rolled.len() && still != rolled);
}

/// `sim` emulates the draw of the same splats, whose pixels differ by the format of its colours alone.
#[test]
fn rolling_shutters_are_emulated() {
    let place = place();
    let points = ["--view", "1", "--profile", "gsplat-ut"];
    let rolling = ["--rolling-shutter", "left-to-right", "--camera-turn", "4,1,0"];
    let flags = [&points[..], &rolling].concat();
    let emulated = |name: &'static str, flags: &[&str]| {
        let call = ["sim", "room.ply", "--cameras", "room.cameras.json", "--method", "baseline"];
        place.expect(DONE, &[&call[..], &SIZE, flags, &["-o", name]].concat());
        read_picture(place.path(name)).unwrap()
    };
    let found = emulated("emulated.npy", &flags);
    let expected = drawn(&place, "rolling.npy", &[&flags[..], &["--stop", "none"]].concat());
    assert!(furthest(&found, &expected) < 0.01, "{}", furthest(&found, &expected));
    assert!(furthest(&found, &emulated("still.npy", &points)) > 0.1);
    let call = ["sim", "room.ply", "--cameras", "room.cameras.json"];
    for (flags, words) in [
        (&["--camera-turn", "4,1,0"][..], &["--camera-turn", "needs --rolling-shutter"][..]),
        (&["--rolling-shutter", "left-to-right"], &["rolling-shutter needs", "--camera-turn"]),
        (&rolling, &["gsplat-ut, for a rolling shutter"]),
        (&[&flags[..], &["--mesh", "plane"]].concat(), &["a rolling shutter"]),
    ] {
        place.expect_error(USAGE, &[&call[..], flags].concat(), words);
    }
}
