//! `sim --stencil-test`: the application's stencil test, beside early termination.
use std::fs;

use quadrille::Frame;
use serde_json::Value;

use crate::bench::lines;
use crate::sim::variant;
use crate::support::program::{DONE, Place, SHOT, UNREADABLE, USAGE};

/// Size of the pictures.
const SIZE: [u32; 2] = [60, 40];
/// Methods whose picture does not depend on time, with termination updates that arrive at once. Pixels of the scene reach
/// the threshold of [`sim`]. With `het+qm`, pairs of quads decide how far a pixel exceeds it.
const METHODS: [&str; 4] = ["baseline", "qm", "het", "tile-gpu+het"];

/// Writes a picture with a level in the left half and another one in the right half.
fn halves(place: &Place, name: &str, levels: [u8; 2]) {
    let [width, height] = SIZE;
    let pixel = |at: u32| {
        let level = f32::from(levels[usize::from(at % width >= width / 2)]) / 255.0;
        [level, level, level, 1.0]
    };
    let frame = Frame::from_pixels(width, height, (0..width * height).map(pixel).collect());
    quadrille::write_picture(place.path(name), &frame).unwrap();
}

fn sim<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let call = ["sim", "scene.ply", "-q", "--json", "--set", "zrop.feedback=ideal"];
    [&call[..], &["--set", "zrop.threshold=0.6"], &SHOT, flags].concat()
}

/// Pictures of all methods.
fn pictures(place: &Place, flags: &[&str]) -> (Value, Vec<Frame>) {
    let methods = METHODS.join(",");
    let output = ["--method", &methods, "-o", "{method}.npy"];
    let document = place.document(&sim(&[&output[..], flags].concat()));
    let read =
        |method: &&str| quadrille::read_picture(place.path(&format!("{method}.npy"))).unwrap();
    (document["views"][0].clone(), METHODS.iter().map(read).collect())
}

/// Fails if pictures differ. Quad merging rounds by pair, and which quads are pairs depends on time.
fn assert_alike(method: &str, found: [f32; 4], expected: [f32; 4], at: usize) {
    let tolerance = if method.contains("qm") { 0.004 } else { 0.0 };
    let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= tolerance;
    let place = format!("{method}, pixel {at}: {found:?} instead of {expected:?}");
    assert!(found.iter().zip(&expected).all(is_near), "{place}");
}

/// Fails if the pictures of a method differ.
fn assert_all_alike(found: &[Frame], expected: &[Frame]) {
    for ((method, found), expected) in METHODS.iter().zip(found).zip(expected) {
        for (at, pixel) in found.pixels().iter().enumerate() {
            assert_alike(method, *pixel, expected.pixels()[at], at);
        }
    }
}

/// Bit 1 is set in all pixels, and bit 0 in the left half: only there, the test under a mask passes. Pixels that pass
/// have the picture without a test, with early termination too.
#[test]
fn masks_and_termination_stand_side_by_side() {
    let place = Place::new();
    halves(&place, "mask.png", [3, 2]);
    let (plain, expected) = pictures(&place, &[]);
    let test = ["--stencil-test", "equal:0x61:0x01", "--stencil-buffer", "mask.png"];
    let (masked, found) = pictures(&place, &test);
    for ((method, found), expected) in METHODS.iter().zip(&found).zip(&expected) {
        let drawn = found.pixels().iter().zip(expected.pixels()).enumerate();
        for (at, (found, expected)) in drawn {
            let is_left = at % 60 < 30;
            assert_alike(method, *found, if is_left { *expected } else { [0.0; 4] }, at);
        }
        let [plain, masked] = [&plain, &masked].map(|view| &variant(view, method)["fragments"]);
        assert!(masked["hidden"].as_u64() > plain["hidden"].as_u64(), "{method}");
        if method.contains("het") {
            let terminated = masked["terminated"].as_u64().unwrap();
            assert!(terminated > 0 && terminated < plain["terminated"].as_u64().unwrap());
        }
    }
    // A test that passes everywhere keeps the pictures.
    let (_, found) = pictures(&place, &["--stencil-test", "always:0"]);
    assert_all_alike(&found, &expected);
}

/// Fragments that pass increment the value, up to the reference: a pixel gets its first three fragments. Without bits
/// to write, it gets all.
#[test]
fn updates_count_the_fragments_of_a_pixel() {
    let place = Place::new();
    let (plain, expected) = pictures(&place, &[]);
    let first = ["--stencil-test", "greater:3", "--stencil-ops", "keep,keep,increment-clamp"];
    let (three, _) = pictures(&place, &first);
    let (kept, found) = pictures(&place, &[&first[..], &["--stencil-write-mask", "0"]].concat());
    assert_all_alike(&found, &expected);
    for method in METHODS {
        let of =
            |view: &Value, key: &str| variant(view, method)["fragments"][key].as_u64().unwrap();
        let pixels = u64::from(SIZE[0] * SIZE[1]);
        assert!(of(&three, "blended") < of(&plain, "blended").min(3 * pixels), "{method}");
        assert!(of(&three, "hidden") > of(&plain, "hidden"), "{method}");
        for key in ["blended", "hidden"] {
            assert_eq!(of(&kept, key), of(&plain, key), "{method}");
        }
    }
}

