//! Tests of lists of views, by index, range, step and name.

use quadrille_scene::cameras::{PictureSize, load_views};
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
