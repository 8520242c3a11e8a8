//! `cameras.json` of the 3DGS trainer: an array of
//! `{id, img_name, width, height, position, rotation, fx, fy}`.
//!
//! `position` is the camera's centre in world space; `rotation` is camera-to-world, its columns
//! the camera's right, down and forward; `fx` and `fy` are in pixels of the given size. The principal
//! point is the centre of the picture.

use nalgebra::{Matrix3, Vector3};
use serde_json::json;

use super::camera_file::{CameraFile, camera_at, view_from_centre, view_name};
use super::json::JsonNode;
use crate::error::Result;
use crate::scene::camera::{Camera, Intrinsics};

pub(super) fn read(root: &JsonNode) -> Result<CameraFile> {
    let cameras = root
        .items()?
        .enumerate()
        .map(|(index, node)| read_camera(&node, index))
        .collect::<Result<_>>()?;
    Ok(CameraFile {
        cameras,
        warnings: Vec::new(),
    })
}

fn read_camera(node: &JsonNode, index: usize) -> Result<Camera> {
    let width = node.member("width")?.pixels()?;
    let height = node.member("height")?.pixels()?;
    let intrinsics = Intrinsics {
        width,
        height,
        focal_px: [node.member("fx")?.number()?, node.member("fy")?.number()?],
        principal_px: [f64::from(width) / 2.0, f64::from(height) / 2.0],
    };
    let position = Vector3::from(node.member("position")?.numbers::<3>()?);
    let rows: [[f64; 3]; 3] = node.member("rotation")?.rows(3..=3)?;
    let world_from_view = Matrix3::from_fn(|row, column| rows[row][column]);
    let name = match node.get("img_name") {
        Some(name) => name.text()?,
        None => view_name(index),
    };
    let pose = view_from_centre(&world_from_view, position);
    camera_at(node.path, &node.place, name, intrinsics, pose)
}

/// Formats `cameras` as a `cameras.json`, which [`load_cameras`](crate::load_cameras) reads. The format
/// has no principal points; they are lost.
pub fn write(cameras: &[Camera]) -> String {
    let entries: Vec<String> = cameras
        .iter()
        .enumerate()
        .map(|(id, camera)| {
            let world_from_view = camera.view_from_world.transpose();
            let rows: Vec<[f64; 3]> = world_from_view
                .row_iter()
                .map(|row| [row[0], row[1], row[2]])
                .collect();
            let eye = camera.eye();
            let entry = json!({
                "id": id,
                "img_name": camera.name,
                "width": camera.width,
                "height": camera.height,
                "position": [eye.x, eye.y, eye.z],
                "rotation": rows,
                "fx": camera.focal_px[0],
                "fy": camera.focal_px[1],
            });
            format!("  {entry}")
        })
        .collect();
    format!("[\n{}\n]\n", entries.join(",\n"))
}
