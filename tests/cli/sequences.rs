//! Sequences of scenes: films, emulated frames and comparisons over time.

use std::fs;

use serde_json::json;

use crate::support::program::{DONE, Place, UNREADABLE, USAGE};

const SCENES: usize = 4;
/// One camera for all scenes.
const STILL: [&str; 4] = ["--cameras", "cameras.json", "--view", "shot_1"];

/// `frames/anim_N.ply`: the scene of the place, turned further in each.
fn with_sequence(place: &Place) -> [String; SCENES] {
    std::array::from_fn(|at| {
        // Ten comes behind nine by number, but not by name.
        let name = format!("frames/anim_{}.ply", at + 8);
        let turn = format!("{},0,0", 15 * at);
        place.expect(DONE, &["convert", "scene.ply", "--rotate", &turn, "-o", &name]);
        name
    })
}

/// Films of one frame each, without their headers.
fn film_of(place: &Place, scene: &str, flags: &[&str]) -> Vec<u8> {
    place.expect(DONE, &[&["render", scene, "-o", "part.y4m"], flags].concat());
    frames(&fs::read(place.path("part.y4m")).unwrap()).to_vec()
}

fn frames(film: &[u8]) -> &[u8] {
    &film[film.iter().position(|byte| *byte == b'\n').unwrap() + 1..]
}

/// Frame `i` of a film shows scene `i` as `render` draws it, in the same bytes on any number of threads.
#[test]
fn frames_of_a_film_show_the_scenes_in_order() {
    let place = Place::new();
    let scenes = with_sequence(&place);
    let render = |scene: &str, flags: &[&str]| {
        place.expect(DONE, &[&["render", scene, "-o", "film.y4m"], &STILL[..], flags].concat());
        frames(&fs::read(place.path("film.y4m")).unwrap()).to_vec()
    };
    let parts = scenes.each_ref().map(|scene| film_of(&place, scene, &STILL));
    assert_ne!(parts[0], parts[1]);
    let film = render("frames", &["--threads", "1"]);
    assert_eq!(film, parts.concat());
    assert_eq!(film, render("frames", &["--threads", "3"]));
    assert_eq!(film, render("frames/anim_*.ply", &[]));
    let slow = render("frames", &["--sequence-fps", "15"]);
    let twice = parts.each_ref().map(|part| [&part[..], part].concat());
    assert_eq!(slow, twice.concat());
    // Pictures of the frames are those of the scenes.
    let pictures = ["render", "frames", "-o", "{view}.png", "--json"];
    let document = place.document(&[&pictures[..], &STILL].concat());
    assert_eq!(document["scene"]["shown"], json!(scenes));
    assert_eq!(document["views"][3]["name"], "frame_0003");
    for (at, scene) in scenes.iter().enumerate() {
        place.expect(DONE, &[&["render", scene, "-o", "one.png"], &STILL[..]].concat());
        let [frame, one] = [format!("frame_{at:04}.png"), "one.png".to_owned()];
        assert_eq!(fs::read(place.path(&frame)).unwrap(), fs::read(place.path(&one)).unwrap());
    }
}

/// Along a path, the scenes are distributed over its cameras.
#[test]
fn scenes_are_distributed_over_a_path() {
    let place = Place::new();
    let scenes = with_sequence(&place);
    let path = ["--cameras", "cameras.json", "--path", "interpolate", "--frames"];
    let shown = |frames: &str| {
        let flags = [&path[..], &[frames]].concat();
        let call = [&["render", "frames", "-o", "film.y4m", "--json"], &flags[..]].concat();
        let film = place.document(&call);
        assert_eq!(film["film"]["frames"].to_string(), frames);
        film["scene"]["shown"].clone()
    };
    let of = |order: &[usize]| json!(order.iter().map(|at| &scenes[*at]).collect::<Vec<_>>());
    assert_eq!(shown("8"), of(&[0, 0, 1, 1, 2, 2, 3, 3]));
    assert_eq!(shown("3"), of(&[0, 1, 2]));
    assert_eq!(shown("2"), of(&[0, 2]));
    let film = fs::read(place.path("film.y4m")).unwrap();
    let cameras = [&path[..], &["2"]].concat();
    let [first, third] = [0, 2].map(|at| film_of(&place, &scenes[at], &cameras));
    let half = first.len() / 2;
    assert_eq!(frames(&film), [&first[..half], &third[half..]].concat());
}

/// The emulator draws the scenes one after the other, with warm caches too.
#[test]
fn emulated_frames_show_the_scenes_in_order() {
    let place = Place::new();
    let scenes = with_sequence(&place);
    let sim = |scene: &str, flags: &[&str]| {
        let call = ["sim", scene, "--method", "baseline", "--json"];
        place.document(&[&call[..], &STILL, flags].concat())
    };
    let cycles = |document: &serde_json::Value, view: usize| {
        document["views"][view]["methods"][0]["cycles"].as_u64().unwrap()
    };
    let film = sim("frames", &[]);
    for (at, scene) in scenes.iter().enumerate() {
        assert_eq!(film["views"][at]["scene"]["path"], scene.as_str());
        assert_eq!(film["views"][at]["view"]["name"], format!("frame_{at:04}"));
        assert_eq!(cycles(&film, at), cycles(&sim(scene, &[]), 0), "{scene}");
    }
    let warm = sim("frames", &["--warm"]);
    assert_eq!(warm["sequence"]["frames"].as_array().unwrap().len(), SCENES);
    let stereo = sim("frames", &["--stereo", "0.1"]);
    let paths = [0, 1, 2, 7].map(|at| stereo["views"][at]["scene"]["path"].clone());
    assert_eq!(paths, [0, 0, 1, 3].map(|at| json!(scenes[at])));
    // A file that is one scene has its view under its own name.
    assert_eq!(sim("scene.ply", &[])["views"][0]["view"]["name"], "shot_1");
}

