//! Search for the scene file in a folder.

use std::path::{Path, PathBuf};

use super::{lcc, sog};
use quadrille_base::error::{Error, Result};

const LISTED: usize = 8;

/// File in which the original trainer stores its arguments.
const ARGUMENTS: &str = "cfg_args";

/// Path of the file to read for `path`: `path` itself or, for a folder, the description of its SOG or LCC, or the splats of the
/// last iteration of the original trainer (`point_cloud/iteration_N/point_cloud.ply`) or gsplat (`ply/point_cloud_N.ply`).
///
/// # Errors
/// [`Error::Malformed`] for another folder; the error lists its content.
pub fn scene_file(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let sog = [sog::META, sog::LOD_META].map(|name| path.join(name));
    let of_trainer = || {
        let iteration = last(&path.join("point_cloud"), "iteration_", "");
        iteration.map(|folder| folder.join("point_cloud.ply"))
    };
    let of_gsplat = || last(&path.join("ply"), "point_cloud_", ".ply");
    let found = sog.into_iter().chain(lcc::description_in(path)).chain(of_trainer());
    let found = found.chain(of_gsplat());
    found.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        let expected = "a scene file, or a folder with the meta.json of a SOG, an .lcc or .lcc2, \
                        point_cloud/iteration_N/point_cloud.ply or ply/point_cloud_N.ply";
        Error::malformed(path, "path", expected, content(path))
    })
}

/// The `cfg_args` of the original trainer beside the scene at `path`, if it says that the scene was trained on white.
pub fn trained_on_white(path: &Path) -> Option<PathBuf> {
    /// A model is the folder of its `point_cloud/iteration_N/point_cloud.ply`.
    const DEPTH: usize = 4;
    let mut files = path.ancestors().take(DEPTH).map(|folder| folder.join(ARGUMENTS));
    let file = files.find(|file| file.is_file())?;
    let text = std::fs::read_to_string(&file).ok()?;
    text.contains("white_background=True").then_some(file)
}

/// Path of the entry of `folder` with the largest number between `before` and `after` in its name.
fn last(folder: &Path, before: &str, after: &str) -> Option<PathBuf> {
    let numbered = std::fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix(before)?.strip_suffix(after)?;
        Some((number.parse::<u64>().ok()?, entry.path()))
    });
    numbered.max().map(|(_, path)| path)
}

fn content(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let more = if names.len() > LISTED { ", ..." } else { "" };
    names.truncate(LISTED);
    match names.is_empty() {
        true => "an empty folder".to_owned(),
        false => format!("a folder with {}{more}", names.join(", ")),
    }
}
