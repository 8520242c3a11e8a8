//! `render --mesh`: meshes among the splats of a scene.

use std::fs;

use quadrille::Camera;
use quadrille::nalgebra::Vector3;

use crate::support::program::{ALL_VIEWS, CAMERAS, DONE, Place, SHOT, UNREADABLE, USAGE};

/// Depth among the splats of the scene.
const MIDDLE: f64 = 4.0;

/// Writes a red square without other light that covers the picture of a camera at a depth.
fn wall(place: &Place, name: &str, camera: &Camera, depth: f64) {
    let corners = [[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]].map(|[x, y]| {
        let in_view = Vector3::new(x, y, 1.0) * depth;
        let p = camera.view_from_world.transpose() * (in_view - camera.translation_in_view);
        format!("v {} {} {}\n", p.x, p.y, p.z)
    });
    fs::write(place.path("red.mtl"), "newmtl red\nKd 0 0 0\nKe 1 0 0\n").unwrap();
    let text = format!("mtllib red.mtl\nusemtl red\n{}f 1 2 3 4\nf 4 3 2 1\n", corners.concat());
    fs::write(place.path(name), text).unwrap();
}

fn place_with_walls() -> Place {
    let place = Place::new();
    let file = quadrille::load_cameras(place.path("cameras.json")).unwrap();
    wall(&place, "near.obj", &file.cameras[1], 0.01);
    wall(&place, "far.obj", &file.cameras[1], 1e4);
    place
}

#[test]
fn depth_decides_on_every_backend() {
    let place = place_with_walls();
    let draw = |name: &str, flags: &[&str]| place.picture(name, &[&SHOT[..], flags].concat());
    let plain = draw("plain.npy", &[]);
    for backend in ["cpu", "reference"] {
        let near = draw("near.npy", &["--mesh", "near.obj", "--backend", backend]);
        assert!(near.pixels().iter().all(|p| *p == [1.0, 0.0, 0.0, 1.0]), "{backend}");
        // The nearer mesh of two hides the other one.
        let both = ["--mesh", "far.obj,near.obj", "--msaa", "1", "--backend", backend];
        assert_eq!(draw("both.npy", &both), near);
        let far = draw("far.npy", &["--mesh", "far.obj", "--msaa", "8", "--backend", backend]);
        for (far, plain) in far.pixels().iter().zip(plain.pixels()) {
            let red = plain[0] + 1.0 - plain[3];
            let is_over = (far[0] - red).abs() < 1e-5 && (far[1] - plain[1]).abs() < 1e-5;
            assert!(is_over && far[3] == 1.0, "{far:?} over {plain:?}");
        }
    }
    let away = ["--mesh", "near.obj", "--mesh-move", "scale 0.001 translate -9e5,0,0"];
    assert_eq!(draw("away.npy", &away), plain);
    // The moves belong to the meshes in order; shrunk to nothing, the first wall is not seen.
    let moves = ["--mesh", "near.obj,far.obj", "--mesh-move", "scale 1e-9 translate -9e5,0,0"];
    assert_eq!(draw("moved.npy", &moves), draw("far4.npy", &["--mesh", "far.obj"]));
    // Light changes lit meshes.
    let lit = |light: &str| {
        draw("lit.npy", &["--mesh", "plane", "--mesh-move", "scale 9", "--light", light])
    };
    assert_ne!(lit("sky"), lit("headlight"));
}

#[test]
fn layers_films_and_resumed_pictures_have_the_mesh() {
    let place = place_with_walls();
    let mesh = ["--mesh", "near.obj"];
    let layers = ["--aov", "depth,alpha,count", "-o", "{aov}.npy"];
    place.expect(DONE, &[&["render", "scene.ply"], &SHOT[..], &mesh, &layers].concat());
    let bytes = |name: &str| fs::read(place.path(name)).unwrap();
    let last = |name: &str| bytes(name).last_chunk::<4>().copied().unwrap();
    assert!((f32::from_le_bytes(last("depth.npy")) - 0.01).abs() < 1e-6);
    assert_eq!(f32::from_le_bytes(last("alpha.npy")), 1.0);
    assert_eq!(u32::from_le_bytes(last("count.npy")), 0);

    let film = |name: &str, flags: &[&str]| {
        place.expect(DONE, &[&ALL_VIEWS[..], flags, &["-o", name]].concat());
        bytes(name)
    };
    let with = film("with.y4m", &mesh);
    assert_ne!(with, film("without.y4m", &[]));
    assert_eq!(with, film("again.y4m", &[&mesh[..], &["--threads", "1"]].concat()));

    let kept = || {
        let flags = ["--resume", "--json", "-o", "out/{view}.png"];
        let document = place.document(&[&ALL_VIEWS[..], &mesh, &flags].concat());
        let views = document["views"].as_array().unwrap().clone();
        views.iter().filter(|view| view["kept"] == true).count()
    };
    assert_eq!((kept(), kept()), (0, CAMERAS));
    // The mesh and the files that it names decide the pictures.
    for name in ["near.obj", "red.mtl"] {
        fs::write(place.path(name), [&bytes(name)[..], b"# changed\n"].concat()).unwrap();
        assert_eq!((kept(), kept()), (0, CAMERAS), "{name}");
    }
}

