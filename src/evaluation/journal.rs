//! A file of the finished results of a comparison, with which an interrupted comparison continues.
//!
//! Each line is the JSON object of a pair: a hash of all inputs of its result, the row, and its pictures for a page. An
//! incomplete last line, from a run that was stopped while writing, is ignored.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use quadrille_base::error::{Error, Result};
use quadrille_suite::Fnv1a;

use super::masks::Masks;
use super::pair_pictures::PairPictures;
use super::pairing::PairName;
use super::row::PairRow;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Recorded {
    pub(super) row: PairRow,
    pub(super) pictures: PairPictures,
}

#[derive(Serialize, Deserialize)]
struct Line<R> {
    key: u64,
    #[serde(flatten)]
    recorded: R,
}

/// File of the finished results of a comparison.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Hash of the comparison's settings.
    settings: u64,
    known: HashMap<u64, Recorded>,
}

impl Journal {
    /// Opens the file `path`, or creates it. `settings` describes all inputs of the numbers besides the pictures: the
    /// build, the protocol, the background, the size limit of pictures.
    pub fn open(path: &Path, settings: &str) -> Result<Self> {
        let mut known = HashMap::new();
        if path.exists() {
            let file = File::open(path).map_err(|e| Error::read(path, e))?;
            for line in BufReader::new(file).lines() {
                let line = line.map_err(|e| Error::read(path, e))?;
                if let Ok(line) = serde_json::from_str::<Line<Recorded>>(&line) {
                    known.insert(line.key, line.recorded);
                }
            }
        }
        let opened = OpenOptions::new().create(true).append(true).open(path);
        let mut file = opened.map_err(|e| Error::write(path, e))?;
        // Ends an incomplete line.
        file.write_all(b"\n").map_err(|e| Error::write(path, e))?;
        let mut hash = Fnv1a::default();
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{settings}");
        Ok(Self { path: path.to_owned(), file, settings: hash.0, known })
    }

    /// Hash of a pair's settings, pictures and mask; `None` if its pictures have no hash.
    pub(super) fn key(
        &self,
        pictures: Option<u64>,
        masks: Option<&Masks>,
        pair: &PairName,
    ) -> Result<Option<u64>> {
        let Some(pictures) = pictures else { return Ok(None) };
        let mut hash = Fnv1a(self.settings);
        let alpha = matches!(masks, Some(Masks::Alpha));
        let _ = write!(hash, "{pictures} {alpha} {}", pair.name);
        if let Some(file) = masks.map_or(Ok(None), |masks| masks.file(pair))? {
            hash.add_file(&file).map_err(|e| Error::read(&file, e))?;
        }
        Ok(Some(hash.0))
    }

    pub(super) fn take(&mut self, key: u64) -> Option<Recorded> {
        self.known.remove(&key)
    }

    pub(super) fn append(&mut self, key: u64, recorded: &Recorded) -> Result<()> {
        let mut line = serde_json::to_vec(&Line { key, recorded }).unwrap_or_default();
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.flush());
        written.map_err(|e| Error::write(&self.path, e))
    }

    /// Removes the file of a complete comparison. If that fails, a later run reads the file again, without harm.
    pub(super) fn remove(self) {
        drop(self.file);
        let _ = fs::remove_file(&self.path);
    }
}
