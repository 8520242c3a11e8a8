//! The results file of a suite: a JSON object a line, only ever added to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::row::Row;
use crate::error::{Error, Result};

/// An open results file, locked against another run.
pub(crate) struct ResultsFile {
    path: PathBuf,
    file: File,
    rows: Vec<Row>,
}

impl ResultsFile {
    /// Opens or makes the file and reads its rows. A last line that a killed run left half written
    /// is cut off.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let options = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path);
        let mut file = options.map_err(|e| Error::write(path, e))?;
        file.try_lock().map_err(|e| {
            let reason = match e {
                TryLockError::WouldBlock => std::io::Error::other("another run is writing it"),
                TryLockError::Error(e) => e,
            };
            Error::write(path, reason)
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|e| Error::read(path, e))?;
        let whole = bytes
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let (lines, torn) = bytes.split_at(whole);
        let rows = read_rows(path, lines)?;
        if !torn.is_empty() {
            if torn[0] != b'{' {
                return Err(not_a_row(
                    path,
                    lines.iter().filter(|b| **b == b'\n').count(),
                ));
            }
            file.set_len(whole as u64)
                .and_then(|()| file.sync_all())
                .map_err(|e| Error::write(path, e))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            rows,
        })
    }

    /// The rows that were in the file.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Adds a row; when this returns it is on the disk.
    pub(crate) fn append(&mut self, row: &Row) -> Result<()> {
        let written = serde_json::to_string(row)
            .map_err(std::io::Error::other)
            .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()))
            .and_then(|()| self.file.sync_all());
        written.map_err(|e| Error::write(&self.path, e))
    }
}

/// The rows among whole lines. Objects that are no rows, as other versions may have written, stay
/// and are not used.
fn read_rows(path: &Path, lines: &[u8]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (index, line) in lines.split(|b| *b == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_slice(line).map_err(|_| not_a_row(path, index))?;
        if !value.is_object() {
            return Err(not_a_row(path, index));
        }
        rows.extend(serde_json::from_value(value).ok());
    }
    Ok(rows)
}

fn not_a_row(path: &Path, index: usize) -> Error {
    let place = format!("line {}", index + 1);
    Error::malformed(
        path,
        place,
        "a JSON object, as bench writes",
        "something else",
    )
}
