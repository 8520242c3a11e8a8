//! Packed scene files as the parts that they hold, so that tests and fuzzing change what is inside and pass the
//! checksums outside.

use std::io::{Cursor, Read, Write};

/// Bound on the bytes of a part: mutated files may expand without end.
const MOST_BYTES: u64 = 1 << 22;

/// A name with bytes.
pub(crate) type Part = (String, Vec<u8>);

/// Packs the parts of a file.
pub(crate) type Pack = fn(&[Part]) -> Vec<u8>;

/// A file as its parts.
pub(crate) struct Packed {
    pub(crate) parts: Vec<Part>,
    pub(crate) pack: Pack,
}

impl Packed {
    /// Opens a file that is packed: gzip, zip, SPZ of version 4, or binary glTF.
    pub(crate) fn open(bytes: &[u8]) -> Option<Self> {
        let (parts, pack): (_, Pack) = match bytes.get(..4)? {
            [0x1f, 0x8b, ..] => (gzip_parts(bytes)?, packed_gzip),
            b"PK\x03\x04" => (zip_parts(bytes)?, packed_zip),
            b"NGSP" => (stream_parts(bytes)?, packed_streams),
            b"glTF" => (chunks(bytes)?, packed_chunks),
            _ => return None,
        };
        (!parts.is_empty()).then_some(Self { parts, pack })
    }
}

/// Reads at most [`MOST_BYTES`].
fn read_bounded(reader: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn gzip_parts(bytes: &[u8]) -> Option<Vec<Part>> {
    let raw = read_bounded(flate2::read::GzDecoder::new(bytes))?;
    Some(vec![(String::new(), raw)])
}

fn packed_gzip(parts: &[Part]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), level);
    packer.write_all(&parts[0].1).unwrap();
    packer.finish().unwrap()
}

fn zip_parts(bytes: &[u8]) -> Option<Vec<Part>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let part = |at| {
        let file = zip.by_index(at).ok()?;
        let name = file.name().ok()?.into_owned();
        Some((name, read_bounded(file)?))
    };
    let count = zip::ZipArchive::new(Cursor::new(bytes)).ok()?.len();
    (0..count).map(part).collect()
}

/// Packs a zip without compression. A name that occurs twice is left out the second time.
pub(crate) fn packed_zip(parts: &[Part]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in parts {
        if zip.start_file(name.as_str(), stored).is_ok() {
            zip.write_all(bytes).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}

/// The header of an SPZ of version 4 with its extensions, and its streams unpacked.
fn stream_parts(bytes: &[u8]) -> Option<Vec<Part>> {
    let word = |at: usize| {
        let word = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(word.try_into().ok()?) as usize)
    };
    let (streams, toc) = (usize::from(*bytes.get(15)?), word(16)?);
    let mut parts = vec![("header".to_owned(), bytes.get(..toc)?.to_vec())];
    let mut at = toc.checked_add(16 * streams)?;
    for stream in 0..streams {
        let end = at.checked_add(word(toc + 16 * stream)?)?;
        let raw = read_bounded(zstd::Decoder::new(bytes.get(at..end)?).ok()?)?;
        parts.push((format!("stream {stream}"), raw));
        at = end;
    }
    Some(parts)
}

fn packed_streams(parts: &[Part]) -> Vec<u8> {
    let (mut file, mut sizes, mut packed) = (parts[0].1.clone(), Vec::new(), Vec::new());
    for (_, raw) in &parts[1..] {
        let frame = zstd::encode_all(&raw[..], 1).unwrap();
        sizes.extend((frame.len() as u64).to_le_bytes());
        sizes.extend((raw.len() as u64).to_le_bytes());
        packed.extend(frame);
    }
    file.extend(sizes);
    file.extend(packed);
    file
}

/// The chunks of a binary glTF, named by their types.
fn chunks(bytes: &[u8]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = bytes.get(12..)?;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (kind, after) = after.split_at_checked(4)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (chunk, after) = after.split_at_checked(length)?;
        parts.push((String::from_utf8(kind.to_vec()).ok()?, chunk.to_vec()));
        rest = after;
    }
    Some(parts)
}

fn packed_chunks(parts: &[Part]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, chunk) in parts {
        let padded = chunk.len().next_multiple_of(4);
        body.extend(u32::try_from(padded).unwrap().to_le_bytes());
        body.extend(kind.bytes());
        body.extend(chunk);
        // JSON is padded with blanks, and other chunks with anything.
        body.resize(body.len() + padded - chunk.len(), b' ');
    }
    let length = u32::try_from(12 + body.len()).unwrap();
    let mut file = b"glTF".to_vec();
    file.extend(2_u32.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(body);
    file
}
