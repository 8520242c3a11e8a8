//! Loading of scene files: one file or folder per format, and the table of all formats.
//!
//! To add a format, write its file with a [`FormatReader`] and add a line to [`FORMATS`].

mod dot_splat;
pub(crate) mod ply;
mod unread;

use std::path::Path;

use super::bytes::Bytes;
use super::scene_file::{FormatReader, Scene};
use crate::error::{Error, Result, shown};

/// All known formats. The first one whose mark a file has is its format, else the first one whose
/// extension it has.
const FORMATS: [&FormatReader; 9] = [
    &unread::COMPRESSED_PLY,
    &ply::FORMAT,
    &dot_splat::FORMAT,
    &unread::SPZ,
    &unread::SOG,
    &unread::GLTF,
    &unread::KSPLAT,
    &unread::MESH,
    &unread::GZIP,
];

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
/// [`Error::Read`] when the file cannot be read; [`Error::Malformed`] when its content does not follow
/// its format; [`Error::Limit`] for more than 4 GiB from a pipe, or more than about 2^32 splats.
pub fn load(path: impl AsRef<Path>) -> Result<Scene> {
    let path = path.as_ref();
    if !path.is_dir() {
        return read(&Bytes::open(path)?, path);
    }
    if path.join("meta.json").is_file() {
        return Err(not_read(&unread::SOG, path));
    }
    Err(Error::malformed(path, "path", "a scene file", "a folder"))
}

/// Loads a scene from the bytes of a file; `path` provides the extension, and is named in errors.
///
/// # Errors
/// As [`load`], for content.
pub fn load_bytes(bytes: &[u8], path: &Path) -> Result<Scene> {
    read(&Bytes::Borrowed(bytes), path)
}

/// Reads a scene of any format from a file's bytes; `path` is for errors and for the extension.
fn read(bytes: &Bytes<'_>, path: &Path) -> Result<Scene> {
    let scene = match sniff(bytes, path) {
        Some(FormatReader {
            read: Some(read), ..
        }) => read(bytes, path),
        Some(known) => Err(not_read(known, path)),
        None => Err(Error::malformed(
            path,
            "format",
            format!("a scene: {}", readable()),
            "none of them, by content and by extension",
        )),
    };
    scene.map_err(|error| match error {
        Error::Limit { what, limit, found } => Error::Limit {
            what: format!("{}: {what}", shown(path)),
            limit,
            found,
        },
        other => other,
    })
}

fn sniff(bytes: &[u8], path: &Path) -> Option<&'static FormatReader> {
    // Gzip files, such as SPZ of versions 2 and 3, are identified by their extension first.
    let packed = (unread::GZIP.has_mark)(bytes);
    let by_mark = || FORMATS.into_iter().find(|f| (f.has_mark)(bytes));
    let extension = path.extension().and_then(|extension| extension.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let by_extension = || {
        let mut formats = FORMATS.into_iter();
        formats.find(|f| f.extensions.contains(&extension.as_str()))
    };
    if packed {
        by_extension().or_else(by_mark)
    } else {
        by_mark().or_else(by_extension)
    }
}

/// The error for a format that is known but not read.
fn not_read(known: &FormatReader, path: &Path) -> Error {
    let name = known.format.name();
    let found = if known.format == unread::GZIP.format {
        "a gzip file (unpack it first, with gunzip)".to_owned()
    } else if known.format == unread::MESH.format {
        "a mesh (`quadrille mesh` draws it)".to_owned()
    } else if known.format == unread::GLTF.format {
        format!("{name}, whose splats are not read yet (`quadrille mesh` draws its meshes)")
    } else {
        format!(
            "{name}, which is not read yet (convert it, for example with SuperSplat's export as PLY)"
        )
    };
    Error::malformed(path, "format", readable(), found)
}

fn readable() -> String {
    let read = FORMATS.into_iter().filter(|f| f.read.is_some());
    let names: Vec<&str> = read.map(|f| f.format.name()).collect();
    names.join(" or ")
}
