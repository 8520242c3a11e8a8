//! Lines and words of the text formats.

use std::borrow::Cow;
use std::str::FromStr;

use super::build::finite;
use quadrille_base::error::Mismatch;
use quadrille_base::math::narrow;
use quadrille_scene::formats::ply::{parse_float, quoted};

/// Iterator over lines with their numbers, from 1. A backslash that ends a line, except a comment, joins the next line.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    /// Newline, or carriage return in a text without newlines.
    end: u8,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self { rest, end: if rest.contains(&b'\n') { b'\n' } else { b'\r' }, number: 0 }
    }

    fn plain(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == self.end);
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

pub(crate) fn keyword(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace);
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    (word, rest.trim_ascii())
}

pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = line.iter().position(|byte| *byte == b'#');
    line[..end.unwrap_or(line.len())].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

pub(crate) fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii()).into_owned()
}

pub(super) fn parsed<T: FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

pub(crate) fn number<T: FromStr + Copy + Into<f64>>(word: &[u8]) -> Result<T, Mismatch> {
    let parsed: T = parsed(word).ok_or_else(|| ("a number".to_owned(), quoted(word)))?;
    finite([narrow(parsed.into())]).map_err(|(expected, _)| (expected, quoted(word)))?;
    Ok(parsed)
}

pub(crate) fn numbers<'a, T: FromStr + Copy + Into<f64> + Default, const N: usize>(
    words: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<[T; N], Mismatch> {
    let mut values = [T::default(); N];
    for (at, value) in values.iter_mut().enumerate() {
        *value = number(words.next().ok_or_else(|| (format!("{N} numbers"), at.to_string()))?)?;
    }
    Ok(values)
}

/// Parses a number that may be infinite or not a number, in any spelling.
pub(super) fn any_number<T: FromStr + From<f32>>(word: &[u8]) -> Result<T, Mismatch> {
    parse_float(word)
}

/// [`numbers`] that may be infinite or not a number.
pub(super) fn any_numbers<'a, T: FromStr + From<f32> + Copy, const N: usize>(
    words: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<[T; N], Mismatch> {
    let mut values = [T::from(0.0); N];
    for (at, value) in values.iter_mut().enumerate() {
        let word = words.next().ok_or_else(|| (format!("{N} numbers"), at.to_string()))?;
        *value = any_number(word)?;
    }
    Ok(values)
}

pub(crate) fn whole_number(word: &[u8]) -> Result<u32, Mismatch> {
    parsed(word).ok_or_else(|| ("a whole number".into(), quoted(word)))
}