/// The depth buffer and Hi-Z leave exactly the fragments in front of the mesh, with every variant.
#[test]
fn the_emulated_pipeline_tests_splats_against_the_mesh() {
    let place = place_with_walls();
    let file = quadrille::load_cameras(place.path("cameras.json")).unwrap();
    wall(&place, "middle.obj", &file.cameras[1], MIDDLE);
    let methods = ["baseline", "qm", "het", "het+qm"];
    let run = |mesh: &[&str]| {
        let flags = ["--json", "--method", &methods.join(",")];
        let call = [&["sim", "scene.ply"], &SHOT[..], &flags, mesh].concat();
        place.document(&call)["views"][0]["methods"].clone()
    };
    let (plain, far) = (run(&[]), run(&["--mesh", "far.obj"]));
    let (middle, near) = (run(&["--mesh", "middle.obj"]), run(&["--mesh", "near.obj"]));
    for at in 0..methods.len() {
        let blended = |runs: &serde_json::Value| runs[at]["fragments"]["blended"].as_u64().unwrap();
        assert_eq!(blended(&near), 0, "{}", methods[at]);
        assert_eq!(blended(&far), blended(&plain), "{}", methods[at]);
        assert!(blended(&middle) < blended(&plain), "{}", methods[at]);
        assert!(middle[at]["cycles"].as_u64() < plain[at]["cycles"].as_u64(), "{}", methods[at]);
    }
    let exact = ["--mesh", "middle.obj", "--msaa", "1", "--stop", "none", "--repeat", "1"];
    let exact = place.json(&[&SHOT[..], &exact, &["--backend", "reference"]].concat());
    let found = &middle[0]["fragments"]["blended"];
    assert_eq!(exact["views"][0]["fragments_blended"], *found);
    assert!(found.as_u64() > Some(0), "nothing is in front of the mesh");
}

/// The draw of a mesh before the splats is that of `mesh --cycles`; a further mesh is tested against its depths, and the splats
/// keep their cycles.
#[test]
fn meshes_are_drawn_before_the_splats_in_cycles() {
    let place = place_with_walls();
    let run = |flags: &[&str]| {
        let method = ["--json", "--method", "baseline,het"];
        place.document(&[&["sim", "scene.ply"], &SHOT[..], &method, flags].concat())["views"][0]
            .clone()
    };
    let plain = run(&[]);
    assert!(plain.get("mesh_draw").is_none());
    assert!(plain["methods"][0].get("cycles_with_meshes").is_none());
    let alone = ["mesh", "far.obj", "--msaa", "1", "--cycles", "--json"];
    let alone = place.document(&[&alone[..], &SHOT].concat())["rows"][0]["timed"].clone();
    let far = run(&["--mesh", "far.obj"]);
    let drawn = &far["mesh_draw"]["meshes"][0];
    for key in ["cycles", "warps", "grids", "crop", "zrop_cache", "l2", "units", "limiting_unit"] {
        assert_eq!(drawn[key], alone[key], "{key}");
    }
    assert_eq!(drawn["mesh"], "far.obj");
    for (with, without) in
        far["methods"].as_array().unwrap().iter().zip(plain["methods"].as_array().unwrap())
    {
        let sum = with["cycles"].as_u64().unwrap() + drawn["cycles"].as_u64().unwrap();
        assert_eq!(with["cycles_with_meshes"], sum);
        assert_eq!(with["fragments"], without["fragments"]);
    }

    // Behind the near wall, all raster tiles of the far one are hidden, at whatever scale it stands.
    let quads = |draw: &serde_json::Value, at: usize| draw["meshes"][at]["warps"]["quads"].clone();
    let both = run(&["--mesh", "near.obj,far.obj", "--mesh-move", "", "--mesh-move", "scale 3"]);
    let both = &both["mesh_draw"];
    assert_eq!(quads(both, 1), 0, "{both:#}");
    assert_eq!(both["meshes"][1]["discrepancies"], serde_json::json!([]));
    let parts = both["meshes"].as_array().unwrap().iter().map(|mesh| mesh["cycles"].as_u64());
    assert_eq!(both["cycles"].as_u64(), parts.sum());
    let back = run(&["--mesh", "far.obj,near.obj"]);
    let full = quads(&back["mesh_draw"], 0);
    assert!(full.as_u64() > Some(0) && quads(&back["mesh_draw"], 1) == full, "{full}");
    // Its first tests fetch the depths of the far wall.
    let fetched = |at: usize| back["mesh_draw"]["meshes"][at]["zrop_cache"]["fetched"].as_u64();
    assert!(fetched(1) > fetched(0), "{:?} {:?}", fetched(0), fetched(1));

    let call = ["sim", "scene.ply", "--mesh", "far.obj", "--method", "baseline,het"];
    let page = place.expect(DONE, &[&call[..], &SHOT].concat()).stdout;
    let page = String::from_utf8(page).unwrap();
    let cycles = drawn["cycles"].as_u64().unwrap();
    let line = format!("before the splats: far.obj, {cycles} cycles, ");
    assert!(page.contains(&line) && page.contains("\nwith meshes"), "{page}");
    let table = place.expect(DONE, &[&call[..], &SHOT, &["--csv"]].concat()).stdout;
    let table = String::from_utf8(table).unwrap();
    let [heading, line] =
        [0, 1].map(|n| table.lines().nth(n).unwrap().split(',').collect::<Vec<_>>());
    let cell = |name: &str| line[heading.iter().position(|h| *h == name).unwrap()];
    assert_eq!(cell("mesh_draw.0.cycles"), cycles.to_string());
    assert_eq!(cell("cycles_with_meshes"), far["methods"][0]["cycles_with_meshes"].to_string());
    let flags = ["--stats", "stats.txt"];
    place.expect(DONE, &[&call[..], &SHOT, &flags].concat());
    let text = fs::read_to_string(place.path("stats.txt")).unwrap();
    assert!(text.contains("mesh_draw.meshes.0.zrop_cache.fetched "), "{text}");
}

