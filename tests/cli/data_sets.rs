//! Data sets as trainers lay them out: parts in files of their own, photos of one view in several files, and selections that
//! select nothing.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::program::{DONE, Place, SHOT, UNREADABLE, USAGE};
use crate::support::shared;

/// Of `shot_0.png` and `shot_0.jpg`, the file whose name stands in the camera file is the photo; the same for masks.
#[test]
fn the_photo_of_a_view_has_its_own_name() {
    let place = Place::new();
    let render = ["render", "scene.ply", "--cameras", "cameras.json", "--view"];
    for (view, output) in [
        ("all", "images/{view}.png"),
        ("all", "masks/{view}.png"),
        ("0", "images/shot_0.jpg"),
        ("1", "masks/shot_0.jpg"),
    ] {
        place.expect(DONE, &[&render[..], &[view, "--background", "1,1,1", "-o", output]].concat());
    }
    let compare =
        ["compare", "scene.ply", "images", "--cameras", "cameras.json", "--background", "1,1,1"];
    place.expect_error(UNREADABLE, &compare, &["view \"shot_0\"", "shot_0.jpg, shot_0.png"]);
    let cameras = fs::read_to_string(place.path("cameras.json")).unwrap();
    fs::write(place.path("cameras.json"), cameras.replace("\"shot_0\"", "\"shot_0.png\"")).unwrap();
    let document = place.document(&[&compare[..], &["--json"]].concat());
    assert!(document["pairs"][0]["b"].as_str().unwrap().ends_with("shot_0.png"), "{document}");
    assert_eq!(document["pairs"][0]["flip"], 0.0, "{document}");
    let masked = [&compare[..], &["--masks", "masks", "--json"]].concat();
    let document = place.document(&masked);
    assert_eq!(document["pairs"].as_array().unwrap().len(), 3, "{document}");
    fs::remove_file(place.path("masks/shot_0.png")).unwrap();
    fs::copy(place.path("images/shot_1.png"), place.path("masks/shot_0.jpg.png")).unwrap();
    let output = place.run(&masked);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("shot_0.jpg, shot_0.jpg.png"), "{errors}");
}

/// A selection of several views needs a camera file, in every command; one that selects nothing is an error.
#[test]
fn a_selection_of_several_views_needs_a_camera_file() {
    let place = Place::new();
    fs::create_dir(place.path("alone")).unwrap();
    fs::copy(place.path("scene.ply"), place.path("alone/scene.ply")).unwrap();
    // Comparisons draw a circle of views, of which these lists select some.
    let of_circle = ["all", "..:8"];
    for list in ["train", "test", "test:nerfstudio"].into_iter().chain(of_circle) {
        for command in [
            &["render", "alone/scene.ply", "-o", "{view}.png"][..],
            &["sim", "alone/scene.ply", "--json"],
            &["compare", "alone/scene.ply", "scene.ply"],
            &["convert", "alone/scene.ply", "-o", "a.spz", "--report", "a.json"],
        ] {
            if of_circle.contains(&list) && ["compare", "convert"].contains(&command[0]) {
                continue;
            }
            place.expect_error(USAGE, &[command, &["--view", list]].concat(), &["camera file"]);
        }
        write_suite(&place, "alone/scene.ply", &format!("view = \"{list}\""));
        place.expect_error(UNREADABLE, &["bench", "suite.toml", "-o", "a.jsonl"], &["camera file"]);
        #[cfg(feature = "view")]
        place.expect_error(USAGE, &["view", "alone/scene.ply", "--view", list], &["camera file"]);
    }
    let cameras =
        ["render", "scene.ply", "--cameras", "cameras.json", "-o", "{view}.png", "--view"];
    place.expect_error(USAGE, &[&cameras[..], &["val"]].concat(), &["no views for validation"]);
    let one = json!([serde_json::from_slice::<serde_json::Value>(
        &fs::read(place.path("cameras.json")).unwrap()
    )
    .unwrap()[0]]);
    fs::write(place.path("cameras.json"), one.to_string()).unwrap();
    place.expect_error(USAGE, &[&cameras[..], &["train"]].concat(), &["which selects none"]);
    write_suite(&place, "scene.ply", "cameras = \"cameras.json\"\nview = \"train\"");
    let bench = ["bench", "suite.toml", "-o", "a.jsonl"];
    place.expect_error(UNREADABLE, &bench, &["which selects none"]);
    #[cfg(feature = "view")]
    {
        let view = ["view", "scene.ply", "--cameras", "cameras.json", "--view", "train"];
        place.expect_error(USAGE, &view, &["which selects none"]);
    }
}

/// A suite of one scene with these lines about its views.
fn write_suite(place: &Place, scene: &str, views: &str) {
    let text = format!(
        "methods = [\"baseline\"]\n[[scene]]\nname = \"a\"\npath = \"{scene}\"\nwidth = 32\n{views}\n"
    );
    fs::write(place.path("suite.toml"), text).unwrap();
}

