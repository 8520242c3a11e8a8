//! `render --probe`: the splats of pixels.

use quadrille::{
    PixelFragment, PixelProbe, Profile, RenderSettings, Renderer, StopRule, load, load_cameras,
};
use serde_json::json;

use crate::support::program::{ALL_VIEWS, CAMERAS, DONE, Place, SHOT, USAGE};

#[test]
fn documents_hold_the_probes_of_the_library() {
    let place = Place::new();
    let arguments = [&ALL_VIEWS[..], &["--probe", "30,20", "--probe", "59,39", "--json"]].concat();
    let document = place.document(&arguments);
    let splats = load(place.path("scene.ply")).unwrap().splats;
    let cameras = load_cameras(place.path("cameras.json")).unwrap().cameras;
    assert_eq!(document["scene"]["splats"], 300);
    assert_eq!(document["profile"], "inria");
    let views = document["views"].as_array().unwrap();
    assert_eq!(views.len(), CAMERAS);
    let mut largest = 0;
    for (view, camera) in views.iter().zip(&cameras) {
        assert_eq!(view["name"], camera.name);
        assert_eq!((&view["width"], &view["height"]), (&json!(60), &json!(40)));
        assert!(view["camera"]["eye"].is_array());
        for (probed, pixel) in view["probes"].as_array().unwrap().iter().zip([[30, 20], [59, 39]]) {
            let settings = RenderSettings::default();
            let probe = Renderer::default().probe(&splats, camera, &settings, pixel).unwrap();
            assert_eq!((&probed["x"], &probed["y"]), (&json!(pixel[0]), &json!(pixel[1])));
            for (key, value) in [
                ("rgb", json!(probe.rgb)),
                ("alpha", json!(probe.alpha)),
                ("depth", json!(probe.depth)),
                ("depth_median", json!(probe.depth_median)),
                ("count", json!(probe.fragments.len())),
            ] {
                assert_eq!(probed[key], value, "{}, {pixel:?}: {key}", camera.name);
            }
            let listed = probed["splats"].as_array().unwrap();
            assert_eq!(listed.len(), probe.fragments.len());
            let weights = listed.iter().map(|splat| splat["weight"].as_f64().unwrap());
            assert!(weights.is_sorted_by(|a, b| a >= b));
            for splat in listed {
                let is_it = |f: &&PixelFragment| splat["index"] == f.index;
                let fragment = probe.fragments.iter().find(is_it).unwrap();
                assert_eq!(splat["rgb"], json!(fragment.rgb));
                assert_eq!(splat["depth"], fragment.depth);
            }
            largest = largest.max(listed.len());
        }
    }
    assert!(largest > 1, "no pixel shows splats");
}

#[test]
fn tables_list_the_largest_splats_and_sum_up_the_rest() {
    let place = Place::new();
    let splats = load(place.path("scene.ply")).unwrap().splats;
    let cameras = load_cameras(place.path("cameras.json")).unwrap().cameras;
    let profile = Profile { stop: StopRule::Never, ..Profile::default() };
    let settings = RenderSettings { profile, ..RenderSettings::default() };
    let mut renderer = Renderer::default();
    let pixels = (0..40).flat_map(|y| (0..60).map(move |x| [x, y]));
    let probes =
        pixels.map(|pixel| renderer.probe(&splats, &cameras[1], &settings, pixel).unwrap());
    let probes: Vec<PixelProbe> = probes.collect();
    let most = probes.iter().max_by_key(|probe| probe.fragments.len()).unwrap();
    assert!(most.fragments.len() > 17, "{}", most.fragments.len());
    let pixel = format!("{},{}", most.pixel[0], most.pixel[1]);
    let flags = ["--stop", "none", "--probe", &pixel];
    let output = place.expect(DONE, &[&["render", "scene.ply"], &SHOT[..], &flags].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let count = most.fragments.len();
    assert!(lines[0].starts_with(&format!("view shot_1, pixel {pixel}: rgb ")), "{text}");
    assert!(lines[0].ends_with(&format!(", {count} splats")), "{text}");
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(words, ["splat", "weight", "alpha", "depth", "red", "green", "blue"]);
    let (largest, rest, rest_weight) = most.largest(16);
    for (line, fragment) in lines[2..].iter().zip(&largest) {
        let start = format!("{} {:.4} {:.4}", fragment.index, fragment.weight, fragment.alpha);
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words.join(" ").starts_with(&start), "{line}: {start}");
    }
    assert_eq!(lines[18], format!("{rest} more with a summed weight of {rest_weight:.4}"));
    assert_eq!(lines.len(), 19);
    // Nothing lies so far away.
    let flags = ["--near", "1e9", "--probe", "0,0"];
    let output = place.expect(DONE, &[&["render", "scene.ply"], &SHOT[..], &flags].concat());
    let empty = "view shot_1, pixel 0,0: rgb 0.0000,0.0000,0.0000, alpha 0.0000, depth 0.0000, median depth 0.0000, 0 splats\n";
    assert_eq!(String::from_utf8(output.stdout).unwrap(), empty);
}

#[test]
fn a_view_that_the_program_chooses_comes_with_its_flags() {
    let place = Place::new();
    let output = place.expect(DONE, &["render", "scene.ply", "--width", "64", "--probe", "32,18"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("flags of this view: --eye "), "{text}");
}

#[test]
fn probes_that_cannot_be_made_are_refused() {
    let place = Place::new();
    let call = |more: &[&str]| [&["render", "scene.ply"], &SHOT[..], more].concat().join(" ");
    for (more, words) in [
        (
            &["--probe", "60,0"][..],
            &["--probe", "a column below 60 and a row below 40", "60,0"][..],
        ),
        (&["--probe", "1"], &["expected a column and a row such as 320,180"]),
        (&["--probe=-1,2"], &["expected a column and a row"]),
        (
            &["--probe", "1,2", "--backend", "gpu"],
            &["--probe", "cpu and reference", "--backend gpu"],
        ),
        (&["--probe", "1,2", "-o", "a.png"], &["--probe", "cannot be used with"]),
        (&["--probe", "1,2", "--aov", "depth"], &["--probe", "cannot be used with"]),
        (&["--probe", "1,2", "--background", "1,1,1"], &["--probe", "cannot be used with"]),
    ] {
        let call = call(more);
        let arguments: Vec<&str> = call.split(' ').collect();
        place.expect_error(USAGE, &arguments, words);
    }
    assert_eq!(place.names().len(), 2, "files were written");
}
