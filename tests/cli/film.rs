//! Paths and films.

use std::fs;

use serde_json::{Value, json};

use crate::support::program::{DONE, Place, USAGE};

/// Y' of BT.709 in limited range, from the 8 bits of a PNG.
fn luma(rgb: [f32; 4]) -> f64 {
    let weights = [0.2126, 0.7152, 0.0722];
    let y: f64 = weights.iter().zip(rgb).map(|(w, c)| w * f64::from(c)).sum();
    16.0 + 219.0 * y
}

/// The header of a Y4M film, and the planes of its frames.
fn y4m(bytes: &[u8], size: [usize; 2]) -> (String, Vec<&[u8]>) {
    let end = bytes.iter().position(|b| *b == b'\n').unwrap();
    let header = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let [chroma_width, chroma_height] = size.map(|side| side.div_ceil(2));
    let frame = size[0] * size[1] + 2 * chroma_width * chroma_height;
    let frames = bytes[end + 1..].chunks(b"FRAME\n".len() + frame);
    let planes = frames.map(|f| {
        assert_eq!(f.len(), b"FRAME\n".len() + frame, "a whole frame");
        f.strip_prefix(b"FRAME\n").unwrap()
    });
    (header, planes.collect())
}

/// A path of nerfstudio around the scene, with poses from an orbit.
fn write_path(place: &Place, frames: u32) {
    let lens = quadrille::Intrinsics::from_vertical_fov(46, 34, 0.9);
    let target = [0.0, 0.0, 0.0].into();
    let ring = quadrille::orbit_cameras(
        frames,
        lens,
        [2.0, -1.5, 2.5].into(),
        target,
        [0.0, -1.0, 0.0].into(),
    );
    let frames = ring.unwrap().into_iter().map(|camera| {
        let (m, eye) = (camera.view_from_world, camera.eye());
        // OpenGL axes: right, up, back.
        let row = |r: usize| [m[(0, r)], -m[(1, r)], -m[(2, r)], eye[r]];
        let matrix = [row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]].concat();
        json!({"camera_to_world": matrix, "fov": 0.9_f64.to_degrees(), "aspect": 1.5})
    });
    let path = json!({"camera_type": "perspective", "render_width": 46, "render_height": 34, "fps": 24,
        "camera_path": frames.collect::<Vec<_>>()});
    fs::write(place.path("camera_path.json"), path.to_string()).unwrap();
}

/// Renders the film of `camera_path.json`, and returns its bytes.
fn film(place: &Place, name: &str, threads: &str) -> Vec<u8> {
    let path = ["--path", "camera_path.json", "--threads", threads];
    place.expect(DONE, &[&["render", "scene.ply", "-o", name], &path[..]].concat());
    fs::read(place.path(name)).unwrap()
}

