//! The front door: any mesh file to a mesh.

use std::path::Path;

use super::folder::Folder;
use super::mesh::{Loaded, Resolve};
use super::{gltf, obj, ply};
use crate::error::{Error, Result};
use crate::scene::bytes::Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Obj,
    Ply,
    Gltf,
}

impl Format {
    /// The format of a file, from its first bytes, else from its extension.
    fn sniff(bytes: &[u8], path: &Path) -> Option<Self> {
        const MAGIC: [(&[u8], Format); 3] = [
            (b"ply\n", Format::Ply),
            (b"ply\r", Format::Ply),
            (b"glTF", Format::Gltf),
        ];
        if let Some((_, format)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Some(*format);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("obj") => Some(Self::Obj),
            Some("ply") => Some(Self::Ply),
            Some("gltf" | "glb") => Some(Self::Gltf),
            _ => None,
        }
    }
}

/// Reads the mesh in `path`: OBJ, PLY, glTF 2.0 or GLB.
///
/// Files that it names are read only from its own folder and the folders in it. Where materials or
/// textures cannot be read, the mesh comes without them and with a warning.
///
/// # Errors
/// [`Error::Read`] when a file that is needed cannot be read; [`Error::File`] when the content is
/// not what its format demands, says where, what was expected and found; [`Error::Limit`] for more
/// than 2^26 triangles or vertices, or more than 4 GiB in the files that it names.
pub fn load(path: &Path) -> Result<Loaded> {
    if path.is_dir() {
        return Err(Error::file(path, "path", "a mesh file", "a folder"));
    }
    let bytes = Bytes::open(path)?;
    let mut folder = Folder::of(path);
    parse(&bytes, path, &mut |name| folder.read(name))
}

/// Reads a mesh from a file's bytes; `named` is for errors and for the extension, `resolve` gives
/// the files that the mesh names.
///
/// # Errors
/// As [`load`], for content, and those of `resolve` for files that are needed.
pub fn parse(bytes: &[u8], named: &Path, resolve: &mut Resolve<'_>) -> Result<Loaded> {
    match Format::sniff(bytes, named) {
        Some(Format::Obj) => obj::read(bytes, named, resolve),
        Some(Format::Ply) => ply::read(bytes, named),
        Some(Format::Gltf) => gltf::read(bytes, named, resolve),
        None => Err(Error::file(
            named,
            "format",
            "a mesh: a file that ends in .obj, .ply, .gltf or .glb",
            "another extension",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content_before_extension() {
        let sniff = |bytes: &[u8], path: &str| Format::sniff(bytes, Path::new(path));
        assert_eq!(sniff(b"ply\n", "a.obj"), Some(Format::Ply));
        assert_eq!(sniff(b"glTF", "a.obj"), Some(Format::Gltf));
        assert_eq!(sniff(b"v 0 0 0", "a.OBJ"), Some(Format::Obj));
        assert_eq!(sniff(b"{}", "a.gltf"), Some(Format::Gltf));
        assert_eq!(sniff(b"{}", "a"), None);
        assert!(load(Path::new("no such file.obj")).is_err());
        assert!(load(Path::new("src")).is_err());
    }
}
