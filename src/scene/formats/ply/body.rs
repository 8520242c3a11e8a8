//! Reads the body of a PLY element by element and row by row, and checks that it is complete.

use std::path::Path;

use super::header::{Element, Encoding, Header, PropertyKind};
use super::lines::{PlyLines, quoted};
use super::number::{self, Number};
use quadrille_base::error::{Error, Mismatch, Result};
use quadrille_base::scalar::Scalar;

/// Cursor over the body of a PLY.
pub struct Body<'a> {
    encoding: Encoding,
    bytes: &'a [u8],
    at: usize,
    lines: PlyLines<'a>,
    path: &'a Path,
    /// True if values of a text after the last property of a row are skipped, as in meshes of some exporters.
    takes_longer_rows: bool,
    longer_rows: u64,
}

/// Values of one row of an element, including the items of lists.
#[derive(Debug, Default)]
pub struct PlyRow {
    /// Numbers of all properties in order.
    values: Vec<f64>,
    /// End of each property's numbers in `values`.
    ends: Vec<usize>,
}

impl PlyRow {
    /// Numbers of the property at `index`: one of a scalar, all items of a list.
    pub fn property(&self, index: usize) -> &[f64] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[index]]
    }
}

impl Header {
    /// Checks that all rows and lists of the body are in `bytes`, the file that this header was parsed
    /// from. Values are not checked, and bytes after the last element are allowed.
    ///
    /// The time is proportional to the size of the file, whatever counts the header states. Errors name element and row.
    pub fn check_body(&self, bytes: &[u8], path: &Path) -> Result<()> {
        let mut body = Body::new(self, bytes, path);
        self.elements.iter().try_for_each(|e| body.skip(e))
    }
}

impl<'a> Body<'a> {
    /// Creates a cursor at the start of the body in `bytes`, the file that `header` was parsed from.
    pub fn new(header: &Header, bytes: &'a [u8], path: &'a Path) -> Self {
        Self {
            encoding: header.encoding,
            bytes,
            at: header.body_offset,
            lines: PlyLines::body(bytes, header.body_offset),
            path,
            takes_longer_rows: false,
            longer_rows: 0,
        }
    }

    /// Skips values of a text after the last property of a row, which are an error otherwise.
    #[must_use]
    pub fn take_longer_rows(self) -> Self {
        Self { takes_longer_rows: true, ..self }
    }

    /// Number of rows so far with values after the last property.
    pub fn longer_rows(&self) -> u64 {
        self.longer_rows
    }

    pub(super) fn offset(&self) -> usize {
        match self.encoding {
            Encoding::Ascii => self.lines.offset,
            _ => self.at,
        }
    }

    /// Refuses an element for which the rest of the file is too short, before memory is allocated for its rows.
    pub(crate) fn check_room(&self, element: &Element) -> Result<()> {
        let left = self.bytes.len().saturating_sub(self.offset());
        let row = least_row_bytes(element, self.encoding) as u128;
        // The last separator of a text file may be missing.
        let slack = u128::from(self.encoding == Encoding::Ascii);
        let (rows, needed) = (element.count, row * u128::from(element.count));
        if needed <= left as u128 + slack {
            return Ok(());
        }
        Err(Error::malformed(
            self.path,
            format!("element \"{}\"", element.name),
            format!("at least {needed} bytes ({rows} rows of {row} bytes)"),
            format!("{left} bytes to the end of the file"),
        ))
    }

    /// Skips the rows of the next element, which must be `element`.
    pub fn skip(&mut self, element: &Element) -> Result<()> {
        if self.encoding != Encoding::Ascii {
            self.check_room(element)?;
            if let Some(stride) = element.stride_bytes() {
                // With a stride of 0 any count is valid; otherwise `check_room` has bounded the product.
                self.at += stride.saturating_mul(usize::try_from(element.count).unwrap_or(0));
                return Ok(());
            }
        } else if element.properties.is_empty() {
            return Ok(());
        }
        (0..element.count).try_for_each(|row| self.row(element, row, |_, _| Ok(())))
    }

    /// Reads the rows of the next element, which must be `element`, and calls `take` with each row.
    pub fn rows(
        &mut self,
        element: &Element,
        mut take: impl FnMut(&PlyRow) -> Result<Result<(), Mismatch>>,
    ) -> Result<()> {
        self.check_room(element)?;
        if element.properties.is_empty() {
            return Ok(());
        }
        let mut row = PlyRow::default();
        for number in 0..element.count {
            row.values.clear();
            row.ends.clear();
            row.ends.resize(element.properties.len(), 0);
            let PlyRow { values, ends } = &mut row;
            self.row(element, number, |property, value| {
                values.push(value.exact()?);
                ends[property] = values.len();
                Ok(())
            })?;
            // An empty list ends where the previous property does.
            for i in 1..ends.len() {
                ends[i] = ends[i].max(ends[i - 1]);
            }
            take(&row)?.map_err(|mismatch| self.wrong(element, number, "", mismatch))?;
        }
        Ok(())
    }

