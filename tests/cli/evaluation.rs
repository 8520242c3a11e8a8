//! `compare` as an evaluation: a scene and photos, masks, films, tables, a page, and interrupted runs.

use std::fs;

use quadrille::{Frame, Protocol, compare, read_picture};
use quadrille_base::image::resize::{ResizedValues, resized};
use serde_json::Value;

use crate::support::program::{ALL_VIEWS, CAMERAS, DONE, Place, UNREADABLE, USAGE};

/// Size of the views.
const SIZE: [u32; 2] = [60, 40];

/// A place with photos of all views but the last one: drawn by another profile, in twice the size, as JPEG.
fn with_photos() -> Place {
    let place = Place::new();
    let photos = [
        "--profile",
        "mip-splatting",
        "--picture-scale",
        "2",
        "--quality",
        "95",
        "-o",
        "images/{view}.jpg",
    ];
    place.expect(DONE, &[&ALL_VIEWS[..], &photos].concat());
    fs::remove_file(place.path(&format!("images/shot_{}.jpg", CAMERAS - 1))).unwrap();
    place
}

fn against_photos<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "scene.ply", "images"][..], flags].concat()
}

/// The picture of a view, drawn in a factor of its size.
fn drawn(place: &Place, view: &str, scale: &str) -> Frame {
    let flags = ["--cameras", "cameras.json", "--view", view, "--picture-scale", scale];
    place.picture("drawn.png", &flags)
}

fn psnr(pair: &Value) -> f64 {
    pair["psnr_db"].as_f64().unwrap()
}

#[test]
fn a_scene_is_compared_with_photos_of_another_size() {
    let place = with_photos();
    let resized_photos = place.document(&against_photos(&["--resize", "--json"]));
    let at_photos = place.document(&against_photos(&["--photo-size", "--json"]));
    for (document, scale) in [(&resized_photos, "1"), (&at_photos, "2")] {
        let pairs = document["pairs"].as_array().unwrap();
        assert_eq!(pairs.len(), CAMERAS - 1);
        for pair in pairs {
            let view = pair["name"].as_str().unwrap();
            let render = drawn(&place, view, scale);
            let mut photo = read_picture(place.path(&format!("images/{view}.jpg"))).unwrap();
            if scale == "1" {
                photo = resized(&photo, SIZE, ResizedValues::EightBit);
            }
            let expected = compare(&render, &photo, Protocol::Inria).unwrap();
            assert_eq!(psnr(pair), expected.psnr_db.unwrap(), "{view} at {scale}");
            assert_eq!(pair["ssim"].as_f64().unwrap(), expected.ssim);
        }
        assert_eq!(document["views_from"], "cameras.json");
        let mean = pairs.iter().map(psnr).sum::<f64>() / pairs.len() as f64;
        assert!((psnr(&document["mean"]) - mean).abs() < 1e-12);
        let worst = pairs.iter().map(psnr).fold(f64::INFINITY, f64::min);
        assert_eq!(psnr(&document["worst"]), worst);
    }
    let words = resized_photos["conditions"].as_str().unwrap();
    for word in ["2 of 3 views of cameras.json", "bicubic", "profile inria", "rounded to 8 bits"] {
        assert!(words.contains(word), "{words}");
    }
    // Without a flag, every pair says what is missing.
    let errors = place.expect(UNREADABLE, &against_photos(&[])).stderr;
    let errors = String::from_utf8(errors).unwrap();
    for word in ["shot_0.jpg", "60 x 40", "120 x 80", "--photo-size", "--resize", "1 of 3 views"] {
        assert!(errors.contains(word), "{word}: {errors}");
    }
    place.expect_error(USAGE, &against_photos(&["--resize", "--photo-size"]), &["--photo-size"]);
    place.expect_error(USAGE, &["compare", "images", "scene.ply"], &["the scene first"]);
    place.expect_error(
        USAGE,
        &["compare", "scene.ply", "scene.ply", "--photo-size"],
        &["--photo-size", "two scenes"],
    );
    fs::remove_file(place.path("cameras.json")).unwrap();
    place.expect_error(USAGE, &against_photos(&["--resize"]), &["--cameras FILE"]);
}

