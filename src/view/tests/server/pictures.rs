//! Pictures and probes of a page against the program's own.

use quadrille_base::image::difference::scaled_difference;
use quadrille_base::image::files::{PictureFormat, read, write_to};
use quadrille_base::image::film::{FilmFacts, FilmFormat, FilmWriter, FrameRate};
use quadrille_base::image::{Frame, to_8_bit};
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::Profile;
use quadrille_render::cpu::{RenderSettings, Renderer, render};
use quadrille_scene::cameras::{CameraOptions, load_bytes};
use quadrille_scene::{Camera, Splat, Splats, load};
use serde_json::{Value, json};

use super::client::{Options, Received, Server, camera, placed, request, shot, show, source};

const BACKGROUND: [f32; 3] = [0.2, 0.4, 0.6];
pub(crate) const SIZE: [u32; 2] = [320, 180];

/// The picture that the program draws, over the background.
pub(crate) fn drawn(server: &Server, file: &str, camera: &Camera, profile: &str) -> Frame {
    let scene = load(server.folder.path().join(file)).unwrap();
    let settings =
        RenderSettings { profile: Profile::named(profile).unwrap(), level: SimdLevel::best() };
    render(&scene.splats, camera, &settings).0.over(BACKGROUND)
}

pub(crate) fn rgb(frame: &Frame) -> Vec<u8> {
    frame.pixels().iter().flat_map(|&[r, g, b, _]| [r, g, b].map(to_8_bit)).collect()
}

fn with(mut show: Value, changes: &[(&str, Value)]) -> Value {
    for (name, value) in changes {
        show[name] = value.clone();
    }
    show
}

#[test]
fn stills_and_saved_files_are_the_pictures_of_render() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let gsplat = with(source(), &[("profile", "gsplat-aa".into())]);
    let mut seq = 0;
    for size in [SIZE, [17, 301], [640, 360]] {
        for (profile, a) in [("inria", source()), ("gsplat-aa", gsplat.clone())] {
            let show = with(show(), &[("a", a)]);
            let listed = (json!({"view": 2}), camera(2.0, SIZE));
            let apply = quadrille_scene::cameras::PictureSize {
                width: Some(size[0]),
                height: Some(size[1]),
                scale: None,
            };
            let views =
                [(listed.0, apply.apply(&listed.1).unwrap()), (placed(0.7), camera(0.7, size))];
            for (cam, camera) in views {
                seq += 1;
                page.send(&request("still", seq, &cam, size, &show));
                let still = page.picture(2, seq);
                let expected = drawn(&server, "first.ply", &camera, profile);
                assert_eq!((still.size, still.flags), (size, 1));
                assert!(still.rgb() == rgb(&expected), "{size:?} {profile} {cam}");
                page.send(&json!({"t": "save", "id": seq, "seq": seq, "what": "a"}));
                let mut png = Vec::new();
                write_to(&mut png, PictureFormat::Png, &expected).unwrap();
                assert!(page.picture(6, seq).bytes == png, "the saved file");
            }
        }
    }
}

#[test]
fn filters_select_before_the_picture_and_the_map() {
    let server = Server::start(Options { second: true, ..Options::default() });
    let mut page = server.page();
    let filters = json!({
        "keep_box": [-0.5, -0.75, -1, 1, 1, 1],
        "keep_sphere": [0.25, 0, 0, 0.75],
        "opacity_min": 0.5,
        "condition": "x < 0.5",
        "sh_degree": 0,
        "splat_scale": 0.5,
    });
    let filtered =
        |scene: usize| with(source(), &[("filters", filters.clone()), ("scene", scene.into())]);
    let both = with(show(), &[("a", filtered(0)), ("b", filtered(1)), ("mode", "split".into())]);
    page.send(&request("still", 1, &placed(0.0), SIZE, &both));
    for (kind, file) in [(2, "first.ply"), (3, "second.ply")] {
        let scene = load(server.folder.path().join(file)).unwrap();
        let is_kept = |splat: &Splat| {
            let [x, y, z] = splat.mean.map(f64::from);
            let is_in_box =
                x >= -0.5 && y >= -0.75 && z >= -1.0 && [x, y, z].iter().all(|c| *c <= 1.0);
            let square = (x - 0.25).powi(2) + y * y + z * z;
            is_in_box && square <= 0.75 * 0.75 && splat.opacity >= 0.5 && x < 0.5
        };
        let plain = |mut splat: Splat| {
            splat.scale = splat.scale.map(|scale| scale * 0.5);
            splat.sh[1..].fill([0.0; 3]);
            splat
        };
        let kept: Vec<Splat> = scene.splats.iter().filter(is_kept).map(plain).collect();
        assert!((10..scene.splats.len() / 2).contains(&kept.len()), "{} splats", kept.len());
        let settings = RenderSettings { profile: Profile::default(), level: SimdLevel::best() };
        let splats = Splats::from_splats(0, kept);
        let expected = rgb(&render(&splats, &camera(0.0, SIZE), &settings).0.over(BACKGROUND));
        let found = page.picture(kind, 1).rgb();
        // The program scales logarithms, this test the scales themselves.
        let far = found.iter().zip(&expected).filter(|(a, b)| a.abs_diff(**b) > 1).count();
        assert_eq!(far, 0, "{file}");
    }
    // A condition without a column of its name is refused, and so is a mesh's or a photo's.
    let unknown = with(source(), &[("filters", json!({"condition": "nothing > 1"}))]);
    page.send(&request("still", 2, &placed(0.0), SIZE, &with(show(), &[("a", unknown)])));
    let error = page.wait(|received| match received {
        Received::Text(text) if text["t"] == "error" => Some(text.clone()),
        _ => None,
    });
    assert!(error.to_string().contains("nothing") && error["seq"] == 2, "{error}");
}

