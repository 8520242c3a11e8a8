//! The near plane and the filters of `render`.

use std::fs::{self, File};

use quadrille::{Frame, PlyWriter, Splat};

use crate::support::program::{DONE, Place};

/// The camera looks along z from the origin.
const VIEW: [&str; 8] = ["--eye", "0,0,0", "--target", "0,0,1", "--up", "0,-1,0", "--width", "48"];
/// A box around the wall without the floater.
const BOX: [&str; 2] = ["--keep-box", "-9,-9,3,9,9,9"];

fn splat(mean: [f32; 3], size: f32, red: f32) -> Splat {
    let mut sh = [[0.0; 3]; 25];
    sh[0] = [red, 0.3, -0.2];
    Splat { mean, scale: [size; 3], rotation: [1.0, 0.0, 0.0, 0.0], opacity: 0.9, sh }
}

fn write(place: &Place, name: &str, splats: &[Splat]) {
    let file = File::create(place.path(name)).unwrap();
    let mut writer = PlyWriter::new(file, splats.len() as u64, 0, &[]).unwrap();
    for splat in splats {
        writer.push(splat).unwrap();
    }
    writer.finish().unwrap();
}

/// A wall of splats at depth 5 in `wall.ply`, and the same with a floater before the camera in `scene.ply`.
fn place() -> Place {
    let place = Place::new();
    let at = |i: i32| ((i % 9 - 4) as f32 * 0.5, (i / 9 - 4) as f32 * 0.5);
    let wall = (0..81).map(|i| {
        let (x, y) = at(i);
        splat([x, y, 5.0], 0.1 + 0.002 * i as f32, i as f32 / 50.0)
    });
    let wall: Vec<Splat> = wall.collect();
    write(&place, "wall.ply", &wall);
    let floater = splat([0.05, 0.0, 0.5], 0.2, -1.5);
    write(&place, "scene.ply", &[&[floater], &wall[..]].concat());
    place
}

fn picture(place: &Place, scene: &str, name: &str, flags: &[&str]) -> Vec<u8> {
    let arguments = [&["render", scene, "-o", name], &VIEW[..], flags].concat();
    place.expect(DONE, &arguments);
    fs::read(place.path(name)).unwrap()
}

#[test]
fn a_floater_vanishes_by_near_plane_box_sphere_and_condition() {
    let place = place();
    let wall = picture(&place, "wall.ply", "wall.npy", &[]);
    let hidden = picture(&place, "scene.ply", "hidden.npy", &[]);
    let [seen, hidden_frame]: [Frame; 2] =
        ["wall.npy", "hidden.npy"].map(|name| quadrille::read_picture(place.path(name)).unwrap());
    let pairs = seen.pixels().iter().zip(hidden_frame.pixels());
    let changed = pairs.filter(|(a, b)| (a[0] - b[0]).abs() > 0.1).count();
    assert!(changed * 10 > seen.pixels().len(), "the floater hides {changed} pixels");
    assert_ne!(hidden, wall);
    for flags in [
        &["--near", "1"][..],
        &BOX,
        &["--keep-sphere", "0,0,5,4"],
        &["--where", "z > 1"],
        &["--where", "scale_max < 10 && z >= 5"],
    ] {
        assert_eq!(picture(&place, "scene.ply", "kept.npy", flags), wall, "{flags:?}");
    }
    // A near plane in front of the floater keeps it.
    assert_eq!(picture(&place, "scene.ply", "near.npy", &["--near", "0.4"]), hidden);
}

#[test]
fn a_filtered_picture_is_that_of_the_converted_scene() {
    let place = place();
    for (index, flags) in [
        &BOX[..],
        &["--keep-sphere", "0.4,0.2,5,0.9"],
        &["--where", "opacity > 0.5 && scale_max < 0.2 && x > -0.6"],
        &["--keep-box", "-1,-1,0,1,1,9", "--where", "scale_min > 0.15"],
        &["--splat-scale", "0.5", "--where", "scale_max < 0.1", "--sh", "0"],
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("converted_{index}.ply");
        place.expect(DONE, &[&["convert", "scene.ply", "-o", &name], flags].concat());
        let converted = picture(&place, &name, "a.png", &[]);
        assert_eq!(picture(&place, "scene.ply", "b.png", flags), converted, "{flags:?}");
        assert_ne!(picture(&place, "scene.ply", "c.png", &[]), converted, "{flags:?}");
    }
}

#[test]
fn wrong_filters_are_refused() {
    let place = place();
    for (flags, words) in [
        (["--near", "0"], ["--near", "above 0"]),
        (["--near", "nan"], ["--near", "above 0"]),
        (["--keep-box", "1,2,3"], ["--keep-box", "six numbers"]),
        (["--keep-sphere", "0,0,0"], ["--keep-sphere", "four numbers"]),
        (["--where", "opacity >"], ["--where", "expected"]),
        (["--splat-scale", "0"], ["--splat-scale", "above 0"]),
        (["--sh", "5"], ["--sh", "0 to 4"]),
        (["--where", "colour > 1"], ["--where", "colour"]),
    ] {
        let arguments = [&["render", "scene.ply", "-o", "a.png"], &VIEW[..], &flags].concat();
        let output = place.run(&arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_ne!(output.status.code(), Some(DONE), "{flags:?}");
        assert!(words.iter().all(|word| errors.contains(word)), "{flags:?}: {errors}");
        assert!(!place.path("a.png").exists());
    }
}
