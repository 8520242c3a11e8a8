//! Any bytes are cameras or a typed error, as every camera file that is read; and exposures.
//!
//! A line of three dashes separates the two files of a COLMAP model.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use quadrille_scene::MAX_SIDE_PX;
use quadrille_scene::cameras::{Exposures, load};

/// The files of a process, in a folder for each of the ways in which they are found.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("quadrille-fuzz-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    for kind in ["json", "bin", "txt"] {
        std::fs::create_dir_all(folder.join(kind)).expect("temporary folder");
    }
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let mark = b"\n---\n";
    let cut = bytes.windows(mark.len()).position(|window| window == mark);
    let files = cut.map(|at| [&bytes[..at], &bytes[at + mark.len()..]]);
    let path = match files {
        None => {
            let path = FOLDER.join("json").join("cameras.json");
            std::fs::write(&path, bytes).expect("temporary file");
            let _ = Exposures::load(&path);
            path
        }
        Some(files) => {
            let kind = if files[0].contains(&0) { "bin" } else { "txt" };
            let folder = FOLDER.join(kind);
            for (name, bytes) in ["cameras", "images"].into_iter().zip(files) {
                let path = folder.join(name).with_extension(kind);
                std::fs::write(path, bytes).expect("temporary file");
            }
            folder
        }
    };
    let Ok(file) = load(path) else {
        return;
    };
    for camera in &file.cameras {
        let sides = [camera.width, camera.height];
        assert!(
            sides.iter().all(|side| (1..=MAX_SIDE_PX).contains(side)),
            "{camera:?}"
        );
        let is_length = |v: &f64| v.is_finite() && *v > 0.0;
        assert!(camera.focal_px.iter().all(is_length), "{camera:?}");
        let place = camera
            .principal_px
            .iter()
            .chain(&camera.translation_in_view);
        assert!(place.copied().all(f64::is_finite), "{camera:?}");
        // Rotations of files are rounded.
        let is_rotation = camera.view_from_world.is_special_orthogonal(2e-3);
        assert!(is_rotation, "{camera:?}");
    }
});
