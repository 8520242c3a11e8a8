//! Tables of suite files, which are read in parts: several structs share a table, and serde refuses no key of a part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use quadrille_base::error::{Error, Result};
use quadrille_base::words::{did_you_mean, did_you_mean_one_of};
use quadrille_machine::overlay::line_of;

/// Keys whose names have changed, with the new names; the old ones are read for one release.
const RENAMED: [(&str, &str); 5] = [
    ("views", "view"),
    ("methods", "method"),
    ("variants", "method"),
    ("unit", "method"),
    ("pipeline", "method"),
];

#[derive(Debug, Clone, Copy)]
pub(crate) struct SuiteText<'t> {
    pub(crate) path: &'t Path,
    pub(crate) text: &'t str,
}

/// A table of a suite file, without the parts that were taken.
#[derive(Debug, Clone)]
pub(crate) struct SuiteTable<'t> {
    suite: SuiteText<'t>,
    /// The table in words, for messages; may be empty.
    place: String,
    span: Range<usize>,
    values: BTreeMap<String, Spanned<DeValue<'t>>>,
    /// Keys that the parts taken so far accept.
    known: Vec<&'static str>,
}

impl<'t> SuiteText<'t> {
    /// Parses the whole file. `remarks` takes a sentence about each key with an old name.
    pub(crate) fn parse(self, remarks: &mut Vec<String>) -> Result<SuiteTable<'t>> {
        let table = DeTable::parse(self.text).map_err(|error| self.error("", &error))?;
        SuiteTable::new(self, String::new(), table, remarks)
    }

    fn error(self, place: &str, error: &toml::de::Error) -> Error {
        let message = error.message();
        let found = format!("{message}{}", did_you_mean_one_of(message));
        let line = line_of(error, self.text);
        let place = if place.is_empty() { line } else { format!("{place}, {line}") };
        Error::malformed(self.path, place, "the keys and values of a suite", found)
    }

    fn line(self, at: usize) -> usize {
        self.text.get(..at).unwrap_or_default().matches('\n').count() + 1
    }
}

impl<'t> SuiteTable<'t> {
    fn new(
        suite: SuiteText<'t>,
        place: String,
        table: Spanned<DeTable<'t>>,
        remarks: &mut Vec<String>,
    ) -> Result<Self> {
        let span = table.span();
        let mut values = BTreeMap::new();
        for (key, value) in table.into_inner() {
            let key = key.into_inner().into_owned();
            let key = RENAMED.iter().find(|(old, _)| *old == key).map_or(key.clone(), |(old, new)| {
                let (path, line) = (suite.path.display(), suite.line(value.span().start));
                remarks.push(format!(
                    "{path}: line {line}: `{old}` is now `{new}`; the old name is read until the next release"
                ));
                (*new).to_owned()
            });
            let line = suite.line(value.span().start);
            if values.contains_key(&key) {
                let expected = format!("the key {key} once; one of its old names is also given");
                return Err(Error::malformed(suite.path, format!("line {line}"), expected, "two"));
            }
            values.insert(key, value);
        }
        Ok(Self { suite, place, span, values, known: Vec::new() })
    }

    /// Reads the fields of a struct, and takes them out of the table.
    pub(crate) fn take<T: DeserializeOwned>(&mut self) -> Result<T> {
        let names = fields::<T>();
        self.known.extend(names);
        let mut part = DeTable::new();
        for name in names {
            if let Some(value) = self.values.remove(*name) {
                part.insert(Spanned::new(value.span(), (*name).into()), value);
            }
        }
        let part = Spanned::new(self.span.clone(), part);
        T::deserialize(part.into_deserializer()).map_err(|e| self.suite.error(&self.place, &e))
    }

    pub(crate) fn take_tables(
        &mut self,
        key: &'static str,
        remarks: &mut Vec<String>,
    ) -> Result<Vec<Self>> {
        self.known.push(key);
        let Some(value) = self.values.remove(key) else { return Ok(Vec::new()) };
        let line = format!("line {}", self.suite.line(value.span().start));
        let refused = |found: &str| {
            Error::malformed(self.suite.path, &line, format!("tables [[{key}]]"), found)
        };
        let DeValue::Array(tables) = value.into_inner() else {
            return Err(refused("another value"));
        };
        let table = |value: Spanned<DeValue<'t>>| {
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(table) => {
                    Self::new(self.suite, self.place.clone(), Spanned::new(span, table), remarks)
                }
                other => Err(refused(other.type_str())),
            }
        };
        tables.into_iter().map(table).collect()
    }

    /// Names the table in messages.
    pub(crate) fn named(mut self, place: String) -> Self {
        self.place = place;
        self
    }

    /// Adds the values of another table, which replace those of the same keys.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.values.extend(other.values.clone());
        let known = other.known.iter().filter(|key| !self.known.contains(key)).copied();
        self.known.extend(known.collect::<Vec<_>>());
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub(crate) fn keys(&self) -> String {
        let keys: Vec<&str> = self.values.keys().map(String::as_str).collect();
        format!("the keys {}", keys.join(", "))
    }

    /// Refuses keys of no part.
    pub(crate) fn finish(self) -> Result<()> {
        // Report the first unknown key in the file.
        let unknown = self.values.iter().min_by_key(|(_, value)| value.span().start);
        let Some((key, value)) = unknown else { return Ok(()) };
        let line = format!("line {}", self.suite.line(value.span().start));
        let place = if self.place.is_empty() { line } else { format!("{}, {line}", self.place) };
        let expected = format!("one of the keys {}", self.known.join(", "));
        let found = format!("{key}{}", did_you_mean(key, self.known));
        Err(Error::malformed(self.suite.path, place, expected, found))
    }
}

pub(crate) trait TableParts: Sized {
    fn take_from(table: &mut SuiteTable<'_>) -> Result<Self>;
}

/// Names of the fields of a struct that derives `Deserialize`; none if a part of it is flattened.
fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    // Always an error, since there is no value.
    let _ = T::deserialize(FieldNames(&mut fields));
    fields
}

struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> std::result::Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Self::Error::custom("only the names of the fields are wanted"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> std::result::Result<V::Value, Self::Error> {
        Err(Self::Error::custom("a struct is wanted"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
