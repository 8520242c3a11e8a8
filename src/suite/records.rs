//! Rows that are known, by key: rows of one key are joined, and their numbers are compared.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use super::key::JobKey;
use super::results_file::{Line, LineContent, Lines, Place};
use super::row::{Row, RunFacts};
use super::rows::MethodRow;
use quadrille_base::error::{Error, Result};
use quadrille_gpu::method::Method;

struct Record {
    row: Row,
    /// Line that each method was read from; `None` for a method of this run.
    places: Vec<Option<Place>>,
}

#[derive(Default)]
pub(super) struct Records {
    records: HashMap<JobKey, Record>,
    order: Vec<JobKey>,
}

impl Records {
    pub(super) fn add_line(&mut self, line: Line) -> Result<()> {
        match line.content {
            LineContent::Row(row) => self.add(*row, Some(&line.place)),
            LineContent::Mesh(_) | LineContent::Other(_) => Ok(()),
        }
    }

    pub(super) fn add(&mut self, row: Row, place: Option<&Place>) -> Result<()> {
        let record = match self.records.entry(row.key.clone()) {
            Entry::Vacant(vacant) => {
                self.order.push(row.key.clone());
                let places = vec![place.cloned(); row.variants.len()];
                vacant.insert(Record { row, places });
                return Ok(());
            }
            Entry::Occupied(occupied) => occupied.into_mut(),
        };
        let mut is_joined = false;
        for method in row.variants {
            let known = &mut record.row.variants;
            match known.iter().position(|m| m.name == method.name) {
                Some(at) => {
                    if let Some(found) = method.difference(&known[at]) {
                        return Err(conflict(&row.key, found, [place, record.places[at].as_ref()]));
                    }
                }
                None => {
                    known.push(method);
                    record.places.push(place.cloned());
                    is_joined = true;
                }
            }
        }
        if row.splats != record.row.splats {
            let found = format!("splats {} instead of {}", row.splats, record.row.splats);
            let first = record.places.first().and_then(Option::as_ref);
            return Err(conflict(&row.key, found, [place, first]));
        }
        if is_joined {
            let variants = record.row.variants.clone();
            let facts = record.row.facts();
            let host_s = row.host_s;
            record.row = Row::new(&row.key, &RunFacts { host_s, ..facts }, variants);
        }
        Ok(())
    }

    pub(super) fn missing(&self, key: &JobKey, methods: &[Method]) -> Vec<Method> {
        let record = self.records.get(key);
        let is_known =
            |method: &Method| record.is_some_and(|r| r.row.method(&method.name()).is_some());
        methods.iter().copied().filter(|m| !is_known(m)).collect()
    }

    pub(super) fn known(&self, key: &JobKey, methods: &[Method]) -> Vec<MethodRow> {
        let record = self.records.get(key);
        let known = |method: &Method| record?.row.method(&method.name()).cloned();
        methods.iter().filter_map(known).collect()
    }

    /// Row of a job with exactly these methods in this order; `None` if one is missing.
    pub(super) fn take(&mut self, key: &JobKey, methods: &[Method]) -> Option<Row> {
        if !self.missing(key, methods).is_empty() {
            return None;
        }
        let mut known = self.records.remove(key)?.row;
        let names = methods.iter().map(|method| method.name());
        if names.clone().eq(known.variants.iter().map(|m| m.name.clone())) {
            return Some(known);
        }
        let mut all = std::mem::take(&mut known.variants);
        let variants = names.filter_map(|name| {
            let at = all.iter().position(|method| method.name == name)?;
            Some(all.swap_remove(at))
        });
        let variants = variants.collect();
        Some(Row::new(key, &known.facts(), variants))
    }

    pub(super) fn row(&self, key: &JobKey) -> Option<&Row> {
        Some(&self.records.get(key)?.row)
    }

    pub(super) fn into_rows(mut self) -> Vec<Row> {
        let keys = self.order.iter();
        let rows = keys.filter_map(|key| self.records.remove(key));
        rows.map(|record| record.row).collect()
    }
}

/// Reads the rows of a results file, each key and method once, in order of appearance. Lines that are
/// no rows, and an incomplete last line, are left out.
///
/// # Errors
/// [`Error::Malformed`] naming a line that is not a JSON object, or two rows that have the same key and
/// different numbers; [`Error::Read`].
pub fn read_rows(path: &Path) -> Result<Vec<Row>> {
    let mut records = Records::default();
    for line in Lines::of_file(path)?.lines {
        records.add_line(line)?;
    }
    Ok(records.into_rows())
}

/// Error about two rows with one key and different numbers.
fn conflict(key: &JobKey, found: String, [later, earlier]: [Option<&Place>; 2]) -> Error {
    let named = |place: Option<&Place>| {
        place.map_or_else(|| "the row of this run".to_owned(), ToString::to_string)
    };
    let expected = format!("the numbers of {}, which is of {key} too", named(earlier));
    match later {
        Some(place) => {
            Error::malformed(&place.path, format!("line {}", place.line), expected, found)
        }
        None => Error::argument(named(None), expected, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    fn place(line: usize) -> Place {
        Place { path: Path::new("rows.jsonl").into(), line }
    }

    #[test]
    fn rows_of_one_key_are_joined() {
        let whole = row("a", "0", [600, 300, 200]);
        let methods: Vec<_> =
            ["baseline", "het", "het+qm"].map(|name| Method::parse(name).unwrap()).to_vec();
        let mut records = Records::default();
        let part = |at: usize| {
            let variants = vec![whole.variants[at].clone()];
            Row::new(&whole.key, &whole.facts(), variants)
        };
        records.add(part(0), Some(&place(1))).unwrap();
        assert_eq!(records.missing(&whole.key, &methods), methods[1..]);
        assert_eq!(records.take(&whole.key, &methods), None);
        records.add(part(2), Some(&place(2))).unwrap();
        records.add(part(1), None).unwrap();
        assert!(records.missing(&whole.key, &methods).is_empty());
        // The same numbers once more change nothing, whatever the time they took.
        let again = Row { host_s: 9.0, ..whole.clone() };
        records.add(again, Some(&place(3))).unwrap();
        assert_eq!(records.take(&whole.key, &methods), Some(whole));
        assert!(records.into_rows().is_empty());
    }

    #[test]
    fn different_numbers_of_one_key_are_refused_and_both_rows_named() {
        let mut records = Records::default();
        let add = |records: &mut Records, cycles, line| {
            records.add(row("a", "0", [600, cycles, 200]), Some(&place(line)))
        };
        add(&mut records, 300, 4).unwrap();
        let error = add(&mut records, 301, 7).unwrap_err().to_string();
        for word in
            ["rows.jsonl: line 7", "line 4 of rows.jsonl", "het.cycles 301 instead of 300", "a 0"]
        {
            assert!(error.contains(word), "{word}: {error}");
        }
        let more = Row { splats: 2, ..row("a", "0", [600, 300, 200]) };
        let error = records.add(more, Some(&place(8))).unwrap_err().to_string();
        assert!(error.contains("splats 2 instead of 1"), "{error}");
    }
}
