//! Known rows by key. Rows of the same key and fingerprint are joined, and their numbers must agree.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use super::key::RunKey;
use super::results_file::{Line, LineContent, Lines, Place};
use super::row::{Row, difference};
use super::rows::MethodRow;
use super::run_row::{MeshRunRow, RunRow};
use quadrille_base::error::{Error, Result};
use quadrille_gpu::method::Method;

struct Record {
    row: RunRow,
    /// Source line of each method or, for a mesh, of its rows; `None` for results of this run.
    places: Vec<Option<Place>>,
}

#[derive(Default)]
pub(super) struct Records {
    records: Vec<Record>,
    by_key: HashMap<RunKey, Vec<usize>>,
}

impl Records {
    /// Adds a row of a results file; other lines are ignored. Refuses a row whose numbers differ from a known row of the
    /// same key and fingerprint.
    pub(super) fn add_line(&mut self, line: Line) -> Result<()> {
        match line.content {
            LineContent::Run(row) => self.add(*row, Some(&line.place)),
            LineContent::Other(_) => Ok(()),
        }
    }

    pub(super) fn add(&mut self, row: RunRow, place: Option<&Place>) -> Result<()> {
        let of_key = self.by_key.entry(row.key()).or_default();
        let is_same = |at: &&usize| self.records[**at].row.fingerprint() == row.fingerprint();
        if let Some(at) = of_key.iter().find(is_same) {
            return self.records[*at].join(row, place);
        }
        of_key.push(self.records.len());
        let places = match &row {
            RunRow::View(row) => vec![place.cloned(); row.methods.len()],
            RunRow::Mesh(_) => vec![place.cloned()],
        };
        self.records.push(Record { row, places });
        Ok(())
    }

    /// Returns the rows of a run, latest first.
    pub(super) fn of(&self, key: &RunKey) -> impl Iterator<Item = &RunRow> {
        self.by_key.get(key).into_iter().flatten().rev().map(|at| &self.records[*at].row)
    }

    pub(super) fn into_rows(self) -> Vec<RunRow> {
        self.records.into_iter().map(|record| record.row).collect()
    }
}

impl Record {
    fn join(&mut self, row: RunRow, place: Option<&Place>) -> Result<()> {
        match (&mut self.row, row) {
            (RunRow::View(known), RunRow::View(row)) => {
                join_views(known, &mut self.places, row, place)
            }
            (RunRow::Mesh(known), RunRow::Mesh(row)) => {
                let rows = |row: &MeshRunRow| serde_json::to_value(&row.rows).unwrap_or_default();
                let found = difference("rows", &rows(&row), &rows(known));
                let Some(found) = found else { return Ok(()) };
                let first = self.places.first().and_then(Option::as_ref);
                Err(conflict(&row.key, found, [place, first]))
            }
            // Unreachable: the key of a view never equals the key of a mesh.
            _ => Ok(()),
        }
    }
}

fn join_views(
    known: &mut Row,
    places: &mut Vec<Option<Place>>,
    row: Row,
    place: Option<&Place>,
) -> Result<()> {
    let mut is_joined = false;
    for method in row.methods {
        match known.methods.iter().position(|m| m.name == method.name) {
            Some(at) => {
                if let Some(found) = method.difference(&known.methods[at]) {
                    return Err(conflict(&row.key, found, [place, places[at].as_ref()]));
                }
            }
            None => {
                known.methods.push(method);
                places.push(place.cloned());
                is_joined = true;
            }
        }
    }
    if row.splats != known.splats {
        let found = format!("splats {} instead of {}", row.splats, known.splats);
        return Err(conflict(&row.key, found, [place, places.first().and_then(Option::as_ref)]));
    }
    if is_joined {
        known.host_s = row.host_s;
        let row = std::mem::take(known);
        let methods = row.methods.clone();
        *known = row.with_methods(methods);
    }
    Ok(())
}

pub(super) fn missing(row: Option<&Row>, methods: &[Method]) -> Vec<Method> {
    let is_known = |method: &Method| row.is_some_and(|row| row.method(&method.name()).is_some());
    methods.iter().copied().filter(|m| !is_known(m)).collect()
}

/// Returns the results of `methods` that are in the row, in the order of `methods`.
pub(super) fn known(row: Option<&Row>, methods: &[Method]) -> Vec<MethodRow> {
    let known = |method: &Method| row?.method(&method.name()).cloned();
    methods.iter().filter_map(known).collect()
}

/// Reduces a row to exactly `methods`, in this order; `None` if one is missing.
pub(super) fn whole(row: &Row, methods: &[Method]) -> Option<Row> {
    if methods.iter().map(|method| method.name()).eq(row.methods.iter().map(|m| m.name.clone())) {
        return Some(row.clone());
    }
    let found = known(Some(row), methods);
    (found.len() == methods.len()).then(|| row.clone().with_methods(found))
}

