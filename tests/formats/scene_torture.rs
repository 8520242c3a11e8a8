//! Hostile and odd PLY files: each is a scene or a typed error, in bounded memory.
//!
//! The files are not part of the project; without them the tests say so and pass.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::shared;
use quadrille::Error;
use quadrille::load;
use quadrille_scene::formats::ply::Header;

/// Time limit per file, which only detects hangs.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Limit of the address space per file, in KiB: 256 MiB. The system enforces it, so a reader that
/// allocates memory by the counts in a header aborts.
const MEMORY_LIMIT_KIB: u64 = 256 << 10;

/// The folder, or `None` where it is absent.
fn torture() -> Option<PathBuf> {
    shared::path("torture/ply")
}

/// The PLY files of the manifest, with their expected results as meshes.
fn manifest(folder: &Path) -> Vec<(PathBuf, String)> {
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = |(name, entry): (&String, &serde_json::Value)| {
        let expect = entry["expect"].as_str()?.to_owned();
        Some((folder.join(name), expect))
    };
    let files: Vec<_> = manifest.as_object().unwrap().iter().filter_map(entry).collect();
    assert!(files.len() > 100, "{} files", files.len());
    files
}

/// Parses the header and checks the body.
fn as_mesh(path: &Path) -> Result<(), Error> {
    let bytes = std::fs::read(path).unwrap();
    Header::parse(&bytes, path)?.check_body(&bytes, path)
}

#[test]
fn well_formed_files_parse_as_mesh_headers() {
    let Some(folder) = torture() else { return };
    for (path, expect) in manifest(&folder) {
        let start = Instant::now();
        let result = as_mesh(&path);
        let took = start.elapsed();
        assert!(took < TIME_LIMIT, "{}: {took:?}", path.display());
        if expect == "parse" || expect.starts_with("parse;") || expect.starts_with("parse,") {
            assert!(result.is_ok(), "{result:?}");
        }
        if let Err(error) = result {
            assert!(matches!(error, Error::Malformed { .. }), "{error}");
        }
    }
}

/// Errors in headers and sizes; the mesh reader checks the values of faces.
#[test]
fn malformed_headers_and_sizes_are_rejected() {
    let Some(folder) = torture() else { return };
    let by_value = ["bad_index", "bad_ascii", "bad_uchar", "bad_missing_z"];
    for (path, expect) in manifest(&folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let must = expect == "reject" || expect.starts_with("reject quickly");
        if must
            && !by_value.iter().any(|stem| name.starts_with(stem))
            && !name.contains("empty_lists")
        {
            assert!(as_mesh(&path).is_err(), "{name} was accepted");
        }
    }
}

#[test]
fn every_file_is_a_scene_or_a_typed_error() {
    let Some(folder) = torture() else { return };
    for (path, _) in manifest(&folder) {
        let start = Instant::now();
        let result = load(&path);
        let took = start.elapsed();
        assert!(took < TIME_LIMIT, "{}: {took:?}", path.display());
        if let Err(error) = result {
            assert!(matches!(error, Error::Malformed { .. }), "{error}");
        }
    }
}

/// The program itself under the limit of the address space.
#[cfg(target_os = "linux")]
#[test]
fn the_program_stays_inside_256_mib() {
    let Some(folder) = torture() else { return };
    for (path, _) in manifest(&folder) {
        let start = Instant::now();
        let limited = format!("ulimit -v {MEMORY_LIMIT_KIB} && exec \"$0\" \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_quadrille"), "info", "--json"])
            .arg(&path)
            .env("RAYON_NUM_THREADS", "2")
            .output()
            .unwrap();
        let took = start.elapsed();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 3)), "{}: {code:?} {stderr}", path.display());
        // A failure is a document too.
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(code == Some(0), document["error"].is_null(), "{stderr}");
        assert!(took < TIME_LIMIT, "{}: {took:?}", path.display());
    }
}
