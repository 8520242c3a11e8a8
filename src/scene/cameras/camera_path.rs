//! `camera_path.json` of nerfstudio's viewer: a film as one camera per frame.
//!
//! `render_width` and `render_height` in pixels; `camera_path` holds `camera_to_world`, 16 numbers of a
//! matrix in rows, in OpenGL axes and the trained world, and the vertical field of view `fov` in
//! degrees; `fps` frames per second.

use super::camera_file::{
    CameraFile, NamedCamera, camera_at, fisheye_warning, frame_name, panorama_pinhole,
    panorama_warning, view_from_opengl,
};
use super::json::JsonNode;
use crate::error::Result;
use crate::scene::camera::Intrinsics;

/// Key of the frames, by which the format is recognised.
pub(super) const FRAMES_KEY: &str = "camera_path";

pub(super) fn read(root: &JsonNode) -> Result<CameraFile> {
    let size = [
        root.member("render_width")?.pixels()?,
        root.member("render_height")?.pixels()?,
    ];
    let kind = root
        .get("camera_type")
        .map(|kind| kind.text())
        .transpose()?;
    let is_panorama = kind.as_deref() == Some("equirectangular");
    let frames = root.member(FRAMES_KEY)?.items()?;
    let count = frames.len();
    let cameras = frames.enumerate().map(|(index, frame)| {
        let intrinsics = if is_panorama {
            panorama_pinhole(size)
        } else {
            let fov = frame.member("fov")?.degrees()?;
            Intrinsics::from_vertical_fov(size[0], size[1], fov.to_radians())
        };
        let matrix = frame.member("camera_to_world")?.numbers::<16>()?;
        let rows = [0, 1, 2].map(|row| [0, 1, 2, 3].map(|column| matrix[4 * row + column]));
        let pose = view_from_opengl(&rows);
        let name = frame_name(index, count);
        let camera = camera_at(frame.path, &frame.place, name.clone(), intrinsics, pose)?;
        Ok(NamedCamera {
            camera,
            in_file: name,
        })
    });
    let mut file = CameraFile::of(cameras)?;
    file.frame_rate = root.get("fps").map(|fps| fps.above_0()).transpose()?;
    let of = format!("{count} frames");
    match kind.as_deref() {
        None | Some("perspective") => {}
        Some("equirectangular") => file.warnings.push(panorama_warning(root.path, &of)),
        Some(_) => file.warnings.push(fisheye_warning(root.path, &of)),
    }
    Ok(file)
}
