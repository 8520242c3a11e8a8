//! The results file of a suite: one JSON object per line, to which rows are appended.

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
    /// Opens or creates the file and reads its rows. A last line that a stopped run left incomplete is
    /// removed.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).append(true).create(true).open(path);
        let mut file = opened.map_err(|e| Error::write(path, e))?;
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
        let last_line_feed = bytes.iter().rposition(|b| *b == b'\n');
        let complete = last_line_feed.map_or(0, |at| at + 1);
        let (lines, incomplete) = bytes.split_at(complete);
        let rows = read_rows(path, lines)?;
        if !incomplete.is_empty() {
            if incomplete[0] != b'{' {
                let index = lines.iter().filter(|b| **b == b'\n').count();
                return Err(not_a_row(path, index));
            }
            file.set_len(complete as u64)
                .and_then(|()| file.sync_all())
                .map_err(|e| Error::write(path, e))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            rows,
        })
    }

    /// Takes the rows that the file contained.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Appends a row and flushes it to the disk.
    pub(crate) fn append(&mut self, row: &Row) -> Result<()> {
        let written = serde_json::to_string(row)
            .map_err(std::io::Error::other)
            .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()))
            .and_then(|()| self.file.sync_all());
        written.map_err(|e| Error::write(&self.path, e))
    }
}

/// Reads the rows in complete lines. Other objects, which other versions may have written, are ignored.
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
    let expected = "a JSON object, as bench writes";
    Error::malformed(path, place, expected, "something else")
}
