//! Loading of scene files.

use std::path::Path;

use super::bytes::Bytes;
use super::formats;
use super::scene_file::Scene;
use crate::error::{Error, Result, shown};

/// Loads the scene file `path` of any format; `-` is standard input.
///
/// Files are mapped: besides the splats' arrays, a file above 32 MiB needs next to no memory.
///
/// ```no_run
/// let scene = quadrille::load("truck.ply")?;
/// println!("{} splats, {} bad rows", scene.splats.len(), scene.dropped.total());
/// # Ok::<(), quadrille::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::Malformed`] when its content does not follow its
/// format; [`Error::Limit`] for more than 4 GiB from a pipe, or more than about 2^32 splats.
pub fn load(path: impl AsRef<Path>) -> Result<Scene> {
    let path = path.as_ref();
    if path.is_dir() {
        return formats::read_folder(path);
    }
    read(&Bytes::open(path)?, path)
}

/// Loads a scene from the bytes of a file; `path` provides the extension, and is named in errors.
///
/// # Errors
/// As [`load`], for content.
pub fn load_bytes(bytes: &[u8], path: &Path) -> Result<Scene> {
    read(&Bytes::Borrowed(bytes), path)
}

fn read(bytes: &Bytes<'_>, path: &Path) -> Result<Scene> {
    formats::read(bytes, path).map_err(|error| match error {
        Error::Limit { what, limit, found } => Error::Limit {
            what: format!("{}: {what}", shown(path)),
            limit,
            found,
        },
        other => other,
    })
}