/// JPEG bytes with EXIF data that state an orientation.
fn oriented(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let tiff = [
        &b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"[..],
        &[orientation, 0, 0, 0, 0, 0, 0, 0],
    ];
    let data = [&b"Exif\0\0"[..], &tiff.concat()].concat();
    let length = u16::try_from(data.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, &data, &jpeg[2..]].concat()
}

#[test]
fn photos_are_turned_as_their_exif_data_say() {
    let place = with_photos();
    let photo = place.path("images/shot_0.jpg");
    let stored = fs::read(&photo).unwrap();
    let flags = against_photos(&["--photo-size", "--view", "shot_0", "--json"]);
    let upright = psnr(&place.document(&flags)["pairs"][0]);
    // The camera has the proportions of the stored pixels, as COLMAP's cameras have.
    fs::write(&photo, oriented(&stored, 6)).unwrap();
    let output = place.expect(DONE, &flags);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(psnr(&document["pairs"][0]), upright);
    assert!(String::from_utf8_lossy(&output.stderr).contains("EXIF orientation is ignored"));
    // Half a turn fits either way, and is done.
    fs::write(&photo, oriented(&stored, 3)).unwrap();
    let output = place.expect(DONE, &flags);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(psnr(&document["pairs"][0]) < upright - 3.0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("turned by its EXIF"));
    // A picture alone is turned, too.
    fs::write(place.path("turned.jpg"), oriented(&stored, 6)).unwrap();
    let turned = read_picture(place.path("turned.jpg")).unwrap();
    assert_eq!([turned.width(), turned.height()], [80, 120]);
}

#[test]
fn a_transparent_picture_beside_an_opaque_one_is_warned_about() {
    let place = Place::new();
    for view in ["0", "1"] {
        for (folder, alpha) in [("a", 0.0), ("b", 1.0)] {
            // White, in the lower half transparent or white.
            let pixels = (0..32).map(|at| if at < 16 { [1.0; 4] } else { [alpha; 4] });
            let frame = Frame::from_pixels(8, 4, pixels.collect());
            fs::create_dir_all(place.path(folder)).unwrap();
            let path = place.path(&format!("{folder}/{view}.png"));
            quadrille::write_picture(path, &frame).unwrap();
        }
    }
    let warned = |background: &str| {
        let output = place.expect(DONE, &["compare", "a", "b", "--background", background]);
        let errors = String::from_utf8(output.stderr).unwrap();
        errors.matches(".png is opaque; --background sets").count()
    };
    assert_eq!(warned("0,0,0"), 1, "once for all pairs");
    assert_eq!(warned("1,1,1"), 0);
    let over_white = place.document(&["compare", "a", "b", "--background", "1,1,1", "--json"]);
    assert_eq!(over_white["mean"]["identical"], 2);
}

/// Grey pictures that differ by `step` in the left half, and by 0.5 in the right one.
fn halves(place: &Place, step: f32) {
    let [width, height] = [40, 20];
    let with = |left: f32, right: f32| {
        let pixel = |at: u32| if at % width < width / 2 { left } else { right };
        let pixels = (0..width * height).map(pixel).map(|v| [v, v, v, 1.0]);
        Frame::from_pixels(width, height, pixels.collect())
    };
    for (folder, frame) in
        [("a", with(0.25, 0.25)), ("b", with(0.25 + step, 0.75)), ("mask", with(1.0, 0.0))]
    {
        fs::create_dir_all(place.path(folder)).unwrap();
        quadrille::write_picture(place.path(&format!("{folder}/x.npy")), &frame).unwrap();
    }
}

