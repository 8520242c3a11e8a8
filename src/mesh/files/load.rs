//! The front door: any mesh file to a mesh.

use std::path::Path;

use super::bezier::BezierPatches;
use super::folder::Folder;
use super::mesh::{Loaded, Resolve};
use super::text::Lines;
use super::{gltf, obj, ply};
use crate::error::{Error, Result};
use crate::scene::bytes::Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MeshFormat {
    Obj,
    Ply,
    Gltf,
    Bezier,
}

impl MeshFormat {
    /// The format of a file, from its first bytes, else from its extension, else from its text.
    fn sniff(bytes: &[u8], path: &Path) -> Option<Self> {
        const MAGIC: [(&[u8], MeshFormat); 3] = [
            (b"ply\n", MeshFormat::Ply),
            (b"ply\r", MeshFormat::Ply),
            (b"glTF", MeshFormat::Gltf),
        ];
        if let Some((_, format)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Some(*format);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("obj") => Some(Self::Obj),
            Some("ply") => Some(Self::Ply),
            Some("gltf" | "glb") => Some(Self::Gltf),
            Some("bpt") => Some(Self::Bezier),
            Some(_) => None,
            // Files of patches mostly have no extension, and a pipe has none.
            None => match bytes.trim_ascii_start().first()? {
                b'0'..=b'9' => Some(Self::Bezier),
                b'{' => Some(Self::Gltf),
                _ if Lines::new(bytes).any(|(_, line)| line.starts_with(b"v ")) => Some(Self::Obj),
                _ => None,
            },
        }
    }
}

/// The content of a file: polygons, or the patches of a Bezier surface.
#[derive(Debug, Clone)]
pub enum MeshFile {
    /// Polygons.
    Polygons(Box<Loaded>),
    /// Bicubic Bezier patches.
    Patches(BezierPatches),
}

impl MeshFile {
    /// Reads any mesh file, or `-` for standard input.
    ///
    /// # Errors
    /// As [`load`] and [`BezierPatches::load`].
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = open(path)?;
        if MeshFormat::sniff(&bytes, path) == Some(MeshFormat::Bezier) {
            return BezierPatches::parse(&bytes, path).map(Self::Patches);
        }
        let mut folder = Folder::of(path);
        let loaded = parse(&bytes, path, &mut |name| folder.read(name))?;
        Ok(Self::Polygons(Box::new(loaded)))
    }
}

fn open(path: &Path) -> Result<Bytes<'static>> {
    if path.is_dir() {
        return Err(Error::malformed(path, "path", "a mesh file", "a folder"));
    }
    Bytes::open(path)
}

/// Reads the mesh in `path`: OBJ, PLY, glTF 2.0 or GLB.
///
/// Files that it names are read only from its own folder and the folders in it. Where materials or
/// textures cannot be read, the mesh comes without them and with a warning.
///
/// # Errors
/// [`Error::Read`] when a file that is needed cannot be read; [`Error::Malformed`] when the content is
/// not what its format demands, says where, what was expected and found; [`Error::Limit`] for more
/// than 2^26 triangles or vertices, or more than 4 GiB in the files that it names.
pub fn load(path: &Path) -> Result<Loaded> {
    let bytes = open(path)?;
    let mut folder = Folder::of(path);
    parse(&bytes, path, &mut |name| folder.read(name))
}

/// Reads a mesh from a file's bytes; `named` is for errors and for the extension, `resolve` gives
/// the files that the mesh names.
///
/// # Errors
/// As [`load`], for content, and those of `resolve` for files that are needed.
pub fn parse(bytes: &[u8], named: &Path, resolve: &mut Resolve<'_>) -> Result<Loaded> {
    match MeshFormat::sniff(bytes, named) {
        Some(MeshFormat::Obj) => obj::read(bytes, named, resolve),
        Some(MeshFormat::Ply) => ply::read(bytes, named),
        Some(MeshFormat::Gltf) => gltf::read(bytes, named, resolve),
        Some(MeshFormat::Bezier) => {
            let expected = "polygons: OBJ, PLY or glTF";
            Err(Error::malformed(
                named,
                "format",
                expected,
                "Bezier patches",
            ))
        }
        None => {
            let expected = "a mesh: a file that ends in .obj, .ply, .gltf, .glb or .bpt";
            let found = match named.extension().and_then(|e| e.to_str()) {
                Some("splat" | "spz" | "ksplat") => "splats (draw them with `quadrille render`)",
                Some(_) => "another extension",
                None => "text of another kind, and no extension",
            };
            Err(Error::malformed(named, "format", expected, found))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content_before_extension() {
        let sniff = |bytes: &[u8], path: &str| MeshFormat::sniff(bytes, Path::new(path));
        assert_eq!(sniff(b"ply\n", "a.obj"), Some(MeshFormat::Ply));
        assert_eq!(sniff(b"glTF", "a.obj"), Some(MeshFormat::Gltf));
        assert_eq!(sniff(b"v 0 0 0", "a.OBJ"), Some(MeshFormat::Obj));
        assert_eq!(sniff(b"{}", "a.gltf"), Some(MeshFormat::Gltf));
        assert_eq!(sniff(b"{}", "a"), Some(MeshFormat::Gltf));
        assert_eq!(sniff(b" 32\n1,2", "-"), Some(MeshFormat::Bezier));
        assert_eq!(sniff(b"32\n1,2", "a.bpt"), Some(MeshFormat::Bezier));
        assert_eq!(sniff(b"# a cube\nv 0 0 0\n", "-"), Some(MeshFormat::Obj));
        assert_eq!(sniff(b"October", "README"), None);
        assert!(load(Path::new("no such file.obj")).is_err());
        assert!(load(Path::new("src")).is_err());
    }
}
