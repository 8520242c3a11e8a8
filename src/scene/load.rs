//! The front door: any scene file to splats.

use std::path::Path;

use super::bytes::Bytes;
use super::formats;
use super::scene_file::Scene;
use crate::error::{Error, Result, shown};

/// Reads the scene in `path`, whatever its format; `-` is standard input.
///
/// Files are mapped, not copied; beside the splats' own arrays a file above 32 MiB takes next to
/// no memory.
///
/// ```no_run
/// let scene = quadrille::load("truck.ply")?;
/// println!("{} splats, {} bad rows", scene.splats.len(), scene.dropped.total());
/// # Ok::<(), quadrille::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::File`] when its content is not what its
/// format demands, says what was expected and found; [`Error::Limit`] for more than 4 GiB from a
/// pipe, or more than `MAX_SPLATS` splats.
pub fn load(path: impl AsRef<Path>) -> Result<Scene> {
    let path = path.as_ref();
    if path.is_dir() {
        return formats::read_folder(path);
    }
    read(&Bytes::open(path)?, path)
}

/// Reads a scene from a file's bytes; `path` is for errors and for the extension.
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
