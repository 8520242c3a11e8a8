//! Loading of camera files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::camera_file::CameraFile;
use super::{colmap, inria_json, json, names, transforms};
use crate::error::{Error, Result, shown};

/// Maximum size of a JSON file, in bytes. The largest known camera file is a thousand times smaller,
/// and the parsed form, about twenty times as large, fits in memory.
const MAX_JSON_BYTES: u64 = 1 << 28;

/// Values for cameras that a camera file does not contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CameraOptions {
    /// Width and height in pixels for a `transforms.json` that has only an angle of view, as in
    /// Blender's synthetic scenes. The default is 800 x 800, with a warning.
    pub fallback_size_px: Option<[u32; 2]>,
}

/// Loads the cameras of `path`: a `cameras.json`, a `transforms.json`, a COLMAP sparse model (its
/// folder, one of its files, or a data set that contains `sparse/0`), or a folder with one of the JSON
/// files. `-` is JSON on standard input.
///
/// ```no_run
/// let file = quadrille::load_cameras("cameras.json")?;
/// file.warnings.iter().for_each(|warning| eprintln!("{warning}"));
/// println!("{} views, the first is {}", file.cameras.len(), file.cameras[0].name);
/// # Ok::<(), quadrille::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read, [`Error::Malformed`] when its content does not follow
/// the format or it contains no camera, [`Error::Limit`] when a JSON file is larger than 256 MiB.
pub fn load(path: impl AsRef<Path>) -> Result<CameraFile> {
    load_with(path, &CameraOptions::default())
}

/// As [`load`], with `options` for missing values.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: impl AsRef<Path>, options: &CameraOptions) -> Result<CameraFile> {
    let path = path.as_ref();
    let mut file = load_raw(path, options)?;
    if file.cameras.is_empty() {
        return Err(Error::malformed(
            path,
            "cameras",
            "at least one camera",
            "none",
        ));
    }
    names::make_unique(&mut file.cameras);
    Ok(file)
}

fn load_raw(path: &Path, options: &CameraOptions) -> Result<CameraFile> {
    if path.is_dir() {
        if let Some(model) = colmap::find_model(path) {
            return colmap::read(&model);
        }
        let json = ["cameras.json", "transforms.json", "transforms_train.json"]
            .map(|name| path.join(name))
            .into_iter()
            .find(|file| file.is_file());
        return match json {
            Some(file) => read_json(&file, options),
            None => Err(Error::malformed(
                path,
                "folder",
                "a COLMAP model (cameras and images, .bin or .txt; also in sparse/0), cameras.json or transforms.json",
                "none of them",
            )),
        };
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if extension.eq_ignore_ascii_case("bin") || extension.eq_ignore_ascii_case("txt") {
        return colmap::read(path.parent().unwrap_or(Path::new("")));
    }
    read_json(path, options)
}

/// Reads a `cameras.json` or a `transforms.json`.
fn read_json(path: &Path, options: &CameraOptions) -> Result<CameraFile> {
    let value = json::parse(path, &read_bounded(path)?)?;
    let root = json::JsonNode::root(path, &value);
    if value.is_array() {
        inria_json::read(&root)
    } else {
        transforms::read(&root, options.fallback_size_px)
    }
}

/// Reads a file of up to [`MAX_JSON_BYTES`]; `-` is standard input.
fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        let source = std::io::stdin().lock();
        source.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|e| Error::read(path, e))?;
    let what = format!("{}: bytes of a JSON camera file", shown(path));
    Error::check_limit(what, MAX_JSON_BYTES, bytes.len() as u64)?;
    Ok(bytes)
}
