//! Known formats that are not supported, so that errors can name them.

use crate::scene::scene_file::{FormatReader, SceneFormat};

/// PLY with chunks of packed splats, from the editor SuperSplat.
pub(super) const COMPRESSED_PLY: FormatReader = FormatReader {
    has_mark: |bytes| {
        let header = &bytes[..bytes.len().min(HEADER_BYTES)];
        let mut lines = header.split(|b| matches!(b, b'\n' | b'\r'));
        header.starts_with(b"ply") && lines.any(|line| line == b"property uint packed_position")
    },
    ..unread("compressed PLY", &[])
};

/// `.spz`, Niantic's packed splats. Versions 2 and 3 are gzip files, which only the extension identifies.
pub(super) const SPZ: FormatReader = FormatReader {
    has_mark: |bytes| bytes.starts_with(b"NGSP"),
    ..unread("SPZ", &["spz"])
};

/// SOG: lossless WebP pictures with codebooks, in a zip or a folder.
pub(super) const SOG: FormatReader = FormatReader {
    has_mark: |bytes| bytes.starts_with(b"PK\x03\x04"),
    ..unread("SOG", &["sog"])
};

/// glTF with `KHR_gaussian_splatting`.
pub(super) const GLTF: FormatReader = FormatReader {
    has_mark: |bytes| bytes.starts_with(b"glTF"),
    ..unread("glTF", &["glb", "gltf"])
};

/// `.ksplat`, of the GaussianSplats3D viewer.
pub(super) const KSPLAT: FormatReader = unread(".ksplat", &["ksplat"]);

/// Meshes of formats that hold no splats.
pub(super) const MESH: FormatReader = unread("mesh", &["obj", "bpt", "stl", "off"]);

/// Gzip files of any content.
pub(super) const GZIP: FormatReader = FormatReader {
    has_mark: |bytes| bytes.starts_with(b"\x1f\x8b"),
    ..unread("gzip", &["gz"])
};

/// Length of the start of a PLY file that is searched for packed properties, in bytes.
const HEADER_BYTES: usize = 1 << 16;

const fn unread(name: &'static str, extensions: &'static [&'static str]) -> FormatReader {
    FormatReader {
        format: SceneFormat(name),
        has_mark: |_| false,
        extensions,
        read: None,
    }
}
