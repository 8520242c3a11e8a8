//! `cameras.json` of the 3DGS trainer: an array of `{id, img_name, width, height, position, rotation, fx, fy}`.
//!
//! `position` is the camera's centre in world space; `rotation` is camera-to-world, its columns
//! the camera's right, down and forward; `fx` and `fy` are in pixels of the given size. The principal
//! point is the centre of the picture, unless the file has `cx` and `cy`, which some tools add. `near`, which this program
//! adds, is the largest depth of the near plane in world units.

use nalgebra::{Matrix3, Vector3};
use serde_json::json;

use super::camera_file::{
    CameraFile, NamedCamera, camera_at, shown_name, view_from_centre, view_name,
};
use super::json::JsonNode;
use super::names;
use crate::camera::{Camera, Intrinsics};
use quadrille_base::error::Result;
use quadrille_base::shading::Profile;

pub(crate) fn read(root: &JsonNode) -> Result<CameraFile> {
    let cameras = root
        .items()?
        .enumerate()
        .map(|(index, node)| (shown_name(&node, "img_name", index), read_camera(&node, index)));
    CameraFile::of(root.path, cameras)
}

fn read_camera(node: &JsonNode, index: usize) -> Result<NamedCamera> {
    let width = node.member("width")?.pixels()?;
    let height = node.member("height")?.pixels()?;
    let principal = |key: &str, side: u32| match node.get(key) {
        Some(value) => value.number(),
        None => Ok(f64::from(side) / 2.0),
    };
    let intrinsics = Intrinsics {
        width,
        height,
        focal_px: [node.member("fx")?.number()?, node.member("fy")?.number()?],
        principal_px: [principal("cx", width)?, principal("cy", height)?],
    };
    let position = Vector3::from(node.member("position")?.numbers::<3>()?);
    let rows: [[f64; 3]; 3] = node.member("rotation")?.rows(3..=3)?;
    let world_from_view = Matrix3::from_fn(|row, column| rows[row][column]);
    let in_file = match node.get("img_name") {
        Some(name) => name.text()?,
        None => view_name(index),
    };
    let pose = view_from_centre(&world_from_view, position);
    let name = names::of_picture(&in_file).to_owned();
    let mut camera = camera_at(node.path, &node.place, name, intrinsics, pose)?;
    camera.near_limit = node.get("near").map(|near| near.above_0()).transpose()?;
    Ok(NamedCamera { camera, in_file })
}

/// Formats `cameras` as a `cameras.json`, which [`load_cameras`](crate::cameras::load) reads. A principal point outside the
/// centre of the picture is written as `cx` and `cy`, and the near plane of a view of a small scene as `near`; the trainer's
/// own viewer ignores these.
pub fn write(cameras: &[Camera]) -> String {
    let entries: Vec<String> = cameras
        .iter()
        .enumerate()
        .map(|(id, camera)| {
            let world_from_view = camera.view_from_world.transpose();
            let rows: Vec<[f64; 3]> =
                world_from_view.row_iter().map(|row| [row[0], row[1], row[2]]).collect();
            let eye = camera.eye();
            let mut entry = json!({
                "id": id,
                "img_name": camera.name,
                "width": camera.width,
                "height": camera.height,
                "position": [eye.x, eye.y, eye.z],
                "rotation": rows,
                "fx": camera.focal_px[0],
                "fy": camera.focal_px[1],
            });
            let [width, height] = [camera.width, camera.height].map(f64::from);
            if camera.principal_px != [width / 2.0, height / 2.0] {
                entry["cx"] = camera.principal_px[0].into();
                entry["cy"] = camera.principal_px[1].into();
            }
            if let Some(limit) = camera.near_limit.filter(|limit| *limit < Profile::default().near)
            {
                entry["near"] = limit.into();
            }
            format!("  {entry}")
        })
        .collect();
    format!("[\n{}\n]\n", entries.join(",\n"))
}
