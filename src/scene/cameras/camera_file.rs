//! The content of a camera file, and functions that the readers of all formats share.

use std::f64::consts::FRAC_PI_2;
use std::path::Path;

use nalgebra::{Matrix3, Vector3};

use super::json::JsonNode;
use crate::camera::{Camera, Intrinsics};
use quadrille_base::error::{Error, Result, shown};
use quadrille_base::lens::{DistortedLens, DistortionModel, FisheyeLens, Projection};

pub(super) const LISTED_NAMES: usize = 12;

/// Split of the views that a file states. Indices are in the order of the file and count refused cameras; a view may be
/// in several parts, or in none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewSplit {
    /// Indices of the views for training.
    pub train: Vec<usize>,
    /// Indices of the views for validation.
    pub val: Vec<usize>,
    /// Indices of the views for tests.
    pub test: Vec<usize>,
    /// True for the `test.txt` of a COLMAP model, which the trainers read only if they are told so.
    pub is_optional: bool,
}

impl ViewSplit {
    /// Split of `count` views that are all in one part, which `part` selects.
    pub(super) fn of_one(count: usize, part: fn(&mut Self) -> &mut Vec<usize>) -> Self {
        let mut split = Self::default();
        *part(&mut split) = (0..count).collect();
        split
    }
}

/// Content of a camera file of any format.
#[derive(Debug, Default)]
pub struct CameraFile {
    /// At least one camera, in the file's order (COLMAP: by image name). Names differ, also on file systems that ignore
    /// case, and are valid file names.
    pub cameras: Vec<Camera>,
    /// The name of each camera as it stands in the file, often a path with an extension.
    pub names_in_file: Vec<String>,
    /// Index in the file of each camera that [`Self::select`] kept, counting refused cameras.
    pub indices: Vec<usize>,
    /// Cameras that are left out. They are an error only when one of them is requested.
    pub refused: Vec<RefusedCamera>,
    /// The split into views for training, validation and tests, if the file states it.
    pub split: Option<ViewSplit>,
    /// The split that lists in the folder of a COLMAP data set state, which nerfstudio alone reads.
    pub nerfstudio_split: Option<ViewSplit>,
    /// Identifiers of the images of a COLMAP model by index, counting refused cameras: nerfstudio splits the model in their
    /// order, and other files by a fraction. Empty for other files.
    pub image_ids: Vec<u32>,
    /// Warnings about ignored or assumed values, one sentence each.
    pub warnings: Vec<String>,
    /// Remarks on values of the file that were applied, one sentence each.
    pub remarks: Vec<String>,
    /// Frames per second, if the file is a path of a film and states them.
    pub frame_rate: Option<f64>,
    /// True if the file has no intrinsics, so that the options give the field of view.
    pub lacks_intrinsics: bool,
}

/// A camera of a file that cannot be drawn, or that the file marks as bad.
#[derive(Debug)]
pub struct RefusedCamera {
    /// Index of the camera in the file.
    pub index: usize,
    /// Name of the camera in the file.
    pub name_in_file: String,
    /// The reason, with its place in the file.
    pub error: Error,
}

impl CameraFile {
    /// Camera file of a path, all of whose frames must be drawable.
    pub(super) fn of_path(cameras: impl Iterator<Item = Result<NamedCamera>>) -> Result<Self> {
        let mut file = Self::default();
        for camera in cameras {
            file.push(camera?);
        }
        Ok(file)
    }

    /// Camera file of independent views. Cameras that cannot be drawn become one warning with their names.
    pub(super) fn of(
        path: &Path,
        cameras: impl Iterator<Item = (String, Result<NamedCamera>)>,
    ) -> Result<Self> {
        let mut file = Self::default();
        for (index, (name_in_file, camera)) in cameras.enumerate() {
            match camera {
                Ok(camera) => file.push(camera),
                Err(error) => file.refused.push(RefusedCamera { index, name_in_file, error }),
            }
        }
        let count = file.refused.len();
        if file.cameras.is_empty() && count > 0 {
            return Err(file.refused.swap_remove(0).error);
        }
        if let Some(first) = file.refused.first() {
            let names = file.refused.iter().take(LISTED_NAMES);
            let names: Vec<&str> = names.map(|refused| refused.name_in_file.as_str()).collect();
            file.warnings.push(format!(
                "{}: {count} of {} cameras are left out ({}{}); the first error is: {}",
                shown(path),
                file.cameras.len() + count,
                names.join(", "),
                if count > names.len() { ", ..." } else { "" },
                first.error,
            ));
        }
        Ok(file)
    }

