//! COLMAP's sparse models, binary (`cameras.bin`, `images.bin`) and text (`cameras.txt`,
//! `images.txt`).
//!
//! A camera holds the lens, an image the pose: a world-to-camera quaternion (w, x, y, z) and
//! translation, in right-down-forward axes. Layout and camera models: COLMAP's documentation,
//! "Output Format" and "Camera Models". The points of an image are skipped.

mod binary;
mod lens;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::{CameraFile, camera_at, names};
use crate::error::{Error, Result};
use crate::scene::camera::{Camera, Intrinsics};
use lens::Lens;

/// Where a data set keeps its model, in the order they are looked for.
const MODEL_FOLDERS: [&str; 4] = ["", "sparse/0", "sparse", "colmap/sparse/0"];

/// Least length of a quaternion that still has a direction.
const MIN_QUATERNION_NORM: f64 = 1e-12;

/// The lenses of a model by their identifier.
type Lenses = HashMap<u32, Lens>;

/// An image of a model.
#[derive(Debug, Clone, PartialEq)]
struct Image {
    /// Where it stands in the file, for errors.
    place: String,
    /// World to camera: w, x, y, z, of any length above zero.
    quaternion: [f64; 4],
    translation: [f64; 3],
    camera_id: u32,
    name: String,
}

/// The folder in or under `folder` that holds a model, if there is one.
pub(super) fn find_model(folder: &Path) -> Option<PathBuf> {
    MODEL_FOLDERS
        .iter()
        .map(|sub| folder.join(sub))
        .find(|f| f.join("images.bin").is_file() || f.join("images.txt").is_file())
}

/// Reads the model in `folder`, the binary one if both are there. Cameras come sorted by image
/// name, as the 3DGS trainer sorts them, and are named after it without extension.
pub(super) fn read(folder: &Path) -> Result<CameraFile> {
    let binary = folder.join("images.bin").is_file();
    let extension = if binary { "bin" } else { "txt" };
    let cameras_path = folder.join(format!("cameras.{extension}"));
    let images_path = folder.join(format!("images.{extension}"));
    let (lenses, mut images) = if binary {
        (
            binary::read_cameras_file(&cameras_path)?,
            binary::read_images_file(&images_path)?,
        )
    } else {
        (
            text::read_cameras_file(&cameras_path)?,
            text::read_images_file(&images_path)?,
        )
    };
    images.sort_by(|a, b| a.name.cmp(&b.name));
    let cameras = images
        .into_iter()
        .map(|image| camera(&images_path, image, &lenses))
        .collect::<Result<_>>()?;
    let distorted = lenses.values().filter(|lens| lens.is_distorted()).count();
    let warnings = (distorted > 0)
        .then(|| {
            format!(
                "{}: lens distortion of {distorted} of {} cameras ignored; pictures will differ from the photographs unless those are undistorted",
                cameras_path.display(),
                lenses.len()
            )
        })
        .into_iter()
        .collect();
    Ok(CameraFile { cameras, warnings })
}

fn camera(path: &Path, image: Image, lenses: &Lenses) -> Result<Camera> {
    let Image {
        place,
        quaternion: [w, x, y, z],
        translation,
        camera_id,
        name,
    } = image;
    let intrinsics: Intrinsics = lenses
        .get(&camera_id)
        .ok_or_else(|| {
            Error::file(
                path,
                format!("{place}: camera"),
                "the identifier of a camera in the cameras file",
                camera_id.to_string(),
            )
        })?
        .intrinsics();
    let rotation = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), MIN_QUATERNION_NORM)
        .ok_or_else(|| {
            Error::file(
                path,
                format!("{place}: rotation"),
                "a quaternion of length above zero",
                format!("{:?}", [w, x, y, z]),
            )
        })?;
    let pose = (
        rotation.to_rotation_matrix().into_inner(),
        Vector3::from(translation),
    );
    let view = names::without_extension(&name).to_owned();
    camera_at(path, &place, view, intrinsics, pose)
}

#[cfg(test)]
mod tests;