/// Scenes of suites have the same settings, and the values of the buffer are part of a row's inputs.
#[test]
fn scenes_of_suites_have_the_test() {
    let place = Place::new();
    halves(&place, "mask.png", [3, 2]);
    let suite = "method = [\"het\", \"het+qm\"]
[[scene]]
name = \"masked\"
path = \"scene.ply\"
cameras = \"cameras.json\"
view = \"shot_1\"
stencil_test = \"equal:1:1\"
stencil_buffer = \"mask.png\"
[[scene]]
name = \"wide\"
path = \"scene.ply\"
cameras = \"cameras.json\"
view = \"shot_1\"
splat_scale = 1.5
";
    fs::write(place.path("suite.toml"), suite).unwrap();
    let run = ["bench", "suite.toml", "-q", "-o", "rows.jsonl"];
    let rows = || -> Vec<Value> {
        place.expect(DONE, &run);
        let rows = lines(&place.path("rows.jsonl"));
        rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect()
    };
    let known = rows();
    let flags = ["--stencil-test", "equal:1:1", "--stencil-buffer", "mask.png"];
    let call = ["sim", "scene.ply", "-q", "--json", "--method", "het,het+qm"];
    let document = place.document(&[&call[..], &SHOT, &flags].concat());
    for method in ["het", "het+qm"] {
        let [row, sim] = [&known[0], &document["views"][0]].map(|one| variant(one, method));
        assert_eq!((&row["cycles"], &row["fragments"]), (&sim["cycles"], &sim["fragments"]));
    }
    halves(&place, "mask.png", [2, 3]);
    assert_eq!(rows().len(), 3, "the first scene is drawn again");
    // The size of the splats of a scene counts, although another scene has the same file.
    fs::write(place.path("suite.toml"), suite.replace("1.5", "1.25")).unwrap();
    assert_eq!(rows().len(), 4, "the second scene is drawn again");
    let wrong = suite.replace("equal:1:1", "equal:1:128");
    fs::write(place.path("suite.toml"), wrong).unwrap();
    let words = ["suite.toml: scene \"masked\", stencil_test", "0 to 127"];
    place.expect_error(UNREADABLE, &run, &words);
}

#[test]
fn wrong_tests_are_refused() {
    let place = Place::new();
    halves(&place, "mask.png", [3, 200]);
    let refuse = |code: i32, flags: &[&str], words: &[&str]| {
        // A JSON document has the error too.
        let words_of_call = sim(flags).into_iter().filter(|word| *word != "--json");
        place.expect_error(code, &words_of_call.collect::<Vec<_>>(), words);
    };
    let updates = ["--stencil-test", "equal:1", "--stencil-ops", "keep,keep,zero"];
    let top_bit = "early termination of het takes the top bit";
    for (flags, words) in [
        (&["--stencil-test", "equl:1"][..], &["--stencil-test", "did you mean equal?"][..]),
        (&["--stencil-test", "equal"], &["--stencil-test: expected FUNC:REF", "found equal"]),
        (&["--stencil-test", "equal:1:2:3"], &["--stencil-test: expected FUNC:REF"]),
        (&["--stencil-test", "equal:256", "--method", "baseline"], &["from 0 to 255"]),
        (&["--stencil-test", "equal:128"], &["--stencil-test", "from 0 to 127", top_bit]),
        (&["--stencil-test", "equal:1:0xff"], &["--stencil-test", "from 0 to 127", top_bit]),
        (&["--stencil-ops", "keep,keep,zero"], &["--stencil-ops needs --stencil-test"]),
        (&["--stencil-buffer", "mask.png"], &["--stencil-buffer needs --stencil-test"]),
        (
            &["--stencil-test", "equal:1", "--stencil-write-mask", "1"],
            &["--stencil-write-mask needs --stencil-ops"],
        ),
        (&["--stencil-test", "equal:1", "--stencil-ops", "keep"], &["three updates"]),
        (
            &["--stencil-test", "equal:1", "--stencil-ops", "keep,keep,zeor"],
            &["--stencil-ops", "did you mean zero?"],
        ),
        (
            &[&updates[..], &["--stencil-write-mask", "128"]].concat(),
            &["--stencil-write-mask", "from 0 to 127", top_bit],
        ),
        (&["--stencil-test", "equal:1", "--reference"], &["--stencil-test", "--reference"]),
        (&["--stencil-test", "equal:1", "--relief"], &["--stencil-test", "--relief"]),
    ] {
        let het: &[&str] = if flags.contains(&"--method") { &[] } else { &["--method", "het"] };
        refuse(USAGE, &[het, flags].concat(), words);
    }
    for method in ["compute", "gscore", "multipass:2", "imitated:het"] {
        let flags = ["--stencil-test", "equal:1", "--method", method];
        refuse(USAGE, &flags, &["--stencil-test cannot be used with", method]);
    }
    let with = |name: &'static str, method| {
        ["--stencil-test", "equal:1", "--stencil-buffer", name, "--method", method]
    };
    refuse(UNREADABLE, &with("mask.png", "het"), &["mask.png: pixel 30, 0", "0 to 127", "200"]);
    place.document(&sim(&with("mask.png", "baseline")));
    refuse(UNREADABLE, &with("absent.png", "het"), &["absent.png"]);
    place.picture("colours.png", &SHOT);
    refuse(UNREADABLE, &with("colours.png", "baseline"), &["colours.png: pixel", "grey"]);
    place.picture("small.png", &[&SHOT[..], &["--width", "30"]].concat());
    let words = ["small.png: size: expected 60x40 pixels", "30x20"];
    refuse(UNREADABLE, &with("small.png", "baseline"), &words);
}
