//! Maps of the emulated pipeline.

use std::time::Instant;

use serde_json::{Value, json};

use super::client::{Options, Page, Received, Server, placed, request, shot, show};

const SIZE: [u32; 2] = [320, 180];

fn map(id: u32, turn: f64, name: &str, is_pinned: bool) -> serde_json::Value {
    json!({"t": "map", "id": id, "shot": shot(&placed(turn), SIZE), "map": name, "variant": "het+qm", "pinned": is_pinned})
}

#[test]
fn maps_of_a_run_come_one_after_the_other_and_probes_read_them() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let mut titles = Vec::new();
    for (id, name) in [(1, "shaded"), (2, "merged"), (3, "termination_cycle")] {
        page.send(&map(id, 0.0, name, false));
        let facts = page.text("map");
        assert_eq!(facts["id"], id);
        assert!(facts["cycles"].as_u64().unwrap() > 0 && facts["top"].as_u64().unwrap() > 0);
        titles.push(facts["title"].clone());
        assert_eq!(page.picture(5, id).rgb().len(), 3 * 320 * 180);
    }
    assert_eq!(titles[0], "het+qm: fragments shaded");
    page.send(&json!({"t": "probe", "id": 4, "shot": shot(&placed(0.0), SIZE), "x": 160, "y": 90}));
    let probe = page.text("probe");
    assert!(probe["maps"]["shaded"].as_u64().unwrap() > 0, "{probe}");
    page.send(&map(5, 0.0, "nothing", false));
    let error = page.wait(|received| match received {
        Received::Text(text) if text["t"] == "error" => Some(text.clone()),
        _ => None,
    });
    assert!(error["expected"].as_str().unwrap().contains("shaded"), "{error}");
}

#[test]
fn a_map_waits_for_a_film() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let [mut first, mut last] = [0.0, 1.0].map(placed);
    (first["seconds"], last["seconds"]) = (0.into(), 0.25.into());
    let shot = shot(&placed(0.0), SIZE);
    page.send(&json!({"t": "film", "id": 1, "shot": shot, "keys": [first, last], "fps": 8}));
    // Neither has begun: both wait until the camera has rested.
    page.send(&map(2, 0.0, "shaded", false));
    assert!(!page.picture(6, 1).bytes.is_empty());
    assert_eq!(page.picture(5, 2).size, SIZE);
}

#[test]
fn a_move_ends_a_map_that_is_not_pinned() {
    let server = Server::start(Options { splats: Some(400_000), ..Options::default() });
    let mut page = server.page();
    // A run that is started takes longer than this test waits for its end.
    page.send(&map(1, 0.0, "shaded", false));
    page.text("progress");
    let moved = Instant::now();
    page.send(&request("frame", 2, &placed(0.1), [16, 16], &show()));
    page.picture(1, 2);
    // The run of another page starts when the first run has ended, which sends no map.
    let mut other = server.page();
    other.send(&map(3, 0.1, "shaded", true));
    other.text("progress");
    println!("another map begins {:?} after a move", moved.elapsed());
    page.send(&json!({"t": "flags", "id": 4, "shot": shot(&placed(0.0), [16, 16]), "map": null}));
    assert_eq!(next_of(&mut page, ["flags", "map"])["t"], "flags");
    // A pinned map survives moves and is sent.
    other.send(&request("frame", 4, &placed(0.2), [16, 16], &show()));
    other.picture(1, 4);
    assert_eq!(other.text("map")["id"], 3);
    page.send(&map(5, 0.3, "shaded", true));
    page.text("progress");
    page.send(&json!({"t": "cancel", "id": 5}));
    // The thread that emulates serves another page next.
    other.send(&map(6, 0.1, "blended", true));
    assert_eq!(other.text("map")["id"], 6, "of a run that is kept");
    page.send(&json!({"t": "flags", "id": 7, "shot": shot(&placed(0.0), [16, 16]), "map": null}));
    assert_eq!(next_of(&mut page, ["flags", "map"])["t"], "flags");
}

/// The next text of one of two kinds.
fn next_of(page: &mut Page, kinds: [&str; 2]) -> Value {
    page.wait(|received| match received {
        Received::Text(text) if kinds.iter().any(|kind| text["t"] == *kind) => Some(text.clone()),
        _ => None,
    })
}

#[test]
fn stills_of_slow_renderers_come_with_progress() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    for (seq, renderer) in [(1, "reference"), (2, "emulated:het+qm")] {
        let mut slow = show();
        slow["a"]["renderer"] = renderer.into();
        page.send(&request("still", seq, &placed(0.0), SIZE, &slow));
        assert_eq!(page.text("progress")["id"], seq);
        let picture = page.picture(2, seq).rgb();
        let fast = 10 + seq;
        page.send(&request("still", fast, &placed(0.0), SIZE, &show()));
        let expected = page.picture(2, fast).rgb();
        let off = picture.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(off.unwrap() <= 4, "{renderer}: {off:?}");
    }
}

#[test]
fn a_map_belongs_to_the_scene_and_the_profile_that_are_shown() {
    let server = Server::start(Options { second: true, ..Options::default() });
    let mut page = server.page();
    let sources = [(0, None), (1, None), (1, Some("mip-splatting"))];
    let cycles = (1..).zip(sources).map(|(id, (scene, profile))| {
        let mut message = map(id, 0.0, "shaded", true);
        message["shot"]["source"]["scene"] = scene.into();
        message["shot"]["source"]["profile"] = profile.into();
        page.send(&message);
        page.text("map")["cycles"].as_u64().unwrap()
    });
    let cycles: Vec<u64> = cycles.collect();
    assert!(cycles[0] != cycles[1] && cycles[1] != cycles[2], "{cycles:?}");
    // A probe has the counts of the run of its own source alone.
    let probe = |page: &mut Page, id: u32, scene: usize| {
        let mut shot = shot(&placed(0.0), SIZE);
        shot["source"]["scene"] = scene.into();
        page.send(&json!({"t": "probe", "id": id, "shot": shot, "x": 160, "y": 90}));
        page.text("probe")["maps"].clone()
    };
    page.send(&map(9, 0.0, "shaded", true));
    page.text("map");
    assert!(probe(&mut page, 10, 0)["shaded"].is_u64());
    assert_eq!(probe(&mut page, 11, 1), json!({}));
}
