//! Any bytes are a scene or a typed error, as the format whose extension `QUADRILLE_READER` is; and a PLY header or a
//! typed error, whose body can be walked. `folder` is a SOG or a streamed SOG that is unzipped.
//!
//! Half of the changes are made inside packed files, which are packed again.

#![no_main]

#[allow(dead_code, reason = "shared with tests")]
#[path = "../../support/packing.rs"]
mod packing;

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use packing::Packed;
use quadrille_scene::formats::ply::Header;
use quadrille_scene::{Scene, load, load_named_bytes};

static READER: LazyLock<String> = LazyLock::new(|| {
    std::env::var("QUADRILLE_READER").expect("QUADRILLE_READER, the extension of a format")
});

/// The folder of a process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("quadrille-fuzz-{}", std::process::id());
    std::env::temp_dir().join(name)
});

/// Bytes by which the part of a packed file may grow in one change.
const GROWTH: usize = 64;

/// The first bytes of the files that the reader is called for; others belong to the runs of other formats.
fn marks(reader: &str) -> &'static [&'static [u8]] {
    match reader {
        "ply" | "compressed.ply" => &[b"ply"],
        "spz" => &[b"\x1f\x8b", b"NGSP"],
        "sog" | "ssog" | "folder" => &[b"PK"],
        "glb" => &[b"glTF", b"{"],
        _ => &[b""],
    }
}

fn check(scene: &Scene) {
    for splat in scene.splats.iter() {
        let finite = splat.mean.iter().chain(&splat.scale).chain(splat.sh.as_flattened());
        assert!(finite.copied().all(f32::is_finite), "{splat:?}");
        assert!((0.0..=1.0).contains(&splat.opacity), "{splat:?}");
        let norm2: f32 = splat.rotation.iter().map(|q| q * q).sum();
        assert!((norm2 - 1.0).abs() < 1e-5, "{splat:?}");
    }
}

/// Writes the files of a zip into a folder, and loads that.
fn load_unzipped(bytes: &[u8]) -> Option<Scene> {
    let packed = Packed::open(bytes)?;
    let _ = std::fs::remove_dir_all(&*FOLDER);
    std::fs::create_dir_all(&*FOLDER).expect("temporary folder");
    for (name, bytes) in &packed.parts {
        let is_inside = |part| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(is_inside) {
            continue;
        }
        let path = FOLDER.join(name);
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(path, bytes);
    }
    load(&*FOLDER).ok()
}

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !marks(&READER).iter().any(|mark| bytes.starts_with(mark)) {
        return Corpus::Reject;
    }
    let name = format!("fuzz.{}", *READER);
    let path = Path::new(&name);
    let scene = match READER.as_str() {
        "folder" => load_unzipped(bytes),
        _ => load_named_bytes(bytes, path).ok(),
    };
    if let Some(scene) = scene {
        check(&scene);
    }
    if let Ok(header) = Header::parse(bytes, path) {
        let _ = header.check_body(bytes, path);
    }
    Corpus::Keep
});

/// Changes one part of the file and packs it again, or `None` if the result is too large.
fn changed(mut packed: Packed, most: usize, seed: usize) -> Option<Vec<u8>> {
    let part = seed % packed.parts.len();
    let bytes = &mut packed.parts[part].1;
    let length = bytes.len();
    bytes.resize(length + GROWTH, 0);
    let length = fuzzer_mutate(bytes, length, length + GROWTH);
    bytes.truncate(length);
    let file = (packed.pack)(&packed.parts);
    (file.len() <= most).then_some(file)
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let packed = Packed::open(&data[..size]).filter(|_| seed % 2 == 0);
    let file = packed.and_then(|packed| changed(packed, max_size, seed as usize / 2));
    match file {
        Some(file) => {
            data[..file.len()].copy_from_slice(&file);
            file.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});
