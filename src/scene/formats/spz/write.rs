use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use super::packed;
use super::{
    ANTIALIASED, AXES_EXTENSION, EXTENSIONS, MAGIC, SpzHeader, TOC_ENTRY_BYTES, ZSTD_HEADER_BYTES,
};
use crate::activation::sigmoid;
use crate::encoding::{SplatAxes, SplatModel};
use crate::flip::sh_sign;
use crate::splats::rest_coefficients;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::math::order::quantile;
use quadrille_base::math::{byte, whole};
use quadrille_base::{Error, Result, Task};

/// Least number of fraction bits of positions, as in the format's own writer: steps of 1/4096 up to 2048.
const FRACTION_BITS: u8 = 12;
/// Largest number of fraction bits: positions have 23 bits and a sign.
const MAX_FRACTION_BITS: u8 = 23;
/// Steps of positions per standard deviation of small splats. On trained scenes, twice the steps gain at most 0.2 dB, and
/// all bits that the bounds allow make files 15 % larger.
const STEPS_PER_WIDTH: f64 = 8.0;
/// Share of the splats that are narrower than the one that sets the step.
const SMALL_SHARE: f64 = 0.05;
/// Quantisation steps for coefficients of degree 1 and of higher degrees, as in the format's own writer.
const BUCKETS: [u8; 2] = [8, 16];
/// Least width, relative to the mean, of splats with halved buckets. Files are at most 5 % larger than by other writers.
const WIDE: f64 = std::f64::consts::SQRT_2;
const GZIP_LEVEL: u32 = 6;
/// Default level of zstd for streams whose bytes hardly repeat: the slowest level takes forty times as long for 6 % fewer
/// bytes. Coefficients have one level for streams up to [`SMALL_STREAM_BYTES`] and one for larger streams.
const ZSTD_LEVEL: i32 = 3;
const ZSTD_COEFFICIENT_LEVELS: [i32; 2] = [15, 12];
/// Maximum size of streams for the slower level, which then takes at most a third of a second.
const SMALL_STREAM_BYTES: usize = 2 << 20;
/// Splats whose coefficients one thread packs at a time.
const ROWS_PER_BLOCK: usize = 256;
const COEFFICIENTS: usize = 5;
const RUB_CODE: u32 = 4;

/// Writes an SPZ file of version 3 or 4 in the axes of the specification (RUB), which version 4 also states.
pub(in crate::formats) fn write(
    table: &SplatTable,
    version: u32,
    level: Option<u8>,
    path: &Path,
    task: &Task,
) -> Result<Vec<u8>> {
    let (mut raw, rest) = table.raw_apart(path, task)?;
    raw.flip_axes(SplatAxes::RUB, task)?;
    let antialiased = table.model() == Some(SplatModel::Antialiased);
    let header = SpzHeader {
        version,
        splats: raw.rows(),
        sh_degree: table.sh_degree(),
        fraction_bits: fraction_bits(&raw),
        flags: if antialiased { ANTIALIASED } else { 0 },
    };
    let streams = streams(&raw, &rest, &header, task)?;
    let file = match version {
        4 => zstd_file(&header, streams, level, task),
        _ => gzip_file(&header, &streams, level, task),
    };
    file.or_else(|error| task.check().and(Err(Error::write(path, error))))
}

/// Chooses the fraction bits of positions: steps that are small relative to the splats, as far as the bounds of the scene
/// allow. The steps of the format's own writer would shift the splats of a small scene visibly. Widths are those of packed
/// scales, so that a file that is read and written keeps its steps.
fn fraction_bits(raw: &RawColumns) -> u8 {
    let width = |row: usize| {
        let packed = raw.scale.each_ref().map(|column| packed::pack_scale(column[row]));
        let mut logarithms = packed.map(packed::scale);
        logarithms.sort_by(f32::total_cmp);
        f64::from(logarithms[1])
    };
    let mut widths: Vec<f64> = (0..raw.rows()).map(width).collect();
    let narrow = quantile(&mut widths, SMALL_SHARE);
    let needed = (STEPS_PER_WIDTH.log2() - narrow * std::f64::consts::LOG2_E).ceil();
    let least = f64::from(FRACTION_BITS);
    let needed: u8 = whole(needed.max(least).min(f64::from(MAX_FRACTION_BITS)));
    let holds = |bits: &u8| raw.mean.iter().flatten().all(|v| packed::holds_position(*v, *bits));
    (FRACTION_BITS..=needed).rev().find(holds).unwrap_or(FRACTION_BITS)
}

