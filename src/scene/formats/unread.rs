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

/// Names the content of a file that was saved in place of a scene: a pointer of Git LFS, or a page.
pub(super) fn stand_in(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let begins = |with: &[u8]| {
        let start = start.get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    if begins(b"version https://git-lfs") {
        Some("a Git LFS pointer (fetch the file itself with `git lfs pull`)")
    } else if begins(b"<!doctype html") || begins(b"<html") {
        Some("an HTML page (the download gave a page in place of the file)")
    } else {
        None
    }
}

const fn unread(name: &'static str, extensions: &'static [&'static str]) -> FormatReader {
    FormatReader {
        format: SceneFormat(name),
        has_mark: |_| false,
        extensions,
        reader: None,
    }
}