#[test]
fn means_are_over_the_pixels_of_the_mask() {
    let place = Place::new();
    halves(&place, 0.125);
    let flags = ["compare", "a", "b", "--protocol", "float", "--masks", "mask", "--json"];
    let document = place.document(&flags);
    let pair = &document["pairs"][0];
    assert!((pair["mse"].as_f64().unwrap() - 0.125 * 0.125).abs() < 1e-12);
    assert_eq!(pair["max_abs"], 0.125);
    assert_eq!(pair["mask_share"], 0.5);
    assert!(document["conditions"].as_str().unwrap().contains("count in mask"));
    // A mask of another size is resized; one without a partner, or black, is an error of its pair.
    let white = |size: [u32; 2], value: f32| {
        let frame =
            Frame::from_pixels(size[0], size[1], vec![[value; 4]; (size[0] * size[1]) as usize]);
        quadrille::write_picture(place.path("mask/x.npy"), &frame).unwrap();
    };
    white([20, 10], 1.0);
    let all = &place.document(&flags)["pairs"][0];
    assert_eq!(all["mask_share"], 1.0);
    assert!((all["mse"].as_f64().unwrap() - (0.125 * 0.125 + 0.25) / 2.0).abs() < 1e-9);
    white([20, 20], 1.0);
    let failure = |word: &str| {
        let errors = place.expect_failure(UNREADABLE, &flags[..7]);
        assert!(errors.contains(word), "{errors}");
    };
    failure("proportions of 40 x 20");
    white([40, 20], 0.0);
    failure("at least one pixel that counts");
    fs::rename(place.path("mask/x.npy"), place.path("mask/y.npy")).unwrap();
    failure("a mask with this name");
}

#[test]
fn protocols_differ_in_ssim_at_the_edge() {
    let place = Place::new();
    halves(&place, 0.0);
    let ssim = |protocol: &str| {
        let document = place.document(&["compare", "a", "b", "--protocol", protocol, "--json"]);
        document["pairs"][0]["ssim"].as_f64().unwrap()
    };
    let [zeros, mirrored, within] = ["float", "gsplat", "nerfstudio"].map(ssim);
    assert!((zeros - mirrored).abs() > 1e-3 && (mirrored - within).abs() > 1e-3);
}

