//! The header of a PLY file: its elements and their encoding.
//!
//! The only description of the format is Greg Turk's (1994). The parser is strict where the meaning of the body depends on
//! it (one format line, known types, whole counts, unique names), and lenient in white space and line ends.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use super::lines::{PlyLines, quoted};
use quadrille_base::error::{Error, Mismatch, Result};
use quadrille_base::scalar::Scalar;

const HEADER_LIMIT_BYTES: usize = 16 << 20;

/// Encoding of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Numbers as text, one row per line.
    Ascii,
    /// Binary, least significant byte first.
    LittleEndian,
    /// Binary, most significant byte first.
    BigEndian,
}

impl Encoding {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Ascii => "none, text",
            Self::LittleEndian => "none, little-endian",
            Self::BigEndian => "none, big-endian",
        }
    }
}

/// Type of a property: a number or a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyKind {
    /// One number per row.
    Scalar(Scalar),
    /// A count, followed by that number of items.
    List {
        /// Type of the count.
        count: Scalar,
        /// Type of the items.
        item: Scalar,
    },
}

/// Property of a PLY: a named column of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Name of the property, unique in its element.
    pub name: String,
    pub kind: PropertyKind,
}

/// Element of a PLY: a table of rows and properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Name of the element, unique in the file.
    pub name: String,
    /// Number of rows that the header states, not yet checked against the size of the file.
    pub count: u64,
    /// Columns in file order.
    pub properties: Vec<Property>,
}

/// Parsed header of a PLY. Names are unique and types are known; counts are not checked against the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub(crate) encoding: Encoding,
    /// Texts of `comment` and `obj_info` lines; invalid UTF-8 is replaced.
    pub comments: Vec<String>,
    /// Elements in file order.
    pub elements: Vec<Element>,
    pub(crate) body_offset: usize,
}

/// Name of a type in headers.
pub(super) fn name_of(scalar: Scalar) -> &'static str {
    let named = |(own, _): &&(Scalar, _)| *own == scalar;
    SCALARS.iter().find(named).map_or("float", |(_, names)| names[0])
}

fn scalar_of(word: &str) -> Option<Scalar> {
    let named = |(_, names): &&(Scalar, [&str; 2])| names.contains(&word);
    SCALARS.iter().find(named).map(|(scalar, _)| *scalar)
}

const SCALARS: [(Scalar, [&str; 2]); 8] = [
    (Scalar::I8, ["char", "int8"]),
    (Scalar::U8, ["uchar", "uint8"]),
    (Scalar::I16, ["short", "int16"]),
    (Scalar::U16, ["ushort", "uint16"]),
    (Scalar::I32, ["int", "int32"]),
    (Scalar::U32, ["uint", "uint32"]),
    (Scalar::F32, ["float", "float32"]),
    (Scalar::F64, ["double", "float64"]),
];

impl Element {
    /// Bytes per binary row; `None` if the element holds a list.
    pub(crate) fn stride_bytes(&self) -> Option<usize> {
        self.properties
            .iter()
            .map(|property| match property.kind {
                PropertyKind::Scalar(scalar) => Some(scalar.size_bytes()),
                PropertyKind::List { .. } => None,
            })
            .sum()
    }
}

impl Header {
    /// Parses the header at the start of `bytes`; errors name `path` and the header line.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let mut lines = PlyLines::header(&bytes[..bytes.len().min(HEADER_LIMIT_BYTES)]);
        let magic = lines.next().unwrap_or_default();
        if magic.trim_ascii_end() != b"ply" {
            return Err(Error::malformed(path, "line 1", "\"ply\"", quoted(magic)));
        }
        let mut draft = Draft::default();
        loop {
            let Some(line) = lines.next() else {
                return Err(Error::malformed(
                    path,
                    format!("header of {} lines", lines.number),
                    "\"end_header\" within 16 MiB",
                    "the end of the file, or a longer header",
                ));
            };
            match draft.line(line) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err((expected, found)) => {
                    let place = format!("header line {}", lines.number);
                    return Err(Error::malformed(path, place, expected, found));
                }
            }
        }
        let encoding = draft.encoding.ok_or_else(|| {
            let place = format!("header of {} lines", lines.number);
            Error::malformed(path, place, "a \"format\" line", "none")
        })?;
        Ok(Self {
            encoding,
            comments: draft.comments,
            elements: draft.elements,
            body_offset: lines.offset,
        })
    }

    /// Returns the element called `name`, if there is one.
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.name == name)
    }
}

