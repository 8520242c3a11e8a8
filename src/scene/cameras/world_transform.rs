//! Transforms between the world of a camera file and the world of the scene.
//!
//! nerfstudio trains in a world of its own. `ns-process-data` turns COLMAP's world by the `applied_transform` of a
//! `transforms.json` (and scales it by `applied_scale`). The data parser then orients, centres and scales the cameras;
//! `transform` and `scale` in its `dataparser_transforms.json` map COLMAP's world, before `applied_transform`, to the
//! trained world (`nerfstudio_dataparser.py`). Exported scenes are in the trained world; `transforms.json` is in neither.

use std::path::{Path, PathBuf};

use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;

use super::json::{self, JsonNode};
use crate::camera::Camera;
use quadrille_base::error::{Error, Result};
use quadrille_base::lens::Projection;

/// File in which nerfstudio stores its transform.
const DATAPARSER_FILE: &str = "dataparser_transforms.json";

const MAX_DEVIATION: f64 = 1e-3;

/// Choice of the transform from the world of a camera file to the world of the scene.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "String")]
pub enum CameraTransform {
    /// The transform in a `dataparser_transforms.json` beside the `transforms.json` or beside the scene; the
    /// identity without such a file.
    #[default]
    Found,
    /// No transform: cameras stay as they stand in the file.
    Identity,
    /// The inverse of the file's `applied_transform`, which leads back to the world of the COLMAP model.
    Undo,
    /// The transform in this `dataparser_transforms.json`.
    File(PathBuf),
}

impl From<String> for CameraTransform {
    fn from(text: String) -> Self {
        match text.as_str() {
            "undo" => Self::Undo,
            "none" => Self::Identity,
            _ => Self::File(text.into()),
        }
    }
}

/// Similarity transform `scale * (rotation * p + translation)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WorldTransform {
    rotation: Matrix3<f64>,
    translation: Vector3<f64>,
    scale: f64,
}

impl WorldTransform {
    fn of_rows(node: &JsonNode, scale: f64) -> Result<Self> {
        let rows: [[f64; 4]; 3] = node.rows(3..=4)?;
        let rotation = Matrix3::from_fn(|row, column| rows[row][column]);
        let off = rotation * rotation.transpose() - Matrix3::identity();
        if off.abs().max() > MAX_DEVIATION || rotation.determinant() < 0.0 {
            return Err(node.error("a rigid transform of 3 or 4 rows with 4 numbers each"));
        }
        Ok(Self { rotation, translation: Vector3::from(rows.map(|row| row[3])), scale })
    }

    pub(super) fn of_file(path: &Path) -> Result<Self> {
        let value = json::parse(path, &json::read_bounded(path)?)?;
        let root = JsonNode::root(path, &value);
        let scale = root.get("scale").map(|scale| positive(&scale));
        Self::of_rows(&root.get("transform").unwrap_or(root), scale.transpose()?.unwrap_or(1.0))
    }

    /// `applied_transform` and `applied_scale` of a `transforms.json`; `None` if they are the identity.
    pub(super) fn applied(root: &JsonNode) -> Result<Option<Self>> {
        let scale = root.get("applied_scale").map(|scale| positive(&scale));
        let scale = scale.transpose()?.unwrap_or(1.0);
        let applied = match root.get("applied_transform") {
            Some(node) => Self::of_rows(&node, scale)?,
            None => Self { scale, ..Self::identity() },
        };
        Ok((applied != Self::identity()).then_some(applied))
    }

    fn identity() -> Self {
        Self { rotation: Matrix3::identity(), translation: Vector3::zeros(), scale: 1.0 }
    }

    pub(super) fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self {
            rotation,
            translation: -(rotation * self.translation) * self.scale,
            scale: 1.0 / self.scale,
        }
    }

    /// Transform from the world of a `transforms.json` with `applied` to the trained world, if `self` maps the
    /// world of the COLMAP model to the trained world.
    ///
    /// The rigid parts are chained without the scales, since the stored scale contains the applied one.
    pub(super) fn after_applied(&self, applied: &Self) -> Self {
        let rotation = self.rotation * applied.rotation.transpose();
        Self {
            rotation,
            translation: self.translation - rotation * applied.translation,
            scale: self.scale / applied.scale,
        }
    }

    /// Camera in the transformed world. Its distances scale too, so the picture of the transformed scene is unchanged.
    pub(crate) fn moved(&self, camera: &Camera) -> Camera {
        let view_from_world = camera.view_from_world * self.rotation.transpose();
        let translation = camera.translation_in_view - view_from_world * self.translation;
        // An orthographic camera has pixels per world unit.
        let widening = if camera.projection == Projection::Orthographic { self.scale } else { 1.0 };
        Camera {
            focal_px: camera.focal_px.map(|focal| focal / widening),
            view_from_world,
            translation_in_view: translation * self.scale,
            near_limit: camera.near_limit.map(|limit| limit * self.scale),
            ..camera.clone()
        }
    }
}

fn positive(node: &JsonNode) -> Result<f64> {
    let number = node.number()?;
    if number > 0.0 {
        return Ok(number);
    }
    Err(node.error("a number above 0"))
}

/// First `dataparser_transforms.json` in the folder of one of `files`.
pub(super) fn find_beside<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<PathBuf> {
    let mut found = files.into_iter().map(|file| file.with_file_name(DATAPARSER_FILE));
    found.find(|path| path.is_file())
}

pub(super) fn nothing_to_undo(path: &Path) -> Error {
    Error::malformed(
        path,
        "top level",
        "a transforms.json with an applied_transform, which can be undone",
        "none",
    )
}

#[cfg(test)]
#[path = "tests/world_transform.rs"]
mod tests;