    /// Appends the cameras of another file of the same data set.
    pub(super) fn append(&mut self, other: Self) {
        let before = self.cameras.len() + self.refused.len();
        let moved = |parts: Vec<usize>| parts.into_iter().map(move |index| index + before);
        if let Some(split) = other.split {
            let own = self.split.get_or_insert_default();
            own.train.extend(moved(split.train));
            own.val.extend(moved(split.val));
            own.test.extend(moved(split.test));
        }
        self.cameras.extend(other.cameras);
        self.names_in_file.extend(other.names_in_file);
        let refused = other.refused.into_iter();
        self.refused
            .extend(refused.map(|camera| RefusedCamera { index: camera.index + before, ..camera }));
        self.warnings.extend(other.warnings);
        self.remarks.extend(other.remarks);
    }

    /// The name of every camera in the file, also of those that are left out, by index.
    pub(super) fn all_names_in_file(&self) -> Vec<String> {
        let mut names = self.names_in_file.clone();
        for refused in &self.refused {
            names.insert(refused.index.min(names.len()), refused.name_in_file.clone());
        }
        names
    }

    fn push(&mut self, NamedCamera { camera, in_file }: NamedCamera) {
        self.cameras.push(camera);
        self.names_in_file.push(in_file);
    }
}

/// Name of a camera for messages: its text at `key`, or else `view_` and its index.
pub(super) fn shown_name(node: &JsonNode, key: &str, index: usize) -> String {
    node.get(key).and_then(|name| name.text().ok()).unwrap_or_else(|| view_name(index))
}

pub(super) struct NamedCamera {
    pub(super) camera: Camera,
    pub(super) in_file: String,
}

pub(super) fn camera_at(
    path: &Path,
    place: &str,
    name: String,
    intrinsics: Intrinsics,
    pose: (Matrix3<f64>, Vector3<f64>),
) -> Result<Camera> {
    Camera::new(name, intrinsics, pose.0, pose.1).map_err(|error| located(path, place, error))
}

pub(super) fn located(path: &Path, place: &str, error: Error) -> Error {
    error.in_file(path, |what| format!("{place}: {what}"))
}

/// Fisheye with coefficients of powers of the angle.
pub(super) fn fisheye(coefficients: [f64; 4]) -> Result<Projection> {
    FisheyeLens::new(coefficients).map(Projection::Fisheye)
}

/// Lens with the first coefficients of a model.
pub(super) fn distorted(model: DistortionModel, coefficients: &[f64]) -> Result<Projection> {
    DistortedLens::new(model, coefficients).map(Projection::Distorted)
}

/// World-to-view rotation and translation from a camera-to-world rotation and the camera's centre.
pub(super) fn view_from_centre(
    world_from_view: &Matrix3<f64>,
    centre: Vector3<f64>,
) -> (Matrix3<f64>, Vector3<f64>) {
    let rotation = world_from_view.transpose();
    (rotation, -(rotation * centre))
}

/// World-to-view rotation and translation of a camera-to-world matrix in OpenGL axes (right, up, back).
pub(super) fn view_from_opengl(world_from_gl: &[[f64; 4]; 3]) -> (Matrix3<f64>, Vector3<f64>) {
    let signs = [1.0, -1.0, -1.0];
    let world_from_view = Matrix3::from_fn(|r, c| world_from_gl[r][c] * signs[c]);
    view_from_centre(&world_from_view, Vector3::from(world_from_gl.map(|row| row[3])))
}

/// Name of frame `index` of `count`. All names have the same length, so that tools sort them in frame order.
pub(super) fn frame_name(index: usize, count: usize) -> String {
    let digits = count.saturating_sub(1).to_string().len().max(4);
    format!("frame_{index:0digits$}")
}

pub(super) fn view_name(index: usize) -> String {
    format!("view_{index:03}")
}

/// Remark on the lenses with distortion among `projections`, which are drawn as the photographs show them.
pub(super) fn distortion_remark(
    path: &Path,
    projections: impl ExactSizeIterator<Item = Projection>,
) -> Option<String> {
    let all = projections.len();
    let count = projections.filter(|lens| matches!(lens, Projection::Distorted(_))).count();
    (count > 0).then(|| {
        format!(
            "{}: the lens distortion of {count} of {all} cameras is drawn; --camera-model pinhole leaves it out, as in undistorted photographs",
            shown(path)
        )
    })
}

pub(super) fn panorama_intrinsics([width, height]: [u32; 2]) -> Intrinsics {
    Intrinsics::from_vertical_fov(width, height, FRAC_PI_2)
}
