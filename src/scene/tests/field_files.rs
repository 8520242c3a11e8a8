//! Files from the field, rebuilt from public reports: each gives the right value or an error that names the fault.
//! `field_files.txt` and `field_files_2.txt` hold one line per file: `PATH | N splats, N dropped | WARNING`,
//! `PATH | views: NAMES | WARNING`, `PATH | refused: PART OF THE MESSAGE` or `PATH | cameras refused: PART`.
#![allow(clippy::panic, clippy::print_stderr, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use quadrille_base::math::narrow;
use quadrille_base::task::Task;
use quadrille_scene::cameras::{self, Exposures};
use quadrille_scene::table::RawColumns;
use quadrille_scene::{load, load_table};

/// Files of the first trial, and of the second one.
const LISTS: [(&str, &str); 2] = [
    ("cases/splats", include_str!("field_files.txt")),
    ("cases/splats-2", include_str!("field_files_2.txt")),
];

/// Folder of files beside the checkout. If it is absent, prints a note and returns `None`.
fn shared(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if !folder.is_dir() {
        eprintln!("skipped: {} is absent", folder.display());
        return None;
    }
    Some(folder)
}

/// Folder of the files of the first trial.
fn folder() -> Option<PathBuf> {
    shared(LISTS[0].0)
}

/// Describes the result of reading `path` in the form of the list; an error is given verbatim.
fn result(path: &Path, is_camera_file: bool) -> String {
    if is_camera_file {
        return match cameras::load(path) {
            Ok(file) => {
                let names: Vec<&str> = file.cameras.iter().map(|c| c.name.as_str()).collect();
                format!("views: {} | {}", names.join(", "), file.warnings.join("; "))
            }
            Err(error) => format!("cameras refused: {error}"),
        };
    }
    match load(path) {
        Ok(scene) => {
            let (splats, dropped) = (scene.splats.len(), scene.dropped.total());
            let warnings = scene.encoding.warnings.join("; ");
            format!("{splats} splats, {dropped} dropped | {warnings}")
        }
        Err(error) => format!("refused: {error}"),
    }
}

#[test]
fn every_file_gives_its_value_or_names_its_fault() {
    for (folder, list) in LISTS {
        let Some(folder) = shared(folder) else { return };
        let mut wrong = Vec::new();
        for line in list.lines() {
            let (name, expected) = line.split_once(" | ").unwrap();
            let path = folder.join(name);
            assert!(path.exists(), "{name} is missing");
            let is_camera_file =
                ["views:", "cameras refused:"].iter().any(|kind| expected.starts_with(kind));
            let found = result(&path, is_camera_file);
            let refused = expected.split_once("refused: ");
            let (kind, part) = refused.or(expected.split_once(" | ")).unwrap_or((expected, ""));
            let is_right = found.contains("refused: ") == refused.is_some()
                && found.starts_with(kind)
                && found.contains(part);
            if !is_right {
                wrong.push(format!("{name}:\n  expected {expected}\n  found    {found}"));
            }
        }
        assert!(list.lines().count() > 90);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Adds the files below a folder.
fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { add_files(&path, files) } else { files.push(path) }
    }
}

#[test]
fn no_file_is_left_out() {
    /// Files of other tests: exposures and transforms of this one, pictures of `tests/formats`, and of `tests/cli`.
    const OTHERS: [&[&str]; 2] = [
        &[
            "30-compare-formats/",
            "40-dataparser/dataparser_transforms.json",
            "43-exposures-subfolder/",
        ],
        &["08-eval/", "09-glb-drafts/a b", "09-glb-drafts/opacity_1ulp", "10-layouts/out/cfg_args"],
    ];
    for ((folder, list), others) in LISTS.into_iter().zip(OTHERS) {
        let Some(folder) = shared(folder) else { return };
        let listed = list.lines().map(|line| line.split_once(" | ").unwrap().0);
        let listed: Vec<&str> = listed.collect();
        let mut files = Vec::new();
        add_files(&folder, &mut files);
        assert!(files.len() > 100, "{}", files.len());
        for file in files {
            let file = file.strip_prefix(&folder).unwrap();
            let is_listed = listed.iter().any(|name| file.starts_with(name));
            let name = file.to_string_lossy();
            assert!(is_listed || others.iter().any(|other| name.starts_with(other)), "{name}");
        }
    }
}

/// Compares the cameras of nerfstudio in the world of the trained scene with an independent calculation.
#[test]
fn transforms_beside_a_data_parser_are_of_the_trained_scene() {
    let Some(folder) = folder() else { return };
    let eye = cameras::load(folder.join("40-dataparser/transforms.json")).unwrap().cameras[0].eye();
    let expected = [1.4542, -0.6763, -0.0666];
    let close = |axis: usize| (eye[axis] - expected[axis]).abs() < 1e-4;
    assert!((0..3).all(close), "{eye}");
}

