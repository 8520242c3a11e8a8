//! `camera_path.json` of nerfstudio's viewer: a film as one camera per frame.
//!
//! `render_width` and `render_height` are in pixels. A frame of `camera_path` has a matrix `camera_to_world` row by row, in
//! OpenGL axes and the trained world, and the vertical field of view `fov` in degrees. `fps` is frames per second.

use super::camera_file::{
    CameraFile, NamedCamera, camera_at, frame_name, panorama_intrinsics, view_from_opengl,
};
use super::json::JsonNode;
use crate::camera::Intrinsics;
use quadrille_base::error::Result;
use quadrille_base::lens::{FisheyeLens, Projection};

pub(super) const FRAMES_KEY: &str = "camera_path";

pub(crate) fn read(root: &JsonNode) -> Result<CameraFile> {
    let size = [root.member("render_width")?.pixels()?, root.member("render_height")?.pixels()?];
    let kind = root.get("camera_type").map(|kind| kind.text()).transpose()?;
    let lens = match kind.as_deref() {
        None | Some("perspective") => Projection::Pinhole,
        Some("equirectangular") => Projection::Equirectangular,
        Some("fisheye") => Projection::Fisheye(FisheyeLens::EQUIDISTANT),
        Some(_) => {
            let kind = root.member("camera_type")?;
            return Err(kind.error("perspective, fisheye or equirectangular"));
        }
    };
    let frames = root.member(FRAMES_KEY)?.items()?;
    let count = frames.len();
    let cameras = frames.enumerate().map(|(index, frame)| {
        let intrinsics = if lens == Projection::Equirectangular {
            panorama_intrinsics(size)
        } else {
            let fov = frame.member("fov")?.degrees()?;
            Intrinsics::from_vertical_fov(size[0], size[1], fov.to_radians())
        };
        let matrix = frame.member("camera_to_world")?.numbers::<16>()?;
        let rows = [0, 1, 2].map(|row| [0, 1, 2, 3].map(|column| matrix[4 * row + column]));
        let pose = view_from_opengl(&rows);
        let name = frame_name(index, count);
        let camera = camera_at(frame.path, &frame.place, name.clone(), intrinsics, pose)?;
        Ok(NamedCamera { camera: camera.with_projection(lens), in_file: name })
    });
    let mut file = CameraFile::of_path(cameras)?;
    file.frame_rate = root.get("fps").map(|fps| fps.above_0()).transpose()?;
    Ok(file)
}
