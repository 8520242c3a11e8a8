//! `render --memory`: scenes that are read in batches.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::program::{DONE, Place, UNREADABLE, USAGE};
use crate::support::skipped;

const CAMERAS: [&str; 3] = ["--cameras", "room.cameras.json", "--view"];
const VIEWS: [&str; 4] = ["door", "sofa", "window", "table"];

fn room_of(splats: &str, degree: &str) -> Place {
    let place = Place::new();
    let scene = ["synth", "room", "--splats", splats, "--sh-degree", degree];
    let output = ["-o", "room.ply", "--cameras-out", "room.cameras.json"];
    place.expect(DONE, &[&scene[..], &output].concat());
    place
}

fn room() -> Place {
    room_of("20000", "3")
}

/// Renders all views of a scene, within `memory` or in core, and reads the pictures.
fn pictures(place: &Place, scene: &str, memory: Option<&str>, flags: &[&str]) -> Vec<Vec<u8>> {
    let name = memory.unwrap_or("core");
    let out = format!("{name}_{{view}}.png");
    let views = ["all", "--width", "120", "-o", &out];
    let memory = memory.map(|memory| ["--memory", memory]);
    let memory = memory.as_ref().map_or(&[][..], |memory| &memory[..]);
    let arguments = [&["render", scene], &CAMERAS[..], &views, memory, flags].concat();
    place.expect(DONE, &arguments);
    let picture = |view: &&str| fs::read(place.path(&format!("{name}_{view}.png"))).unwrap();
    VIEWS.iter().map(picture).collect()
}

/// Passes over the file and rows that may be seen, by the remarks of a call within `memory`.
fn remarks(place: &Place, scene: &str, memory: &str, view: &str) -> String {
    let flags = ["--width", "120", "-o", "a.png", "--memory", memory, "--verbose"];
    let arguments = [&["render", scene], &CAMERAS[..], &[view], &flags].concat();
    String::from_utf8(place.expect(DONE, &arguments).stderr).unwrap()
}

#[test]
fn pictures_of_batches_are_those_of_the_whole_scene() {
    let place = room();
    let core = pictures(&place, "room.ply", None, &[]);
    for memory in ["1G", "4M", "3M"] {
        let threads = if memory == "3M" { "1" } else { "2" };
        let found = pictures(&place, "room.ply", Some(memory), &["--threads", threads]);
        assert!(found == core, "{memory}");
    }
}

#[test]
fn every_format_is_drawn_in_batches() {
    if skipped::is_slow() {
        return;
    }
    // Sizes that hold the splats in view, but not the scene.
    let scenes: [(&str, &str, &[&str]); 4] = [
        ("0", "26000", &["3M"]),
        ("1", "22000", &["3M"]),
        ("2", "20000", &["4M", "3M"]),
        ("3", "20000", &["4M", "3M"]),
    ];
    for (degree, splats, sizes) in scenes {
        let place = room_of(splats, degree);
        let files =
            ["room.sog", "folder/meta.json", "room.ssog", "room.compressed.ply", "room.splat"];
        for file in files {
            if file == "room.splat" && degree != "0" {
                continue;
            }
            place.expect(DONE, &["convert", "room.ply", "-o", file]);
            let core = pictures(&place, file, None, &[]);
            for memory in sizes {
                let said = remarks(&place, file, memory, "door");
                assert!(said.contains("batches of"), "{file}, {memory}: {said}");
                for threads in ["1", "2"] {
                    let found = pictures(&place, file, Some(memory), &["--threads", threads]);
                    assert!(found == core, "{file} of degree {degree}, {memory}");
                }
            }
        }
    }
}