/// Each view has the exposure of its own name, also where folders hold files of the same name.
#[test]
fn exposures_of_pictures_in_folders_are_found() {
    let Some(folder) = folder() else { return };
    let load =
        |name: &str| Exposures::load(folder.join("43-exposures-subfolder").join(name)).unwrap();
    let factor = |exposures: &Exposures, view: &str| exposures.of(view).map(|rows| rows[0][0]);
    let rig = cameras::load(folder.join("27-colmap-rig-bin/sparse/0")).unwrap();
    let exposures = load("exposure.json");
    let factors = rig.cameras.iter().map(|camera| factor(&exposures, &camera.name).unwrap());
    assert!(factors.eq([0.3, 0.4, 0.5, 0.6, 0.7, 0.8]));
    let exposures = load("exposure2.json");
    for (view, expected) in [("00001", 0.25), ("00002", 0.5), ("sub_00001", 2.0)] {
        assert_eq!(factor(&exposures, view), Some(expected), "{view}");
    }
}

fn raw(path: &Path) -> RawColumns {
    load_table(path).unwrap().raw(path, &Task::NEVER).unwrap()
}

/// Expects positions, quaternions and coefficients of the first splat by the library @adobe/spz 0.2.3, converted to RDF.
#[test]
fn spz_with_a_vertical_z_is_turned_as_by_its_library() {
    let Some(folder) = folder() else { return };
    for (name, mean, rotation, red) in [
        ("rub", [3.562, -1.273, 0.488], [-0.468, -0.062, -0.803, 0.364], [0.063, 0.125, -0.25]),
        ("lfd", [-3.562, 0.488, -1.273], [-0.287, 0.375, 0.825, -0.311], [-0.125, -0.063, 0.25]),
        ("rbu", [3.562, -0.488, 1.273], [-0.287, 0.375, 0.825, -0.311], [0.125, 0.063, -0.25]),
        ("c12", [3.562, 0.488, 1.273], [-0.375, 0.287, -0.311, 0.825], [-0.125, 0.063, -0.25]),
    ] {
        let raw = raw(&folder.join(format!("35-spz4-axes/{name}.spz")));
        let close = |found: f32, expected: f32| (found - expected).abs() < 2e-3;
        for axis in 0..3 {
            assert!(close(narrow(raw.mean[axis][0]), mean[axis]), "{name}: mean {axis}");
            assert!(close(raw.sh_rest[axis][0], red[axis]), "{name}: coefficient {axis}");
        }
        let q = raw.unit_rotation(0);
        let dot: f64 = q.iter().zip(rotation).map(|(a, b): (&f64, f64)| a * b).sum();
        assert!((dot.abs() - 1.0).abs() < 2e-3, "{name}: {q:?}");
    }
}

#[test]
fn equivalent_files_give_the_same_splats() {
    let Some(folder) = folder() else { return };
    for (one, other, tolerance) in [
        // Tolerance of 8-bit colours: half a step of 1/255, divided by the constant of degree 0.
        ("36-rgb-splat-ply/rgb.ply", "36-rgb-splat-ply/sh.ply", 0.5 / 255.0 / 0.282 + 1e-5),
        ("33-glb/logscale.glb", "33-glb/plain.glb", 1e-5),
        ("32-sog-zip/subfolder.zip", "32-sog-zip/deflate.sog", 0.0),
        ("32-sog-zip/macosx.zip", "32-sog-zip/deflate.sog", 0.0),
    ] {
        let [a, b] = [one, other].map(|name| raw(&folder.join(name)));
        assert_eq!(a.rows(), b.rows(), "{one}");
        let columns = |raw: &RawColumns| {
            let mean = raw.mean.iter().flatten().map(|v| narrow(*v));
            let plain = raw.scale.iter().chain(&raw.rotation);
            let all = plain.chain([&raw.opacity]).chain(&raw.sh_constant).chain(&raw.sh_rest);
            mean.chain(all.flatten().copied()).collect::<Vec<f32>>()
        };
        let differences = columns(&a).into_iter().zip(columns(&b)).map(|(a, b)| (a - b).abs());
        let worst = differences.fold(0.0, f32::max);
        assert!(worst <= tolerance, "{one}: {worst}");
    }
}

/// An SPZ in a glTF has the places and colours of the plain glTF, up to the steps of the packing.
#[test]
fn splats_packed_inside_a_document_are_the_plain_ones() {
    let Some(folder) = shared("cases/splats-2/09-glb-drafts") else { return };
    let [packed, plain] = ["spz_2.glb", "final.glb"].map(|name| raw(&folder.join(name)));
    assert_eq!(packed.rows(), plain.rows());
    for row in 0..plain.rows() {
        let off = (0..3).map(|axis| (packed.mean[axis][row] - plain.mean[axis][row]).abs());
        assert!(off.fold(0.0, f64::max) < 1.3e-4, "row {row}");
        let [a, b]: [[f64; 4]; 2] = [packed.unit_rotation(row), plain.unit_rotation(row)];
        let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        // The plain file and the packed one turn the axes of a splat by half turns of its own.
        assert!((dot.abs() - 1.0).abs() < 1e-2, "row {row}: {a:?} {b:?}");
    }
}