/// Reads the rows of a results file, each run and method once, in order of appearance. Lines that are
/// no rows, and an incomplete last line, are left out.
///
/// # Errors
/// As [`read_rows_from`], and [`Error::Read`] for a file that cannot be opened.
pub fn read_rows(path: &Path) -> Result<Vec<RunRow>> {
    rows_of(Lines::of_file(path)?, path)
}

/// Reads rows as [`read_rows`] does, from a source that `path` names in errors.
///
/// # Errors
/// [`Error::Malformed`] naming a line that is not a JSON object, rows of meshes of another version, or two
/// rows that have the same key and fingerprint and different numbers; [`Error::Read`].
pub fn read_rows_from(source: impl Read, path: &Path) -> Result<Vec<RunRow>> {
    rows_of(Lines::read(path, source)?, path)
}

fn rows_of(lines: Lines, path: &Path) -> Result<Vec<RunRow>> {
    let mut records = Records::default();
    for line in lines.lines {
        if let LineContent::Other(value) = &line.content
            && value.get("workload").is_some()
        {
            let reason = serde_json::from_value::<MeshRunRow>(value.clone()).err();
            let found = reason.map_or_else(String::new, |reason| reason.to_string());
            let place = format!("line {}", line.place.line);
            let expected = "a row of a suite of meshes of this version";
            return Err(Error::malformed(path, place, expected, found));
        }
        records.add_line(line)?;
    }
    Ok(records.into_rows())
}

/// Leaves out rows of which a later one has the same key and other numbers, or another hash of the same input, since the
/// scene, the machine or the program has changed in between; returns the number of these rows.
pub fn newest(rows: Vec<RunRow>) -> (Vec<RunRow>, usize) {
    let mut kept: Vec<RunRow> = Vec::new();
    let mut later: HashMap<RunKey, Vec<usize>> = HashMap::new();
    let mut inputs: HashMap<String, String> = HashMap::new();
    let all = rows.len();
    for row in rows.into_iter().rev() {
        let is_of_input = |(name, hash)| inputs.get(name).is_none_or(|newer| newer == hash);
        if !row.inputs().iter().all(is_of_input) {
            continue;
        }
        inputs.extend(row.inputs().clone());
        let of_key = later.entry(row.key()).or_default();
        if of_key.iter().all(|newer| !kept[*newer].contradicts(&row)) {
            of_key.push(kept.len());
            kept.push(row);
        }
    }
    kept.reverse();
    let left_out = all - kept.len();
    (kept, left_out)
}

fn conflict(
    key: &impl std::fmt::Display,
    found: String,
    [later, earlier]: [Option<&Place>; 2],
) -> Error {
    let named = |place: Option<&Place>| {
        place.map_or_else(|| "the row of this run".to_owned(), ToString::to_string)
    };
    let expected = format!("the numbers of {}, which has the same key {key}", named(earlier));
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
        let whole_row = row("a", "0", [600, 300, 200]);
        let methods: Vec<_> =
            ["baseline", "het", "het+qm"].map(|name| Method::parse(name).unwrap()).to_vec();
        let mut records = Records::default();
        let part = |at: usize| {
            let methods = vec![whole_row.methods[at].clone()];
            RunRow::View(whole_row.clone().with_methods(methods))
        };
        let found = |records: &Records| match records.of(&part(0).key()).next() {
            Some(RunRow::View(row)) => row.clone(),
            _ => panic!("no row"),
        };
        records.add(part(0), Some(&place(1))).unwrap();
        assert_eq!(missing(Some(&found(&records)), &methods), methods[1..]);
        assert_eq!(whole(&found(&records), &methods), None);
        records.add(part(2), Some(&place(2))).unwrap();
        records.add(part(1), None).unwrap();
        assert!(missing(Some(&found(&records)), &methods).is_empty());
        // Adding equal numbers again changes nothing, even if the host times differ.
        let again = RunRow::View(Row { host_s: 9.0, ..whole_row.clone() });
        records.add(again, Some(&place(3))).unwrap();
        assert_eq!(whole(&found(&records), &methods), Some(whole_row.clone()));
        // A row with another fingerprint is kept separately.
        let other = Row { fingerprint: "1".to_owned(), splats: 2, ..whole_row };
        records.add(RunRow::View(other), Some(&place(4))).unwrap();
        assert_eq!(records.into_rows().len(), 2);
    }

    #[test]
    fn different_numbers_of_one_key_are_refused_and_both_rows_named() {
        let mut records = Records::default();
        let add = |records: &mut Records, cycles, line| {
            records.add(RunRow::View(row("a", "0", [600, cycles, 200])), Some(&place(line)))
        };
        add(&mut records, 300, 4).unwrap();
        let error = add(&mut records, 301, 7).unwrap_err().to_string();
        for word in
            ["rows.jsonl: line 7", "line 4 of rows.jsonl", "het.cycles 301 instead of 300", "a 0"]
        {
            assert!(error.contains(word), "{word}: {error}");
        }
        let more = RunRow::View(Row { splats: 2, ..row("a", "0", [600, 300, 200]) });
        let error = records.add(more, Some(&place(8))).unwrap_err().to_string();
        assert!(error.contains("splats 2 instead of 1"), "{error}");
    }
}