/// Frames in the middle of a path that see nothing are named, and so is a single one at its end.
#[test]
fn frames_that_show_nothing_are_named() {
    let place = Place::new();
    let views = fs::read(place.path("cameras.json")).unwrap();
    let views: Value = serde_json::from_slice(&views).unwrap();
    let [shot, away] = [false, true].map(|is_away| {
        let mut view = views[1].clone();
        if is_away {
            view["position"] = json!([0, 0, 5000]);
            view["rotation"] = json!([[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
        }
        view
    });
    for (frames, expected) in [
        (
            vec![&shot, &away, &away, &shot, &away],
            Some("3 of 5 frames show no splat or almost none: 1 to 2, 4"),
        ),
        (vec![&away, &away, &shot], Some("2 of 3 frames show no splat or almost none: 0 to 1")),
        (vec![&shot, &shot], None),
    ] {
        let frames: Vec<Value> = frames
            .into_iter()
            .enumerate()
            .map(|(at, view)| {
                let mut view = view.clone();
                view["img_name"] = format!("{at:04}").into();
                view
            })
            .collect();
        fs::write(place.path("path.json"), Value::from(frames).to_string()).unwrap();
        let render = ["render", "scene.ply", "--path", "path.json", "-o", "a.y4m"];
        let errors = String::from_utf8(place.expect(DONE, &render).stderr).unwrap();
        match expected {
            Some(words) => assert!(errors.contains(words), "{errors}"),
            None => assert!(!errors.contains("frames show"), "{errors}"),
        }
    }
}

/// Frame `i` of a film is the picture of camera `i`, and the bytes do not depend on the number of threads.
#[test]
fn frames_of_a_film_are_the_pictures_of_its_path() {
    let place = Place::new();
    write_path(&place, 7);
    let film = |name: &str, threads: &str| film(&place, name, threads);
    let one = film("films/one.y4m", "1");
    assert_eq!(one, film("three.y4m", "3"));
    let piped = ["render", "scene.ply", "--path", "camera_path.json", "-o", "-.y4m"];
    assert_eq!(one, place.expect(DONE, &piped).stdout);
    let (header, frames) = y4m(&one, [46, 34]);
    assert_eq!(header, "YUV4MPEG2 W46 H34 F24:1 Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED");
    assert_eq!(frames.len(), 7);
    let cameras = ["--cameras", "camera_path.json", "--view", "all"];
    place.expect(DONE, &[&["render", "scene.ply", "-o", "{view}.png"], &cameras[..]].concat());
    for (index, planes) in frames.iter().enumerate() {
        let picture = place.path(&format!("frame_{index:04}.png"));
        let picture = quadrille::read_picture(picture).unwrap();
        let lit = picture.pixels().iter().filter(|p| p[1] > 0.1).count();
        assert!(lit > 50, "frame {index} shows the scene");
        for (pixel, code) in picture.pixels().iter().zip(*planes) {
            assert!((luma(*pixel) - f64::from(*code)).abs() < 0.51, "frame {index}");
        }
    }
}

#[test]
fn generated_paths_have_their_frames() {
    let place = Place::new();
    let orbit = ["--orbit", "6", "--width", "40", "--height", "30", "--cameras-out", "ring.json"];
    place.expect(DONE, &[&["render", "scene.ply"], &orbit[..]].concat());
    for path in ["ellipse", "interpolate", "spiral"] {
        let keys = if path == "spiral" { "..2" } else { "all" };
        let flags = ["--cameras", "ring.json", "--view", keys, "--path", path, "--frames", "5"];
        let film = ["render", "scene.ply", "-o", "film.apng", "--json", "--fps", "12.5"];
        let document = place.document(&[&film[..], &flags].concat());
        assert_eq!(document["film"]["frames"], 5, "{path}");
        assert_eq!(document["film"]["frame_rate"], 12.5);
        assert_eq!(document["views"][4]["name"], "frame_0004");
        assert_eq!(document["views"][0]["width"], 40);
        let size = quadrille_base::image::files::size_of(&place.path("film.apng")).unwrap();
        assert_eq!(size, [40, 30]);
    }
    // The path goes through the cameras, and pictures come one by one as well.
    let path =
        ["--cameras", "ring.json", "--view", "0,1", "--path", "interpolate", "--frames", "3"];
    place.expect(DONE, &[&["render", "scene.ply", "-o", "{view}.npy"], &path[..]].concat());
    let first = ["--cameras", "ring.json", "--view", "1", "-o", "key.npy"];
    place.expect(DONE, &[&["render", "scene.ply"], &first[..]].concat());
    let read = |name: &str| quadrille::read_picture(place.path(name)).unwrap();
    let (last, key) = (read("frame_0002.npy"), read("key.npy"));
    let off = last.pixels().iter().zip(key.pixels());
    let off = off.map(|(a, b)| (0..4).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max));
    assert!(off.fold(0.0, f32::max) < 1e-3);
}

#[test]
fn films_that_cannot_be_are_refused_before_the_work() {
    let place = Place::new();
    write_path(&place, 3);
    fs::write(place.path("sizes.json"), {
        let mut cameras = quadrille::load_cameras(place.path("cameras.json")).unwrap().cameras;
        cameras[1] = cameras[1].resized(30, 20).unwrap();
        quadrille::write_inria_json(&cameras)
    })
    .unwrap();
    let render = ["render", "scene.ply"];
    let path = ["--path", "camera_path.json"];
    for (flags, words) in [
        (
            &["-o", "a.y4m", "--cameras", "sizes.json", "--view", "all"][..],
            &["one size", "30 x 20"][..],
        ),
        (
            &[&path[..], &["-o", "a.y4m", "--background", "transparent"]].concat(),
            &["--background", ".apng"],
        ),
        (&[&path[..], &["-o", "-.y4m", "--json"]].concat(), &["-o", "--json"]),
        (&[&path[..], &["-o", "a.y4m", "--frames", "9"]].concat(), &["--path", "--frames"]),
        (&[&path[..], &["-o", "a_{view}.png", "--fps", "9"]].concat(), &["--fps", ".y4m"]),
        (
            &[&path[..], &["-o", "a.y4m", "--cameras", "cameras.json"]].concat(),
            &["--path", "--cameras"],
        ),
        (&["-o", "a.y4m", "--path", "ellipse", "--eye", "0,0,0"], &["--eye", "--path"]),
        (&["-o", "a.y4m", "--path", "ellipse", "--view", "0"], &["at least two cameras"]),
        (&["-o", "a.y4m", "--fps", "0"], &["--fps", "30000/1001"]),
    ] {
        place.expect_error(USAGE, &[&render[..], flags].concat(), words);
    }
    if cfg!(not(feature = "video")) {
        let film = [&render[..], &path, &["-o", "a.mp4"]].concat();
        place.expect_error(USAGE, &film, &["--features video"]);
    }
    assert!(!place.names().iter().any(|name| name.starts_with("a.")));
}

/// A flight through the mesh of [`MESH`].
const FLIGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes/arcade.cameras.json");
const MESH: [&str; 7] = ["arcade", "--tessellate", "400", "--width", "46", "--height", "34"];

/// The frames of a film of a mesh are the pictures of its views, of whatever path, number of threads and blur.
#[test]
fn films_of_meshes_have_the_pictures_of_their_views() {
    let place = Place::new();
    let blur = ["--coc-px", "2", "--focus", "6"];
    for (command, blur) in [("mesh", &[][..]), ("deferred", &blur)] {
        let orbit = &["--orbit", "4"][..];
        let part = ["--cameras", FLIGHT, "--view", "..:30"];
        let file = ["--path", FLIGHT, "--view", "140..143"];
        for views in [orbit, &part, &file] {
            let draw = |output: &[&str]| {
                let arguments = [&[command], &MESH[..], views, blur, output].concat();
                place.expect(DONE, &arguments).stdout
            };
            draw(&["-o", "one.y4m", "--threads", "1", "--fps", "25"]);
            let one = fs::read(place.path("one.y4m")).unwrap();
            assert_eq!(one, draw(&["-o", "-.y4m", "--threads", "3", "--fps", "25"]));
            draw(&["-o", "pictures/{view}.png"]);
            let (header, frames) = y4m(&one, [46, 34]);
            assert!(header.contains("F25:1"), "{header}");
            let mut names: Vec<_> = fs::read_dir(place.path("pictures"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            names.sort();
            assert_eq!(names.len(), frames.len(), "{command} {views:?}");
            for (name, planes) in names.iter().zip(frames) {
                let picture = quadrille::read_picture(name).unwrap();
                let lit = picture.pixels().iter().filter(|p| p[1] > 0.1).count();
                assert!(lit > 50, "{command} {views:?}: {name:?} shows the mesh");
                let off = picture.pixels().iter().zip(planes);
                let off = off.map(|(pixel, code)| (luma(*pixel) - f64::from(*code)).abs());
                assert!(off.fold(0.0, f64::max) < 0.51, "{command} {name:?}");
            }
            fs::remove_dir_all(place.path("pictures")).unwrap();
        }
    }
}

#[test]
fn flights_along_meshes_have_rows_and_open_their_shutter_towards_the_next_frame() {
    let place = Place::new();
    let path = ["--cameras", FLIGHT, "--view", "0,1,2", "--path", "interpolate"];
    let film = |command: &str, flags: &[&str]| {
        let output = ["-o", "film.apng", "--json", "--frames", "5"];
        place.document(&[&[command], &MESH[..], &path, &output, flags].concat())
    };
    let merged = film("mesh", &["--method", "qfm"]);
    assert_eq!(merged["film"]["frames"], 5);
    assert_eq!(merged["rows"].as_array().unwrap().len(), 5);
    assert_eq!(merged["views"][4]["name"], "frame_0004");
    let blurred = film("deferred", &["--shutter", "1"]);
    assert_eq!(blurred["rows"].as_array().unwrap().len(), 5);
    let median = |row: usize, document: &serde_json::Value| {
        document["rows"][row]["blur"]["motion_px"]["median"].as_f64().unwrap()
    };
    // The frames are half of the way between the views of the file apart.
    let views = ["--cameras", FLIGHT, "--view", "0,1", "--shutter", "0.5", "--json"];
    let still = place.document(&[&["deferred"], &MESH[..], &views].concat());
    for (frame, view) in [(0, 0), (2, 1)] {
        let (of_film, of_view) = (median(frame, &blurred), median(view, &still));
        assert!(of_film > 0.5 && (of_film / of_view - 1.0).abs() < 0.2, "{of_film} {of_view}");
    }
}

/// What was measured is printed below the film, and refused where it could not be printed.
#[test]
fn films_have_the_tables_of_their_measurements() {
    let place = Place::new();
    let orbit = ["--orbit", "2"];
    for (command, flags, heading) in [
        ("mesh", &["--cycles"][..], "cycles"),
        ("deferred", &["--traffic"], "SPID bits"),
        ("deferred", &["--truth", "2", "--coc-px", "2", "--focus", "6"], "truth dB"),
    ] {
        let film =
            |output: &'static str| [&[command], &MESH[..], &orbit, &["-o", output], flags].concat();
        let page = String::from_utf8(place.expect(DONE, &film("film.y4m")).stdout).unwrap();
        assert!(page.starts_with("film") && page.contains(heading), "{page}");
        for stdout in ["-.y4m", "-"] {
            place.expect_error(USAGE, &film(stdout), &["-o -", flags[0], "name a file"]);
        }
    }
}

#[test]
fn a_film_from_a_pipe_is_compared() {
    let place = Place::new();
    let film = [&["mesh"], &MESH[..], &["--orbit", "3", "-o"]].concat();
    for name in ["a.y4m", "a.apng"] {
        place.expect(DONE, &[&film[..], &[name]].concat());
        for call in [["compare", "-", name], ["compare", name, "-"]] {
            let page = place.fed(name, &call);
            assert!(page.contains("3 identical"), "{page}");
        }
    }
}

#[test]
fn films_of_meshes_that_cannot_be_are_refused() {
    let place = Place::new();
    for (command, flags, words) in [
        ("mesh", &["--method", "none,qfm"][..], "2 combinations of settings"),
        ("deferred", &["--tile", "32,64"], "2 combinations of settings"),
        ("mesh", &["--crop", "0,0,8,8"], "--crop"),
        ("mesh", &["--aov", "depth"], "--aov"),
        ("mesh", &["--quality", "80"], "--quality"),
        ("deferred", &["--background", "transparent"], ".apng"),
        ("deferred", &["--path", "spiral", "--eye", "0,0,0"], "--eye"),
    ] {
        let film = [&[command], &MESH[..], &["-o", "film.y4m"], flags].concat();
        place.expect_error(USAGE, &film, &[words]);
        let film = [&[command], &MESH[..], &["-o", "-.y4m", "--json"]].concat();
        place.expect_error(USAGE, &film, &["--json"]);
    }
    assert!(!place.names().iter().any(|name| name.starts_with("film.")));
}

/// The index has all frames, their rate, BT.709, and the place of each; a decoder, where there is one, finds
/// the pictures again.
#[cfg(feature = "video")]
#[test]
fn a_film_in_mp4_has_all_frames() {
    use mp4_atom::{Codec, Decode, Ftyp, Moov, StszSamples};

    let place = Place::new();
    write_path(&place, 12);
    let film = |name: &str, threads: &str| film(&place, name, threads);
    let bytes = film("film.mp4", "1");
    assert_eq!(bytes, film("again.mp4", "2"));
    let mut rest = &bytes[..];
    Ftyp::decode(&mut rest).unwrap();
    let index = Moov::decode(&mut rest).unwrap();
    assert_eq!(&rest[4..8], b"mdat");
    let media = &index.trak[0].mdia;
    assert_eq!((media.mdhd.timescale, media.mdhd.duration), (24, 12));
    let table = &media.minf.stbl;
    let [Codec::Av01(codec)] = &table.stsd.codecs[..] else {
        panic!("{:?}", table.stsd);
    };
    assert_eq!((codec.visual.width, codec.visual.height), (46, 34));
    assert!(!codec.av1c.config_obus.is_empty(), "the sequence header");
    let StszSamples::Different { sizes } = &table.stsz.samples else {
        panic!("sizes of samples");
    };
    assert_eq!(sizes.len(), 12);
    let data: u32 = sizes.iter().sum();
    assert_eq!(data as usize, rest.len() - 8);
    let offset = table.stco.as_ref().unwrap().entries[0];
    assert_eq!(offset as usize, bytes.len() - data as usize);
    assert_eq!(table.stss.as_ref().unwrap().entries[0], 1);
    // The first sample begins with a sequence header (OBU type 1).
    assert_eq!(bytes[offset as usize] >> 3, 1);

    let decode = [
        "-v",
        "error",
        "-i",
        "film.mp4",
        "-f",
        "yuv4mpegpipe",
        "-pix_fmt",
        "yuv420p",
        "decoded.y4m",
    ];
    let decoder =
        std::process::Command::new("ffmpeg").args(decode).current_dir(place.path(".")).status();
    let Ok(status) = decoder else {
        crate::support::skipped::note("decoding of AV1 needs ffmpeg");
        return;
    };
    assert!(status.success());
    let exact = film("film.y4m", "1");
    let decoded = fs::read(place.path("decoded.y4m")).unwrap();
    let ((_, exact), (_, decoded)) = (y4m(&exact, [46, 34]), y4m(&decoded, [46, 34]));
    assert_eq!(decoded.len(), 12);
    for (a, b) in exact.iter().zip(&decoded) {
        let square = |(x, y): (&u8, &u8)| (f64::from(*x) - f64::from(*y)).powi(2);
        let mse = a.iter().zip(*b).map(square).sum::<f64>() / a.len() as f64;
        let psnr = 10.0 * (255.0 * 255.0 / mse.max(1e-9)).log10();
        // Measured: 34 dB for these tiny pictures, which are all edges.
        assert!(psnr > 30.0, "{psnr}");
    }
}
