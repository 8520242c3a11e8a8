//! Pictures larger than memory.

use std::process::{Command, Output};

use crate::support::program::{DONE, Place, USAGE};

/// Runs the program with a limit of its address space, in KiB.
fn limited(place: &Place, kib: u32, arguments: &[&str]) -> Output {
    let limited = format!("ulimit -v {kib} && exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_quadrille")])
        .args(arguments)
        .current_dir(place.path("."))
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap()
}

/// 4 GB hold no frame of 17 GB.
#[test]
fn a_picture_larger_than_memory_is_refused_before_the_work() {
    let place = Place::new();
    let large = ["--width", "32768", "--height", "32768", "-o"];
    for (command, output, found) in [
        (
            // The result, 28 bytes per pixel, and a picture that is written, of 37.
            &["sim", "scene.ply", "--method", "baseline"][..],
            "a.png",
            "69.8 GB",
        ),
        // Beyond the limit of a file that is written at once.
        (&["render", "scene.ply"], "a.exr", "picture size"),
        (&["mesh", "plane"], "a.png", "17.2 GB"),
    ] {
        let arguments = [command, &large, &[output]].concat();
        let output = limited(&place, 4_000_000, &arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(USAGE), "{command:?}: {errors}");
        assert!(errors.contains(found), "{command:?}: {errors}");
        assert!(errors.contains("32768 x 32768"), "{command:?}: {errors}");
    }
    assert!(place.names().iter().all(|name| !name.starts_with("a.")));
}

/// A frame of 8192 x 8256 pixels takes 1.08 GB: in 900 MB, the picture is drawn band by band.
#[test]
fn large_pictures_are_drawn_in_bands() {
    let place = Place::new();
    let size = ["--width", "8192", "--height", "8256"];
    let arguments = [&["render", "scene.ply"], &size[..], &["-o", "a.png"]].concat();
    let output = limited(&place, 900_000, &arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(DONE), "{errors}");
    let whole = limited(&place, 900_000, &[&arguments[..6], &["-o", "a.exr"]].concat());
    assert_eq!(whole.status.code(), Some(USAGE));
    let picture = image::open(place.path("a.png")).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (8192, 8256));
    // Splats are drawn above and below the middle, which lies between two bands.
    let is_drawn = |rows: std::ops::Range<u32>| {
        rows.step_by(16).any(|y| (0..8192).any(|x| picture.get_pixel(x, y).0 != [0; 3]))
    };
    assert!(is_drawn(0..4096) && is_drawn(4096..8256));
}
