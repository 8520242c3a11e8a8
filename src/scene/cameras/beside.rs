//! Search for camera files at the usual paths of trainers and of this program.

use std::path::{Path, PathBuf};

use super::transforms::PART_FILES;
use crate::formats::scene_file;

const NAMES: [&str; 2] = ["cameras.json", "transforms.json"];

/// File of a data set whose parts are files of their own; its folder is found.
const FIRST_PART: &str = PART_FILES[0].0;

/// Finds the camera file of the scene at `scene`: `NAME.cameras.json` beside `NAME.ply`, a `cameras.json` or
/// `transforms.json` in its folder, that folder if it holds a `transforms_train.json`, or the `cameras.json` of the model to which `point_cloud/iteration_N/point_cloud.ply`
/// belongs. For a folder, the search starts at the scene file in it, then at the folder itself. A pipe (`-`) has none.
pub fn find(scene: &Path) -> Option<PathBuf> {
    if scene == Path::new("-") {
        return None;
    }
    let inside = scene_file(scene).ok().filter(|file| file != scene);
    inside.and_then(|file| find_beside(&file)).or_else(|| find_beside(scene))
}

fn find_beside(scene: &Path) -> Option<PathBuf> {
    let folder = scene.parent()?;
    let name = scene.file_name()?.to_str()?;
    // All stems are tried, since `flowers.compressed.ply` may share the cameras of `flowers.ply`.
    let stems = name.match_indices('.').map(|(end, _)| &name[..end]);
    let own = stems.rev().map(|stem| format!("{stem}.cameras.json"));
    let in_folder = own.chain(NAMES.map(str::to_owned)).map(|n| folder.join(n));
    let folder_name = folder.file_name().unwrap_or_default();
    let is_iteration = folder_name.to_string_lossy().starts_with("iteration_");
    let model = folder.parent().and_then(Path::parent);
    let of_model = model.filter(|_| is_iteration).map(|m| m.join(NAMES[0]));
    let found = in_folder.chain(of_model).find(|path| path.is_file());
    found.or_else(|| folder.join(FIRST_PART).is_file().then(|| folder.to_path_buf()))
}