#[test]
fn wrong_meshes_are_errors_that_name_the_flag() {
    let place = place_with_walls();
    fs::write(place.path("bad.obj"), "v 1 2\n").unwrap();
    let call = |flags: &[&'static str]| {
        [&["render", "scene.ply"], &SHOT[..], &["-o", "a.png"], flags].concat()
    };
    let usage: [(&[&str], &[&str]); 10] = [
        (&["--mesh-move", "scale 2"], &["--mesh"]),
        (&["--msaa", "4"], &["--mesh"]),
        (&["--light", "sky"], &["--light", "needs --mesh"]),
        (&["--mesh", "plane", "--msaa", "16"], &["1, 2, 4 or 8", "16"]),
        (&["--mesh", "plane", "--mesh-move", "jump 1"], &["--mesh-move", "jump"]),
        (&["--mesh", "plane", "--mesh-move", "", "--mesh-move", ""], &["at most 1"]),
        (&["--mesh", "plane", "--backend", "gpu"], &["--backend gpu", "--mesh"]),
        (&["--mesh", "plane", "--probe", "1,1"], &["--probe", "--mesh"]),
        (&["--mesh", "plane", "--aov", "depth", "--distance", "-o", "a.exr"], &["--distance"]),
        (&["--mesh", "plane", "--camera-model", "equirectangular"], &["shot_1", "a pinhole"]),
    ];
    for (flags, words) in usage {
        let mut call = call(flags);
        if flags.contains(&"a.exr") || flags.contains(&"--probe") {
            // In place of `-o a.png`.
            call.drain(6..8);
        }
        place.expect_error(USAGE, &call, words);
    }
    place.expect_error(UNREADABLE, &call(&["--mesh", "bad.obj"]), &["bad.obj", "expected"]);
    place.expect_error(UNREADABLE, &call(&["--mesh", "none.glb"]), &["none.glb"]);
    // An output does not replace the mesh.
    let mut over = call(&["--mesh", "near.obj"]);
    over[7] = "near.obj";
    place.expect_error(USAGE, &over, &["near.obj"]);
    place.expect_error(USAGE, &call(&["--mesh", "plane", "--memory", "1K"]), &["--mesh"]);
    for (flags, word) in [
        (&["--method", "compute"][..], "--method compute"),
        (&["--method", "multipass:2"], "--method multipass:2"),
        (&["--reference"], "--reference"),
        (&["--camera-model", "fisheye"], "a pinhole"),
        (&["--order", "distance"], "the order z among surfaces"),
    ] {
        let call = [&["sim", "scene.ply", "--mesh", "plane"], &SHOT[..], flags].concat();
        place.expect_error(USAGE, &call, &[word]);
    }
}