    /// Reads a row and calls `visit` with the index of the property of each number, including list items.
    pub(super) fn row(
        &mut self,
        element: &Element,
        row: u64,
        mut visit: impl FnMut(usize, Number<'a>) -> Result<(), Mismatch>,
    ) -> Result<()> {
        let mut words = if self.encoding == Encoding::Ascii {
            let end = || ("a line".to_owned(), "the end of the file".to_owned());
            let line =
                self.lines.next_filled().ok_or_else(|| self.wrong(element, row, "", end()))?;
            Some(words(line))
        } else {
            None
        };
        for (index, property) in element.properties.iter().enumerate() {
            let visit = |number| visit(index, number);
            let read = match &mut words {
                Some(words) => text_value(property.kind, words, visit),
                None => self.packed_value(property.kind, visit),
            };
            read.map_err(|mismatch| self.wrong(element, row, &property.name, mismatch))?;
        }
        match words.and_then(|mut words| words.next()) {
            None => Ok(()),
            Some(_) if self.takes_longer_rows => {
                self.longer_rows += 1;
                Ok(())
            }
            Some(word) => {
                let found = format!("more values: {}", quoted(word));
                Err(self.wrong(element, row, "", ("the end of the line".into(), found)))
            }
        }
    }

    fn wrong(&self, element: &Element, row: u64, property: &str, mismatch: Mismatch) -> Error {
        let Element { name, count, .. } = element;
        let mut place = format!("element \"{name}\", row {row} of {count}");
        if !property.is_empty() {
            place += &format!(", \"{property}\"");
        }
        Error::malformed(self.path, place, mismatch.0, mismatch.1)
    }

    fn packed_value(
        &mut self,
        kind: PropertyKind,
        mut visit: impl FnMut(Number<'a>) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        let encoding = self.encoding;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let short =
            |expected: String| (expected, format!("{} bytes to the end of the file", rest.len()));
        let (scalar, skipped, size) = match kind {
            PropertyKind::Scalar(scalar) => {
                let size = scalar.size_bytes();
                if size > rest.len() {
                    return Err(short(format!("{size} bytes")));
                }
                (scalar, 0, size)
            }
            PropertyKind::List { count, item } => {
                let size = count.size_bytes();
                if size > rest.len() {
                    return Err(short(format!("a list count of {size} bytes")));
                }
                let items = list_count(number::read(rest, count, encoding))?;
                let list = items.saturating_mul(item.size_bytes());
                if list > rest.len() - size {
                    return Err(short(format!("a list of {items} items, {list} bytes")));
                }
                (item, size, list)
            }
        };
        for bytes in rest[skipped..skipped + size].chunks_exact(scalar.size_bytes()) {
            visit(Number::Packed(bytes, scalar, encoding))?;
        }
        self.at += skipped + size;
        Ok(())
    }
}

/// Minimum bytes of a row: lists may be empty, and text has at least one character and one separator per value.
fn least_row_bytes(element: &Element, encoding: Encoding) -> usize {
    if encoding == Encoding::Ascii {
        return 2 * element.properties.len();
    }
    let size = |kind| match kind {
        PropertyKind::Scalar(scalar) | PropertyKind::List { count: scalar, .. } => {
            Scalar::size_bytes(scalar)
        }
    };
    element.properties.iter().map(|p| size(p.kind)).sum()
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

fn text_value<'a>(
    kind: PropertyKind,
    words: &mut impl Iterator<Item = &'a [u8]>,
    mut visit: impl FnMut(Number<'a>) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    let mut next = |scalar| match words.next() {
        Some(word) => Ok(Number::Text(word, scalar)),
        None => Err(("a value".to_owned(), "the end of the line".to_owned())),
    };
    match kind {
        PropertyKind::Scalar(scalar) => visit(next(scalar)?),
        PropertyKind::List { count, item } => {
            let items = list_count(next(count)?.exact()?)?;
            (0..items).try_for_each(|_| visit(next(item)?))
        }
    }
}

fn list_count(value: f64) -> Result<usize, Mismatch> {
    number::to_count(value).ok_or_else(|| ("a list count".to_owned(), value.to_string()))
}
