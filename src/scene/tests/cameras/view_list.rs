//! Tests of lists of views, by index, range, step and name.

use quadrille_base::image::Frame;
use quadrille_scene::Splats;
use quadrille_scene::cameras::{
    Framing, PictureSize, ViewSpec, find_camera_file, load, load_views,
};
use serde_json::{Value, json};

const NAMES: [&str; 10] = ["a", "b", "a,b", "007", "x1", "x2", "x3", "x4", "x5", "view_02"];

/// `transforms.json` with the given pictures. Views are named without folders and extensions.
fn file(pictures: &[String]) -> Value {
    let frame = |picture: &String| json!({"file_path": picture, "transform_matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]});
    let frames: Vec<Value> = pictures.iter().map(frame).collect();
    json!({"fl_x": 60, "fl_y": 60, "cx": 32, "cy": 24, "w": 64, "h": 48, "frames": frames})
}

/// Names of the views that `list` selects, or the error.
fn selected(file: &Value, list: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transforms.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let loaded = load_views(&path, list, PictureSize::default());
    let (cameras, _) = loaded.map_err(|error| error.to_string())?;
    Ok(cameras.into_iter().map(|camera| camera.name).collect())
}

#[test]
fn lists_ranges_steps_and_names() {
    let file = file(&NAMES.map(|name| format!("./images/{name}.jpg")));
    for (list, expected) in [
        ("0,2,5", &[0, 2, 5][..]),
        ("5, 0,5", &[5, 0]),
        ("3..6", &[3, 4, 5]),
        ("..:8", &[0, 8]),
        ("1..9:3", &[1, 4, 7]),
        ("2..:4", &[2, 6]),
        ("a,b", &[2]),
        ("b,a", &[1, 0]),
        ("007", &[3]),
        ("7,..2", &[7, 0, 1]),
        ("images/x2.jpg", &[5]),
        ("./images/x2.jpg", &[5]),
        ("images\\x2.jpg,x3.jpg", &[5, 6]),
        ("images/x2", &[5]),
        ("all", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ] {
        let found = selected(&file, list).unwrap();
        assert!(found.iter().eq(expected.iter().map(|at: &usize| NAMES[*at])), "{list}: {found:?}");
    }
    for list in ["10", "3..3", "..:0", "2..1", "0..11", "..x", "", "a,,b", "x9.jpg"] {
        assert!(selected(&file, list).is_err(), "{list}");
    }
}

#[test]
fn test_views_are_every_eighth_by_name_or_the_ones_of_the_file() {
    // The order of these names is 0, 1, 10 to 16, 2 to 9.
    let pictures: Vec<String> = (0..17).rev().map(|i| format!("{i}.jpg")).collect();
    let plain = file(&pictures);
    let mut stated = plain.clone();
    stated["train_filenames"] = json!(["3.jpg"]);
    stated["test_filenames"] = json!(["5.jpg", "4.jpg"]);
    assert_eq!(selected(&plain, "test").unwrap(), ["16", "9", "0"]);
    assert_eq!(selected(&plain, "train").unwrap().len(), 14);
    assert_eq!(selected(&plain, "test,3.jpg").unwrap().len(), 4);
    assert_eq!(selected(&stated, "test").unwrap(), ["5", "4"]);
    assert_eq!(selected(&stated, "train").unwrap(), ["3"]);
    // A view called `test` takes precedence over the split.
    let own = file(&["a.jpg", "test.jpg"].map(str::to_owned));
    assert_eq!(selected(&own, "test").unwrap(), ["test"]);
}

/// Of 300 views, nerfstudio trains on `numpy.linspace(0, 299, 270, dtype=int)`; its 30 test views are none of the 38 of the
/// other trainers.
#[test]
fn splits_are_named_by_trainers_steps_and_fractions() {
    let file = file(&(0..300).map(|i| format!("{i:03}.jpg")).collect::<Vec<_>>());
    let by_fraction = selected(&file, "test:nerfstudio").unwrap();
    let training: Vec<usize> = (0..270).map(|i| i * 299 / 269).collect();
    let expected = (0..300).filter(|index| !training.contains(index)).map(|i| format!("{i:03}"));
    assert!(expected.eq(by_fraction.iter().cloned()), "{by_fraction:?}");
    assert_eq!(selected(&file, "test:0.9").unwrap(), by_fraction);
    assert_eq!(selected(&file, "train:0.9").unwrap().len(), 270);
    let by_step = selected(&file, "test").unwrap();
    assert_eq!(by_step.len(), 38);
    assert!(by_step.iter().all(|view| !by_fraction.contains(view)));
    for same in ["test:8", "test:inria", "test:gsplat"] {
        assert_eq!(selected(&file, same).unwrap(), by_step);
    }
    assert_eq!(selected(&file, "test:10").unwrap().len(), 30);
    for wrong in ["test:1", "test:0", "test:1.5", "test:other", "val", "val:8", "test:list"] {
        assert!(selected(&file, wrong).is_err(), "{wrong}");
    }
}

#[test]
fn names_that_occur_twice_give_a_warning_for_a_split_by_names() {
    let camera = |name: &str| {
        json!({"img_name": name, "width": 64, "height": 48, "fx": 60, "fy": 60,
        "position": [0, 0, 0], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cameras.json");
    let warnings = |names: [&str; 3], list| {
        std::fs::write(&path, json!(names.map(camera)).to_string()).unwrap();
        load_views(&path, list, PictureSize::default()).unwrap().1
    };
    assert!(warnings(["r_0", "r_1", "r_0"], "train")[0].contains("\"r_0\" occurs twice"));
    assert!(warnings(["r_0", "r_1", "r_0"], "all").is_empty());
    assert!(warnings(["r_0", "r_1", "r_2"], "train").is_empty());
}

/// A selection without views is an error, and so is a part without a camera file.
#[test]
fn a_selection_selects_a_view() {
    let mut stated = file(&["a.jpg", "b.jpg"].map(str::to_owned));
    stated["test_filenames"] = json!(["a.jpg"]);
    assert!(selected(&stated, "train").unwrap_err().contains("selects none"));
    let one = file(&["a.jpg"].map(str::to_owned));
    assert!(selected(&one, "train").unwrap_err().contains("selects none"));
    let framing = || Ok(Framing::of(&Splats::from_splats(0, [])));
    for (view, orbit, is_right) in [
        ("all", None, false),
        ("test", None, false),
        ("..:8", None, false),
        ("0", None, true),
        ("auto", None, true),
        ("all", Some(4), true),
        ("..:2", Some(4), true),
        ("train", Some(4), false),
        ("test:8", Some(4), false),
    ] {
        let spec = ViewSpec { view: Some(view.to_owned()), orbit, ..ViewSpec::default() };
        let views = spec.views(None, framing);
        assert_eq!(views.is_ok(), is_right, "{view}, {orbit:?}: {:?}", views.err());
    }
    assert_eq!(ViewSpec::default().with_all().views(None, framing).unwrap().cameras.len(), 1);
}

/// ScanNet++ has its test views in another list, and marks bad frames. Other lists of frames are not read silently.
#[test]
fn frames_in_other_members_are_read_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transforms.json");
    let mut content = file(&["a.jpg", "b.jpg"].map(str::to_owned));
    content["frames"][1]["is_bad"] = json!(true);
    content["test_frames"] = file(&["c.jpg".to_owned()])["frames"].clone();
    content["holdout_frames"] = content["test_frames"].clone();
    std::fs::write(&path, content.to_string()).unwrap();
    let mut loaded = load(&path).unwrap();
    assert!(loaded.warnings[0].contains("1 of 3 cameras are left out (b.jpg)"));
    assert!(loaded.warnings[1].contains("the 1 frames in \"holdout_frames\" are not read"));
    loaded.select("test").unwrap();
    assert_eq!(loaded.cameras[0].name, "c");
    assert_eq!(loaded.indices, [2], "the bad frame has an index");
}

/// Parts in files of their own are found beside a scene, and read in the sizes of their pictures.
#[test]
fn parts_in_files_of_their_own_are_one_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (part, count) in [("train", 3), ("val", 1), ("test", 2)] {
        let names: Vec<String> = (0..count).map(|i| format!("./{part}/r_{i}")).collect();
        let mut content = file(&names);
        for key in ["w", "h", "fl_x", "fl_y", "cx", "cy"] {
            content.as_object_mut().unwrap().remove(key);
        }
        content["camera_angle_x"] = json!(0.7);
        std::fs::write(folder.join(format!("transforms_{part}.json")), content.to_string())
            .unwrap();
    }
    std::fs::create_dir(folder.join("test")).unwrap();
    let picture = Frame::new(40, 30);
    quadrille_base::image::files::write(folder.join("test/r_1.png"), &picture).unwrap();
    assert_eq!(find_camera_file(&folder.join("scene.ply")).as_deref(), Some(folder));
    let selected = |list: &str| {
        let mut file = load(folder).unwrap();
        file.select(list).unwrap();
        file.cameras
    };
    let names = |list| selected(list).into_iter().map(|camera| camera.name).collect::<Vec<_>>();
    assert_eq!(names("train"), ["train_r_0", "train_r_1", "train_r_2"]);
    assert_eq!(names("val"), ["val_r_0"]);
    assert_eq!(names("test"), ["test_r_0", "test_r_1"]);
    assert_eq!(names("all").len(), 6);
    let sizes: Vec<_> = selected("test").iter().map(|c| [c.width, c.height]).collect();
    assert_eq!(sizes, [[800, 800], [40, 30]]);
}

#[test]
fn an_ambiguous_file_name_selects_nothing() {
    let file = file(&["cam0/1.png", "cam1/1.png"].map(str::to_owned));
    assert!(selected(&file, "1.png").is_err());
    assert_eq!(selected(&file, "cam1/1.png").unwrap(), ["1_2"]);
}

#[test]
fn a_misspelt_name_gets_a_suggestion() {
    let file = file(&NAMES.map(|name| format!("{name}.jpg")));
    let message = |list: &str| selected(&file, list).unwrap_err();
    for misspelt in ["vew_02", "VIEW_02", "view02"] {
        let message = message(misspelt);
        assert!(message.ends_with("did you mean view_02?"), "{message}");
    }
    let message = message("nothing");
    assert!(!message.contains("did you mean"), "{message}");
}
