//! Reading of scenes, with warnings about splats that do not show.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use super::console::Verbosity;
use crate::error::{Error, Result};
use crate::scene::{Camera, Scene, Visibility, load};

/// Extensions of meshes that scenes do not have.
const MESHES: [&str; 4] = ["obj", "gltf", "glb", "bpt"];

/// Reads a scene, and warns about rows without a splat.
pub(super) fn load_scene(path: &Path, verbosity: Verbosity) -> Result<Scene> {
    let is_mesh = |e: &OsStr| MESHES.iter().any(|m| e.eq_ignore_ascii_case(m));
    if path.extension().is_some_and(is_mesh) {
        let found = "a mesh, which `quadrille mesh` draws";
        return Err(Error::malformed(path, "format", "a scene of splats", found));
    }
    let start = Instant::now();
    let scene = load(path)?;
    let file = path.display();
    verbosity.remark(&format!(
        "{file}: {}, {} splats of degree {}, read in {:.0} ms",
        scene.format.name(),
        scene.splats.len(),
        scene.splats.sh_degree(),
        start.elapsed().as_secs_f64() * 1e3
    ));
    if scene.dropped.total() > 0 {
        verbosity.warn(&format!(
            "{file}: {} rows without a valid splat were dropped; `quadrille info` shows the reasons",
            scene.dropped.total()
        ));
    }
    if scene.splats.is_empty() {
        verbosity.warn(&format!("{file}: the scene contains no splats"));
    }
    Ok(scene)
}

/// Warns about a camera with almost nothing of the scene in view.
pub(super) fn warn_if_unseen(scene: &Scene, camera: &Camera, near: f64, verbosity: Verbosity) {
    let visibility = Visibility::of(&scene.splats, camera, near);
    if let Some(warning) = visibility.warning(&camera.name) {
        verbosity.warn(&warning);
    }
}
