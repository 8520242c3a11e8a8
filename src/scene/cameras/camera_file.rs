//! What a camera file holds, whatever its format, and what the readers of all formats share.

use std::path::Path;

use nalgebra::{Matrix3, Vector3};

use crate::error::{Error, Result, shown};
use crate::scene::camera::{Camera, Intrinsics};

/// The cameras of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct CameraFile {
    /// The cameras, in the file's order (COLMAP: by image name); at least one. Their names are
    /// distinct whatever the case of letters, and safe as file names.
    pub cameras: Vec<Camera>,
    /// What was ignored or assumed, one sentence each.
    pub warnings: Vec<String>,
}

/// A checked camera; whatever is wrong with it is the fault of `place` in the file `path`.
pub(super) fn camera_at(
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
pub(super) fn view_from_centre(
    world_from_view: &Matrix3<f64>,
    centre: Vector3<f64>,
) -> (Matrix3<f64>, Vector3<f64>) {
    let rotation = world_from_view.transpose();
    (rotation, -(rotation * centre))
}

/// The name of a view that its file does not name.
pub(super) fn view_name(index: usize) -> String {
    format!("view_{index:03}")
}

/// The warning about lenses that are taken for pinholes; `of` says how many have distortion.
pub(super) fn distortion_warning(path: &Path, of: &str) -> String {
    format!(
        "{}: lens distortion of {of} ignored; pictures will differ from the photographs unless those are undistorted",
        shown(path)
    )
}
