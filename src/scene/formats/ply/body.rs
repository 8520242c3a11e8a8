//! Walking a body without reading it: skips elements, and checks that the file holds what its
//! header claims.

use std::path::Path;

use super::header::{Element, Encoding, Header, Kind, Scalar};
use super::lines::{Lines, quoted};
use super::number;
use crate::error::{Error, Result};

impl Header {
    /// Walks the whole body in `bytes`, the file that this header was parsed from: every element
    /// must be there, every list must end. Values are not looked at. Bytes after the last element
    /// are allowed.
    ///
    /// Costs no more than reading the file once, whatever the header claims.
    ///
    /// # Errors
    /// [`Error::File`] with the element and row, what was expected and what was found.
    pub fn check_body(&self, bytes: &[u8], path: &Path) -> Result<()> {
        if self.encoding == Encoding::Ascii {
            let mut lines = Lines::body(bytes, self.body_offset);
            self.elements
                .iter()
                .try_for_each(|element| skip_text(element, &mut lines, path))
        } else {
            let mut offset = self.body_offset;
            for element in &self.elements {
                offset = skip_binary(element, self.encoding, bytes, offset, path)?;
            }
            Ok(())
        }
    }
}

/// Where in a file an error is: a row of an element.
pub(crate) fn row_place(element: &Element, row: u64) -> String {
    format!(
        "element \"{}\", row {row} of {}",
        element.name, element.count
    )
}

/// The least size of a row in bytes: lists are taken to be empty, text to be one character a value
/// and a separator.
pub(crate) fn least_row_bytes(element: &Element, encoding: Encoding) -> usize {
    if encoding == Encoding::Ascii {
        return 2 * element.properties.len();
    }
    let size = |kind| match kind {
        Kind::Scalar(scalar) | Kind::List { count: scalar, .. } => Scalar::size_bytes(scalar),
    };
    element.properties.iter().map(|p| size(p.kind)).sum()
}

/// Refuses an element that the `left` bytes of the file cannot hold, before anything is allocated
/// for its rows.
pub(crate) fn check_room(
    element: &Element,
    encoding: Encoding,
    left: usize,
    path: &Path,
) -> Result<()> {
    let row = least_row_bytes(element, encoding) as u128;
    // The last separator of a text may be missing.
    let slack = u128::from(encoding == Encoding::Ascii);
    let needed = row * u128::from(element.count);
    if needed > left as u128 + slack {
        return Err(Error::file(
            path,
            format!("element \"{}\"", element.name),
            format!(
                "{needed} bytes at least for {} rows of {row}",
                element.count
            ),
            format!("{left} bytes left in the file"),
        ));
    }
    Ok(())
}

/// The offset after `element`, which starts at `offset` of a binary file.
pub(crate) fn skip_binary(
    element: &Element,
    encoding: Encoding,
    bytes: &[u8],
    offset: usize,
    path: &Path,
) -> Result<usize> {
    check_room(element, encoding, bytes.len().saturating_sub(offset), path)?;
    if let Some(stride) = element.stride_bytes() {
        // A stride of 0 goes with any count; else `check_room` keeps the product in the file.
        let rows = usize::try_from(element.count).unwrap_or(0);
        return Ok(offset + stride.saturating_mul(rows));
    }
    let mut at = offset;
    for row in 0..element.count {
        for property in &element.properties {
            at = skip_value(property.kind, encoding, bytes, at).map_err(|(expected, found)| {
                let place = format!("{}, \"{}\"", row_place(element, row), property.name);
                Error::file(path, place, expected, found)
            })?;
        }
    }
    Ok(at)
}

/// The offset after the value of kind `kind` at `at`; or what was expected and found.
pub(crate) fn skip_value(
    kind: Kind,
    encoding: Encoding,
    bytes: &[u8],
    at: usize,
) -> Result<usize, (String, String)> {
    let left = bytes.len().saturating_sub(at);
    let short = |expected: String| (expected, format!("{left} bytes left in the file"));
    match kind {
        Kind::Scalar(scalar) => {
            let size = scalar.size_bytes();
            if size > left {
                return Err(short(format!("{size} bytes")));
            }
            Ok(at + size)
        }
        Kind::List { count, item } => {
            let size = count.size_bytes();
            if size > left {
                return Err(short(format!("a list count of {size} bytes")));
            }
            let value = number::read(&bytes[at..], count, encoding);
            let Some(items) = number::whole(value) else {
                return Err(("a list count".into(), format!("{value}")));
            };
            let list = items.saturating_mul(item.size_bytes());
            if list > left - size {
                return Err(short(format!("a list of {items} items, {list} bytes")));
            }
            Ok(at + size + list)
        }
    }
}

/// Moves `lines` past `element`, and checks that each row has as many values as it should.
pub(crate) fn skip_text(element: &Element, lines: &mut Lines<'_>, path: &Path) -> Result<()> {
    if element.properties.is_empty() {
        return Ok(());
    }
    for row in 0..element.count {
        text_row(element, row, lines, path, |_, _| Ok(()))?;
    }
    Ok(())
}

/// Reads a row of a text body: calls `value` with the index and the text of each scalar property.
pub(crate) fn text_row<'a>(
    element: &Element,
    row: u64,
    lines: &mut Lines<'a>,
    path: &Path,
    mut value: impl FnMut(usize, &'a [u8]) -> Result<(), (String, String)>,
) -> Result<()> {
    let wrong = |what: &str, expected: &str, found: String| {
        Error::file(
            path,
            format!("{}{what}", row_place(element, row)),
            expected,
            found,
        )
    };
    let line = lines
        .next_filled()
        .ok_or_else(|| wrong("", "a line", "the end of the file".into()))?;
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    for (index, property) in element.properties.iter().enumerate() {
        let at = |(expected, found): (String, String)| {
            wrong(&format!(", \"{}\"", property.name), &expected, found)
        };
        let end = || ("a value".to_owned(), "the end of the line".to_owned());
        let word = words.next().ok_or_else(|| at(end()))?;
        match property.kind {
            Kind::Scalar(_) => value(index, word).map_err(at)?,
            Kind::List { .. } => {
                let items = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
                let items: usize =
                    items.ok_or_else(|| at(("a list count".into(), quoted(word))))?;
                if items > 0 && words.nth(items - 1).is_none() {
                    return Err(at((format!("{items} items"), "the end of the line".into())));
                }
            }
        }
    }
    match words.next() {
        None => Ok(()),
        Some(word) => Err(wrong("", "the end of the line", quoted(word))),
    }
}
