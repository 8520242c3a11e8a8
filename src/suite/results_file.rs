//! The results file of a suite: one JSON object per line, to which rows are appended.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run_row::RunRow;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_bytes;

#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: Arc<Path>,
    pub(super) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of {}", self.line, self.path.display())
    }
}

pub(super) struct Line {
    pub(super) place: Place,
    pub(super) content: LineContent,
}

impl Line {
    /// The row of the line; `None` if another version may have written it.
    pub(super) fn row(&self) -> Option<&RunRow> {
        if let LineContent::Run(row) = &self.content { Some(row) } else { None }
    }
}

#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum LineContent {
    Run(Box<RunRow>),
    /// Another object, possibly of another version.
    Other(Value),
}

/// Detects rows of meshes: only they have the key `workload`.
#[derive(Deserialize)]
struct Kind {
    workload: Option<IgnoredAny>,
}

impl LineContent {
    fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        let kind: Kind = serde_json::from_slice(bytes).ok()?;
        let row = match kind.workload {
            None => serde_json::from_slice(bytes).map(RunRow::View),
            Some(_) => serde_json::from_slice(bytes).map(RunRow::Mesh),
        };
        match row {
            Ok(row) => Some(Self::Run(Box::new(row))),
            Err(_) => serde_json::from_slice(bytes).map(Self::Other).ok(),
        }
    }
}

#[derive(Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    /// Bytes of the complete lines; a stopped run may have left an incomplete one.
    complete: u64,
    is_torn: bool,
}

/// Open results file, locked against other runs.
pub(super) struct ResultsFile {
    path: PathBuf,
    file: File,
    lines: Vec<Line>,
}

impl ResultsFile {
    /// Opens or creates the file and reads its rows. An incomplete last line of a stopped run is removed.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let opened = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = opened.map_err(|e| Error::write(path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let reason = std::io::Error::other(
                    "another run is writing this file; wait until that run ends, or name another file",
                );
                return Err(Error::write(path, reason));
            }
            // Some file systems of clusters have no locks. The lock only guards against a mistake.
            Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(Error::write(path, e)),
        }
        let found = Lines::read(path, &mut file)?;
        if found.is_torn {
            file.set_len(found.complete)
                .and_then(|()| file.sync_all())
                .map_err(|e| Error::write(path, e))?;
        }
        Ok(Self { path: path.to_owned(), file, lines: found.lines })
    }

    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    pub(super) fn append(&mut self, row: &impl Serialize) -> Result<()> {
        let written = serde_json::to_string(row)
            .map_err(std::io::Error::other)
            .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()))
            .and_then(|()| self.file.sync_all());
        written.map_err(|e| Error::write(&self.path, e))
    }
}

pub(super) fn replace<T: Serialize>(path: &Path, lines: impl Iterator<Item = T>) -> Result<()> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(&line).map_err(|e| Error::write(path, e.into()))?;
        text.push('\n');
    }
    write_bytes(path, text)
}

impl Lines {
    /// Reads a results file that another run may be writing: an incomplete last line is ignored.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        Self::read(path, File::open(path).map_err(|e| Error::read(path, e))?)
    }

    /// Reads the lines of `source`, which `path` names in errors.
    pub(super) fn read(path: &Path, source: impl Read) -> Result<Self> {
        let shared: Arc<Path> = path.into();
        let mut reader = BufReader::new(source);
        let mut found = Self::default();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let length = reader.read_until(b'\n', &mut bytes).map_err(|e| Error::read(path, e))?;
            if length == 0 {
                break;
            }
            if bytes.last() != Some(&b'\n') {
                if bytes[0] != b'{' {
                    return Err(not_a_row(path, line));
                }
                found.is_torn = true;
                break;
            }
            found.complete += length as u64;
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let content = LineContent::parse(&bytes).ok_or_else(|| not_a_row(path, line))?;
            found.lines.push(Line { place: Place { path: Arc::clone(&shared), line }, content });
        }
        Ok(found)
    }
}

fn not_a_row(path: &Path, line: usize) -> Error {
    let place = format!("line {line}");
    Error::malformed(path, place, "a JSON object, as `quadrille bench` writes", "other text")
}
