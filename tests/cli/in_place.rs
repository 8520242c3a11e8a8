//! `render` of one view: a PLY is drawn while it is read, with the picture of a scene in memory.

use std::fs;

use crate::support::program::{DONE, Place};

/// What `-v` says of a scene that is not read into memory.
const IN_PLACE: &str = "drawn while they are read";

/// A place with `room.ply` of a number of splats and its cameras.
fn room(splats: &str, degree: &str) -> Place {
    let place = Place::new();
    let scene = ["synth", "room", "--splats", splats, "--sh-degree", degree];
    let files = ["-o", "room.ply", "--cameras-out", "room.cameras.json"];
    place.expect(DONE, &[&scene[..], &files].concat());
    place
}

/// Output of a command.
fn messages(place: &Place, arguments: &[&str]) -> String {
    let output = place.expect(DONE, arguments);
    String::from_utf8(output.stderr).unwrap()
}

/// Draws a view of `room.ply` into `picture`; returns the messages.
fn drawn(place: &Place, view: &str, picture: &str, flags: &[&str]) -> String {
    let scene = ["render", "room.ply", "--cameras", "room.cameras.json", "-v"];
    let output = ["--view", view, "--width", "200", "-o", picture];
    messages(place, &[&scene[..], &output, flags].concat())
}

/// Asserts that the picture of a scene in memory, which `--json` asks for, has the same bytes as `a.png`; returns the
/// messages.
fn expect_same(place: &Place, view: &str, flags: &[&str]) -> String {
    let messages = drawn(place, view, "b.png", &[flags, &["--json"]].concat());
    assert!(!messages.contains(IN_PLACE), "{messages}");
    let picture = |name: &str| fs::read(place.path(name)).unwrap();
    assert!(picture("a.png") == picture("b.png"), "{view} {flags:?}");
    messages
}

/// Changes `property` of rows of `room.ply`, whose properties are floats; `change` gets the row and its value.
fn set(place: &Place, property: &str, change: impl Fn(usize, f32) -> f32) {
    let mut bytes = fs::read(place.path("room.ply")).unwrap();
    let end = b"end_header\n";
    let start = bytes.windows(end.len()).position(|w| w == end).unwrap() + end.len();
    let header = String::from_utf8(bytes[..start].to_vec()).unwrap();
    let names = header.lines().filter_map(|l| l.strip_prefix("property float "));
    let names: Vec<&str> = names.collect();
    let at = names.iter().position(|name| *name == property).unwrap();
    let words = bytes[start..].as_chunks_mut::<4>().0;
    for (row, words) in words.chunks_mut(names.len()).enumerate() {
        words[at] = change(row, f32::from_le_bytes(words[at])).to_le_bytes();
    }
    fs::write(place.path("room.ply"), bytes).unwrap();
}

#[test]
fn the_picture_is_that_of_a_scene_in_memory() {
    // Neither number is a number of whole blocks of 16 splats.
    for (splats, degree) in [("20003", "0"), ("9999", "1"), ("5001", "2"), ("7013", "3")] {
        let place = room(splats, degree);
        for flags in [&["--threads", "1"][..], &["--simd", "sse2"], &[]] {
            let flags = match cfg!(target_arch = "x86_64") {
                true => flags,
                false => &[],
            };
            for view in ["door", "sofa"] {
                let messages = drawn(&place, view, "a.png", flags);
                assert!(messages.contains(IN_PLACE), "{messages}");
                expect_same(&place, view, flags);
            }
        }
    }
}

#[test]
fn several_views_and_views_that_the_scene_decides_need_the_scene_in_memory() {
    let place = room("2000", "0");
    let told = drawn(&place, "all", "{view}.png", &[]);
    assert!(!told.contains(IN_PLACE), "{told}");
    let scene = ["render", "room.ply", "-v", "-o", "a.png"];
    let told = messages(&place, &scene);
    assert!(!told.contains(IN_PLACE), "{told}");
}

/// A camera file beside the scene gives no view that other flags describe, which the scene completes.
#[test]
fn views_that_flags_describe_beside_a_camera_file_need_the_scene_in_memory() {
    let place = room("2000", "0");
    for described in [
        &["--eye", "1,-1,0"][..],
        &["--target", "0,-1,0"],
        &["--orbit", "1"],
        &["--propose-views", "1"],
    ] {
        let view = ["render", "room.ply", "--view", "0", "--width", "200"];
        for (picture, flag) in [("a.png", "-v"), ("b.png", "--json")] {
            let arguments = [&view[..], described, &["-o", picture, flag]].concat();
            let told = messages(&place, &arguments);
            assert!(!told.contains(IN_PLACE), "{described:?}: {told}");
        }
        let picture = |name: &str| fs::read(place.path(name)).unwrap();
        assert!(picture("a.png") == picture("b.png"), "{described:?}");
    }
}

#[test]
fn invalid_rows_are_reported_as_those_of_a_scene_in_memory() {
    // The first splats of a room are its floor, which all views show.
    for property in ["x", "scale_1", "rot_0", "opacity", "f_dc_2", "f_rest_7"] {
        let place = room("7013", "3");
        let clean = drawn(&place, "door", "clean.png", &[]);
        assert!(clean.contains(IN_PLACE), "{clean}");
        set(&place, property, |row, value| match row % 50 {
            3 => f32::NAN,
            _ => value,
        });
        let messages = drawn(&place, "door", "a.png", &[]);
        let warning = "rows without a valid splat were dropped";
        assert!(messages.contains(warning), "{property}: {messages}");
        assert!(!messages.contains(IN_PLACE), "{property}: {messages}");
        assert!(expect_same(&place, "door", &[]).contains(warning));
    }
}

#[test]
fn an_opacity_of_infinity_and_a_quaternion_of_zeros_are_read_alike() {
    let place = room("2000", "0");
    set(&place, "opacity", |row, value| match row {
        17 => f32::INFINITY,
        33 => f32::NEG_INFINITY,
        _ => value,
    });
    for part in ["rot_0", "rot_1", "rot_2", "rot_3"] {
        set(&place, part, |row, value| if row == 50 { 0.0 } else { value });
    }
    drawn(&place, "door", "a.png", &[]);
    expect_same(&place, "door", &[]);
}

#[test]
fn positions_too_coarse_for_the_scene_are_told_of() {
    let place = room("20000", "0");
    for axis in ["x", "y", "z"] {
        set(&place, axis, |_, value| value + 4e6);
    }
    let scene = ["render", "room.ply", "--eye", "4e6,4e6,4e6", "--target"];
    let camera = ["4e6,4e6,4000002", "--cameras-out", "far.json"];
    place.expect(DONE, &[&scene[..], &camera].concat());
    let picture = ["render", "room.ply", "--cameras", "far.json", "--view", "0"];
    for flags in [&["-v"][..], &["--json"], &["--memory", "2M"]] {
        let arguments = [&picture[..], &["-o", "a.png"], flags].concat();
        let told = messages(&place, &arguments);
        assert!(told.contains("single precision"), "{flags:?}: {told}");
        assert_eq!(told.contains(IN_PLACE), flags == ["-v"], "{told}");
    }
}
