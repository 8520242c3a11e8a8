//! Merging of the results files of shards.

use std::path::{Path, PathBuf};

use super::key::RunKey;
use super::known::KnownRows;
use super::plan::Plan;
use super::results_file::{LineContent, Lines, ResultsFile, replace};
use super::run_row::RunRow;
use super::shard::Shard;
use quadrille_base::error::Result;

/// Result of a merge of shards.
#[derive(Debug)]
pub struct Merged {
    /// Rows of the runs, in order.
    pub rows: Vec<RunRow>,
    /// Runs without a row in any file.
    pub missing: Vec<RunKey>,
    /// Files of shards that were read.
    pub files: Vec<PathBuf>,
    /// Number of rows of shards that were left out because they belong to no run of the suite, for example
    /// because another build or configuration made them.
    pub left_out: usize,
}

impl Plan {
    /// Joins the rows of `results` and of the shards' files beside it in `results`, which is replaced
    /// whole: first the rows of the runs, in order, then other lines of the old file.
    ///
    /// # Errors
    /// [`Error::Malformed`](quadrille_base::error::Error::Malformed) naming two rows that have the same key and different numbers;
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) if there is no file of a shard; errors of reading and writing the files.
    pub fn merge(&self, results: &Path) -> Result<Merged> {
        let files = Shard::files_to_merge(results)?;
        let mut known = KnownRows::new(self, results);
        // The lock keeps other runs from writing the file until it is replaced.
        let lock = results.exists().then(|| ResultsFile::open(results));
        let mut lock = lock.transpose()?;
        // Lines of the old file, which are kept unless a row of a run replaces them.
        let mut old: Vec<LineContent> = Vec::new();
        for line in lock.iter_mut().flat_map(ResultsFile::take_lines) {
            old.push(line.content.clone());
            if line.row().is_some_and(|row| known.is_planned(row)) {
                known.records.add_line(line)?;
            }
        }
        let mut left_out = 0;
        for file in &files {
            for line in Lines::of_file(file)?.lines {
                match line.row().map(|row| known.is_planned(row)) {
                    Some(true) => known.records.add_line(line)?,
                    Some(false) => left_out += 1,
                    None => {}
                }
            }
        }
        let (mut rows, mut missing) = (Vec::new(), Vec::new());
        for run in &self.runs {
            match known.whole(run) {
                Some(row) => rows.push(row),
                None => missing.push(run.key.clone()),
            }
        }
        old.retain(|content| match content {
            LineContent::Run(row) => !known.replaces(row),
            LineContent::Other(_) => true,
        });
        let merged = rows.iter().map(|row| LineContent::Run(Box::new(row.clone())));
        replace(results, merged.chain(old))?;
        Ok(Merged { rows, missing, files, left_out })
    }
}
