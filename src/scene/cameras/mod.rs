//! Cameras from files, and cameras made up for a scene.
//!
//! | file | module | pose | intrinsics |
//! |---|---|---|---|
//! | `cameras.json` of the 3DGS trainer | `inria_json` | camera-to-world, right-down-forward | `fx`, `fy`, centred |
//! | `transforms.json` of nerfstudio, instant-ngp, Blender | `transforms` | camera-to-world, OpenGL axes | `fl_x` or `camera_angle_x` |
//! | COLMAP sparse model, binary or text | `colmap` | world-to-camera quaternion | by camera model |
//!
//! Readers trust nothing: counts are held against the bytes that are there before memory is asked
//! for, and every error names the file, the place in it, what was expected and what was found.

mod colmap;
mod framing;
mod inria_json;
mod json;
mod names;
mod selection;
mod transforms;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nalgebra::{Matrix3, Vector3};

pub(crate) use framing::{
    DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX, DEFAULT_UP, Subject, fitting_eye, orbit,
};
pub use inria_json::write as write_inria_json;
pub(crate) use selection::{PictureSize, load_views, select};

use crate::error::{Error, Result};
use crate::scene::camera::{Camera, Intrinsics};

/// Largest JSON file read, in bytes: a thousand times the largest camera file seen in the wild,
/// and small enough that its parsed form (some twenty times its size) fits in memory.
const MAX_JSON_BYTES: u64 = 1 << 28;

/// The cameras of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct CameraFile {
    /// The cameras, in the file's order (COLMAP: by image name); at least one. Their names are
    /// distinct whatever the case of letters, and safe as file names.
    pub cameras: Vec<Camera>,
    /// What was ignored or assumed, one sentence each.
    pub warnings: Vec<String>,
}

/// Reads the cameras of `path`, whatever its format: a `cameras.json`, a `transforms.json`, a
/// COLMAP sparse model (its folder, one of its files, or a data set that holds `sparse/0`), or a
/// folder with one of the JSON files.
///
/// `fallback_size_px` is the picture's width and height where a `transforms.json` gives only an
/// angle of view, as Blender's synthetic scenes do; without it, 800 x 800 with a warning.
///
/// # Errors
/// [`Error::Read`] when the file cannot be read, [`Error::File`] when its content is not what the
/// format demands or it holds no camera, [`Error::Limit`] when a JSON file is beyond 256 MiB.
pub fn load(path: &Path, fallback_size_px: Option<[u32; 2]>) -> Result<CameraFile> {
    let mut file = load_raw(path, fallback_size_px)?;
    if file.cameras.is_empty() {
        return Err(Error::file(path, "cameras", "at least one camera", "none"));
    }
    names::make_unique(&mut file.cameras);
    Ok(file)
}

fn load_raw(path: &Path, fallback_size_px: Option<[u32; 2]>) -> Result<CameraFile> {
    if path.is_dir() {
        if let Some(model) = colmap::find_model(path) {
            return colmap::read(&model);
        }
        let json = ["cameras.json", "transforms.json", "transforms_train.json"]
            .map(|name| path.join(name))
            .into_iter()
            .find(|file| file.is_file());
        return match json {
            Some(file) => read_json(&file, fallback_size_px),
            None => Err(Error::file(
                path,
                "folder",
                "a COLMAP model (cameras and images, .bin or .txt; also in sparse/0), cameras.json or transforms.json",
                "none of them",
            )),
        };
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if extension.eq_ignore_ascii_case("bin") || extension.eq_ignore_ascii_case("txt") {
        let folder = path.parent().unwrap_or(Path::new(""));
        return colmap::read(folder);
    }
    read_json(path, fallback_size_px)
}

fn read_json(path: &Path, fallback_size_px: Option<[u32; 2]>) -> Result<CameraFile> {
    let bytes = read_bounded(path)?;
    let value = json::parse(path, &bytes)?;
    let root = json::Node::root(path, &value);
    if value.is_array() {
        inria_json::read(&root)
    } else {
        transforms::read(&root, fallback_size_px)
    }
}

/// The whole of a JSON file, unless it is beyond [`MAX_JSON_BYTES`].
fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    let mut bytes = Vec::new();
    file.take(MAX_JSON_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::read(path, e))?;
    if bytes.len() as u64 > MAX_JSON_BYTES {
        return Err(Error::Limit {
            what: format!("{}: bytes of a JSON camera file", path.display()),
            limit: MAX_JSON_BYTES,
            found: bytes.len() as u64,
        });
    }
    Ok(bytes)
}

/// A checked camera; whatever is wrong with it is the fault of `place` in the file `path`.
fn camera_at(
    path: &Path,
    place: &str,
    name: String,
    intrinsics: Intrinsics,
    pose: (Matrix3<f64>, Vector3<f64>),
) -> Result<Camera> {
    Camera::new(name, intrinsics, pose.0, pose.1).map_err(|error| match error {
        Error::Caller {
            what,
            expected,
            found,
        } => Error::file(path, format!("{place}: {what}"), expected, found),
        other => other,
    })
}

/// World-to-view rotation and translation from a camera-to-world rotation and the camera's centre.
fn view_from_centre(
    world_from_view: &Matrix3<f64>,
    centre: Vector3<f64>,
) -> (Matrix3<f64>, Vector3<f64>) {
    let rotation = world_from_view.transpose();
    (rotation, -(rotation * centre))
}

#[cfg(test)]
mod tests;
