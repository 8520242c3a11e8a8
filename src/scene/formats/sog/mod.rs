//! SOG: splats in lossless WebP pictures with codebooks, in a zip or folder. A streamed SOG is a tree over several SOGs.
//!
//! Positions have 16 bits per axis in a logarithmic range, rotations 8 bits per component. Scales, colours and
//! higher coefficients are indices of codebooks; all higher coefficients of a splat are one row of a palette.

mod archive;
mod decode;
mod encode;
mod lod;
mod lod_write;
mod meta;
mod planes;
mod read;
mod rows;
mod textures;
mod write;

pub(super) use encode::zip;
pub(super) use lod_write::{SIZES, is_streamed_part, streamed_order, write_streamed_files};
pub(super) use read::READER;
pub(super) use write::{write, write_files};

use super::format_reader::FormatReader;
use crate::scene_file::SceneFormat;

const NAME: SceneFormat = SceneFormat("SOG");
pub(super) const META: &str = "meta.json";
pub(super) const LOD_META: &str = "lod-meta.json";

/// Files that a SOG in a folder may have. A new SOG replaces them.
pub(super) const FILES: [&str; 8] = [
    "means_l.webp",
    "means_u.webp",
    "scales.webp",
    "quats.webp",
    "sh0.webp",
    "shN_centroids.webp",
    "shN_labels.webp",
    META,
];

const CENTROIDS_PER_ROW: usize = 64;
/// Alpha of quaternions whose largest component, which is omitted, is component 0; the next values mark 1, 2 and 3.
const FIRST_QUATERNION_ALPHA: u8 = 252;

/// Bytes at the start of a JSON file that are searched for the keys of a description.
const SNIFFED_BYTES: usize = 1 << 20;

const LOSSES: &str = "16-bit positions, 8 bits per quaternion component and opacity, codebooks of 256 scales and \
     colours, higher coefficients from a palette of up to 65,536 rows";

pub(super) fn has_key(bytes: &[u8], key: &str) -> bool {
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    let quoted = format!("\"{key}\"");
    start.trim_ascii_start().starts_with(b"{")
        && start.windows(quoted.len()).any(|w| w == quoted.as_bytes())
}

pub(super) const FORMAT: FormatReader = FormatReader {
    format: NAME,
    has_mark: |bytes| {
        bytes.starts_with(b"PK\x03\x04")
            || has_key(bytes, "means") && has_key(bytes, "quats")
            || has_key(bytes, "lodLevels")
    },
    extensions: &["sog", "ssog"],
    reader: Some(READER),
};
