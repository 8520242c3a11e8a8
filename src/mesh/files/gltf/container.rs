//! The two forms of a glTF file: JSON alone, or GLB with the JSON and a buffer in chunks.

use std::path::Path;

use crate::error::{Error, Result};

/// Size of a GLB's header and of a chunk's, in bytes.
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;

/// The JSON of a file, and the buffer of a GLB.
pub(crate) fn split<'a>(bytes: &'a [u8], path: &Path) -> Result<(&'a [u8], Option<&'a [u8]>)> {
    if !bytes.starts_with(b"glTF") {
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        return Ok((json, None));
    }
    let wrong = |place: &str, expected: &str, found: String| {
        Err(Error::malformed(path, place, expected, found))
    };
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        let found = format!("{} bytes", bytes.len());
        return wrong("GLB header", "12 bytes", found);
    };
    if version != 2 {
        return wrong("GLB header", "version 2", version.to_string());
    }
    if length < HEADER_BYTES || length > bytes.len() {
        let expected = format!("a length of 12 to {}, the file's", bytes.len());
        return wrong("GLB header", &expected, length.to_string());
    }
    let (mut rest, mut chunks) = (&bytes[HEADER_BYTES..length], Vec::new());
    // The JSON comes first and the buffer second, if at all; others may be skipped.
    while chunks.len() < 2 && !rest.is_empty() {
        let place = format!("GLB chunk {}", chunks.len());
        let (Some(size), Some(kind)) = (word(rest, 0), word(rest, 4)) else {
            let found = format!("{} bytes", rest.len());
            return wrong(&place, "a header of 8 bytes", found);
        };
        let body = &rest[CHUNK_HEADER_BYTES..];
        if size > body.len() {
            let found = format!("{} left", body.len());
            return wrong(&place, &format!("{size} bytes"), found);
        }
        chunks.push((kind, &body[..size]));
        rest = &body[size..];
    }
    let chunk = |at: usize, mark: &[u8; 4]| {
        let chunk = chunks
            .get(at)
            .filter(|(kind, _)| word(mark, 0) == Some(*kind));
        chunk.map(|(_, body)| *body)
    };
    match chunk(0, b"JSON") {
        Some(json) => Ok((json, chunk(1, b"BIN\0"))),
        None => wrong("GLB chunk 0", "JSON", "another kind or none".into()),
    }
}

/// The number of 32 bits at `at`.
fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}
