//! Container of a glTF file (JSON, or GLB with JSON and a buffer), and URIs, which contain bytes or name a file beside it.

use std::borrow::Cow;
use std::path::Path;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use quadrille_base::error::{Error, Result};

/// Function that reads a file by its name in a document, relative to that document.
pub type Resolve<'a> = dyn FnMut(&str) -> Result<Vec<u8>> + 'a;

const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
/// Decoder of data URIs. Padding is optional, since some writers omit it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns the JSON of a file, and the buffer if the file is a GLB with one.
pub fn split<'a>(bytes: &'a [u8], path: &Path) -> Result<(&'a [u8], Option<&'a [u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None));
    }
    let wrong = |place: &str, expected: &str, found: String| {
        Err(Error::malformed(path, place, expected, found))
    };
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return wrong("GLB header", "12 bytes", format!("{} bytes", bytes.len()));
    };
    if version != 2 {
        return wrong("GLB header", "version 2", version.to_string());
    }
    if length < HEADER_BYTES || length > bytes.len() {
        let expected = format!("a length from 12 to the {} bytes of the file", bytes.len());
        return wrong("GLB header", &expected, length.to_string());
    }
    let (mut rest, mut chunks) = (&bytes[HEADER_BYTES..length], Vec::new());
    // The first chunk is the JSON and the second, if any, the buffer; the rest is skipped.
    while chunks.len() < 2 && !rest.is_empty() {
        let place = format!("GLB chunk {}", chunks.len());
        let (Some(size), Some(kind)) = (word(rest, 0), word(rest, 4)) else {
            return wrong(&place, "a header of 8 bytes", format!("{} bytes", rest.len()));
        };
        let body = &rest[CHUNK_HEADER_BYTES..];
        if size > body.len() {
            return wrong(
                &place,
                &format!("{size} bytes"),
                format!("{} bytes to the end of the file", body.len()),
            );
        }
        chunks.push((kind, &body[..size]));
        rest = &body[size..];
    }
    let chunk = |at: usize, mark: &[u8; 4]| {
        let (kind, body) = chunks.get(at)?;
        (word(mark, 0) == Some(*kind)).then_some(*body)
    };
    match chunk(0, b"JSON") {
        Some(mut json) => {
            // The chunk is padded with spaces, and by some programs with zeros.
            while let Some(shorter) = json.strip_suffix(b"\0") {
                json = shorter;
            }
            Ok((json, chunk(1, b"BIN\0")))
        }
        None => wrong("GLB chunk 0", "JSON", "another chunk or none".into()),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

/// Returns the content of a URI, or the reason why there is none.
pub fn read_uri(uri: &str, resolve: &mut Resolve<'_>) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, text)) = data.split_once(";base64,") else {
            return Err("a data URI that is not base64".into());
        };
        // Some exporters break long lines.
        let mut text = Cow::Borrowed(text.as_bytes());
        if text.iter().any(u8::is_ascii_whitespace) {
            text.to_mut().retain(|byte| !byte.is_ascii_whitespace());
        }
        return BASE64.decode(text).map_err(|error| format!("a data URI with bad base64: {error}"));
    }
    // Some writers do not percent-encode names. A name with an invalid code is therefore taken literally, and the
    // literal form of a name is tried if its decoded form does not exist.
    let name = percent_decoded(uri).unwrap_or_else(|_| uri.to_owned());
    let found = resolve(&name)
        .or_else(|error| if name == uri { Err(error) } else { resolve(uri).map_err(|_| error) });
    found.map_err(|error| error.to_string())
}

/// Returns a URI with its percent codes replaced, or the reason why it cannot be.
pub fn percent_decoded(uri: &str) -> Result<String, String> {
    let (mut decoded, mut rest) = (Vec::with_capacity(uri.len()), uri.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let mut byte = first;
        if first == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            byte = value.ok_or("a URI with a bad percent code")?;
            rest = &after[2..];
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).map_err(|_| "a URI that is not UTF-8".into())
}