/// Writes a streamed SOG of two files, whose leaves take turns, and an environment.
fn streamed(place: &Place) {
    let parts = [("a", "7", "3"), ("b", "8", "2"), ("sky", "9", "0")];
    for (folder, seed, degree) in parts {
        let scene = ["synth", "room", "--splats", "8000", "--seed", seed];
        let output = ["--sh-degree", degree, "-o", "part.ply"];
        place.expect(DONE, &[&scene[..], &output].concat());
        let file = format!("streamed/{folder}/meta.json");
        place.expect(DONE, &["convert", "part.ply", "-o", &file]);
    }
    let range = |file: usize, offset: usize, count: usize| json!({"lods": {"0": {"file": file, "offset": offset, "count": count}}});
    let leaves =
        [range(1, 0, 3000), range(0, 17, 3001), range(1, 3000, 5000), range(0, 4000, 4000)];
    let description = json!({
        "lodLevels": 1,
        "environment": "sky/meta.json",
        "filenames": ["a/meta.json", "b/meta.json"],
        "tree": {"children": leaves},
    });
    write(&place.path("streamed/lod-meta.json"), &description);
}

fn write(path: &Path, document: &Value) {
    fs::write(path, document.to_string()).unwrap();
}

#[test]
fn files_of_a_streamed_sog_are_decoded_one_after_the_other() {
    let place = room();
    streamed(&place);
    let scene = "streamed/lod-meta.json";
    let core = pictures(&place, scene, None, &[]);
    for (memory, threads) in [("5M", "2"), ("3M", "1")] {
        let found = pictures(&place, scene, Some(memory), &["--threads", threads]);
        assert!(found == core, "{memory}");
    }
    let level = ["--lod", "1", "-o", "a.png", "--memory", "3M"];
    let arguments = [&["render", scene], &CAMERAS[..], &["0"], &level].concat();
    place.expect_error(USAGE, &arguments, &["--lod", "below 1"]);
}

#[test]
fn counts_of_hostile_files_take_no_memory() {
    let place = room();
    place.expect(DONE, &["convert", "room.ply", "-o", "folder/meta.json"]);
    let path = place.path("folder/meta.json");
    let mut meta: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    meta["count"] = json!(4_000_000_000_u64);
    write(&path, &meta);
    let render = |memory: &'static str| {
        let flags = ["0", "-o", "a.png", "--memory", memory];
        [&["render", "folder"], &CAMERAS[..], &flags].concat()
    };
    place.expect_error(USAGE, &render("1G"), &["at least", "folder", "found 1 GiB"]);
    let named = ["meta.json", "at most", "splats in pictures of this size"];
    place.expect_error(UNREADABLE, &render("600G"), &named);
    assert!(!place.path("a.png").exists());
}

/// An indexed PLY of a room and four others in all directions, with the cameras of the first one.
fn indexed_rooms() -> Place {
    let place = room_of("5800", "1");
    let directions = ["100,0,0", "-100,0,0", "0,0,100", "0,0,-100"];
    let names = ["right.ply", "left.ply", "front.ply", "back.ply"];
    for (direction, name) in directions.iter().zip(names) {
        let moved = ["convert", "room.ply", "--translate", direction, "-o", name];
        place.expect(DONE, &moved);
    }
    let indexed = ["--morton", "--index", "-o", "i.ply"];
    place.expect(DONE, &[&["convert", "room.ply"], &names[..], &indexed].concat());
    place
}

#[test]
fn an_index_leaves_out_rows_and_keeps_pictures() {
    let place = indexed_rooms();
    let core = pictures(&place, "i.ply", None, &[]);
    for (memory, threads) in [("4M", "2"), ("3M", "1")] {
        for profile in ["inria", "gsplat", "brush"] {
            let flags = ["--threads", threads, "--profile", profile];
            let core = pictures(&place, "i.ply", None, &flags);
            let found = pictures(&place, "i.ply", Some(memory), &flags);
            assert!(found == core, "{memory}, {profile}");
        }
        let found = pictures(&place, "i.ply", Some(memory), &[]);
        assert!(found == core, "{memory}");
    }
    // A single view is also drawn while the file is read.
    for (memory, view) in [("4M", "door"), ("1G", "door"), ("1G", "table")] {
        let said = remarks(&place, "i.ply", memory, view);
        assert_eq!(said.contains("drawn while they are read"), memory == "1G");
        let seen = said.split(" of 29000 rows may be visible").next().unwrap();
        let seen: usize = seen.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((6000..24_000).contains(&seen), "{said}");
        let view = VIEWS.iter().position(|name| *name == view).unwrap();
        assert!(fs::read(place.path("a.png")).unwrap() == core[view]);
    }
    // Fisheyes see all chunks.
    let lens = ["--camera-model", "fisheye", "--fov", "60"];
    let core = pictures(&place, "i.ply", None, &lens);
    assert!(pictures(&place, "i.ply", Some("4M"), &lens) == core);
}