#[test]
fn a_film_has_the_frames_of_its_path() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let [mut first, mut last] = [0.0, 1.0].map(placed);
    (first["seconds"], last["seconds"]) = (0.into(), 0.25.into());
    let film = json!({
        "id": 4,
        "shot": shot(&placed(0.0), SIZE),
        "keys": [first, last],
        "fps": 12,
    });
    page.send(&with(film.clone(), &[("t", "fly".into())]));
    let flown = page.text("fly");
    assert_eq!(flown["cameras"].as_array().unwrap().len(), 4);
    page.send(&with(film, &[("t", "film".into())]));
    let bytes = page.picture(6, 4).bytes;
    // The film of the copied command, frame by frame.
    let expected = film_of(&server, &flown, 12, &["first.ply"; 4]);
    assert!(bytes == expected, "{} bytes, {} expected", bytes.len(), expected.len());
}

/// The film of a path in which each frame shows a scene.
pub(crate) fn film_of(server: &Server, flown: &Value, fps: u32, scenes: &[&str]) -> Vec<u8> {
    let text = flown["camera_path"].as_str().unwrap();
    let cameras = load_bytes(text.as_bytes(), &CameraOptions::default()).unwrap().cameras;
    assert_eq!(cameras.len(), scenes.len());
    let format = if FilmFormat::Mp4.is_built() { FilmFormat::Mp4 } else { FilmFormat::Apng };
    let rate = FrameRate { numerator: fps, denominator: 1 };
    let mut bytes = Vec::new();
    let facts = FilmFacts { size: SIZE, frames: cameras.len().try_into().unwrap(), rate };
    let mut writer = FilmWriter::begin(format, &mut bytes, facts).unwrap();
    for (camera, scene) in cameras.iter().zip(scenes) {
        let picture = drawn(server, scene, camera, "inria");
        writer.push(&format.prepare(&picture, Some(BACKGROUND)).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[test]
fn two_pictures_are_compared() {
    let photo = Frame::from_pixels(640, 360, vec![[0.25, 0.5, 0.75, 1.0]; 640 * 360]);
    let server = Server::start(Options { second: true, photo: Some(photo), ..Options::default() });
    let mut page = server.page();
    let second = with(source(), &[("scene", 1.into())]);
    let [a, b] =
        ["first.ply", "second.ply"].map(|file| drawn(&server, file, &camera(0.0, SIZE), "inria"));
    let both = with(show(), &[("b", second), ("mode", "split".into())]);
    page.send(&request("still", 1, &placed(0.0), SIZE, &both));
    assert!(page.picture(2, 1).rgb() == rgb(&a));
    assert!(page.picture(3, 1).rgb() == rgb(&b));
    page.send(&json!({"t": "measure", "id": 5}));
    let measured = page.text("measured");
    let protocol = quadrille_base::image::metrics::Protocol::Inria;
    let expected = quadrille_base::image::metrics::compare(&a, &b, protocol).unwrap();
    assert_eq!(measured["psnr_db"].as_f64(), expected.psnr_db);
    assert_eq!(measured["flip"].as_f64(), Some(expected.flip));
    let difference = with(both.clone(), &[("mode", "difference".into()), ("gain", 10.into())]);
    page.send(&request("still", 2, &placed(0.0), SIZE, &difference));
    assert!(page.picture(4, 2).rgb() == rgb(&scaled_difference(&a, &b, 10.0).unwrap()));
    let photo = with(both, &[("b", json!({"photo": true}))]);
    page.send(&request("still", 3, &json!({"view": 0}), SIZE, &photo));
    let photo = page.picture(3, 3).rgb();
    assert!(photo.chunks_exact(3).all(|p| p == [64, 128, 191]), "{:?}", &photo[..3]);
}

#[test]
fn a_frame_shows_the_split_and_a_layer_its_scale() {
    let server = Server::start(Options { second: true, ..Options::default() });
    let mut page = server.page();
    let second = with(source(), &[("scene", 1.into())]);
    let both = with(show(), &[("b", second), ("mode", "split".into()), ("split", 0.25.into())]);
    page.send(&json!({"t": "pace", "scale": 1, "quality": 100}));
    page.send(&request("frame", 1, &placed(0.0), SIZE, &both));
    let frame = page.picture(1, 1);
    assert_eq!((frame.codec, frame.size), (1, SIZE));
    let [a, b] = ["first.ply", "second.ply"]
        .map(|file| rgb(&drawn(&server, file, &camera(0.0, SIZE), "inria")));
    let decoded = quadrille_base::image::files::decode(&frame.bytes, "frame.jpg".as_ref()).unwrap();
    let error = |expected: &[u8], columns: std::ops::Range<usize>| {
        let rows = decoded.pixels().chunks_exact(320).zip(expected.chunks_exact(960));
        let pixels = rows.flat_map(|(row, expected)| {
            columns.clone().map(|x| (row[x][0] * 255.0 - f32::from(expected[3 * x])).abs())
        });
        let errors: Vec<f32> = pixels.collect();
        errors.iter().sum::<f32>() / errors.len() as f32
    };
    assert!(error(&a, 0..80) < 2.0 && error(&b, 80..320) < 2.0);
    assert!(error(&a, 80..320) > 2.0, "another scene is there");
    let layer = with(show(), &[("a", with(source(), &[("layer", "count".into())]))]);
    page.send(&request("still", 2, &placed(0.0), SIZE, &layer));
    let legend = page.text("legend");
    assert_eq!((&legend["seq"], &legend["title"]), (&2.into(), &"count".into()));
    assert!(legend["high"].as_f64().unwrap() > 1.0);
    assert!(page.picture(2, 2).rgb() != a);
}

#[test]
fn the_splats_of_a_pixel_make_its_colour() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let scene = load(server.folder.path().join("first.ply")).unwrap();
    let picture = rgb(&drawn(&server, "first.ply", &camera(0.0, SIZE), "inria"));
    for (id, [x, y]) in [(1, [160, 90]), (2, [150, 100]), (3, [0, 0])] {
        page.send(
            &json!({"t": "probe", "id": id, "shot": shot(&placed(0.0), SIZE), "x": x, "y": y}),
        );
        let probe = page.text("probe");
        let at = 3 * (y as usize * 320 + x as usize);
        let rgb8: Vec<u8> = serde_json::from_value(probe["rgb8"].clone()).unwrap();
        let off = rgb8.iter().zip(&picture[at..]).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(off.unwrap() <= 1, "{probe} {:?}", &picture[at..at + 3]);
        let settings = RenderSettings::default();
        let expected = Renderer::default()
            .probe(&scene.splats, &camera(0.0, SIZE), &settings, [x, y])
            .unwrap();
        assert_eq!(probe["count"], expected.fragments.len());
        let weights =
            probe["splats"].as_array().unwrap().iter().map(|s| s["weight"].as_f64().unwrap());
        let sum = weights.sum::<f64>() + probe["rest_weight"].as_f64().unwrap();
        assert!((sum - probe["alpha"].as_f64().unwrap()).abs() < 1e-9);
    }
}

#[test]
fn requests_that_are_wrong_are_answered_and_change_nothing() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    let error = |page: &mut super::client::Page, message: &Value| {
        page.send(message);
        page.wait(|received| match received {
            Received::Text(text) if text["t"] == "error" => Some(text.clone()),
            _ => None,
        })
    };
    let wrong = [
        (request("still", 7, &json!({"view": 3}), SIZE, &show()), json!({"seq": 7}), "view"),
        (request("still", 8, &placed(0.0), [4000, 4000], &show()), json!({"seq": 8}), "size"),
        (
            request(
                "still",
                9,
                &json!({"eye": [0, 0, 0], "target": [0, 0, 0], "up": [0, 1, 0], "fov_degrees": 50, "lens": null}),
                SIZE,
                &show(),
            ),
            json!({"seq": 9}),
            "camera",
        ),
        (
            request(
                "frame",
                10,
                &json!({"eye": [0, 1, 0], "target": [0, 0, 0], "up": [0, 1, 0], "fov_degrees": 50, "lens": null}),
                SIZE,
                &show(),
            ),
            json!({"seq": 10}),
            "camera",
        ),
        (json!({"t": "save", "id": 11, "seq": 7, "what": "a"}), json!({"id": 11}), "save"),
        (json!({"t": "measure", "id": 12}), json!({"id": 12}), "measure"),
        (json!({"t": "open", "id": 13, "path": "/etc/passwd"}), json!({"id": 13}), "message"),
    ];
    for (message, reference, what) in wrong {
        let answer = error(&mut page, &message);
        for (name, number) in reference.as_object().unwrap() {
            assert_eq!(&answer[name], number, "{answer}");
        }
        assert!(answer["what"].as_str().unwrap().contains(what), "{answer}");
    }
    // This camera looks away from the scene.
    let away = json!({"eye": [0, 0, -9], "target": [0, 0, -10], "up": [0, -1, 0], "fov_degrees": 40, "lens": null});
    page.send(&request("still", 20, &away, SIZE, &show()));
    assert_eq!(page.picture(2, 20).flags, 1 | 4);
}

#[test]
fn a_camera_is_answered_as_commands_and_as_a_file() {
    let server = Server::start(Options::default());
    let mut page = server.page();
    page.send(&json!({"t": "flags", "id": 1, "shot": shot(&placed(0.0), SIZE), "map": null}));
    let flags = page.text("flags");
    let render = flags["render"].as_str().unwrap();
    assert!(
        render
            .contains("--eye 3,-1,0 --target 0,0,0 --up 0,-1,0 --fov 50 --width 320 --height 180"),
        "{render}"
    );
    let file = server.folder.path().join("cameras.json");
    std::fs::write(&file, flags["file"]["text"].as_str().unwrap()).unwrap();
    let read_back = quadrille_scene::cameras::load(&file).unwrap();
    let off = (read_back.cameras[0].eye() - camera(0.0, SIZE).eye()).norm();
    assert!(off < 1e-9, "{off}");
    let keys = json!([
        {"view": 0, "seconds": 0},
        {"eye": [3.0, -1.0, 0.5], "target": [0, 0, 0], "up": [0, -1, 0], "fov_degrees": 40, "lens": null, "seconds": 2}
    ]);
    page.send(
        &json!({"t": "fly", "id": 2, "shot": shot(&placed(0.0), SIZE), "keys": keys, "fps": 10}),
    );
    let fly = page.text("fly");
    assert_eq!(fly["cameras"].as_array().unwrap().len(), 21);
    std::fs::write(&file, fly["camera_path"].as_str().unwrap()).unwrap();
    let path = quadrille_scene::cameras::load(&file).unwrap();
    assert_eq!((path.cameras.len(), path.frame_rate), (21, Some(10.0)));
    assert!(read(server.folder.path().join("none.png")).is_err(), "the server writes no file");
}

#[test]
fn a_photo_is_cropped_as_its_camera_and_refused_by_other_proportions() {
    // The columns of the photo are levels, so that a picture tells which part it shows.
    let pixels = (0..360 * 640).map(|at| {
        let level = (at % 640) as f32 / 639.0;
        [level, level, level, 1.0]
    });
    let photo = Frame::from_pixels(640, 360, pixels.collect());
    let server = Server::start(Options { photo: Some(photo), ..Options::default() });
    let mut page = server.page();
    let show = with(show(), &[("b", json!({"photo": true})), ("mode", "split".into())]);
    let mut ends = |seq: u32, size: [u32; 2]| {
        page.send(&request("still", seq, &json!({"view": 0}), size, &show));
        let rgb = page.picture(3, seq).rgb();
        [rgb[0], rgb[3 * (size[0] as usize - 1)]]
    };
    assert_eq!(ends(1, [320, 180]), [0, 255]);
    // Half of the width: a quarter is gone on each side.
    assert_eq!(ends(2, [160, 180]), [64, 191]);
    // Beyond the photo, the background is seen.
    assert_eq!(ends(3, [640, 180]), [51, 51]);
    page.send(&json!({"t": "measure", "id": 5}));
    assert!(page.text("measured")["psnr_db"].as_f64().unwrap() > 0.0);
    let narrow = Frame::from_pixels(200, 180, vec![[0.5, 0.5, 0.5, 1.0]; 200 * 180]);
    quadrille_base::image::files::write(server.folder.path().join("0.png"), &narrow).unwrap();
    page.send(&request("still", 4, &json!({"view": 0}), [321, 180], &show));
    let error = page.wait(|received| match received {
        Received::Text(text) if text["t"] == "error" => Some(text["what"].to_string()),
        _ => None,
    });
    assert!(error.contains("the proportions of 320 x 180 pixels"), "{error}");
}