#[test]
fn films_are_compared_frame_by_frame() {
    let place = Place::new();
    for film in ["a.y4m", "a.apng"] {
        place.expect(DONE, &[&ALL_VIEWS[..], &["-o", film]].concat());
        let other = film.replacen('a', "b", 1);
        // Of another profile, and one frame shorter.
        let flags = ["--view", "..2", "--profile", "mip-splatting", "-o", &other];
        place.expect(DONE, &[&ALL_VIEWS[..4], &flags].concat());
        let same = place.document(&["compare", film, film, "--json"]);
        assert_eq!(same["pairs"].as_array().unwrap().len(), CAMERAS);
        assert_eq!(same["mean"]["identical"], CAMERAS);
        let output = place.expect(DONE, &["compare", film, &other, "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["pairs"].as_array().unwrap().len(), 2);
        assert!((20.0..60.0).contains(&psnr(&document["pairs"][1])), "{document}");
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(warnings.contains("3 frames") && warnings.contains("first 2"), "{warnings}");
        // Half a frame does not count as a frame.
        let whole = fs::read(place.path(film)).unwrap();
        fs::write(place.path(film), &whole[..whole.len() - 700]).unwrap();
        let output = place.expect(UNREADABLE, &["compare", film, film]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(film), "{errors}");
    }
    fs::write(place.path("c.mp4"), b"\0\0\0\x20ftypisom").unwrap();
    place.expect_error(UNREADABLE, &["compare", "c.mp4", "b.y4m"], &["c.mp4", "ffmpeg -i c.mp4"]);
    place.expect_error(USAGE, &["compare", "b.y4m", "images"], &["a film"]);
}

#[test]
fn tables_hold_the_same_numbers() {
    let place = with_photos();
    let files = ["--csv", "t.csv", "--markdown", "t.md", "--latex", "t.tex", "--resize", "--json"];
    let document = place.document(&against_photos(&files));
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let csv = read("t.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next().unwrap(), "name,a,b,psnr_db,ssim,flip,max_abs,p99_9_abs,mse,mark");
    let (markdown, latex) = (read("t.md"), read("t.tex"));
    for pair in document["pairs"].as_array().unwrap() {
        let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!(cells[0], pair["name"]);
        assert_eq!(cells[3].parse::<f64>().unwrap(), psnr(pair));
        assert_eq!(cells[4].parse::<f64>().unwrap(), pair["ssim"].as_f64().unwrap());
        let name = pair["name"].as_str().unwrap();
        assert!(markdown.contains(&format!("| {name} | {:.2} |", psnr(pair))), "{markdown}");
        let name = name.replace('_', "\\_");
        assert!(latex.contains(&format!("{name} & {:.2} &", psnr(pair))), "{latex}");
    }
    // A view has no photo.
    let missing: Vec<&str> = lines.collect();
    assert!(matches!(missing[..], [line] if line.ends_with(",no partner")), "{missing:?}");
    let mean = psnr(&document["mean"]);
    assert!(markdown.contains(&format!("| mean | {mean:.2} |")), "{markdown}");
    assert!(latex.contains("\\midrule\nmean & ") && latex.ends_with("\\end{tabular}\n"), "{latex}");
    assert!(markdown.contains("bicubic") && latex.contains("% protocol inria"));
}

#[test]
fn a_page_holds_its_pictures_and_works_alone() {
    let place = with_photos();
    let flags = against_photos(&["--resize", "--html", "report"]);
    place.expect(DONE, &flags);
    let page = fs::read_to_string(place.path("report/index.html")).unwrap();
    assert_eq!(page.matches("url(data:image/jpeg;base64,").count(), 3 * (CAMERAS - 1));
    assert_eq!(page.matches("<article class=\"pair\"").count(), CAMERAS - 1);
    for outside in ["http:", "https:", "src=", "<link", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for part in [
        "<h2>shot_0</h2>",
        "FLIP error",
        "Worst first",
        "protocol inria",
        "compare scene.ply images",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The worst pair is first by PSNR.
    let document = place.document(&against_photos(&["--resize", "--json"]));
    let worst = document["worst"]["name"].as_str().unwrap();
    let first = page.find("<h2>shot_").unwrap();
    assert!(page[first..].starts_with(&format!("<h2>{worst}</h2>")));
    assert!(fs::read_to_string(place.path("report/table.csv")).unwrap().contains(worst));
    // The same command gives the same bytes.
    place.expect(DONE, &flags);
    assert_eq!(fs::read_to_string(place.path("report/index.html")).unwrap(), page);
}

#[test]
fn an_interrupted_comparison_goes_on() {
    let place = with_photos();
    let photo = place.path("images/shot_1.jpg");
    let whole = fs::read(&photo).unwrap();
    let flags = against_photos(&["--resize", "--html", "report", "--resume", "-v"]);
    let compared = |code: i32| {
        let output = place.run(&flags);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        [": compared", ": kept"].map(|words| errors.matches(words).count())
    };
    fs::write(&photo, &whole[..whole.len() / 3]).unwrap();
    assert_eq!(compared(UNREADABLE), [1, 0]);
    let journal = place.path("report/compare.resume");
    // A run that was stopped while it wrote leaves half a line.
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.clone() + &text[..text.len() / 2]).unwrap();
    fs::write(&photo, &whole).unwrap();
    assert_eq!(compared(DONE), [1, 1]);
    assert!(!journal.exists(), "a complete comparison leaves no journal");
    let page = fs::read(place.path("report/index.html")).unwrap();
    assert_eq!(compared(DONE), [2, 0]);
    assert_eq!(fs::read(place.path("report/index.html")).unwrap(), page);
    place.expect_error(USAGE, &against_photos(&["--resize", "--resume"]), &["--html DIR"]);
}

#[test]
fn the_picture_of_differences_has_a_legend() {
    let place = Place::new();
    halves(&place, 0.1);
    let map = |b: &str, name: &str| {
        let b = format!("{b}/x.npy");
        place.expect(DONE, &["compare", "a/x.npy", &b, "--diff", name]);
        read_picture(place.path(name)).unwrap()
    };
    let (different, equal) = (map("b", "different.png"), map("a", "equal.png"));
    // Small pictures are enlarged until the text fits, and the legend stands below.
    assert!(different.width() > 320);
    let height = 8 * 20;
    assert!(different.height() > height && equal.height() == different.height());
    let row = |frame: &Frame| frame.pixels()[..8 * 40].to_vec();
    let equal = row(&equal);
    assert!(equal.iter().all(|pixel| *pixel == equal[0]));
    let different = row(&different);
    assert_ne!(different[0], different[8 * 40 - 1]);
}