#[test]
fn an_index_of_other_vertices_is_not_used() {
    let place = indexed_rooms();
    // A copy has another time, and the same vertices.
    let bytes = fs::read(place.path("i.ply")).unwrap();
    fs::write(place.path("i.ply"), &bytes).unwrap();
    let said = remarks(&place, "i.ply", "4M", "door");
    assert!(said.contains("rows may be visible"), "{said}");
    // All splats move, and the file keeps its size.
    place.expect(DONE, &["convert", "i.ply", "--translate", "9,0,0", "-o", "m.ply"]);
    let moved = fs::read(place.path("m.ply")).unwrap();
    assert_eq!(moved.len(), bytes.len());
    fs::write(place.path("i.ply"), &moved).unwrap();
    let core = pictures(&place, "m.ply", None, &[]);
    for memory in ["4M", "1G"] {
        let said = remarks(&place, "i.ply", memory, "door");
        assert!(said.contains("other vertices"), "{said}");
        assert!(!said.contains("rows may be visible"), "{said}");
        assert!(fs::read(place.path("a.png")).unwrap() == core[0]);
    }
    assert!(pictures(&place, "i.ply", Some("4M"), &[]) == core);
    // One byte of a chunk.
    let mut edited = bytes.clone();
    *edited.last_mut().unwrap() ^= 1;
    fs::write(place.path("i.ply"), &edited).unwrap();
    assert!(remarks(&place, "i.ply", "4M", "door").contains("other vertices"));
    // The index itself.
    fs::write(place.path("i.ply"), &bytes).unwrap();
    let index = fs::read(place.path("i.ply.index")).unwrap();
    for at in [0, 20, index.len() / 2, index.len() - 1] {
        let mut damaged = index.clone();
        damaged[at] ^= 4;
        fs::write(place.path("i.ply.index"), damaged).unwrap();
        assert!(remarks(&place, "i.ply", "4M", "door").contains("damaged"));
    }
    for len in [0, 3, 16, 60, index.len() - 4] {
        fs::write(place.path("i.ply.index"), &index[..len]).unwrap();
        assert!(remarks(&place, "i.ply", "4M", "door").contains("damaged"));
    }
}

#[test]
fn an_index_is_of_a_ply() {
    let place = room();
    let other = ["convert", "room.ply", "--index", "-o", "room.sog"];
    place.expect_error(USAGE, &other, &["--index", ".ply"]);
    assert!(!place.path("room.sog").exists());
}

/// A document without what differs between two calls.
fn without_times(mut document: Value) -> Value {
    document["peak_rss_bytes"] = Value::Null;
    for view in document["views"].as_array_mut().unwrap() {
        view["ms"] = Value::Null;
    }
    if let Some(film) = document["film"].as_object_mut() {
        for time in ["host_s", "frames_per_second", "frames_at_once"] {
            film[time] = Value::Null;
        }
    }
    document
}

