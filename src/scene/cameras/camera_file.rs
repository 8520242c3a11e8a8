//! The content of a camera file, and functions that the readers of all formats share.

use std::path::Path;

use nalgebra::{Matrix3, Vector3};

use crate::error::{Error, Result, shown};
use crate::scene::camera::{Camera, Intrinsics};

/// The content of a camera file.
#[derive(Debug, Clone, PartialEq)]
pub struct CameraFile {
    /// At least one camera, in the file's order (COLMAP: by image name). Names differ, also on file
    /// systems that ignore case, and are valid file names.
    pub cameras: Vec<Camera>,
    /// Warnings about ignored or assumed values, one sentence each.
    pub warnings: Vec<String>,
}

/// Creates a camera; errors refer to `place` in the file `path`.
pub(super) fn camera_at(
    path: &Path,
    place: &str,
    name: String,
    intrinsics: Intrinsics,
    pose: (Matrix3<f64>, Vector3<f64>),
) -> Result<Camera> {
    Camera::new(name, intrinsics, pose.0, pose.1).map_err(|error| match error {
        Error::Argument {
            what,
            expected,
            found,
        } => Error::malformed(path, format!("{place}: {what}"), expected, found),
        other => other,
    })
}

/// Converts a camera-to-world rotation and the camera's centre to world-to-view rotation and
/// translation.
pub(super) fn view_from_centre(
    world_from_view: &Matrix3<f64>,
    centre: Vector3<f64>,
) -> (Matrix3<f64>, Vector3<f64>) {
    let rotation = world_from_view.transpose();
    (rotation, -(rotation * centre))
}

/// Name of a view without a name in the file.
pub(super) fn view_name(index: usize) -> String {
    format!("view_{index:03}")
}

/// Warning about ignored lens distortion; `of` says in how many cameras.
pub(super) fn distortion_warning(path: &Path, of: &str) -> String {
    format!(
        "{}: lens distortion of {of} ignored; pictures will differ from the photographs unless those are undistorted",
        shown(path)
    )
}
