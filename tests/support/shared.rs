//! Trained scenes and reference pictures that lie beside the project where it is developed; a
//! plain clone has none, and the tests that want them say so and pass.

use std::path::{Path, PathBuf};

use super::skipped;
use quadrille::Camera;
use quadrille::Splats;
use quadrille::load;
use quadrille::load_cameras;

/// The path `relative` in the shared folder, or `None` where it is absent: the test is then listed as
/// skipped.
pub(crate) fn path(relative: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).join(relative);
    if path.exists() {
        return Some(path);
    }
    skipped::note(format!("{relative} is not in the folder `shared` beside this checkout"));
    None
}

/// The files with one of these extensions in a folder and below it, in order.
pub(crate) fn files_below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            files.extend(files_below(&path, extensions));
        } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
            files.push(path);
        }
    }
    files
}

/// The splats of the trained scene `name`.
pub(crate) fn scene(name: &str) -> Option<Splats> {
    let path = path(&format!("scenes/{name}.ply"))?;
    Some(load(&path).unwrap().splats)
}

/// The cameras of the file `relative`.
pub(crate) fn cameras(relative: &str) -> Option<Vec<Camera>> {
    let path = path(relative)?;
    Some(load_cameras(&path).unwrap().cameras)
}
