//! Merging of the results files of shards.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::key::JobKey;
use super::plan::Plan;
use super::records::Records;
use super::results_file::{LineContent, Lines, ResultsFile, replace};
use super::row::Row;
use super::rows::MethodRow;
use super::shard::Shard;
use quadrille_base::error::Result;

/// Result of a merge of shards.
#[derive(Debug)]
pub struct Merged {
    /// Rows of the jobs, in order.
    pub rows: Vec<Row>,
    /// Jobs without a row in any file.
    pub missing: Vec<JobKey>,
    /// Files of shards that were read.
    pub files: Vec<PathBuf>,
    /// Rows of shards that belong to no job of the suite, for example since another build or another
    /// configuration made them. They are left out.
    pub left_out: usize,
}

impl Plan {
    /// Joins the rows of `results` and of the shards' files beside it in `results`, which is replaced
    /// whole: first the rows of the jobs, in order, then other lines of the old file.
    ///
    /// # Errors
    /// [`Error::Malformed`](quadrille_base::error::Error::Malformed) naming two rows that have the same key and different numbers;
    /// [`Error::Argument`](quadrille_base::error::Error::Argument) if there is no file of a shard; errors of reading and writing the files.
    pub fn merge(&self, results: &Path) -> Result<Merged> {
        let files = Shard::files_to_merge(results)?;
        let own: HashSet<&JobKey> = self.keys().collect();
        let mut records = Records::default();
        // Lines of the old file, which are kept unless a row of a job replaces them.
        let mut old: Vec<LineContent> = Vec::new();
        // The lock keeps other runs from writing the file until it is replaced.
        let lock = results.exists().then(|| ResultsFile::open(results));
        let mut lock = lock.transpose()?;
        for line in lock.iter_mut().flat_map(ResultsFile::take_lines) {
            old.push(line.content.clone());
            match &line.content {
                LineContent::Row(row) if own.contains(&row.key) => records.add_line(line)?,
                _ => {}
            }
        }
        let mut left_out = 0;
        for file in &files {
            for line in Lines::of_file(file)?.lines {
                match &line.content {
                    LineContent::Row(row) if own.contains(&row.key) => records.add_line(line)?,
                    LineContent::Row(_) => left_out += 1,
                    LineContent::Mesh(_) | LineContent::Other(_) => {}
                }
            }
        }
        let (mut rows, mut missing) = (Vec::new(), Vec::new());
        for key in self.keys() {
            match records.take(key, &self.methods) {
                Some(row) => rows.push(row),
                None => missing.push(key.clone()),
            }
        }
        let is_replaced = |row: &Row| {
            let merged = rows.iter().find(|merged| merged.key == row.key);
            let has = |method: &MethodRow| merged.is_some_and(|m| m.method(&method.name).is_some());
            row.variants.iter().all(has)
        };
        old.retain(|content| !matches!(content, LineContent::Row(row) if is_replaced(row)));
        let merged = rows.iter().map(|row| LineContent::Row(Box::new(row.clone())));
        replace(results, merged.chain(old))?;
        Ok(Merged { rows, missing, files, left_out })
    }
}
