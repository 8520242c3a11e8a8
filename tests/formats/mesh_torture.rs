//! Hostile and odd mesh files: each is a mesh or a typed error, in bounded time and memory.
//!
//! The files are not part of the project; without them the tests say so and pass.
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::shared;
use quadrille::Error;
use quadrille::geometry::files::load;

/// Longest time for one file: catches a reader that hangs. A file takes milliseconds; a tighter limit
/// would fail on a machine that is busy.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Most address space for a process that reads the files, one after the other, in KiB: 256 MiB.
const MEMORY_LIMIT_KIB: u64 = 256 << 10;

/// Set in the process that runs under the limit of memory.
const LIMITED: &str = "QUADRILLE_MESH_TORTURE_LIMITED";

/// Files that their collection takes to be well-formed and that are refused here, and why.
const REFUSED: [(&str, &str); 10] = [
    (
        "gltf/validator/json/integer_written_as_float.gltf",
        "writers should not, and an index with a fraction is more often a mistake",
    ),
    ("gltf/validator/root/named_objects.gltf", NO_BUFFER),
    ("gltf/validator/root/unused_objects.gltf", NO_BUFFER),
    (
        "obj/tinyobjloader/issue-356-leading-spaces-newmtl.obj",
        "names a library of materials and nothing else",
    ),
    ("ply/ply-rs/all_atomic_types_ok_ascii.ply", NO_VERTICES),
    ("ply/ply-rs/exponent_values_ok_ascii.ply", NO_VERTICES),
    ("ply/ply-rs/header_min_ok_ascii.ply", NO_VERTICES),
    ("ply/ply-rs/leading_spaces_ok_ascii.ply", NO_VERTICES),
    ("ply/ply-rs/single_elements_ok_ascii.ply", NO_VERTICES),
    ("ply/trimesh/ply_empty_header.ply", NO_VERTICES),
];

const NO_BUFFER: &str = "draws from a buffer whose content the file leaves to the application";
const NO_VERTICES: &str = "a PLY without an element \"vertex\" is no mesh";

/// Files that their collection takes to be malformed and that are read here, and why.
const READ: [(&str, &str); 3] = [
    (
        "gltf/handmade/odd_required_extension.gltf",
        "requires an extension that is read, and has plain data",
    ),
    ("obj/handmade/bad_vn_out_of_range.obj", "is drawn without the normals that it lacks"),
    ("obj/handmade/bad_vt_out_of_range.obj", "is drawn without the coordinates that it lacks"),
];

fn torture() -> Option<PathBuf> {
    shared::path("torture")
}

/// Every mesh file of a collection with what its manifest expects.
fn files(folder: &Path, collection: &str) -> Vec<(PathBuf, String)> {
    let folder = folder.join(collection);
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let is_mesh = |name: &str| {
        let extension = Path::new(name).extension().and_then(|e| e.to_str());
        let extension = extension.unwrap_or("").to_ascii_lowercase();
        ["obj", "ply", "gltf", "glb"].contains(&extension.as_str())
    };
    let entry = |(name, entry): (&String, &serde_json::Value)| {
        let expect = entry["expect"].as_str().unwrap_or("").to_owned();
        is_mesh(name).then(|| (folder.join(name), expect))
    };
    let files: Vec<_> = manifest.as_object().unwrap().iter().filter_map(entry).collect();
    assert!(files.len() > 90, "{} files in {collection}", files.len());
    files
}

/// Loads a file, in time.
fn load_in_time(path: &Path) -> Result<(), Error> {
    let start = Instant::now();
    let result = load(path, &quadrille::Task::NEVER);
    let took = start.elapsed();
    assert!(took < TIME_LIMIT, "{}: {took:?}", path.display());
    result.map(|_| ())
}

