//! Polygon meshes with materials and textures, and the readers of their files.

mod bezier;
mod build;
mod camera;
mod folder;
mod gltf;
mod light;
mod material;
mod mesh;
mod mtl;
mod obj;
mod origin;
mod ply;
mod sides;
mod text;
mod texture;

use std::path::Path;

use folder::{Folder, ReadFirst};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::bytes::FileBytes;
use text::Lines;

pub use bezier::BezierPatches;
pub use camera::FileCamera;
pub use light::{LightKind, PunctualLight, SpotCone};
pub use material::{
    Material, Microfacets, Sampler, ShaderEffects, Texture, TextureFilter, UvMap, Wrap,
};
pub use mesh::bounds;
pub use mesh::{Corner, Crease, DEFAULT_CREASE, Loaded, Mesh, NONE, Smoothing};
pub use quadrille_scene::formats::gltf::Resolve;
pub use sides::rims;
pub use texture::TEXTURE_BYTES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MeshFormat {
    Obj,
    Ply,
    Gltf,
    Bezier,
}

impl MeshFormat {
    /// Format of a file by its first bytes, else by its extension, else by its text.
    fn sniff(bytes: &[u8], path: &Path) -> Option<Self> {
        if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
            return Some(Self::Ply);
        }
        if bytes.starts_with(b"glTF") {
            return Some(Self::Gltf);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("obj") => Some(Self::Obj),
            Some("ply") => Some(Self::Ply),
            Some("gltf" | "glb") => Some(Self::Gltf),
            Some("bpt") => Some(Self::Bezier),
            Some(_) => None,
            // Files of patches often have no extension, and a pipe never has one.
            None => match bytes.trim_ascii_start().first()? {
                b'0'..=b'9' => Some(Self::Bezier),
                b'{' => Some(Self::Gltf),
                _ if Lines::new(bytes).any(|(_, line)| line.starts_with(b"v ")) => Some(Self::Obj),
                _ => None,
            },
        }
    }
}

/// Content of a mesh file: polygons, or the patches of a Bezier surface.
#[derive(Debug, Clone)]
pub enum MeshFile {
    /// Polygons of an OBJ, PLY or glTF file.
    Polygons(Box<Loaded>),
    /// Bicubic Bezier patches.
    Patches(BezierPatches),
}

impl MeshFile {
    /// Reads any mesh file, or standard input for `-`. The texels of its textures take at most `texture_bytes`;
    /// further textures are left out with a warning.
    pub fn load(path: &Path, texture_bytes: u64) -> Result<Self> {
        let bytes = open(path)?;
        if MeshFormat::sniff(&bytes, path) == Some(MeshFormat::Bezier) {
            return BezierPatches::parse(&bytes, path).map(Self::Patches);
        }
        Ok(Self::Polygons(Box::new(parse_in_folder(&bytes, path, texture_bytes)?)))
    }
}

fn open(path: &Path) -> Result<FileBytes<'static>> {
    Error::malformed_if(path.is_dir(), path, "path", "a mesh file", "a folder")?;
    FileBytes::open(path)
}

fn parse_in_folder(bytes: &[u8], path: &Path, texture_bytes: u64) -> Result<Loaded> {
    let mut folder = Folder::of(path);
    let mut loaded = parse_reading(bytes, path, texture_bytes, &mut |names| folder.read(names))?;
    let (files, warnings) = folder.into_files();
    loaded.files = files;
    loaded.warnings.extend(warnings);
    Ok(loaded)
}

/// Reads the mesh in `path`: OBJ, PLY, glTF 2.0 or GLB.
///
/// Files that the mesh names are read only from its own folder and the folders below it. If a file does not exist, a
/// file is read whose name differs in path separators, percent codes or letter case, or else the file that matches
/// the longest end of the name; a warning reports it. Materials and textures that cannot be read are left out with a
/// warning, and so are textures beyond 1 GiB of texels.
///
/// # Errors
/// [`Error::Read`] when a required file cannot be read; [`Error::Malformed`], with the place, when the
/// content does not follow its format; [`Error::Limit`] for more than 2^26 triangles or vertices, or
/// more than 4 GiB in the files that the mesh names; [`Error::Cancelled`], while reading ends on a thread of its own.
pub fn load(path: &Path, task: &Task) -> Result<Loaded> {
    quadrille_base::span!("load");
    let path = path.to_owned();
    task.uninterrupted(move || parse_in_folder(&open(&path)?, &path, TEXTURE_BYTES))?
}

/// Reads a mesh from the bytes of a file. `named` supplies the extension and the path in errors;
/// `resolve` returns the content of the files that the mesh names.
pub fn parse(bytes: &[u8], named: &Path, resolve: &mut Resolve<'_>) -> Result<Loaded> {
    parse_reading(bytes, named, TEXTURE_BYTES, &mut |names| {
        let mut first_error = Error::malformed(named, "file name", "a name", "none");
        for (at, name) in names.iter().enumerate() {
            match resolve(name) {
                Err(error) if at == 0 => first_error = error,
                Err(_) => {}
                found => return found,
            }
        }
        Err(first_error)
    })
}

fn parse_reading(
    bytes: &[u8],
    named: &Path,
    texture_bytes: u64,
    read: &mut ReadFirst<'_>,
) -> Result<Loaded> {
    let (expected, found) = match MeshFormat::sniff(bytes, named) {
        Some(MeshFormat::Obj) => return obj::read(bytes, named, texture_bytes, read),
        Some(MeshFormat::Ply) => return ply::read(bytes, named, texture_bytes, read),
        Some(MeshFormat::Gltf) => return gltf::read(bytes, named, texture_bytes, read),
        Some(MeshFormat::Bezier) => ("polygons: OBJ, PLY or glTF", "Bezier patches"),
        None => (
            "a mesh: a file that ends in .obj, .ply, .gltf, .glb or .bpt",
            match named.extension().and_then(|e| e.to_str()) {
                Some("splat" | "spz" | "ksplat") => "splats (draw them with `quadrille render`)",
                Some(_) => "another extension",
                None => "no extension, and text of another kind",
            },
        ),
    };
    Err(Error::malformed(named, "format", expected, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_the_format_before_the_extension() {
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
        assert!(load(Path::new("no such file.obj"), &Task::NEVER).is_err());
        assert!(load(Path::new("src"), &Task::NEVER).is_err());
    }
}
