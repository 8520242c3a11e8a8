//! URIs in a glTF document: content itself, or a file next to the document.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::super::mesh::Resolve;

/// Base64 whose padding may be left out, as some writers do.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The content of a URI; or why there is none.
pub(super) fn read(uri: &str, resolve: &mut Resolve<'_>) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, text)) = data.split_once(";base64,") else {
            return Err("a data URI that is not base64".into());
        };
        let decoded = BASE64.decode(text);
        return decoded.map_err(|error| format!("a data URI with bad base64: {error}"));
    }
    let name = percent_decoded(uri)?;
    let scheme = name.split_once(':').map(|(scheme, _)| scheme);
    if scheme.is_some_and(|s| {
        s.chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    }) {
        return Err("a URI with a scheme; files next to the document are read".into());
    }
    resolve(&name).map_err(|error| error.to_string())
}

fn percent_decoded(uri: &str) -> Result<String, String> {
    let (mut decoded, mut rest) = (Vec::with_capacity(uri.len()), uri.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let mut byte = first;
        if first == b'%' {
            let digits = after
                .get(..2)
                .and_then(|digits| std::str::from_utf8(digits).ok());
            let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            byte = value.ok_or("a URI with a bad percent code")?;
            rest = &after[2..];
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).map_err(|_| "a URI that is not UTF-8".into())
}