/// Loads all files of a collection and compares the results with the expected ones.
fn judge(collection: &str) {
    let Some(folder) = torture() else { return };
    let mut wrong = String::new();
    for (path, expect) in files(&folder, collection) {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        let result = load_in_time(&path);
        let must_read = expect == "parse" || expect.starts_with("parse,");
        let must_refuse = expect == "reject" || expect.starts_with("reject quickly");
        let listed = |list: &[(&str, &str)]| list.iter().any(|(listed, _)| *listed == name);
        match result {
            Ok(()) if must_refuse && !listed(&READ) => writeln!(wrong, "{name} is read").unwrap(),
            Err(error) if must_read && !listed(&REFUSED) => {
                writeln!(wrong, "{name} is refused: {error}").unwrap();
            }
            Ok(()) => assert!(!listed(&REFUSED), "{name} needs no exception any more"),
            Err(_) => assert!(!listed(&READ), "{name} needs no exception any more"),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn obj_files() {
    judge("obj");
}

#[test]
fn ply_files() {
    judge("ply");
}

#[test]
fn gltf_files() {
    judge("gltf");
}

/// The reference validator's cases: those that it finds no error in are read.
#[test]
fn gltf_files_without_errors_are_read() {
    let Some(folder) = torture() else { return };
    let (mut sound, mut refused) = (0, String::new());
    for (path, _) in files(&folder, "gltf") {
        let report = PathBuf::from(format!("{}.report.json", path.display()));
        let Ok(text) = std::fs::read_to_string(report) else {
            continue;
        };
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let listed = REFUSED.iter().any(|(listed, _)| path.ends_with(listed));
        if report["issues"]["numErrors"] == 0 && !listed {
            sound += 1;
            if let Err(error) = load_in_time(&path) {
                writeln!(refused, "{error}").unwrap();
            }
        }
    }
    assert!(sound > 40, "{sound} files");
    assert!(refused.is_empty(), "{refused}");
}

/// All files again in a process under the system's limit of memory: a reader that reserves what a
/// header claims is refused and aborts.
#[cfg(target_os = "linux")]
#[test]
fn readers_stay_inside_256_mib() {
    let Some(folder) = torture() else { return };
    if std::env::var_os(LIMITED).is_some() {
        for collection in ["obj", "ply", "gltf"] {
            for (path, _) in files(&folder, collection) {
                println!("{}", path.display());
                let _ = load_in_time(&path);
            }
        }
        return;
    }
    let limited = format!("ulimit -v {MEMORY_LIMIT_KIB} && exec \"$0\" \"$@\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &limited])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "mesh_torture::readers_stay_inside_256_mib",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(LIMITED, "1")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let (out, err) = (&output.stdout, &output.stderr);
    let files = out.iter().filter(|byte| **byte == b'\n').count();
    assert!(files > 400, "the other process read {files} files");
    let tail = &out[out.len().saturating_sub(300)..];
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(tail),
        String::from_utf8_lossy(err)
    );
}

/// Every file drawn by the program, as it is and as a control cage, each in its own process under the
/// limits: a picture, or an error that names the file.
#[cfg(target_os = "linux")]
#[test]
fn the_command_draws_or_refuses_every_file() {
    let Some(folder) = torture() else { return };
    let limited = format!("ulimit -v {MEMORY_LIMIT_KIB} && exec \"$0\" \"$@\"");
    let (mut drawn, mut refused) = (0, 0);
    for collection in ["obj", "gltf"] {
        for (path, _) in files(&folder, collection) {
            for extra in [&[][..], &["--tessellate", "20"]] {
                let start = Instant::now();
                let output = std::process::Command::new("sh")
                    .args(["-c", &limited, env!("CARGO_BIN_EXE_quadrille"), "mesh"])
                    .arg(&path)
                    .args(["-q", "--threads", "2", "--width", "160", "--height", "100"])
                    .args(["--msaa", "4", "--method", "qfm,pmu"])
                    .args(extra)
                    .output()
                    .unwrap();
                let (took, name) = (start.elapsed(), path.display());
                let err = String::from_utf8_lossy(&output.stderr);
                assert!(took < TIME_LIMIT, "{name} {extra:?}: {took:?}");
                match output.status.code() {
                    Some(0) => drawn += 1,
                    Some(3) => {
                        assert!(err.contains(path.file_name().unwrap().to_str().unwrap()));
                        refused += 1;
                    }
                    // A mesh that is not a control cage: the flag that asks for one is wrong.
                    Some(2) if !extra.is_empty() => refused += 1,
                    code => panic!("{name} {extra:?}: {code:?} {err}"),
                }
            }
        }
    }
    println!("{drawn} drawn, {refused} refused");
    assert!(drawn > 200 && refused > 200, "{drawn} drawn, {refused} refused");
}
