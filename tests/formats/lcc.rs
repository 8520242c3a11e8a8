//! LCC and LCC2: files that `lcc/make.py` wrote, with the splats in them, and altered ones.

use std::fs;
use std::path::{Path, PathBuf};

use quadrille::{
    Error, LoadOptions, OutputFormat, Scene, SceneInput, SplatAxes, SplatTable, load, load_table,
    write_table,
};
use quadrille_scene::formats::source_files;
use serde_json::{Value, json};

use crate::conversion::synthetic;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/lcc").join(name)
}

/// Names and bytes of the files of a fixture's folder.
pub(crate) fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut open) = (Vec::new(), vec![fixture(name)]);
    while let Some(folder) = open.pop() {
        for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if file.is_dir() {
                open.push(file);
                continue;
            }
            let parts = file.strip_prefix(fixture(name)).unwrap().iter();
            let parts: Vec<_> = parts.map(|part| part.to_str().unwrap()).collect();
            files.push((parts.join("/"), fs::read(&file).unwrap()));
        }
    }
    files.sort();
    files
}

/// A copy of a fixture's folder.
fn copied(name: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, bytes) in files(name) {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    place
}

fn read(path: &Path, axes: Option<SplatAxes>, lod: u32) -> quadrille::Result<Scene> {
    load(SceneInput::file(path).options(LoadOptions::new(axes, lod)))
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(flat).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

fn near(found: impl IntoIterator<Item = f32>, expected: &Value, what: &str) {
    let (found, expected) = (Vec::from_iter(found.into_iter().map(f64::from)), flat(expected));
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{what}: {found:?} {expected:?}");
    }
}

#[test]
fn files_hold_the_splats_of_their_script() {
    let all: Value = serde_json::from_slice(&fs::read(fixture("splats.json")).unwrap()).unwrap();
    for (name, levels) in all.as_object().unwrap() {
        for (lod, expected) in (0..).zip(levels.as_array().unwrap()) {
            let place = format!("{name}, level {lod}");
            let scene = read(&fixture(name), Some(SplatAxes::RDF), lod).unwrap();
            let expected = expected.as_array().unwrap();
            assert_eq!((scene.splats.len(), scene.dropped.total()), (expected.len(), 0), "{place}");
            assert_eq!(scene.splats.sh_degree(), if name == "quality" { 3 } else { 0 }, "{place}");
            assert_eq!(scene.encoding.lod_levels as usize, levels.as_array().unwrap().len());
            for (splat, expected) in scene.splats.iter().zip(expected) {
                near(splat.mean, &expected["mean"], &place);
                near(splat.scale, &expected["scale"], &place);
                near([splat.opacity], &json!([expected["opacity"]]), &place);
                near(splat.sh[0], &expected["colour"], &place);
                let alike = splat.rotation.iter().zip(flat(&expected["rotation"]));
                let dot: f64 = alike.map(|(a, b)| f64::from(*a) * b).sum();
                assert!(dot.abs() > 1.0 - 1e-6, "{place}: {dot}");
                if name == "quality" {
                    for channel in 0..3 {
                        let found = splat.sh[1..16].iter().map(|c| c[channel]);
                        near(found, &expected["rest"][channel], &place);
                    }
                }
            }
        }
    }
}

/// Without `--axes`, z points up: a turn of the splats and of their harmonics.
#[test]
fn z_points_up() {
    for name in ["quality", "tree"] {
        let stored = read(&fixture(name), Some(SplatAxes::RDF), 0).unwrap();
        let turned = read(&fixture(name), None, 0).unwrap();
        assert_eq!(turned.encoding.axes.to_string(), "RFU");
        for (a, b) in stored.splats.iter().zip(turned.splats.iter()) {
            let [x, y, z] = a.mean;
            assert_eq!(b.mean, [x, -z, y], "{name}");
        }
        let as_table = |axes| {
            load_table(SceneInput::file(&fixture(name)).options(LoadOptions::new(axes, 0))).unwrap()
        };
        let mut expected = raw(&as_table(Some(SplatAxes::RDF)));
        expected.flip_axes(SplatAxes::RFU, &quadrille::Task::NEVER).unwrap();
        let found = raw(&as_table(None));
        let [found, expected] = [found, expected].map(|raw| raw.sh_rest.concat());
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{name}");
    }
}

