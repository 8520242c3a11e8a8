//! Truncated files of packed formats: each is an error, soon and in bounded memory.

use std::path::{Path, PathBuf};

use quadrille::{OutputFormat, Recipe, SceneInput, Synthetic, load, load_table, write_table};

use crate::support::shared;

/// Files in all formats that are written, of a scene of 40 splats of degree 1.
pub(crate) fn small_files() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let scene = Synthetic::new(Recipe::Object, 1, 40, 1).unwrap();
    let file = std::fs::File::create(path("small.ply")).unwrap();
    let mut writer = quadrille::PlyWriter::new(file, 40, 1, &[]).unwrap();
    for splat in scene.splats().iter() {
        writer.push(&splat).unwrap();
    }
    writer.finish().unwrap();
    let table = load_table(path("small.ply")).unwrap();
    let mut files = Vec::new();
    for format in OutputFormat::all().filter(|format| !format.is_folder()) {
        let name = format!("{}.{}", format.name(), format.extension().trim_start_matches('.'));
        write_table(&path(&name), &table, format).unwrap();
        files.push((name.clone(), std::fs::read(path(&name)).unwrap()));
    }
    files
}

/// Loads bytes, and checks that a scene holds valid splats.
pub(crate) fn try_load(bytes: &[u8], name: &str) -> bool {
    let Ok(scene) = load(SceneInput::bytes(bytes).named(Path::new(name))) else {
        return false;
    };
    for splat in scene.splats.iter() {
        let mut numbers = splat.mean.iter().chain(&splat.scale).chain(splat.sh.as_flattened());
        assert!(numbers.all(|v| v.is_finite()), "{name}: {splat:?}");
        assert!((0.0..=1.0).contains(&splat.opacity), "{name}: {splat:?}");
        let norm: f32 = splat.rotation.iter().map(|q| q * q).sum();
        assert!((norm - 1.0).abs() < 1e-5, "{name}: {splat:?}");
    }
    true
}

#[test]
fn every_truncation_is_an_error() {
    for (name, bytes) in small_files() {
        assert!(try_load(&bytes, &name), "{name}");
        for length in 0..bytes.len() {
            // A .splat has no header, so any number of whole records is one. A text needs no end of line.
            let is_whole = name.ends_with(".splat") && length % 32 == 0
                || name.ends_with(".usda") && length == bytes.len() - 1;
            let loaded = try_load(&bytes[..length], &name);
            assert_eq!(loaded, is_whole, "{name}: {length} of {} bytes", bytes.len());
        }
    }
}

/// Samples of other programs, cut at many lengths.
#[test]
fn truncated_samples_are_errors() {
    let Some(folder) = shared::path("scenes/formats") else {
        return;
    };
    let names = ["minimal-v2.spz", "minimal-v3.spz", "minimal-v4.spz", "minimal.ksplat"];
    let large =
        ["guitar.compressed.ply", "biker.spz", "statue.sog", "flowers.glb", "flowers.v3.spz"];
    for name in names.iter().chain(&large) {
        let path: PathBuf = folder.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let step = (bytes.len() / 40).max(1);
        let step = if bytes.len() < 10_000 { 7 } else { step };
        for length in (0..bytes.len()).step_by(step).chain(bytes.len() - 3..bytes.len()) {
            let loaded = load(SceneInput::bytes(&bytes[..length]).named(&path));
            assert!(loaded.is_err(), "{name}: {length} of {} bytes", bytes.len());
        }
    }
}

/// The program on samples that are cut short: an error within a second of processor time and 256 MiB.
#[cfg(target_os = "linux")]
#[test]
fn the_program_refuses_truncated_samples_in_little_memory() {
    const MEMORY_LIMIT_KIB: u32 = 256 << 10;
    const TIME_LIMIT_S: u32 = 1;
    let Some(samples) = shared::path("scenes/formats") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let entries = std::fs::read_dir(samples).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file() && path.extension().is_some_and(|e| e != "txt"));
    assert!(files.len() >= 12);
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let cut = folder.path().join(path.file_name().unwrap());
        for length in [bytes.len() / 3, bytes.len() * 9 / 10, bytes.len() - 1] {
            // A .splat of whole records is a scene.
            let length = length - usize::from(length % 32 == 0);
            std::fs::write(&cut, &bytes[..length]).unwrap();
            let limits = format!("ulimit -v {MEMORY_LIMIT_KIB} && ulimit -t {TIME_LIMIT_S}");
            let limited = format!("{limits} && exec \"$0\" \"$@\"");
            let output = std::process::Command::new("sh")
                .args(["-c", &limited, env!("CARGO_BIN_EXE_quadrille"), "info"])
                .arg(&cut)
                .env("RAYON_NUM_THREADS", "2")
                .output()
                .unwrap();
            let name = path.display();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{name}, {length}: {errors}");
        }
    }
}

/// Counts in headers that no file of that size can have are refused before memory is allocated.
#[test]
fn counts_are_checked_against_the_size_of_the_file() {
    for (name, bytes) in small_files() {
        let count = 40u32.to_le_bytes();
        for at in 0..bytes.len().min(600).saturating_sub(4) {
            if bytes[at..at + 4] == count && !name.contains("spz3") {
                let mut changed = bytes.clone();
                changed[at..at + 4].copy_from_slice(&0xf000_0000u32.to_le_bytes());
                assert!(!try_load(&changed, &name), "{name} at {at}");
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for (from, to) in [
            ("element vertex 40", "element vertex 4000000000"),
            ("\"count\":40", "\"count\":4000000000"),
        ] {
            // Only files with a text header: others hold bytes that are not text.
            if let (Some(at), true) = (text.find(from), name.ends_with(".ply")) {
                let mut changed = bytes[..at].to_vec();
                changed.extend(to.as_bytes());
                changed.extend(&bytes[at + from.len()..]);
                assert!(!try_load(&changed, &name), "{name}");
            }
        }
    }
}
