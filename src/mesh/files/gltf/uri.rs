//! URIs in a glTF document: content itself, or a file next to the document.

use std::borrow::Cow;

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
pub(crate) fn read(uri: &str, resolve: &mut Resolve<'_>) -> Result<Vec<u8>, String> {
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

fn percent_decoded(uri: &str) -> Result<Cow<'_, str>, String> {
    if !uri.contains('%') {
        return Ok(uri.into());
    }
    let (mut decoded, mut rest) = (Vec::with_capacity(uri.len()), uri.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            decoded.push(first);
            continue;
        }
        let digit = |at: usize| after.get(at).and_then(|b| char::from(*b).to_digit(16));
        let byte = digit(0).zip(digit(1)).map(|(high, low)| high * 16 + low);
        let byte = byte.and_then(|byte| u8::try_from(byte).ok());
        decoded.push(byte.ok_or("a URI with a bad percent code")?);
        rest = &after[2..];
    }
    let text = String::from_utf8(decoded);
    text.map(Cow::Owned)
        .map_err(|_| "a URI that is not UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use std::path::Path;

    fn get(uri: &str) -> Result<Vec<u8>, String> {
        read(uri, &mut |name| match name {
            "a b.bin" => Ok(vec![1, 2]),
            _ => Err(Error::file(Path::new("a"), name, "a file", "none")),
        })
    }

    #[test]
    fn data_and_files() {
        let data = "data:application/octet-stream;base64,";
        assert_eq!(get(&format!("{data}AAEC")), Ok(vec![0, 1, 2]));
        assert_eq!(get(&format!("{data}AAE=")), Ok(vec![0, 1]));
        assert_eq!(get(&format!("{data}AAE")), Ok(vec![0, 1]));
        assert_eq!(get("a%20b.bin"), Ok(vec![1, 2]));
        for bad in [
            "data:,a",
            "data:;base64,A*",
            "%2",
            "%zz",
            "%ff",
            "http://a",
            "b",
            "file:a",
        ] {
            assert!(get(bad).is_err(), "{bad}");
        }
    }
}
