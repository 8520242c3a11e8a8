//! A server that its own process controls.

use std::time::{Duration, Instant};

use quadrille_scene::Camera;
use serde_json::json;

use super::client::{Options, PATIENCE, Server, camera, placed, request, show, shown, write_scene};

const SIZE: [u32; 2] = [96, 64];

#[test]
fn a_page_shows_the_newest_scene_and_status() {
    let server = Server::start(Options::default());
    server.control.set_status("step 0");
    let mut page = server.page();
    assert_eq!(page.welcome["status"], "step 0");
    page.send(&request("still", 1, &placed(0.0), SIZE, &show()));
    let old = page.picture(2, 1);
    let path = server.folder.path().join("other.ply");
    write_scene(&path, 500, 3);
    server.control.update(shown(&path).unwrap());
    server.control.set_status("step 1");
    let scene = page.text("scene");
    let found = &scene["scenes"][0];
    assert_eq!((&found["name"], &found["splats"]), (&"other.ply".into(), &500.into()));
    assert_eq!((&scene["generation"], &scene["note"]), (&1.into(), &().into()));
    assert_eq!(page.text("status")["text"], "step 1");
    page.send(&request("still", 2, &placed(0.0), SIZE, &show()));
    let new = page.picture(2, 2);
    assert_eq!(new.generation, 1);
    assert!(new.rgb() != old.rgb());
}

#[test]
fn the_camera_is_that_of_the_page_that_moved_last() {
    let server = Server::start(Options::default());
    let camera_now = || server.control.camera().unwrap();
    let is_at = |turn| {
        camera_now()
            .is_some_and(|found| found == Camera { name: found.name.clone(), ..camera(turn, SIZE) })
    };
    assert_eq!(camera_now(), None);
    let mut pages = [server.page(), server.page()];
    for (seq, page, turn) in [(1, 1, 1.0), (2, 0, 2.0), (3, 1, 1.0)] {
        pages[page].send(&request("still", seq, &placed(turn), SIZE, &show()));
        pages[page].picture(2, seq);
        // The third request is for the camera of the first one, as after a new scene.
        assert!(is_at(if seq == 1 { 1.0 } else { 2.0 }), "{seq}");
    }
    let [first, _second] = pages;
    drop(first);
    let start = Instant::now();
    while !is_at(1.0) {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_set_camera_moves_pages_and_greets_new_ones() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    assert_eq!(page.welcome["cam"], json!(null));
    // A listed view, and its lens with another pose, in another size.
    server.control.set_camera(&camera(1.0, [320, 180])).unwrap();
    assert_eq!(page.text("camera")["cam"], json!({"view": 1}));
    server.control.set_camera(&camera(0.5, [640, 360])).unwrap();
    let cam = page.text("camera")["cam"].clone();
    assert_eq!(cam["lens"], 0);
    // A plain pinhole.
    let wide = Camera { focal_px: [100.0; 2], ..camera(0.5, SIZE) };
    server.control.set_camera(&wide).unwrap();
    let cam = page.text("camera")["cam"].clone();
    assert_eq!(server.page().welcome["cam"], cam);
    assert_eq!(cam["lens"], json!(null));
    page.send(&request("still", 1, &cam, SIZE, &show()));
    page.picture(2, 1);
    let found = server.control.camera().unwrap().unwrap();
    assert!((found.view_from_world - wide.view_from_world).norm() < 1e-12);
    assert!((found.eye() - wide.eye()).norm() < 1e-12);
    assert!((found.focal_px[0] - 100.0).abs() < 1e-9, "{found:?}");
    for refused in [
        Camera { focal_px: [100.0, 110.0], ..wide.clone() },
        Camera { principal_px: [40.0, 32.0], ..wide.clone() },
        Camera { focal_px: [0.1; 2], ..wide.clone() },
        wide.clone().through_fisheye(2.0),
    ] {
        let error = server.control.set_camera(&refused).unwrap_err().to_string();
        assert!(error.starts_with("camera: expected "), "{error}");
    }
}