#[derive(Default)]
struct Draft {
    encoding: Option<Encoding>,
    comments: Vec<String>,
    elements: Vec<Element>,
    element_names: HashSet<String>,
    property_names: HashSet<String>,
}

fn mismatch<T>(expected: &str, found: impl Into<String>) -> Result<T, Mismatch> {
    Err((expected.to_owned(), found.into()))
}

impl Draft {
    /// Parses a line; returns `Break` at the end of the header.
    fn line(&mut self, line: &[u8]) -> Result<ControlFlow<()>, Mismatch> {
        let line = line.trim_ascii();
        let end = line.iter().position(u8::is_ascii_whitespace);
        let (keyword, rest) = line.split_at(end.unwrap_or(line.len()));
        if keyword == b"comment" || keyword == b"obj_info" {
            self.comments.push(String::from_utf8_lossy(rest.trim_ascii()).into_owned());
            return Ok(ControlFlow::Continue(()));
        }
        let Some(text) = printable(line) else { return mismatch("printable text", quoted(line)) };
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words[..] {
            [] => {}
            ["end_header"] => return Ok(ControlFlow::Break(())),
            ["format", encoding, "1.0"] => self.format(encoding)?,
            ["element", name, count] => self.element(name, count)?,
            ["property", "list", count, item, name] => {
                let kind = PropertyKind::List { count: scalar(count)?, item: scalar(item)? };
                self.property(name, kind)?;
            }
            ["property", kind, name] => self.property(name, PropertyKind::Scalar(scalar(kind)?))?,
            ["format", ..] => return mismatch("\"format ENCODING 1.0\"", quoted(line)),
            ["element", ..] => return mismatch("\"element NAME COUNT\"", quoted(line)),
            ["property", ..] => {
                let forms = "\"property TYPE NAME\" or \"property list TYPE TYPE NAME\"";
                return mismatch(forms, quoted(line));
            }
            _ => {
                let keywords = "format, element, property, comment, obj_info or end_header";
                return mismatch(keywords, quoted(line));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn format(&mut self, encoding: &str) -> Result<(), Mismatch> {
        let encoding = match encoding {
            "ascii" => Encoding::Ascii,
            "binary_little_endian" => Encoding::LittleEndian,
            "binary_big_endian" => Encoding::BigEndian,
            other => {
                let known = "ascii, binary_little_endian or binary_big_endian";
                return mismatch(known, quoted(other.as_bytes()));
            }
        };
        if self.encoding.replace(encoding).is_some() {
            return mismatch("one \"format\" line", "a second one");
        }
        Ok(())
    }

    fn element(&mut self, name: &str, count: &str) -> Result<(), Mismatch> {
        let digits = count.bytes().all(|b| b.is_ascii_digit());
        let Some(count) = count.parse().ok().filter(|_| digits) else {
            return mismatch("a count of 0 to 2^64-1", quoted(count.as_bytes()));
        };
        if !self.element_names.insert(name.to_owned()) {
            return mismatch("element names that differ", format!("\"{name}\" twice"));
        }
        self.property_names.clear();
        self.elements.push(Element { name: name.to_owned(), count, properties: Vec::new() });
        Ok(())
    }

    fn property(&mut self, name: &str, kind: PropertyKind) -> Result<(), Mismatch> {
        let Some(element) = self.elements.last_mut() else {
            return mismatch("an \"element\" line first", "a property");
        };
        if !self.property_names.insert(name.to_owned()) {
            return mismatch("property names that differ", format!("\"{name}\" twice"));
        }
        element.properties.push(Property { name: name.to_owned(), kind });
        Ok(())
    }
}

fn scalar(word: &str) -> Result<Scalar, Mismatch> {
    scalar_of(word).ok_or_else(|| {
        let types = "a type: char, uchar, short, ushort, int, uint, float, double, int8 to float64";
        (types.to_owned(), quoted(word.as_bytes()))
    })
}

/// Text of a line; `None` unless it is UTF-8 without control characters other than white space.
fn printable(line: &[u8]) -> Option<&str> {
    let plain = |b: &u8| !b.is_ascii_control() || b.is_ascii_whitespace();
    std::str::from_utf8(line).ok().filter(|_| line.iter().all(plain))
}
