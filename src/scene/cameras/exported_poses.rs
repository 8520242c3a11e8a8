//! Poses that `ns-export cameras` writes: an array of `{file_path, transform}` without intrinsics.
//!
//! `transform` is camera-to-world, 3 rows in OpenGL axes, in nerfstudio's training world, which exported scenes share.

use super::camera_file::{
    CameraFile, NamedCamera, camera_at, shown_name, view_from_opengl, view_name,
};
use super::camera_options::CameraOptions;
use super::framing::DEFAULT_SIDE_PX;
use super::json::JsonNode;
use super::names;
use crate::camera::Intrinsics;
use quadrille_base::error::{Error, Result, shown};

pub(super) fn is_export(root: &JsonNode) -> Result<bool> {
    let first = root.items()?.next();
    Ok(first.is_some_and(|item| item.get("transform").is_some() && item.get("width").is_none()))
}

pub(crate) fn read(root: &JsonNode, options: &CameraOptions) -> Result<CameraFile> {
    let Some(fov) = options.fallback_fov_degrees else {
        let expected = format!(
            "a vertical field of view in degrees, since the poses in {} have no intrinsics",
            shown(root.path)
        );
        return Err(Error::argument("fov", expected, "none"));
    };
    let [width, height] = options.fallback_size_px.unwrap_or(DEFAULT_SIDE_PX);
    let intrinsics = Intrinsics::from_vertical_fov(width, height, fov.to_radians());
    let read = |index: usize, node: &JsonNode| {
        let in_file = match node.get("file_path") {
            Some(path) => path.text()?,
            None => view_name(index),
        };
        let pose = view_from_opengl(&node.member("transform")?.rows(3..=4)?);
        let name = names::of_last_component(&in_file).to_owned();
        let camera = camera_at(node.path, &node.place, name, intrinsics, pose)?;
        Ok(NamedCamera { camera, in_file })
    };
    let cameras = root
        .items()?
        .enumerate()
        .map(|(index, node)| (shown_name(&node, "file_path", index), read(index, &node)));
    let mut file = CameraFile::of(root.path, cameras)?;
    file.lacks_intrinsics = true;
    if options.fallback_size_px.is_none() {
        file.warnings.push(format!(
            "{}: the poses give no picture size; {width} x {height} pixels are assumed (width and height set another size)",
            shown(root.path)
        ));
    }
    Ok(file)
}