/// Sequences are compared scene by scene, in the order of their numbers.
#[test]
fn sequences_are_compared_scene_by_scene() {
    let place = Place::new();
    let scenes = with_sequence(&place);
    for (at, scene) in scenes.iter().enumerate() {
        place.expect(DONE, &["convert", scene, "-o", &format!("packed/f{at}.spz")]);
    }
    let views = ["--cameras", "cameras.json", "--view", "shot_0,shot_1"];
    let flags = ["--ssimulacra2", "--json"];
    let compare =
        |a: &str, b: &str| place.document(&[&["compare", a, b], &views[..], &flags].concat());
    let all = compare("frames", "packed");
    assert_eq!(all["pairs"].as_array().unwrap().len(), 2 * SCENES);
    for (at, scene) in scenes.iter().enumerate() {
        let packed = format!("packed/f{at}.spz");
        let own = compare(scene, &packed);
        for (view, name) in ["shot_0", "shot_1"].into_iter().enumerate() {
            let row = &all["pairs"][2 * at + view];
            assert_eq!(row["name"], format!("frame_{at:04}_{name}"));
            assert_eq!((&row["a"], &row["b"]), (&json!(scene), &json!(packed)));
            let alone = own["pairs"].as_array().unwrap();
            let alone = alone.iter().find(|row| row["name"] == name).unwrap();
            for key in ["psnr_db", "ssim", "flip", "ssimulacra2"] {
                assert_eq!(row[key], alone[key], "{scene} {name} {key}");
            }
        }
    }
    let same = compare("frames", "frames/anim_*.ply");
    assert_eq!(same["mean"]["identical"], 2 * SCENES);
    fs::remove_file(place.path("packed/f3.spz")).unwrap();
    let words = ["packed: sequence: expected 4 scenes as in frames, found 3"];
    place.expect_error(UNREADABLE, &["compare", "frames", "packed"], &words);
    let words = ["a sequence of scenes to compare frames with", "scene.ply"];
    place.expect_error(USAGE, &["compare", "scene.ply", "frames"], &words);
}

/// A scene that cannot be read is named with its place, and no film is left.
#[test]
fn broken_sequences_leave_no_film() {
    let place = Place::new();
    let scenes = with_sequence(&place);
    let film = [&["render", "frames", "-o", "film.y4m"], &STILL[..]].concat();
    for (flags, words) in [
        (&["--repeat", "2"][..], "--repeat cannot be used with a sequence"),
        (&["-o", "a.y4m", "--memory", "1G"], "--memory cannot be used with a sequence"),
        (&["-o", "a.png"], "{view}"),
        (&["-o", "{view}.png", "--sequence-fps", "5"], "--sequence-fps needs -o"),
        (&["-o", "a.y4m", "--sequence-fps", "0.001"], "at most 100000 frames, found 120000"),
    ] {
        place.expect_error(USAGE, &[&["render", "frames"], &STILL[..], flags].concat(), &[words]);
    }
    let alone = ["render", "scene.ply", "-o", "a.y4m", "--sequence-fps", "5"];
    place.expect_error(USAGE, &alone, &["--sequence-fps needs a sequence"]);
    let whole = fs::read(place.path(&scenes[2])).unwrap();
    fs::write(place.path(&scenes[2]), &whole[..whole.len() - 7]).unwrap();
    place.expect_error(UNREADABLE, &film, &[&scenes[2], "scene 3 of 4"]);
    let sim = [&["sim", "frames", "--method", "baseline"], &STILL[..]].concat();
    let output = place.expect(UNREADABLE, &sim);
    assert!(String::from_utf8_lossy(&output.stderr).contains("scene 3 of 4"));
    let compare = ["compare", "frames", "frames"];
    let output = place.expect(UNREADABLE, &compare);
    assert!(String::from_utf8_lossy(&output.stderr).contains("scene 3 of 4"));
    // A scene that is gone is missed before the first frame is drawn.
    fs::remove_file(place.path(&scenes[2])).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", place.path(&scenes[2])).unwrap();
        place.expect_error(UNREADABLE, &film, &[&scenes[2], "scene 3 of 4", "can be read"]);
    }
    fs::create_dir(place.path("empty")).unwrap();
    let empty = ["render", "empty", "-o", "film.y4m"];
    place.expect_error(UNREADABLE, &empty, &["an empty folder", "anim_0001.ply"]);
    let none = ["render", "none_*.ply", "-o", "film.y4m"];
    place.expect_error(UNREADABLE, &none, &["none_*.ply", "no such file"]);
    assert!(!place.names().contains("film.y4m"));
}