fn raw(table: &SplatTable) -> quadrille_scene::table::RawColumns {
    table.raw(Path::new("table"), &quadrille::Task::NEVER).unwrap()
}

#[test]
fn folders_descriptions_and_their_files_are_found() {
    for name in ["quality", "portable", "tree"] {
        let file = fixture(name).join(if name == "tree" { "scene.lcc2" } else { "scene.lcc" });
        let (folder, file) = (load(fixture(name)).unwrap(), (load(&file).unwrap(), file));
        assert_eq!(folder.splats, file.0.splats, "{name}");
        let files = source_files(fixture(name)).unwrap();
        let expected = fs::read_dir(fixture(name)).unwrap().count();
        assert_eq!(files.len(), if name == "tree" { 5 } else { expected }, "{name}: {files:?}");
        // A description alone is recognised by its content, and needs its folder.
        let error = load(SceneInput::bytes(&fs::read(&file.1).unwrap())).unwrap_err();
        assert!(error.to_string().contains("in the folder of the description"), "{error}");
        let error = read(&fixture(name), None, 9).unwrap_err().to_string();
        assert!(error.contains("level of detail: expected a level below"), "{error}");
    }
}

/// SOG files in a tree with the names of the first version of the format, with lists of children.
#[test]
fn trees_of_sog_have_its_splats() {
    let place = tempfile::tempdir().unwrap();
    let table = load_table(synthetic(place.path(), 300)).unwrap();
    let file = place.path().join("part.sog");
    write_table(&file, &table, OutputFormat::of_name(&file).unwrap()).unwrap();
    let splats = load(&file).unwrap().splats;
    let description = json!({
        "total_splats": 300, "lod_3dgs_info": [300], "lod_level": 1,
        "root": {
            "files": ["/part"], "child_num": 2,
            "child": [
                { "data": { "3dgs": { "name": 0, "start": 100, "count": 200 } } },
                { "data": { "3dgs": { "name": 0, "start": 0, "count": 50 } } },
            ],
        },
    });
    fs::write(place.path().join("old.lcc2"), description.to_string()).unwrap();
    let scene = read(place.path(), Some(SplatAxes::RDF), 0).unwrap();
    let expected = splats.iter().skip(100).take(200).chain(splats.iter().take(50));
    assert!(scene.splats.iter().eq(expected));
    assert!(scene.encoding.compression.contains("SOG"), "{}", scene.encoding.compression);
    assert_eq!(source_files(place.path()).unwrap().len(), 2);
}

/// The error of loading the folder, as text.
fn error(place: &Path) -> String {
    let error = load(place).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. } | Error::Limit { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn grids_that_do_not_fit_are_errors() {
    let place = copied("quality");
    let at = |name: &str| place.path().join(name);
    for name in ["index.bin", "data.bin", "shcoef.bin", "environment.bin"] {
        let whole = fs::read(at(name)).unwrap();
        for length in 0..whole.len() {
            fs::write(at(name), &whole[..length]).unwrap();
            let is_whole_part = match name {
                // Whole cells, and whole splats of the environment.
                "index.bin" => length.is_multiple_of(36),
                "environment.bin" => length.is_multiple_of(96),
                _ => false,
            };
            // Of `data.bin` and `shcoef.bin`, this level does not need the last records, which are of the other one.
            let is_needed = length < whole.len() * 11 / 15;
            match load(place.path()) {
                Ok(_) => assert!(is_whole_part || !is_needed, "{name}, {length} bytes"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(!is_whole_part && text.contains(".bin"), "{name}, {length}: {text}");
                }
            }
        }
        fs::write(at(name), &whole).unwrap();
    }
    let index = fs::read(at("index.bin")).unwrap();
    for number in (4..index.len()).step_by(4) {
        let mut altered = index.clone();
        altered[number..number + 4].fill(0xff);
        fs::write(at("index.bin"), altered).unwrap();
        if let Err(error) = load(place.path()) {
            assert!(error.to_string().contains("index.bin, cell"), "{error}");
        }
    }
    // Two cells with the same records.
    fs::write(at("index.bin"), [&index[..36], &index[..36], &index[..36], &index[..36]].concat())
        .unwrap();
    assert!(error(place.path()).contains("at most 15 splats"), "{}", error(place.path()));
    fs::write(at("index.bin"), index).unwrap();
    fs::remove_file(at("shcoef.bin")).unwrap();
    assert!(error(place.path()).contains("shcoef.bin beside it"));

    let text = fs::read_to_string(at("scene.lcc")).unwrap();
    for (from, to, words) in [
        ("\"totalLevel\": 2", "\"totalLevel\": 0", "totalLevel: expected 1 to 64, found 0"),
        ("\"totalLevel\": 2", "\"totalLevel\": 4294967295", "1 to 64, found 4294967295"),
        ("\"totalLevel\": 2", "\"totalLevel\": -1", "a description of an LCC"),
        ("COMPRESS", "RAW", "encoding: expected COMPRESS, found RAW"),
        ("Quality", "Better", "fileType: expected Portable or Quality, found Better"),
        ("\"scale\"", "\"size\"", "min and max of \"scale\""),
        ("\"shcoef\"", "\"sh\"", "min and max of \"shcoef\""),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(at("scene.lcc"), text.replacen(from, to, 1)).unwrap();
        assert!(error(place.path()).contains(words), "{to}: {}", error(place.path()));
    }
    // A number of splats that differs is a warning.
    let portable = copied("portable");
    let file = portable.path().join("scene.lcc");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("  9,\n"), "{text}");
    fs::write(&file, text.replacen("  9,\n", "  8,\n", 1)).unwrap();
    let warnings = load(portable.path()).unwrap().encoding.warnings;
    assert!(warnings[0].contains("states 8 splats"), "{warnings:?}");
}

