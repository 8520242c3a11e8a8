//! Exposures of the trainer's pictures.

use std::fs;

use quadrille::read_picture;

use crate::support::program::{ALL_VIEWS, DONE, Place, UNREADABLE, USAGE};

/// Exchanges red and green, takes a third of red from blue, and adds an offset per channel.
const ROWS: [[f64; 4]; 3] =
    [[0.0, 1.0, -1.0 / 3.0, 0.1], [1.0, 0.0, 0.0, -0.05], [0.0, 0.0, 1.0, 0.7]];
const BACKGROUND: [&str; 2] = ["--background", "0.2,0.4,0.6"];

/// A scene with two views, `a.jpg` and `b.jpg`, and an `exposure.json` for the first.
fn place() -> Place {
    let place = Place::new();
    let arguments =
        ["synth", "object", "--splats", "300", "-o", "scene.ply", "--cameras-out", "made.json"];
    place.expect(DONE, &arguments);
    let made = fs::read_to_string(place.path("made.json")).unwrap();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let cameras = ["a.jpg", "b.jpg"].map(|name| {
        let mut camera = made[0].clone();
        camera["img_name"] = name.into();
        camera
    });
    let cameras = serde_json::to_string(&cameras).unwrap();
    fs::write(place.path("cameras.json"), cameras).unwrap();
    // Trainers store names with the extension or without.
    let exposures = serde_json::json!({ "a": ROWS, "c": ROWS });
    fs::write(place.path("exposure.json"), exposures.to_string()).unwrap();
    place
}

fn render(place: &Place, output: &str, flags: &[&str]) -> String {
    let always = [&ALL_VIEWS[..], &["--width", "64", "-o", output]].concat();
    let done = place.expect(DONE, &[&always[..], &BACKGROUND, flags].concat());
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn colours_over_the_background_are_mapped_by_the_matrix_of_the_view() {
    let place = place();
    render(&place, "plain.{view}.npy", &[]);
    let warnings = render(&place, "{view}.npy", &["--exposures", "exposure.json"]);
    let pixels = |name: &str| read_picture(place.path(name)).unwrap().pixels().to_vec();
    let (plain, exposed) = (pixels("plain.a.npy"), pixels("a.npy"));
    let mut clamped = 0;
    for (from, to) in plain.iter().zip(&exposed) {
        for k in 0..3 {
            let mapped = (0..3).map(|i| f64::from(from[i]) * ROWS[i][k]).sum::<f64>() + ROWS[k][3];
            clamped += usize::from(!(0.0..=1.0).contains(&mapped));
            let expected = mapped.clamp(0.0, 1.0);
            assert!((f64::from(to[k]) - expected).abs() < 1e-6, "{from:?} {to:?}");
        }
        assert_eq!(to[3], 1.0);
    }
    assert!(clamped > 10 && plain.len() - clamped > 10, "{clamped}");
    assert_eq!(pixels("plain.b.npy"), pixels("b.npy"));
    assert!(warnings.contains("view \"b\": exposure.json has no exposure for it"), "{warnings}");
    assert!(!warnings.contains("view \"a\""), "{warnings}");
}

#[test]
fn mistakes_are_named() {
    let place = place();
    let refused = |exit, flags: &[&str], words: &[&str]| {
        let always = ["render", "scene.ply", "--cameras", "cameras.json", "--view", "0"];
        let output = place.expect(exit, &[&always[..], flags].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
    };
    let with = ["--exposures", "exposure.json", "-o"];
    refused(USAGE, &[&with[..], &["f.y4m"]].concat(), &["--exposures", "a film"]);
    let transparent = ["a.exr", "--background", "transparent"];
    refused(USAGE, &[&with[..], &transparent].concat(), &["--background", "opaque"]);
    for (text, words) in [
        ("[1]", ["top level", "3x4 matrix"]),
        ("{\"a\": [[1, 0, 0, 0]]}", ["a:", "3 rows"]),
        ("{\"a\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}", ["a[0]", "4 numbers"]),
        ("{\"a\": [[1, 0, 0, NaN]]}", ["line 1", "NaN"]),
        ("ply\n", ["exposure.json", "a PLY file"]),
    ] {
        fs::write(place.path("bad.json"), text).unwrap();
        refused(UNREADABLE, &["--exposures", "bad.json", "-o", "a.png"], &words);
    }
    refused(
        UNREADABLE,
        &["--exposures", "none.json", "-o", "a.png"],
        &["none.json", "cannot read"],
    );
    assert!(!place.path("a.png").exists());
}
