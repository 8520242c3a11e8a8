//! Scenes of a sequence, of which all pages see one.

use serde_json::json;

use super::client::{Options, Page, Server, camera, placed, request, shot, show};
use super::pictures::{SIZE, drawn, film_of, rgb};

fn started(scenes: u64) -> Server {
    Server::start(Options { sequence: Some(scenes), ..Options::default() })
}

/// Chooses a scene, and waits until it is shown.
fn choose(page: &mut Page, number: usize) {
    page.send(&json!({"t": "scene", "number": number}));
    let scene = page.text("scene");
    assert_eq!((&scene["number"], &scene["warning"]), (&number.into(), &().into()));
}

#[test]
fn all_pages_see_the_chosen_scene_and_copy_its_command() {
    let server = started(3);
    let [mut page, mut other] = [server.page(), server.page()];
    assert_eq!(page.welcome["sequence"], json!(["time_1.ply", "time_2.ply", "time_3.ply"]));
    assert_eq!(page.welcome["number"], 0);
    for (seq, number, file) in [(1, 2, "time_3.ply"), (2, 0, "time_1.ply"), (3, 1, "time_2.ply")] {
        choose(&mut page, number);
        let seen = other.text("scene");
        assert_eq!((&seen["number"], &seen["scenes"][0]["name"]), (&number.into(), &file.into()));
        let expected = rgb(&drawn(&server, file, &camera(0.3, SIZE), "inria"));
        for page in [&mut page, &mut other] {
            page.send(&request("still", seq, &placed(0.3), SIZE, &show()));
            assert!(page.picture(2, seq).rgb() == expected, "{file}");
        }
        page.send(&json!({"t": "flags", "id": 9, "shot": shot(&placed(0.3), SIZE), "map": null}));
        let flags = page.text("flags");
        assert!(flags["render"].as_str().unwrap().contains(file), "{flags}");
        let of_film = flags["film"]["command"].as_str().unwrap();
        assert!(of_film.contains("'time_*.ply'"), "{of_film}");
    }
    assert_eq!(server.page().welcome["number"], 1);
}

#[test]
fn a_film_shows_all_scenes_whichever_is_shown() {
    let server = started(2);
    let mut page = server.page();
    choose(&mut page, 1);
    let [mut first, mut last] = [0.0, 1.0].map(placed);
    (first["seconds"], last["seconds"]) = (0.into(), 0.5.into());
    let mut request = json!({
        "t": "fly", "id": 4, "shot": shot(&placed(0.0), SIZE), "keys": [first, last], "fps": 8,
    });
    page.send(&request);
    let flown = page.text("fly");
    request["t"] = "film".into();
    page.send(&request);
    let bytes = page.picture(6, 4).bytes;
    let scenes = [["time_1.ply"; 3].as_slice(), &["time_2.ply"; 2]].concat();
    assert!(bytes == film_of(&server, &flown, 8, &scenes));
}

#[test]
fn a_scene_that_cannot_be_read_changes_nothing() {
    let server = started(3);
    let mut page = server.page();
    std::fs::write(server.folder.path().join("time_2.ply"), "ply\nformat").unwrap();
    page.send(&json!({"t": "scene", "number": 1}));
    let scene = page.text("scene");
    assert!(scene["warning"].as_str().unwrap().contains("time_2.ply"), "{scene}");
    assert_eq!((&scene["number"], &scene["generation"]), (&0.into(), &0.into()));
    choose(&mut page, 2);
    page.send(&json!({"t": "scene", "number": 3}));
    let error = page.text("error");
    assert_eq!(error["expected"], "an index below 3");
}

#[test]
fn the_newest_of_many_choices_is_shown_in_the_end() {
    let server = started(3);
    let mut page = server.page();
    for number in [1, 2, 1, 2, 0, 1, 2, 1, 2] {
        page.send(&json!({"t": "scene", "number": number}));
    }
    let expected = rgb(&drawn(&server, "time_3.ply", &camera(0.0, SIZE), "inria"));
    let mut is_shown = |seq| {
        page.send(&request("still", seq, &placed(0.0), SIZE, &show()));
        page.picture(2, seq).rgb() == expected
    };
    let pause = || std::thread::sleep(std::time::Duration::from_millis(100));
    // Two choices of the same scene in a row, with none in between, are the end.
    let settled = (1..200).step_by(2).any(|seq| {
        pause();
        is_shown(seq) && {
            pause();
            is_shown(seq + 1)
        }
    });
    assert!(settled);
}

#[test]
fn outlines_are_those_of_the_splats_that_are_seen() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    page.send(&json!({"t": "outlines", "id": 3, "shot": shot(&placed(0.2), SIZE)}));
    let answer = page.text("outlines");
    let outlines = answer["outlines"].as_array().unwrap();
    let all = answer["all"].as_u64().unwrap();
    assert!(all > 100 && outlines.len() as u64 == all.min(6000), "{} of {all}", outlines.len());
    // The largest splat of a pixel is listed by the probe with the same outline.
    page.send(&json!({"t": "probe", "id": 4, "shot": shot(&placed(0.2), SIZE), "x": 160, "y": 90}));
    let probe = page.text("probe");
    let largest = &probe["splats"][0]["outline"];
    assert!(largest.is_array() && outlines.contains(largest), "{largest}");
}
