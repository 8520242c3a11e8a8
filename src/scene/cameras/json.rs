//! JSON values with their places in the file, for error messages.

use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::Value;

use super::foreign;
use quadrille_base::error::{Error, Result, shown};

/// A thousand times the largest known camera file. The parsed form, twenty times as large, still fits in memory.
const MAX_JSON_BYTES: u64 = 1 << 28;

/// Bytes examined to distinguish text from binary files.
const SNIFFED_BYTES: usize = 1024;

const MAX_QUOTE: usize = 60;

/// Reads a file of up to [`MAX_JSON_BYTES`]; `-` is standard input.
pub(super) fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        let source = std::io::stdin().lock();
        source.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|e| Error::read(path, e))?;
    let what = format!("{}: bytes of a JSON file", shown(path));
    Error::check_limit(what, MAX_JSON_BYTES, bytes.len() as u64)?;
    Ok(bytes)
}

/// Parses a camera file of any JSON format. A byte-order mark is skipped.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Value> {
    const EXPECTED: &str = "a camera file: cameras.json, transforms.json or a COLMAP model";
    parse_as(EXPECTED, path, bytes)
}

pub(super) fn parse_as(expected: &str, path: &Path, bytes: &[u8]) -> Result<Value> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_binary = |b: &u8| b.is_ascii_control() && !b.is_ascii_whitespace();
    let other = if let Some(foreign) = foreign::of_content(text) {
        Some(foreign)
    } else if text.trim_ascii().is_empty() {
        Some("an empty file")
    } else if text.starts_with(b"ply") {
        Some("a PLY file: a scene or a mesh")
    } else if text[..text.len().min(SNIFFED_BYTES)].iter().any(is_binary) {
        Some("a binary file")
    } else {
        None
    };
    if let Some(found) = other {
        return Err(Error::malformed(path, "format", expected, found));
    }
    serde_json::from_slice(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        let line = text.split(|&b| b == b'\n').nth(error.line().max(1) - 1);
        let at = line.and_then(|line| line.get(error.column().max(1) - 1..));
        let found = match at.unwrap_or_default() {
            // Python writes these words for numbers that JSON cannot express.
            [b'N', b'a', b'N', ..] => "NaN".to_owned(),
            [b'I', b'n', b'f', ..] => "Infinity".to_owned(),
            _ => {
                let reason = error.to_string();
                let end = reason.rfind(" at line ").unwrap_or(reason.len());
                reason[..end].to_owned()
            }
        };
        Error::malformed(path, place, "valid JSON with finite numbers", found)
    })
}

/// JSON value at a place such as `frames[2].w`.
#[derive(Debug, Clone)]
pub(super) struct JsonNode<'a> {
    pub(super) path: &'a Path,
    pub(super) place: String,
    value: &'a Value,
}

impl<'a> JsonNode<'a> {
    pub(super) fn root(path: &'a Path, value: &'a Value) -> Self {
        Self { path, place: String::new(), value }
    }

    /// Member `key`; `None` if it is absent or null.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|v| !v.is_null())?;
        let dot = if self.place.is_empty() { "" } else { "." };
        Some(Self { path: self.path, place: format!("{}{dot}{key}", self.place), value })
    }

    /// Members of an object; none of other values.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let (path, dot) = (self.path, if self.place.is_empty() { "" } else { "." });
        let before = format!("{}{dot}", self.place);
        let members = self.value.as_object().into_iter().flatten();
        members.map(move |(key, value)| {
            (key.as_str(), Self { path, place: format!("{before}{key}"), value })
        })
    }

    pub(super) fn member(&self, key: &str) -> Result<Self> {
        self.get(key).ok_or_else(|| self.error(&format!("an object with \"{key}\"")))
    }

    pub(super) fn items(&self) -> Result<impl ExactSizeIterator<Item = Self> + use<'a>> {
        let items = self.value.as_array().ok_or_else(|| self.error("an array"))?;
        let (path, place) = (self.path, self.place.clone());
        Ok(items.iter().enumerate().map(move |(i, value)| Self {
            path,
            place: format!("{place}[{i}]"),
            value,
        }))
    }

    pub(super) fn is_true(&self) -> bool {
        self.value.as_bool() == Some(true)
    }

    pub(super) fn number(&self) -> Result<f64> {
        self.value.as_f64().filter(|n| n.is_finite()).ok_or_else(|| self.error("a finite number"))
    }

    pub(super) fn above_0(&self) -> Result<f64> {
        let number = self.number()?;
        (number > 0.0).then_some(number).ok_or_else(|| self.error("a number above 0"))
    }

    /// Reads a field of view between 0 and 180 degrees, exclusive.
    pub(super) fn degrees(&self) -> Result<f64> {
        let number = self.number()?;
        (number > 0.0 && number < 180.0)
            .then_some(number)
            .ok_or_else(|| self.error("degrees between 0 and 180"))
    }

    pub(super) fn all_numbers(&self) -> Result<Vec<f64>> {
        self.items()?.map(|item| item.number()).collect()
    }

    /// Reads a whole number of pixels; `980.0` is accepted, since some exporters write floats.
    pub(super) fn pixels(&self) -> Result<u32> {
        let expected = || self.error("a whole number of pixels");
        let number = self.number()?;
        if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
            return Err(expected());
        }
        // A whole float is formatted as its digits, so parsing it is exact.
        format!("{number:.0}").parse().map_err(|_| expected())
    }

    pub(super) fn text(&self) -> Result<String> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(self.error("a string")),
        }
    }

    pub(super) fn numbers<const N: usize>(&self) -> Result<[f64; N]> {
        let expected = format!("an array of {N} numbers");
        let items = self.items().map_err(|_| self.error(&expected))?;
        if items.len() != N {
            return Err(self.error(&expected));
        }
        let mut numbers = [0.0; N];
        for (number, item) in numbers.iter_mut().zip(items) {
            *number = item.number()?;
        }
        Ok(numbers)
    }

    /// First `ROWS` rows of a matrix of `N` columns, whose number of rows must be in `lengths`.
    pub(super) fn rows<const ROWS: usize, const N: usize>(
        &self,
        lengths: RangeInclusive<usize>,
    ) -> Result<[[f64; N]; ROWS]> {
        let items = self.items()?;
        if !lengths.contains(&items.len()) {
            let (least, most) = lengths.into_inner();
            let or_more = if most > least { format!(" or {most}") } else { String::new() };
            return Err(self.error(&format!("an array of {least}{or_more} rows")));
        }
        let mut rows = [[0.0; N]; ROWS];
        for (row, item) in rows.iter_mut().zip(items) {
            *row = item.numbers()?;
        }
        Ok(rows)
    }

    /// Error that names the place of this value and quotes it.
    pub(super) fn error(&self, expected: &str) -> Error {
        let place = if self.place.is_empty() { "top level" } else { &self.place };
        Error::malformed(self.path, place, expected, describe(self.value))
    }
}

/// Describes a value in a few words for messages, since arrays and objects may be long.
fn describe(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(members) => {
            let keys: Vec<&str> = members.keys().take(8).map(String::as_str).collect();
            if keys.is_empty() {
                return "an object without keys".to_owned();
            }
            shortened(&format!("an object with the keys {}", keys.join(", ")))
        }
        Value::String(text) => format!("the string \"{}\"", shortened(text)),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
