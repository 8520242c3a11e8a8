//! The front door: any scene file to splats.

use std::path::Path;

use super::bytes::Bytes;
use super::dropped::Dropped;
use super::formats::{dot_splat, ply};
use super::splats::Splats;
use crate::error::{Error, Result};

/// A scene as read from a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Scene {
    /// The splats, activated; bad rows are gone.
    pub splats: Splats,
    /// Rows of the file that held no splat.
    pub dropped: Dropped,
    /// Name of the profile that the file was trained for, where it says so.
    pub profile_hint: Option<&'static str>,
    /// The format that the file turned out to be.
    pub format: Format,
    /// Comments of the file, in order.
    pub comments: Vec<String>,
    /// Size of the file in bytes.
    pub file_bytes: u64,
}

/// A format of scene files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// PLY as 3DGS trainers write it.
    Ply,
    /// PLY with chunks of packed splats, from the editor SuperSplat.
    CompressedPly,
    /// `.splat`: 32 bytes a splat.
    DotSplat,
    /// `.spz`, Niantic's packed splats.
    Spz,
    /// SOG: lossless WebP pictures with codebooks, in a zip or a folder.
    Sog,
    /// glTF with `KHR_gaussian_splatting`.
    Gltf,
    /// `.ksplat`, of the GaussianSplats3D viewer.
    Ksplat,
}

impl Format {
    /// The format's name, as outputs and errors give it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ply => "PLY",
            Self::CompressedPly => "compressed PLY",
            Self::DotSplat => ".splat",
            Self::Spz => "SPZ",
            Self::Sog => "SOG",
            Self::Gltf => "glTF",
            Self::Ksplat => ".ksplat",
        }
    }

    /// The format of a file, from its first bytes, else from its extension. A compressed PLY looks
    /// like [`Format::Ply`] until its header is read.
    ///
    /// `.splat` and `.ksplat` have no mark of their own: only their extension tells. Gzip is the
    /// mark of older SPZ, but of much else besides, so it counts last.
    #[must_use]
    pub fn sniff(bytes: &[u8], path: &Path) -> Option<Self> {
        const GZIP: &[u8] = b"\x1f\x8b";
        const MAGIC: [(&[u8], Format); 5] = [
            (b"ply\n", Format::Ply),
            (b"ply\r", Format::Ply),
            (b"NGSP", Format::Spz),
            (b"PK\x03\x04", Format::Sog),
            (b"glTF", Format::Gltf),
        ];
        if let Some((_, format)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Some(*format);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("ply") => Some(Self::Ply),
            Some("splat") => Some(Self::DotSplat),
            Some("spz") => Some(Self::Spz),
            Some("sog") => Some(Self::Sog),
            Some("glb" | "gltf") => Some(Self::Gltf),
            Some("ksplat") => Some(Self::Ksplat),
            _ => bytes.starts_with(GZIP).then_some(Self::Spz),
        }
    }

    /// The error for a format that is known but not read.
    pub(super) fn not_read(self, path: &Path) -> Error {
        Error::file(
            path,
            "format",
            "PLY or .splat (convert it, for example with SuperSplat's export as PLY)",
            format!("{}, which is not read yet", self.name()),
        )
    }
}

/// Reads the scene in `path`, whatever its format; `-` is standard input.
///
/// Files are mapped, not copied; beside the splats' own arrays a file above 32 MiB takes next to
/// no memory.
///
/// # Errors
/// [`Error::Read`] when the file cannot be read; [`Error::File`] when its content is not what its
/// format demands, says what was expected and found; [`Error::Limit`] for more than 4 GiB from a
/// pipe, or more than `MAX_SPLATS` splats.
pub fn load(path: &Path) -> Result<Scene> {
    if path.is_dir() {
        if path.join("meta.json").is_file() {
            return Err(Format::Sog.not_read(path));
        }
        return Err(Error::file(path, "path", "a scene file", "a folder"));
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
    let scene = match Format::sniff(bytes, path) {
        Some(Format::Ply) => ply::read(bytes, path),
        Some(Format::DotSplat) => dot_splat::read(bytes, path),
        Some(other) => Err(other.not_read(path)),
        None => Err(Error::file(
            path,
            "format",
            "a scene: a file that begins with \"ply\" or ends in .splat",
            "neither",
        )),
    };
    scene.map_err(|error| match error {
        Error::Limit { what, limit, found } => Error::Limit {
            what: format!("{}: {what}", path.display()),
            limit,
            found,
        },
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content_before_extension() {
        let sniff = |bytes: &[u8], path: &str| Format::sniff(bytes, Path::new(path));
        assert_eq!(sniff(b"ply\nformat", "a.splat"), Some(Format::Ply));
        assert_eq!(sniff(b"ply\r\nformat", "-"), Some(Format::Ply));
        assert_eq!(sniff(b"NGSP....", "a"), Some(Format::Spz));
        assert_eq!(sniff(b"....", "a.SPLAT"), Some(Format::DotSplat));
        assert_eq!(sniff(b"", "a.ply"), Some(Format::Ply));
        assert_eq!(sniff(b"\x1f\x8b", "-"), Some(Format::Spz));
        assert_eq!(sniff(b"\x1f\x8b", "a.ply"), Some(Format::Ply));
        assert_eq!(sniff(b"....", "a"), None);
    }

    #[test]
    fn known_formats_are_refused_by_name() {
        let error = load_bytes(b"PK\x03\x04", Path::new("a.sog")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("SOG, which is not read yet"), "{text}");
        assert!(load(Path::new("no such file.ply")).is_err());
    }
}
