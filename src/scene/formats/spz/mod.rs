//! SPZ, Niantic's packed splats: versions 1 to 3 in gzip, version 4 in zstd streams.
//!
//! Positions are 24-bit fixed point (version 1: half floats). Opacities, colours and scales have 8 bits, rotations 8 bits
//! per component or, from version 3 on, 10. Higher coefficients have 8 bits, of which writers use the upper 4 or 5.

mod packed;
mod read;
mod write;

pub(super) use read::read;
pub(super) use write::{holds_position, write};

use std::io::Read;

use super::format_reader::{FormatReader, Reader};
use crate::scene_file::SceneFormat;
use crate::splats::rest_coefficients;

const MAGIC: u32 = 0x5053_474e;

const GZIP_HEADER_BYTES: usize = 16;
const ZSTD_HEADER_BYTES: usize = 32;
const TOC_ENTRY_BYTES: usize = 16;

const ANTIALIASED: u8 = 1;
const EXTENSIONS: u8 = 2;
const AXES_EXTENSION: u32 = 0xADBE_0003;

const LOSSES: &str = "24-bit fixed-point positions, 8 bits per scale, colour, opacity and coefficient (of which \
     most writers use 4 or 5), 10 bits per quaternion component from version 3 on";

pub(super) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat("SPZ"),
    has_mark,
    extensions: &["spz"],
    reader: Some(Reader { table: read, scene: None, batches: None }),
};

/// True if a file starts like version 4, or is a gzip file whose content starts like the other versions.
fn has_mark(bytes: &[u8]) -> bool {
    if bytes.starts_with(&MAGIC.to_le_bytes()) {
        return true;
    }
    let mut start = [0; 4];
    let mut unpacked = flate2::read::GzDecoder::new(bytes);
    bytes.starts_with(b"\x1f\x8b")
        && unpacked.read_exact(&mut start).is_ok()
        && u32::from_le_bytes(start) == MAGIC
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SpzHeader {
    version: u32,
    splats: usize,
    sh_degree: u8,
    fraction_bits: u8,
    flags: u8,
}

impl SpzHeader {
    /// Sizes in bytes of the six streams: positions, opacities, colours, scales, rotations, higher coefficients.
    fn stream_bytes(&self) -> [usize; 6] {
        let position = if self.version == 1 { 6 } else { 9 };
        let rotation = if self.version < 3 { 3 } else { 4 };
        let coefficients = 3 * rest_coefficients(self.sh_degree);
        [position, 1, 3, 3, rotation, coefficients].map(|size| self.splats.saturating_mul(size))
    }
}
