//! Reading the values of any element, row by row.

use std::path::Path;

use super::body::{check_room, row_place, skip_binary, skip_text, skip_value};
use super::header::{Element, Encoding, Header, Kind, Scalar};
use super::lines::Lines;
use super::number;
use crate::error::{Error, Result};

/// A body that is read element by element.
pub(crate) struct Values<'a> {
    encoding: Encoding,
    bytes: &'a [u8],
    /// Where the next row starts, in a binary body.
    at: usize,
    lines: Lines<'a>,
    path: &'a Path,
}

/// The values of a row.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Numbers of all properties, one after the other.
    pub(crate) values: Vec<f64>,
    /// Where each property's numbers begin in `values`; one more entry than there are properties.
    pub(crate) starts: Vec<usize>,
}

impl Row {
    /// The numbers of the property at `index`.
    pub(crate) fn property(&self, index: usize) -> &[f64] {
        &self.values[self.starts[index]..self.starts[index + 1]]
    }

    fn clear(&mut self) {
        self.values.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    fn end_property(&mut self) {
        self.starts.push(self.values.len());
    }
}

impl<'a> Values<'a> {
    /// The body in `bytes`, the file that `header` was parsed from.
    pub(crate) fn new(header: &Header, bytes: &'a [u8], path: &'a Path) -> Self {
        Self {
            encoding: header.encoding,
            bytes,
            at: header.body_offset,
            lines: Lines::body(bytes, header.body_offset),
            path,
        }
    }

    /// Passes over the next element.
    pub(crate) fn skip(&mut self, element: &Element) -> Result<()> {
        if self.encoding == Encoding::Ascii {
            return skip_text(element, &mut self.lines, self.path);
        }
        self.at = skip_binary(element, self.encoding, self.bytes, self.at, self.path)?;
        Ok(())
    }

    /// Passes the rows of the next element to `take`, which may say what it expected and found.
    ///
    /// # Errors
    /// [`Error::File`] with the row.
    pub(crate) fn rows(
        &mut self,
        element: &Element,
        mut take: impl FnMut(&Row) -> Result<Result<(), (String, String)>>,
    ) -> Result<()> {
        let offset = if self.encoding == Encoding::Ascii {
            self.lines.offset()
        } else {
            self.at
        };
        let left = self.bytes.len().saturating_sub(offset);
        check_room(element, self.encoding, left, self.path)?;
        if element.properties.is_empty() {
            return Ok(());
        }
        let mut row = Row::default();
        for at in 0..element.count {
            row.clear();
            let wrong = |(expected, found): (String, String)| {
                Error::file(self.path, row_place(element, at), expected, found)
            };
            let read = if self.encoding == Encoding::Ascii {
                read_text(element, &mut self.lines, &mut row)
            } else {
                read_binary(element, self.encoding, self.bytes, &mut self.at, &mut row)
            };
            read.map_err(wrong)?;
            take(&row)?.map_err(wrong)?;
        }
        Ok(())
    }
}

fn read_binary(
    element: &Element,
    encoding: Encoding,
    bytes: &[u8],
    at: &mut usize,
    row: &mut Row,
) -> Result<(), (String, String)> {
    for property in &element.properties {
        let end = skip_value(property.kind, encoding, bytes, *at)?;
        let (scalar, first) = match property.kind {
            Kind::Scalar(scalar) => (scalar, *at),
            Kind::List { count, item } => (item, *at + count.size_bytes()),
        };
        let items = bytes[first..end].chunks_exact(scalar.size_bytes());
        row.values
            .extend(items.map(|item| number::read(item, scalar, encoding)));
        row.end_property();
        *at = end;
    }
    Ok(())
}

fn read_text(
    element: &Element,
    lines: &mut Lines<'_>,
    row: &mut Row,
) -> Result<(), (String, String)> {
    let line = lines
        .next_filled()
        .ok_or_else(|| ("a line".to_owned(), "the end of the file".to_owned()))?;
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut next = |scalar: Scalar| {
        let word = words
            .next()
            .ok_or_else(|| ("a value".to_owned(), "the end of the line".to_owned()))?;
        number::parse_exact(word, scalar)
    };
    for property in &element.properties {
        match property.kind {
            Kind::Scalar(scalar) => row.values.push(next(scalar)?),
            Kind::List { count, item } => {
                let value = next(count)?;
                let items = number::whole(value)
                    .ok_or_else(|| ("a list count".to_owned(), value.to_string()))?;
                for _ in 0..items {
                    row.values.push(next(item)?);
                }
            }
        }
        row.end_property();
    }
    match words.next() {
        None => Ok(()),
        Some(_) => Err(("the end of the line".into(), "more values".into())),
    }
}
