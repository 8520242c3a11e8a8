use std::io::Read;

use flate2::bufread::GzDecoder;

use super::packed;
use super::{
    ANTIALIASED, AXES_EXTENSION, EXTENSIONS, FORMAT, GZIP_HEADER_BYTES, LOSSES, MAGIC, SpzHeader,
    TOC_ENTRY_BYTES, ZSTD_HEADER_BYTES,
};
use crate::activation::logit;
use crate::encoding::{SceneEncoding, SplatAxes, SplatModel};
use crate::formats::format_reader::SceneSource;
use crate::splats::{MAX_SH_DEGREE, rest_coefficients};
use crate::table::{RawColumns, SplatTable};
use quadrille_base::byte_reader::ByteReader;
use quadrille_base::{Error, Result, Task};

/// Largest ratio of unpacked to packed bytes. No encoder gets near it; it bounds the memory that a header can request.
const MAX_EXPANSION: usize = 1024;
const POSITION_BYTES: usize = 9;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

const MAX_EXTENSION_BYTES: usize = 1 << 20;

struct Unpacked {
    header: SpzHeader,
    /// Streams with the order and the sizes of [`SpzHeader::stream_bytes`].
    streams: [Vec<u8>; 6],
    axes: Option<SplatAxes>,
    unknown_axes: Option<u32>,
}

pub(in crate::formats) fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let is_gzip = source.bytes.starts_with(GZIP_MAGIC);
    let unpacked = if is_gzip { unpack_gzip(source)? } else { unpack_zstd(source)? };
    let Unpacked { header, streams, axes: stated, unknown_axes } = unpacked;
    let mut raw = decode(&header, &streams, source.task)?;
    let axes = stated.or(source.options.axes).unwrap_or(SplatAxes::RUB);
    let unknown_axes = unknown_axes.filter(|_| source.options.axes.is_none());
    raw.flip_axes(axes, source.task)?;
    let packing = if is_gzip { "gzip" } else { "zstd streams" };
    let mut encoding = SceneEncoding::new(format!("{packing}, version {}", header.version), LOSSES);
    encoding.axes = axes;
    encoding.axes_stated = stated.is_some();
    encoding.model = Some(SplatModel::of_flag(header.flags & ANTIALIASED != 0));
    if let Some(code) = unknown_axes {
        encoding.warnings.push(format!(
            "the extension for axes has the unknown code {code}: {axes} is assumed (--axes sets other axes)"
        ));
    }
    Ok(SplatTable::of_raw(raw, source.describe(FORMAT.format, encoding)))
}

fn header(reader: &mut ByteReader<'_>, source: &SceneSource<'_>) -> Result<SpzHeader> {
    let magic = reader.u32("header")?;
    let wrong = |expected: &str, found: String| Err(source.malformed("header", expected, found));
    if magic != MAGIC {
        return wrong("\"NGSP\"", format!("{magic:#010x}"));
    }
    let version = reader.u32("version")?;
    let splats = reader.u32("number of splats")? as usize;
    let [sh_degree, fraction_bits, flags, _] = *reader.take(4, "header")? else {
        return wrong("4 bytes", "fewer".into());
    };
    if !(1..=4).contains(&version) {
        return wrong("version 1 to 4", version.to_string());
    }
    if sh_degree > MAX_SH_DEGREE {
        return wrong("an SH degree of 0 to 4", sh_degree.to_string());
    }
    if fraction_bits > 24 {
        return wrong("at most 24 fraction bits", fraction_bits.to_string());
    }
    let most = (source.bytes.len().saturating_mul(MAX_EXPANSION) / POSITION_BYTES) as u64;
    if splats as u64 > most {
        let expected = format!("at most {most} splats in a file of this size");
        return wrong(&expected, splats.to_string());
    }
    Ok(SpzHeader { version, splats, sh_degree, fraction_bits, flags })
}