#[test]
fn documents_and_films_are_those_of_the_whole_scene() {
    let place = room();
    let document = |scene: &str, output: &str, flags: &[&str]| {
        let fixed = ["--width", "120", "--json", "-o", output];
        let arguments = [&["render", scene], flags, &fixed].concat();
        without_times(place.document(&arguments))
    };
    place.expect(DONE, &["convert", "room.ply", "-o", "room.sog"]);
    for scene in ["room.ply", "room.sog"] {
        let views = [&CAMERAS[..], &["all"]].concat();
        let core = document(scene, "{view}.png", &views);
        assert_eq!(core["scene"]["splats"], 20_000);
        let memory = [&views[..], &["--memory", "3M"]].concat();
        assert_eq!(document(scene, "{view}.png", &memory), core, "{scene}");
    }
    let cameras = &CAMERAS[..2];
    let flight = ["--path", "interpolate", "--frames", "7"];
    let flight = [cameras, &flight].concat();
    let films: [(&str, &[&str]); 3] = [
        ("film.y4m", &flight),
        ("film.apng", &flight),
        ("film.apng", &["--path", "room.cameras.json", "--background", "transparent"]),
    ];
    for (film, flags) in films {
        let core = document("room.ply", film, flags);
        let bytes = fs::read(place.path(film)).unwrap();
        let memory = [flags, &["--memory", "3M"]].concat();
        assert_eq!(document("room.ply", film, &memory), core, "{film}");
        assert!(fs::read(place.path(film)).unwrap() == bytes, "{film}");
    }
}

#[test]
fn what_a_scene_in_batches_cannot_do_is_refused() {
    let place = room();
    let picture = ["0", "-o", "a.png", "--memory"];
    let refused = |flags: &[&str], names: &[&str]| {
        let arguments = [&["render", "room.ply"], &CAMERAS[..], &picture, flags].concat();
        place.expect_error(USAGE, &arguments, names);
        assert!(!place.path("a.png").exists());
    };
    refused(&["4M", "--backend", "reference"], &["--memory", "--backend other than cpu"]);
    refused(&["4M", "--where", "opacity > 0.5"], &["--memory", "filters"]);
    refused(&["4X"], &["--memory: expected a size such as 512M"]);
    let scene = ["render", "room.ply", "--eye", "0,-1,0", "-o", "a.png", "--memory", "4M"];
    place.expect_error(USAGE, &scene, &["--memory", "--cameras"]);
    // The camera file beside the scene gives no view that other flags describe.
    for described in [["--eye", "0,-1,0"], ["--orbit", "1"], ["--propose-views", "1"]] {
        let views = ["render", "room.ply", "--view", "0"];
        let output = ["-o", "a.png", "--memory", "2M"];
        let arguments = [&views[..], &described, &output].concat();
        place.expect_error(USAGE, &arguments, &["--memory", "chosen from the scene"]);
    }
    let far = ["convert", "room.ply", "--translate", "5000000,0,0", "-o", "far.sog"];
    place.expect(DONE, &far);
    let arguments = [&["render", "far.sog"], &CAMERAS[..], &picture, &["4M"]].concat();
    place.expect_error(UNREADABLE, &arguments, &["far.sog", "too far from the origin"]);
    place.expect(DONE, &["convert", "room.ply", "-o", "room.spz"]);
    let other = ["render", "room.spz", "-o", "a.png", "--memory", "4M"];
    place.expect_error(UNREADABLE, &other, &["room.spz", "PLY", "SOG", "found SPZ"]);
}

#[test]
fn too_little_memory_is_an_error() {
    let place = room();
    let flags = ["0", "-o", "a.png", "--memory", "1M"];
    let arguments = [&["render", "room.ply"], &CAMERAS[..], &flags].concat();
    place.expect_error(UNREADABLE, &arguments, &["splats in view"]);
    // A SOG is refused before it is read, with the size that it takes.
    place.expect(DONE, &["convert", "room.ply", "-o", "room.sog"]);
    let arguments = [&["render", "room.sog"], &CAMERAS[..], &flags].concat();
    let sizes = ["at least 3 MiB", "880000 bytes", "7120000 bytes"];
    place.expect_error(USAGE, &arguments, &sizes);
    assert!(!place.path("a.png").exists());
}
