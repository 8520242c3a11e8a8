//! View names that are distinct and valid file names, since they replace `{view}` in names of outputs.

use std::collections::HashSet;

use super::camera_file::view_name;
use crate::camera::Camera;

/// Maximum length of a name, in bytes. With a number and an extension, it stays below the 255 bytes of
/// file systems.
const MAX_NAME_BYTES: usize = 200;

/// Makes the names of the cameras valid file names that differ, also if case is ignored. A second `a`
/// becomes `a_2`.
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

/// Replaces every character that some file system refuses by `_`; an empty name becomes `view_INDEX`.
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

/// The last component of a path, with slashes or backslashes, without its extension: `r_0` for
/// `./train/r_0.png`.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    without_extension(file)
}

/// `name` without its extension, if it has one.
pub(super) fn without_extension(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && !extension.contains(['/', '\\']) => stem,
        _ => name,
    }
}