/// Parts of a data set as its trainers choose them.
#[test]
fn views_are_split_as_the_data_sets_state() {
    let Some(folder) = shared("cases/splats-2") else { return };
    for (name, list, expected) in [
        ("10-layouts/blender", "train", "train_r_0, train_r_1, train_r_2"),
        ("10-layouts/blender", "val", "val_r_0, val_r_1"),
        ("10-layouts/blender", "test", "test_r_0, test_r_1, test_r_2, test_r_3"),
        ("10-layouts/blender/transforms_test.json", "test", "r_0, r_1, r_2, r_3"),
        ("10-layouts/blender/transforms_train.json", "test", "which selects none"),
        ("05-cameras/scannetpp.json", "train", "a, c"),
        ("05-cameras/scannetpp.json", "test", "t1"),
        ("05-cameras/scannetpp.json", "b.JPG", "mark as bad"),
        ("05-cameras/splits.json", "train", "1, 2, 3"),
        ("05-cameras/splits.json", "val", "4"),
        ("05-cameras/splits.json", "test:nerfstudio", "5"),
        ("05-cameras/splits.json", "test:inria", "1"),
        ("05-cameras/names.json", "test", "1, 6, 17"),
        ("05-cameras/names.json", "test:nerfstudio", "8, 18"),
        ("07-foreign-cameras/split/sparse", "test", "im01, im09"),
        ("07-foreign-cameras/split", "test:list", "im03, im05"),
        ("07-foreign-cameras/split", "test:nerfstudio", "im01, im09"),
        ("05-cameras/names.json", "val", "no views for validation"),
        ("05-cameras/names.json", "test:list", "it states none"),
    ] {
        let mut file = cameras::load(folder.join(name)).unwrap();
        let found = match file.select(list) {
            Ok(()) => file.cameras.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", "),
            Err(error) => error.to_string(),
        };
        let is_right = if expected.contains(' ') && !expected.contains(',') {
            found.contains(expected)
        } else {
            found == expected
        };
        assert!(is_right, "{name}, {list}: expected {expected}, found {found}");
    }
}

/// A logarithm of minus infinity is a scale of 0: all splats are drawn, and conversion keeps them.
#[test]
fn splats_flattened_by_a_logarithm_of_zero_stay() {
    let Some(folder) = folder() else { return };
    let path = folder.join("08-scale-minus-inf/a.ply");
    let scene = load(&path).unwrap();
    assert_eq!((scene.splats.len(), scene.dropped.total()), (8, 0));
    let table = load_table(&path).unwrap();
    assert_eq!(table.finite_rows(&Task::NEVER).unwrap().len(), 8);
    let raw = table.raw(&path, &Task::NEVER).unwrap();
    assert!(raw.scale.iter().flatten().all(|log| log.is_finite()));
    let flat = raw.scale.iter().flatten().filter(|log| **log < -87.0).count();
    assert!(flat >= 2, "{flat}");
}

/// Mostly negative scales of a `.splat` are logarithms, for splats and for the columns of a conversion alike.
#[test]
fn logarithms_in_a_dot_splat_are_read_as_such() {
    let record = |scales: [f32; 3]| {
        let values = [1.0, 2.0, 3.0].into_iter().chain(scales);
        let mut bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        bytes.extend([200, 100, 50, 255, 255, 128, 128, 128]);
        bytes
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.splat");
    let mut bytes = record([-2.0, -3.0, 0.5]).repeat(9000);
    bytes.extend(record([0.25, 0.5, 0.125]));
    std::fs::write(&path, bytes).unwrap();
    let scene = load(&path).unwrap();
    assert!(scene.encoding.warnings[0].contains("read as logarithms"));
    let expected = [-2.0_f32, -3.0, 0.5].map(f32::exp);
    let scale = scene.splats.splat(0).scale;
    assert!((0..3).all(|k| (scale[k] - expected[k]).abs() < 1e-6), "{scale:?}");
    let raw = raw(&path);
    assert_eq!([0, 1, 2].map(|axis| raw.scale[axis][0]), [-2.0, -3.0, 0.5]);
    // A single negative scale is read by its absolute value.
    std::fs::write(&path, [record([0.25, -0.5, 0.125]), record([1.0; 3])].concat()).unwrap();
    assert!(load(&path).unwrap().encoding.warnings.is_empty());
}