/// Reads exactly `size` bytes from `packed`; memory grows with the bytes actually present.
fn unpack(mut packed: impl Read, size: usize, source: &SceneSource<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limited = packed.by_ref().take(size as u64);
    let read = { limited }.read_to_end(&mut bytes);
    let found = match read {
        Ok(count) if count == size => return Ok(bytes),
        Ok(count) => format!("{count} bytes"),
        Err(error) => format!("{error} after {} bytes", bytes.len()),
    };
    Err(source.malformed("packed stream", format!("{size} bytes when unpacked"), found))
}

/// Content of all members of a gzip file. Bytes that begin no member end it, since some programs pad files with zeros.
struct GzipMembers<'a> {
    current: GzDecoder<&'a [u8]>,
}

impl Read for GzipMembers<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let count = self.current.read(buffer)?;
            let rest: &[u8] = self.current.get_ref();
            if count > 0 || buffer.is_empty() || !rest.starts_with(GZIP_MAGIC) {
                return Ok(count);
            }
            self.current = GzDecoder::new(rest);
        }
    }
}

fn unpack_gzip(source: &SceneSource<'_>) -> Result<Unpacked> {
    let bytes: &[u8] = source.bytes;
    let members = GzipMembers { current: GzDecoder::new(bytes) };
    let mut packed = source.task.reader(members);
    let start = unpack(&mut packed, GZIP_HEADER_BYTES, source)?;
    let header = header(&mut ByteReader::new(source.path, &start), source)?;
    if header.version > 3 {
        let found = format!("version {} in gzip", header.version);
        return Err(source.malformed("header", "version 1 to 3", found));
    }
    let mut streams: [Vec<u8>; 6] = Default::default();
    for (stream, size) in streams.iter_mut().zip(header.stream_bytes()) {
        *stream = unpack(&mut packed, size, source)?;
    }
    let mut extensions = Vec::new();
    if let Err(error) = packed.take(MAX_EXTENSION_BYTES as u64 + 1).read_to_end(&mut extensions) {
        return Err(source.malformed("packed stream", "a whole gzip file", error.to_string()));
    }
    Error::check_limit("bytes of extensions", MAX_EXTENSION_BYTES as u64, extensions.len() as u64)?;
    let (axes, unknown_axes) = match header.flags & EXTENSIONS != 0 {
        true => axes_extension(&extensions, source)?,
        false => (None, None),
    };
    Ok(Unpacked { header, streams, axes, unknown_axes })
}

fn unpack_zstd(source: &SceneSource<'_>) -> Result<Unpacked> {
    let bytes: &[u8] = source.bytes;
    let mut reader = ByteReader::new(source.path, bytes);
    let mut header = header(&mut reader, source)?;
    if header.version != 4 {
        let found = format!("version {} without gzip", header.version);
        return Err(source.malformed("header", "version 4", found));
    }
    // Version 4 stores the number of streams in a byte that other versions reserve.
    let stream_count = usize::from(bytes.get(15).copied().unwrap_or(0));
    if stream_count > 6 {
        return Err(source.malformed("header", "at most 6 streams", stream_count.to_string()));
    }
    header.version = 4;
    let toc = reader.u32("offset of the table of contents")? as usize;
    reader.take(12, "header")?;
    let before = toc.checked_sub(ZSTD_HEADER_BYTES).ok_or_else(|| {
        source.malformed("header", "a table of contents after the header", format!("offset {toc}"))
    })?;
    let extensions = reader.take(before, "extensions")?;
    let (axes, unknown_axes) = match header.flags & EXTENSIONS != 0 {
        true => axes_extension(extensions, source)?,
        false => (None, None),
    };
    let table = reader.take(stream_count * TOC_ENTRY_BYTES, "table of contents")?;
    let mut streams: [Vec<u8>; 6] = Default::default();
    let sizes = header.stream_bytes();
    let (entries, _) = table.as_chunks::<TOC_ENTRY_BYTES>();
    for (at, (stream, size)) in streams.iter_mut().zip(sizes).enumerate() {
        let Some(entry) = entries.get(at) else {
            if size == 0 {
                continue;
            }
            let expected = format!("{size} bytes");
            return Err(source.malformed(format!("stream {at}"), expected, "no stream"));
        };
        let word = |half: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&entry[8 * half..8 * half + 8]);
            u64::from_le_bytes(bytes)
        };
        if word(1) != size as u64 {
            let expected = format!("{size} bytes when unpacked");
            return Err(source.malformed(format!("stream {at}"), expected, word(1).to_string()));
        }
        let packed = reader.take(usize::try_from(word(0)).unwrap_or(usize::MAX), "stream")?;
        if size > 0 {
            let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(|e| {
                source.malformed(format!("stream {at}"), "a zstd frame", e.to_string())
            })?;
            *stream = unpack(source.task.reader(decoder), size, source)?;
        }
    }
    Ok(Unpacked { header, streams, axes, unknown_axes })
}

