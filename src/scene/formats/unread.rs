//! Known formats that are not supported, so that errors can name them.

use super::format_reader::FormatReader;
use crate::scene_file::SceneFormat;

/// Meshes of formats that hold no splats.
pub(super) const MESH: FormatReader = unread("mesh", &["obj", "bpt", "stl", "off"]);

/// Gzip files of any content.
pub(super) const GZIP: FormatReader = FormatReader {
    has_mark: |bytes| bytes.starts_with(b"\x1f\x8b"),
    ..unread("gzip", &["gz"])
};

const fn unread(name: &'static str, extensions: &'static [&'static str]) -> FormatReader {
    FormatReader {
        format: SceneFormat(name),
        has_mark: |_| false,
        extensions,
        reader: None,
    }
}
