//! Writing of SPZ, versions 3 and 4.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use super::packed;
use super::{
    ANTIALIASED, AXES_EXTENSION, EXTENSIONS, MAGIC, SpzHeader, TOC_ENTRY_BYTES, ZSTD_HEADER_BYTES,
};
use crate::error::{Error, Result};
use crate::scene::encoding::SplatAxes;
use crate::scene::splats::rest_coefficients;
use crate::scene::table::{RawColumns, SplatTable, sigmoid};

/// Bits behind the point of positions, as the format's writer has them: steps of 1/4096 up to 2048.
const FRACTION_BITS: u8 = 12;
/// Level of gzip and zstd, the best that takes no more than seconds for a million splats.
const GZIP_LEVEL: u32 = 9;
const ZSTD_LEVEL: i32 = 19;
/// The format's code of the axes right, up, back.
const RUB_CODE: u32 = 4;

/// A table as the bytes of an SPZ file of version 3 or 4, with the axes of the format's description,
/// which version 4 states.
///
/// # Errors
/// [`Error::Malformed`] for a position beyond the range of the format; `path` is for errors.
pub(in crate::scene::formats) fn write(
    table: &SplatTable,
    version: u32,
    path: &Path,
) -> Result<Vec<u8>> {
    let mut raw = table.raw(path)?;
    raw.flip_axes(SplatAxes::RUB);
    let antialiased = table.encoding.antialiased == Some(true);
    let header = SpzHeader {
        version,
        splats: raw.rows(),
        sh_degree: raw.sh_degree(),
        fraction_bits: FRACTION_BITS,
        flags: if antialiased { ANTIALIASED } else { 0 },
    };
    let streams = streams(&raw, &header, path)?;
    let file = match version {
        4 => zstd_file(&header, &streams),
        _ => gzip_file(&header, &streams),
    };
    file.map_err(|e| Error::write(path, e))
}

fn streams(raw: &RawColumns, header: &SpzHeader, path: &Path) -> Result<[Vec<u8>; 6]> {
    let mut streams: [Vec<u8>; 6] = Default::default();
    let [
        positions,
        opacities,
        colours,
        scales,
        rotations,
        coefficients,
    ] = &mut streams;
    let per_channel = raw.rest_per_channel();
    for row in 0..raw.rows() {
        for axis in 0..3 {
            let value = raw.mean[axis][row];
            let packed = packed::pack_position(value, header.fraction_bits);
            let packed = packed.ok_or_else(|| {
                let expected =
                    "positions from -2048 to 2048, the range of SPZ (crop with --keep-box)";
                Error::malformed(path, format!("row {row}"), expected, value.to_string())
            })?;
            positions.extend(packed);
            colours.push(packed::pack_colour(raw.sh_constant[axis][row]));
            scales.push(packed::pack_scale(raw.scale[axis][row]));
        }
        opacities.push(packed::byte(sigmoid(f64::from(raw.opacity[row])) * 255.0));
        let rotation = packed::pack_rotation(raw.unit_rotation(row));
        rotations.extend(rotation.to_le_bytes());
        for degree in 1..=header.sh_degree {
            for k in rest_coefficients(degree - 1)..rest_coefficients(degree) {
                for channel in 0..3 {
                    let value = raw.sh_rest[channel * per_channel + k][row];
                    coefficients.push(packed::pack_coefficient(value, degree));
                }
            }
        }
    }
    Ok(streams)
}

fn header_bytes(header: &SpzHeader, last: u8) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(header.version.to_le_bytes());
    let splats = u32::try_from(header.splats).map_err(io::Error::other)?;
    bytes.extend(splats.to_le_bytes());
    bytes.extend([header.sh_degree, header.fraction_bits, header.flags, last]);
    Ok(bytes)
}

fn gzip_file(header: &SpzHeader, streams: &[Vec<u8>; 6]) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
    packer.write_all(&header_bytes(header, 0)?)?;
    for stream in streams {
        packer.write_all(stream)?;
    }
    packer.finish()
}

fn zstd_file(header: &SpzHeader, streams: &[Vec<u8>; 6]) -> io::Result<Vec<u8>> {
    let used = if header.sh_degree == 0 { 5 } else { 6 };
    let mut extension = Vec::new();
    for word in [AXES_EXTENSION, 4, RUB_CODE] {
        extension.extend(word.to_le_bytes());
    }
    let header = SpzHeader {
        flags: header.flags | EXTENSIONS,
        ..*header
    };
    let count = u8::try_from(used).map_err(io::Error::other)?;
    let mut file = header_bytes(&header, count)?;
    let toc = u32::try_from(ZSTD_HEADER_BYTES + extension.len()).map_err(io::Error::other)?;
    file.extend(toc.to_le_bytes());
    file.resize(ZSTD_HEADER_BYTES, 0);
    file.extend(extension);
    // Given the whole stream, the encoder takes tables of the stream's size, not of the level's window.
    let packed: io::Result<Vec<Vec<u8>>> = streams[..used]
        .par_iter()
        .map(|stream| zstd::bulk::compress(stream, ZSTD_LEVEL))
        .collect();
    let mut body = Vec::new();
    let mut table = Vec::with_capacity(used * TOC_ENTRY_BYTES);
    for (stream, packed) in streams.iter().zip(packed?) {
        table.extend((packed.len() as u64).to_le_bytes());
        table.extend((stream.len() as u64).to_le_bytes());
        body.extend(packed);
    }
    file.extend(table);
    file.extend(body);
    Ok(file)
}