#[test]
fn trees_that_do_not_fit_are_errors() {
    let place = copied("tree");
    let file = place.path().join("scene.lcc2");
    let text = fs::read_to_string(&file).unwrap().replace(",\n}\n", "\n}\n");
    let whole: Value = serde_json::from_str(&text).unwrap();
    let first = "/root/child/0/child/0/child/0/data/3dgs";
    for (pointer, value, words) in [
        ("/totalLevels".to_owned(), json!(0), "a number of levels from 1, found 0"),
        ("/totalLevels".to_owned(), json!("3"), "a number of levels from 1"),
        ("/splatType".to_owned(), json!(".ply"), "\".sog\" or \".spz\", found .ply"),
        ("/splatType".to_owned(), json!(".sog"), "fine.spz"),
        (format!("{first}/name"), json!(4), "a file number below 4, found 4"),
        (format!("{first}/name"), json!(-1), "a whole number, found -1"),
        (format!("{first}/name"), Value::Null, "a file number below 4, found null"),
        (format!("{first}/count"), json!(8), "each of the 7 rows of data/3dgs/fine.spz"),
        (format!("{first}/count"), json!(4), "at most once, found 4 rows from row 3"),
        (format!("{first}/start"), json!(u64::MAX), "at most once"),
        ("/root/splatFiles/0".to_owned(), json!("../fine.spz"), "the folder of the description"),
        ("/root/splatFiles/0".to_owned(), json!("/etc/passwd"), "the folder of the description"),
        ("/root/splatFiles/0".to_owned(), json!(""), "the folder of the description"),
        ("/root/splatFiles".to_owned(), json!([]), "a file number below 0"),
        ("/root".to_owned(), json!({"splatFiles": []}), "splats at this level of detail"),
    ] {
        let mut altered = whole.clone();
        *altered.pointer_mut(&pointer).unwrap() = value;
        fs::write(&file, altered.to_string()).unwrap();
        assert!(error(place.path()).contains(words), "{pointer}: {}", error(place.path()));
    }
    let deep = format!(
        "{{\"totalLevels\": 3, \"root\": {{\"splatFiles\": [], \"child\": {}{}}}}}",
        "[{\"child\": ".repeat(4000),
        "}]".repeat(4000)
    );
    for broken in ["{\"splatFiles\": ,}", &text[..text.len() / 2], &deep] {
        fs::write(&file, broken).unwrap();
        let error = error(place.path());
        assert!(error.contains("a description of an LCC2"), "{error}");
    }
    fs::write(&file, text).unwrap();
    let part = place.path().join("data/3dgs/fine.spz");
    let bytes = fs::read(&part).unwrap();
    fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();
    assert!(error(place.path()).contains("fine.spz"));
    fs::remove_file(&part).unwrap();
    let error = load(place.path()).unwrap_err();
    assert!(matches!(error, Error::Read { .. }), "{error:?}");
}