/// Finds the axes in the extensions, which are records of type, length and bytes. An unknown code is the second result.
fn axes_extension(
    bytes: &[u8],
    source: &SceneSource<'_>,
) -> Result<(Option<SplatAxes>, Option<u32>)> {
    let mut reader = ByteReader::new(source.path, bytes);
    while !reader.is_at_end() {
        let kind = reader.u32("type of an extension")?;
        let length = reader.u32("length of an extension")? as usize;
        let body = reader.take(length, "extension")?;
        if kind == AXES_EXTENSION {
            let code = body.first_chunk().map_or(0, |code| u32::from_le_bytes(*code));
            let axes = axes_of(code);
            // Code 0 says that the axes are unspecified.
            return Ok((axes, (axes.is_none() && code != 0).then_some(code)));
        }
    }
    Ok((None, None))
}

/// Axes of a code from 1 to 16: left or right, down or up, back or front, first with a vertical y, then with a vertical z.
fn axes_of(code: u32) -> Option<SplatAxes> {
    const CODES: [&str; 16] = [
        "LDB", "RDB", "LUB", "RUB", "LDF", "RDF", "LUF", "RUF", "LFD", "RFD", "LFU", "RFU", "LBD",
        "RBD", "LBU", "RBU",
    ];
    CODES.get(usize::try_from(code.checked_sub(1)?).ok()?)?.parse().ok()
}

fn decode(header: &SpzHeader, streams: &[Vec<u8>; 6], task: &Task) -> Result<RawColumns> {
    let [positions, opacities, colours, scales, rotations, coefficients] = streams;
    let mut raw = RawColumns::zeroed(header.splats, header.sh_degree);
    let per_row =
        |bytes: &[u8], row: usize| [bytes[3 * row], bytes[3 * row + 1], bytes[3 * row + 2]];
    for row in 0..header.splats {
        task.check()?;
        let (colour, scale) = (per_row(colours, row), per_row(scales, row));
        for axis in 0..3 {
            let value = 3 * row + axis;
            raw.mean[axis][row] = f64::from(match header.version {
                1 => packed::half_position([positions[2 * value], positions[2 * value + 1]]),
                _ => packed::position(per_row(positions, value), header.fraction_bits),
            });
            raw.scale[axis][row] = packed::scale(scale[axis]);
            raw.sh_constant[axis][row] = packed::colour(colour[axis]);
        }
        raw.opacity[row] = logit(f64::from(opacities[row]) / 255.0);
        let q = match header.version {
            1 | 2 => packed::rotation_of_vector(per_row(rotations, row)),
            _ => {
                let word = rotations[4 * row..].first_chunk().copied();
                packed::rotation(u32::from_le_bytes(word.unwrap_or_default()))
            }
        };
        for (column, value) in raw.rotation.iter_mut().zip(q) {
            column[row] = value;
        }
    }
    // In the file, the channels of a coefficient are adjacent.
    let per_channel = rest_coefficients(header.sh_degree);
    for (at, column) in raw.sh_rest.iter_mut().enumerate() {
        task.check()?;
        let (channel, k) = (at / per_channel, at % per_channel);
        let values = coefficients.iter().skip(3 * k + channel).step_by(3 * per_channel);
        for (value, byte) in column.iter_mut().zip(values) {
            *value = packed::coefficient(*byte);
        }
    }
    Ok(raw)
}
