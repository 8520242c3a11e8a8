//! Lines and words of the text formats.

use std::borrow::Cow;

use super::build::finite;
use crate::error::Mismatch;
use crate::scene::formats::ply::quoted;

/// Lines of a text with their numbers, from 1. Lines that end in a backslash, comments aside, go
/// on in the next one and keep the first one's number.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    /// What ends a line: a newline, or in a text without any a carriage return.
    mark: u8,
    number: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `text`, without its byte order mark.
    pub(super) fn new(text: &'a [u8]) -> Self {
        let rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mark = if rest.contains(&b'\n') { b'\n' } else { b'\r' };
        Self {
            rest,
            mark,
            number: 0,
        }
    }

    fn plain(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == self.mark);
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
        self.number += 1;
        Some(line.trim_ascii())
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.plain()?;
        let number = self.number;
        if line.starts_with(b"#") || !line.ends_with(b"\\") {
            return Some((number, line.into()));
        }
        let (mut joined, mut more) = (Vec::new(), Some(line));
        while let Some(part) = more {
            let Some(open) = part.strip_suffix(b"\\") else {
                joined.extend_from_slice(part);
                break;
            };
            joined.extend_from_slice(open);
            joined.push(b' ');
            more = self.plain();
        }
        Some((number, joined.into()))
    }
}

/// The first word of `line` and the rest, trimmed.
pub(crate) fn keyword(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace);
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    (word, rest.trim_ascii())
}

/// The words of `line` before a comment.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = line.iter().position(|byte| *byte == b'#');
    line[..end.unwrap_or(line.len())]
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// A name, of any bytes.
pub(crate) fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii()).into_owned()
}

pub(crate) fn number(word: &[u8]) -> Result<f32, Mismatch> {
    let parsed = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
    let number = parsed.ok_or_else(|| ("a number".to_owned(), quoted(word)))?;
    match finite([number]) {
        Ok([number]) => Ok(number),
        Err((expected, _)) => Err((expected, quoted(word))),
    }
}

/// The first `N` of `words` as finite numbers.
pub(crate) fn numbers<'a, const N: usize>(
    words: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<[f32; N], Mismatch> {
    let mut values = [0.0; N];
    for (at, value) in values.iter_mut().enumerate() {
        let word = words.next();
        *value = number(word.ok_or_else(|| (format!("{N} numbers"), at.to_string()))?)?;
    }
    Ok(values)
}

/// A whole number that fits 32 bits.
pub(crate) fn whole(word: &[u8]) -> Result<u32, Mismatch> {
    let parsed = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
    parsed.ok_or_else(|| ("a whole number".into(), quoted(word)))
}
