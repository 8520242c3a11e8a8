//! Known formats that are not supported, so that errors can name them.

use super::format_reader::FormatReader;
use crate::scene_file::SceneFormat;

pub(super) const MESH: FormatReader = unread("mesh", &["obj", "bpt", "stl", "off"]);

pub(super) const GZIP: FormatReader =
    FormatReader { has_mark: |bytes| bytes.starts_with(b"\x1f\x8b"), ..unread("gzip", &["gz"]) };

/// Bytes at the start of a zip that are searched for the name of its first file.
const ZIP_START_BYTES: usize = 256;

/// Describes content that is often mistaken for a scene, with a way out: Git LFS pointers, HTML pages, PyTorch checkpoints,
/// arrays, tilesets, and scenes in formats that are not read.
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
        match has(start, b"SuperSplat") {
            true => {
                Some("a viewer of SuperSplat with a scene inside (export the scene as PLY or SOG)")
            }
            false => Some("an HTML page (the download gave a page in place of the file)"),
        }
    } else if is_checkpoint(bytes) {
        Some(
            "a checkpoint of PyTorch, from which its trainer exports splats (the original trainer saves them as \
             point_cloud/iteration_N/point_cloud.ply, gsplat with --save_ply, nerfstudio with `ns-export \
             gaussian-splat`)",
        )
    } else if bytes.starts_with(b"\x93NUMPY")
        || zip_names(bytes).any(|name| name.ends_with(b".npy"))
    {
        Some("arrays of numpy (this program reads splats from files of their own formats)")
    } else if begins(b"RAD0") {
        Some("RAD, levels of detail of Spark (use the file that it was built from)")
    } else if begins(b"LASF") {
        Some("a LAS point cloud, which has no splats")
    } else if begins(b"PAR1") {
        Some("a Parquet table (export the splats as PLY)")
    } else if start.starts_with(b"{") {
        json_stand_in(start)
    } else {
        None
    }
}

/// Describes JSON that points to scenes or belongs to one.
fn json_stand_in(start: &[u8]) -> Option<&'static str> {
    if has(start, b"\"geometricError\"") {
        Some("a tileset of 3D Tiles (give one of its .glb tiles, or export the splats as PLY)")
    } else if has(start, b"\"animTracks\"") {
        Some("settings of SuperSplat's viewer (--cameras reads the cameras in them)")
    } else {
        None
    }
}

/// True if the start of a file contains `word`.
fn has(bytes: &[u8], word: &[u8]) -> bool {
    /// Bytes that are searched: the members of headers are within them.
    const SEARCHED: usize = 4096;
    bytes[..bytes.len().min(SEARCHED)].windows(word.len()).any(|window| window == word)
}

/// True for tensors saved by PyTorch: a zip with `data.pkl`, or a pickle of old versions.
fn is_checkpoint(bytes: &[u8]) -> bool {
    /// Pickled magic number at the start of files of old versions.
    const MAGIC: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
    bytes.starts_with(MAGIC) || zip_names(bytes).any(|name| name.ends_with(b"data.pkl"))
}

fn zip_names(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let start = &bytes[..bytes.len().min(ZIP_START_BYTES)];
    let name = |header: &[u8]| usize::from(u16::from_le_bytes([header[26], header[27]]));
    let is_zip = start.starts_with(b"PK\x03\x04") && start.len() >= 30;
    let end = |start: &[u8]| (30 + name(start)).min(start.len());
    is_zip.then(|| &start[30..end(start)]).into_iter()
}

const fn unread(name: &'static str, extensions: &'static [&'static str]) -> FormatReader {
    FormatReader { format: SceneFormat(name), has_mark: |_| false, extensions, reader: None }
}

#[cfg(test)]
#[path = "tests/unread.rs"]
mod tests;
