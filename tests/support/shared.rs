//! Trained scenes and reference pictures that lie beside the project where it is developed; a
//! plain clone has none, and the tests that want them say so and pass.

use std::path::PathBuf;

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
