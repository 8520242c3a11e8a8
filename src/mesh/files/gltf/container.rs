//! The two forms of a glTF file: JSON alone, or GLB with the JSON and a buffer in chunks.

use std::path::Path;

use crate::error::{Error, Result};

/// Size of a GLB's header and of a chunk's, in bytes.
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;

pub(crate) struct Parts<'a> {
    pub(crate) json: &'a [u8],
    /// The buffer of a GLB.
    pub(crate) binary: Option<&'a [u8]>,
}

pub(crate) fn split<'a>(bytes: &'a [u8], path: &Path) -> Result<Parts<'a>> {
    if !bytes.starts_with(b"glTF") {
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        return Ok(Parts { json, binary: None });
    }
    let wrong =
        |place: &str, expected: &str, found: String| Err(Error::file(path, place, expected, found));
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
        Some(json) => Ok(Parts {
            json,
            binary: chunk(1, b"BIN\0"),
        }),
        None => wrong("GLB chunk 0", "JSON", "another kind or none".into()),
    }
}

/// The number of 32 bits at `at`.
fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GLB of a claimed length beyond the real one, and of chunks.
    fn glb(beyond: i32, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, content) in chunks {
            body.extend_from_slice(&u32::try_from(content.len()).unwrap().to_le_bytes());
            body.extend_from_slice(*kind);
            body.extend_from_slice(content);
        }
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend_from_slice(&(i32::try_from(body.len()).unwrap() + 12 + beyond).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    #[test]
    fn parts_are_found() {
        let path = Path::new("a.glb");
        let parts = split(b"\xef\xbb\xbf{}", path).unwrap();
        assert_eq!((parts.json, parts.binary), (&b"{}"[..], None));
        let both = glb(
            0,
            &[(b"JSON", b"{} "), (b"BIN\0", b"1234"), (b"BIN\0", b"5")],
        );
        let parts = split(&both, path).unwrap();
        assert_eq!(
            (parts.json, parts.binary),
            (&b"{} "[..], Some(&b"1234"[..]))
        );
    }

    #[test]
    fn sizes_are_checked() {
        let refused = |bytes: &[u8]| split(bytes, Path::new("a.glb")).is_err();
        assert!(refused(&glb(1, &[(b"JSON", b"{}")])) && refused(&glb(-1, &[(b"JSON", b"{}")])));
        assert!(refused(&glb(0, &[])) && refused(&glb(0, &[(b"BIN\0", b"1")])));
        assert!(refused(b"glTF") && refused(b"glTF\x01\0\0\0\x0c\0\0\0"));
    }
}