const NOT_READ: &str = "HEIC, which is not read";

/// Two folders: files of one name are a pair, and another picture of the same view is named, as is one of a format that is
/// not read; beside a picture that is read, such a file does not count.
#[test]
fn folders_with_several_pictures_of_a_view_name_them() {
    let place = Place::new();
    for folder in ["renders", "photos", "phone"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    let shot = [&["render", "scene.ply"], &SHOT[..]].concat();
    for file in ["renders/im_0.png", "photos/im_0.png", "photos/im_0.jpg", "phone/im_0.jpg"] {
        place.expect(DONE, &[&shot[..], &["-o", file]].concat());
    }
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
    fs::write(place.path("phone/im_0.HEIC"), heic).unwrap();
    let gate = ["--fail-under-psnr", "20"];
    let compare = |photos: &'static str| [&["compare", "renders", photos], &gate[..]].concat();
    let failed = place.expect(1, &compare("photos"));
    let errors = String::from_utf8(failed.stderr).unwrap();
    assert!(errors.contains("photos/im_0.jpg"), "{errors}");
    place.expect(DONE, &compare("phone"));
    fs::remove_file(place.path("phone/im_0.jpg")).unwrap();
    let scene = ["compare", "scene.ply", "phone", "--cameras", "cameras.json", "--view", "shot_0"];
    fs::rename(place.path("phone/im_0.HEIC"), place.path("phone/shot_0.HEIC")).unwrap();
    let errors = String::from_utf8(place.expect(UNREADABLE, &scene).stderr).unwrap();
    assert!(errors.contains("shot_0.HEIC: first bytes") && errors.contains(NOT_READ), "{errors}");
    fs::rename(place.path("phone/shot_0.HEIC"), place.path("phone/im_0.HEIC")).unwrap();
    let errors = String::from_utf8(place.expect(UNREADABLE, &compare("phone")).stderr).unwrap();
    assert!(errors.contains("im_0.HEIC: first bytes") && errors.contains(NOT_READ), "{errors}");
}

/// Photos and masks of the field: as evaluated by hand, or refused.
#[test]
fn photos_from_the_field_are_paired_as_they_are_meant() {
    let Some(folder) = shared::path("cases/splats-2/08-eval") else { return };
    let place = Place::new();
    let text = |name: &str| folder.join(name).display().to_string();
    let call = |photos: &str, masks: &str| {
        let cameras = text("cameras.json");
        let mut flags = vec![
            "compare".to_owned(),
            text("s.ply"),
            text(photos),
            "--cameras".into(),
            cameras,
            "--json".into(),
        ];
        if !masks.is_empty() {
            flags.extend([
                "--masks".to_owned(),
                if masks == "alpha" { masks.to_owned() } else { text(masks) },
            ]);
        }
        let output = place.run(&flags.iter().map(String::as_str).collect::<Vec<_>>());
        let document = serde_json::from_slice::<serde_json::Value>(&output.stdout).ok();
        let mean = document.and_then(|document| document["mean"]["psnr_db"].as_f64());
        (mean.unwrap_or(0.0), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (photos, masks, expected) in [
        ("photos", "", 32.847),
        ("photos_two", "", 32.847),
        ("rgba", "", 23.580),
        ("photos", "mask_stem", 31.891),
        ("photos", "mask_colmap", 31.891),
    ] {
        let (mean, errors) = call(photos, masks);
        assert!((mean - expected).abs() < 0.02, "{photos} {masks}: {mean} {errors}");
    }
    assert!(call("rgba", "alpha").0 > 20.0);
    assert!(call("photos", "mask_01").1.contains("at least one pixel that counts"));
    assert!(call("heic", "").1.contains(NOT_READ));
}

/// Scenes and cameras of the field in the folders of their trainers.
#[test]
fn data_sets_from_the_field_are_drawn_in_their_parts() {
    let Some(folder) = shared::path("cases/splats-2/10-layouts") else { return };
    let place = Place::new();
    let text = |path: &Path| path.display().to_string();
    let (scene, cameras) = (text(&folder.join("out")), text(&folder.join("blender")));
    let call = [
        "render",
        &scene,
        "--cameras",
        &cameras,
        "--width",
        "16",
        "-o",
        "{view}.png",
        "--json",
        "--view",
    ];
    for (part, count) in [("train", 3), ("val", 2), ("test", 4), ("all", 9)] {
        let output = place.expect(DONE, &[&call[..], &[part]].concat());
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let views = document["views"].as_array().unwrap();
        assert_eq!(views.len(), count, "{part}");
        assert!(
            part == "all"
                || views.iter().all(|view| view["name"].as_str().unwrap().starts_with(part))
        );
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            errors.contains("cfg_args: the scene was trained on a white background"),
            "{errors}"
        );
    }
}
