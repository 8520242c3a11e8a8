//! Odd calls: full devices, words in the wrong place, folders that are in use.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};

#[cfg(target_os = "linux")]
#[test]
fn help_on_a_full_device_is_an_error() {
    for call in [&["--help"][..], &["--version"], &["help", "render"], &["render", "--help"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let program = Command::new(env!("CARGO_BIN_EXE_quadrille"))
            .args(call)
            .stdout(Stdio::from(full))
            .output()
            .unwrap();
        let errors = String::from_utf8(program.stderr).unwrap();
        assert_eq!(program.status.code(), Some(UNWRITABLE), "{call:?}: {errors}");
        assert!(errors.contains("no space left on device"), "{errors}");
    }
}

#[test]
fn words_in_the_wrong_place_lead_to_the_right_one() {
    let place = Place::new();
    for (call, words) in [
        ("scene.ply", "`quadrille info scene.ply` describes"),
        ("--json info scene.ply", "--json: expected behind the command"),
        ("render scene.ply -view 0 -o a.png", "-view: expected a flag with two dashes, --view"),
        ("render scene.ply --views 1 -o a.png", "did you mean --view?"),
        ("convert scene.ply --views 2 --prune 0.1 -o a.ply", "did you mean --view?"),
        (
            "compare a b --json=x.json",
            "--json: expected no value (--json writes to standard output",
        ),
        ("render scene.ply -j 1 -o a.png", "did you mean --threads?"),
        ("convert scene.ply --target-size 1MB -o a.ply", "did you mean --decimate or --sh?"),
        ("convert scene.ply --clean-floaters -o a.ply", "did you mean --drop-floaters?"),
        ("mesh plane --move 1,0,0", "`quadrille deferred` has --move"),
        ("deferred plane --msaa 16", "did you mean --samples?"),
        ("deferred plane --motion-blur 1", "did you mean --shutter or --motion?"),
        ("deferred plane --fstop 2.8", "did you mean --aperture?"),
        ("render scene.ply --seconds 4 -o a.png", "did you mean --fps?"),
        ("render scene.ply --width abc -o a.png", "a whole number such as 400"),
        ("convert scene.ply --where 'y -o a.ply", "in place of \"'y\""),
    ] {
        let call: Vec<&str> = call.split(' ').collect();
        place.expect_error(USAGE, &call, &[words]);
    }
    #[cfg(not(feature = "view"))]
    place.expect_error(USAGE, &["view", "scene.ply"], &["--features view"]);
    for (condition, place_of_error) in [
        ("y < 0 and opacity > 0.2", "in place of \"and opacity > 0.2\" behind \"y < 0\""),
        ("opacity > 50%", "in place of \"%\" behind \"opacity > 50\""),
    ] {
        let call = ["convert", "scene.ply", "-o", "a.ply", "--where", condition];
        place.expect_error(USAGE, &call, &[place_of_error]);
    }
}

#[test]
fn an_empty_file_is_called_so() {
    let place = Place::new();
    fs::write(place.path("empty"), "").unwrap();
    place.expect_error(UNREADABLE, &["info", "empty"], &["found an empty file"]);
}

#[test]
fn a_folder_with_other_files_is_refused_before_the_work() {
    let place = Place::new();
    fs::create_dir(place.path("sog")).unwrap();
    fs::write(place.path("sog/notes.txt"), "kept").unwrap();
    for name in ["sog/meta.json", "sog/lod-meta.json"] {
        let output = place.expect(UNWRITABLE, &["convert", "scene.ply", "-o", name]);
        assert!(output.stdout.is_empty(), "{name}: splats were read");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("notes.txt"), "{errors}");
    }
}

#[test]
fn the_views_that_decided_what_is_left_are_named() {
    let place = Place::new();
    let convert = ["convert", "scene.ply", "--prune", "0.01", "-o", "a.ply"];
    let page = String::from_utf8(place.expect(DONE, &convert).stdout).unwrap();
    let line = "pruned by 3 views from cameras.json: shot_0, shot_1, shot_2";
    assert!(page.lines().any(|l| l == line), "{page}");
    let found = place.document(&[&convert[..], &["--view", "1", "--json"]].concat());
    let expected = serde_json::json!({ "views_from": "cameras.json", "views": ["shot_1"] });
    assert_eq!(found["pruned_by"], expected);
}
