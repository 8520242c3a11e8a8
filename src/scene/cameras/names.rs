//! Distinct view names that are valid file names, since they replace `{view}` in names of outputs.

use std::collections::HashSet;

use super::camera_file::view_name;
use crate::camera::Camera;

/// With a number and an extension, names of this length stay below the 255 bytes of file systems.
const MAX_NAME_BYTES: usize = 200;

/// Makes the names of cameras valid file names that differ even if case is ignored. A second `a` becomes `a_2`.
pub(crate) fn make_unique(cameras: &mut [Camera]) {
    let mut taken = HashSet::new();
    let mut next = std::collections::HashMap::new();
    for (index, camera) in cameras.iter_mut().enumerate() {
        let base = file_safe(&camera.name, index);
        let mut name = base.clone();
        while !taken.insert(name.to_lowercase()) {
            let number = next.entry(base.to_lowercase()).or_insert(1_u64);
            *number += 1;
            name = format!("{base}_{number}");
        }
        camera.name = name;
    }
}

/// Replaces characters that some file system refuses by `_`; an empty name becomes `view_INDEX`.
pub(super) fn file_safe(name: &str, index: usize) -> String {
    let mut safe = String::new();
    for c in name.trim().chars() {
        let refused = c.is_control() || "/\\:*?\"<>|{}".contains(c);
        let c = if refused { '_' } else { c };
        if safe.len() + c.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        safe.push(c);
    }
    if safe.is_empty() || safe.chars().all(|c| c == '.') {
        return view_name(index);
    }
    safe
}

const PICTURE_EXTENSIONS: [&str; 22] = [
    "jpg", "jpeg", "jpe", "jfif", "png", "webp", "tif", "tiff", "bmp", "gif", "exr", "hdr", "npy",
    "heic", "heif", "avif", "jxl", "jp2", "ppm", "pgm", "tga", "dng",
];

/// Whether a path has the extension of a picture, of a format that is read or not.
pub fn is_picture_name(path: &str) -> bool {
    of_picture(path) != path
}

/// View name of a picture: its path without a picture extension. Other extensions, as in `scan.v2`, stay in the name.
pub(super) fn of_picture(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty()
                && !stem.ends_with(['/', '\\'])
                && PICTURE_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()) =>
        {
            stem
        }
        _ => path,
    }
}

/// View name of a path that includes folders of unknown depth: the last component without a picture extension,
/// `r_0` for `./train/r_0.png`.
pub(super) fn of_last_component(path: &str) -> &str {
    of_picture(last_component_of_picture(path))
}

/// Last component of the path of a picture, with its extension.
pub fn last_component_of_picture(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Name of the view that a picture shows, equal to the name from a camera file; pairs renders with photographs. `path` is
/// relative to the folder of pictures. All picture extensions are removed (`1.jpg.png`).
pub fn view_of_picture(path: &str) -> String {
    let mut name = path;
    while of_picture(name) != name {
        name = of_picture(name);
    }
    file_safe(name, 0)
}

#[cfg(test)]
#[path = "tests/names.rs"]
mod tests;