pub(in crate::formats) fn holds_position(centre: [f64; 3]) -> bool {
    let signs = SplatAxes::RUB.signs().into_iter();
    let mut turned = centre.into_iter().zip(signs).map(|(v, sign)| v * f64::from(sign));
    turned.all(|v| packed::holds_position(v, FRACTION_BITS))
}

/// Packs splats into streams. `raw` is in the axes of the format; the higher coefficients `rest` are converted here.
fn streams(
    raw: &RawColumns,
    rest: &[Cow<'_, [f32]>],
    header: &SpzHeader,
    task: &Task,
) -> Result<[Vec<u8>; 6]> {
    let mut streams = header.stream_bytes().map(Vec::with_capacity);
    let [positions, opacities, colours, scales, rotations, coefficients] = &mut streams;
    for row in 0..raw.rows() {
        task.check()?;
        for axis in 0..3 {
            positions.extend(packed::pack_position(raw.mean[axis][row], header.fraction_bits));
            colours.push(packed::pack_colour(raw.sh_constant[axis][row]));
            scales.push(packed::pack_scale(raw.scale[axis][row]));
        }
        opacities.push(byte(sigmoid(f64::from(raw.opacity[row])) * 255.0));
        rotations.extend(packed::pack_rotation(raw.unit_rotation(row)).to_le_bytes());
    }
    if !rest.is_empty() {
        *coefficients = pack_coefficients(rest, &are_wide(scales, opacities), task)?;
    }
    Ok(streams)
}

/// Packs the higher coefficients of all splats; columns are channel-major.
fn pack_coefficients(
    columns: &[Cow<'_, [f32]>],
    are_wide: &[bool],
    task: &Task,
) -> Result<Vec<u8>> {
    let (per_splat, per_channel) = (columns.len(), columns.len() / 3);
    let mut bytes = vec![0; are_wide.len() * per_splat];
    let blocks = bytes.par_chunks_mut(ROWS_PER_BLOCK * per_splat);
    let blocks = blocks.zip(are_wide.par_chunks(ROWS_PER_BLOCK)).enumerate();
    blocks.try_for_each(|(block, (bytes, are_wide))| {
        task.check()?;
        for (at, column) in columns.iter().enumerate() {
            let (channel, k) = (at / per_channel, at % per_channel);
            let bucket = BUCKETS[usize::from(k >= rest_coefficients(1))];
            let sign = sh_sign(SplatAxes::RUB, k);
            let packed = bytes.iter_mut().skip(3 * k + channel).step_by(per_splat);
            let values = column[block * ROWS_PER_BLOCK..].iter().zip(are_wide);
            for (byte, (value, is_wide)) in packed.zip(values) {
                *byte = packed::pack_coefficient(sign * value, bucket >> u8::from(*is_wide));
            }
        }
        Ok(())
    })?;
    Ok(bytes)
}

/// Tells for each splat whether the buckets of its coefficients are halved.
///
/// The effect of a coefficient's error on a picture grows with the area of the splat times its opacity. Few splats cover
/// most of a picture, so buckets are halved if the square root of that product, the width, is at least [`WIDE`] times the
/// mean of the scene. Widths are computed from packed values, so that a file that is read and written keeps its buckets.
fn are_wide(scales: &[u8], opacities: &[u8]) -> Vec<bool> {
    let width = |(scales, opacity): (&[u8], &u8)| {
        let mut logarithms = [0, 1, 2].map(|axis| packed::scale(scales[axis]));
        logarithms.sort_by(f32::total_cmp);
        (f64::from(logarithms[1] + logarithms[2]).exp() * f64::from(*opacity)).sqrt()
    };
    let widths: Vec<f64> = scales.chunks_exact(3).zip(opacities).map(width).collect();
    let mean = widths.iter().sum::<f64>() / widths.len() as f64;
    let is_wide = |width: &f64| *width >= WIDE * mean && *width > 0.0;
    widths.iter().map(is_wide).collect()
}

fn header_bytes(header: &SpzHeader, last: u8) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.extend(MAGIC.to_le_bytes());
    bytes.extend(header.version.to_le_bytes());
    bytes.extend(u32::try_from(header.splats).map_err(io::Error::other)?.to_le_bytes());
    bytes.extend([header.sh_degree, header.fraction_bits, header.flags, last]);
    Ok(bytes)
}

fn gzip_file(
    header: &SpzHeader,
    streams: &[Vec<u8>; 6],
    level: Option<u8>,
    task: &Task,
) -> io::Result<Vec<u8>> {
    let packer = GzEncoder::new(Vec::new(), Compression::new(level.map_or(GZIP_LEVEL, u32::from)));
    let mut packer = task.writer(packer);
    packer.write_all(&header_bytes(header, 0)?)?;
    for stream in streams {
        packer.write_all(stream)?;
    }
    packer.into_inner().finish()
}

fn zstd_file(
    header: &SpzHeader,
    streams: [Vec<u8>; 6],
    level: Option<u8>,
    task: &Task,
) -> io::Result<Vec<u8>> {
    let used = if header.sh_degree == 0 { COEFFICIENTS } else { COEFFICIENTS + 1 };
    let mut extension = Vec::new();
    for word in [AXES_EXTENSION, 4, RUB_CODE] {
        extension.extend(word.to_le_bytes());
    }
    let header = SpzHeader { flags: header.flags | EXTENSIONS, ..*header };
    let mut file = header_bytes(&header, u8::try_from(used).map_err(io::Error::other)?)?;
    let toc = u32::try_from(ZSTD_HEADER_BYTES + extension.len()).map_err(io::Error::other)?;
    file.extend(toc.to_le_bytes());
    file.resize(ZSTD_HEADER_BYTES, 0);
    file.extend(extension);
    // Given the whole stream at once, the encoder sizes its tables by the stream instead of the window of the level.
    let sizes = streams.each_ref().map(Vec::len);
    let streams: Vec<_> = streams.into_iter().take(used).collect();
    let steps = task.steps(sizes.iter().sum::<usize>() as u64);
    let packed = streams.into_par_iter().enumerate().map(|(at, stream)| {
        let default = match at {
            COEFFICIENTS => ZSTD_COEFFICIENT_LEVELS[usize::from(stream.len() > SMALL_STREAM_BYTES)],
            _ => ZSTD_LEVEL,
        };
        let size = stream.len() as u64;
        let level = level.map_or(default, i32::from);
        let packed = task.uninterrupted(move || zstd::bulk::compress(&stream, level));
        steps.advance(size).map_err(io::Error::other)?;
        packed.map_err(io::Error::other)?
    });
    let packed: io::Result<Vec<Vec<u8>>> = packed.collect();
    let mut body = Vec::new();
    let mut table = Vec::with_capacity(used * TOC_ENTRY_BYTES);
    for (size, packed) in sizes.into_iter().zip(packed?) {
        table.extend((packed.len() as u64).to_le_bytes());
        table.extend((size as u64).to_le_bytes());
        body.extend(packed);
    }
    file.extend(table);
    file.extend(body);
    Ok(file)
}

#[cfg(test)]
#[path = "tests/write.rs"]
mod tests;
