//! Rows of results files that are still valid for a plan, so that their runs are skipped.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::key::{Fnv1a, RunKey};
use super::mesh_suite::MeshJob;
use super::plan::{Plan, Run, ViewWork, Work};
use super::records::{self, Records};
use super::results_file::Lines;
use super::row::Row;
use super::run_row::{MeshRunRow, RunRow};
use quadrille_base::error::{Error, Result};

pub(super) struct KnownRows<'a> {
    pub(super) records: Records,
    by_key: HashMap<&'a RunKey, &'a Run>,
    pub(super) inputs: Inputs<'a>,
}

pub(super) struct Inputs<'a> {
    plan: &'a Plan,
    folder: PathBuf,
    /// Hashes of input files, each of which is read once.
    hashes: HashMap<PathBuf, Option<u64>>,
}

impl Plan {
    /// Returns each run with its row from `files`. The row is `None` if it is missing or stale, that is, another build or
    /// other inputs made it. Output files are expected beside the first file.
    ///
    /// # Errors
    /// Errors of reading the files, and [`Error::Malformed`] naming two rows of one run with different numbers.
    pub fn rows(&self, files: &[PathBuf]) -> Result<Vec<(&Run, Option<RunRow>)>> {
        let mut known = KnownRows::new(self, files.first().map_or(Path::new(""), PathBuf::as_path));
        files.iter().try_for_each(|file| known.read(file))?;
        Ok(self.runs.iter().map(|run| (run, known.whole(run))).collect())
    }
}

impl<'a> KnownRows<'a> {
    /// Creates a lookup without rows. Output files are expected in the folder of `results`.
    pub(super) fn new(plan: &'a Plan, results: &Path) -> Self {
        let folder = results.parent().unwrap_or(Path::new("")).to_owned();
        Self {
            records: Records::default(),
            by_key: plan.runs.iter().map(|run| (&run.key, run)).collect(),
            inputs: Inputs { plan, folder, hashes: HashMap::new() },
        }
    }

    /// Whether the plan contains the run of a row. The key of a mesh suffices, even if its input files have changed.
    pub(super) fn is_planned(&self, row: &RunRow) -> bool {
        self.by_key.get(&row.key()).is_some_and(|run| match &run.work {
            Work::View(work) => work.fingerprint == row.fingerprint(),
            Work::Mesh(_) => true,
        })
    }

    /// Adds the rows of a results file whose runs are in the plan. A missing file counts as empty.
    pub(super) fn read(&mut self, path: &Path) -> Result<()> {
        let lines = match Lines::of_file(path) {
            Err(Error::Read { .. }) if !path.exists() => return Ok(()),
            read => read?.lines,
        };
        for line in lines {
            if line.row().is_some_and(|row| self.is_planned(row)) {
                self.records.add_line(line)?;
            }
        }
        Ok(())
    }

    /// Returns the valid row of a view, which may lack some of the methods.
    pub(super) fn view(&self, key: &RunKey, work: &ViewWork) -> Option<&Row> {
        self.records.of(key).find_map(|row| match row {
            RunRow::View(row) => (row.fingerprint == work.fingerprint).then_some(row),
            RunRow::Mesh(_) => None,
        })
    }

    /// Returns the last row of a mesh that was made by this build from files with the present content.
    fn mesh(&mut self, key: &RunKey, job: &MeshJob) -> Option<&MeshRunRow> {
        self.records.of(key).find_map(|row| match row {
            // An unreadable camera file invalidates the row; the run that follows reports the error.
            RunRow::Mesh(row) => {
                let fingerprint = self.inputs.fingerprint(job, row).ok()?;
                (row.fingerprint == fingerprint).then_some(row)
            }
            RunRow::View(_) => None,
        })
    }

    pub(super) fn has(&mut self, run: &Run) -> bool {
        match &run.work {
            Work::View(work) => {
                records::missing(self.view(&run.key, work), &work.methods).is_empty()
            }
            Work::Mesh(job) => self.mesh(&run.key, job).is_some(),
        }
    }

    /// Whether the plan's own rows supersede a row, so that merging drops it.
    pub(super) fn replaces(&mut self, row: &RunRow) -> bool {
        let Some(run) = self.by_key.get(&row.key()).copied() else { return false };
        match (&run.work, row) {
            (Work::View(work), RunRow::View(row)) => {
                let is_run = |name: &String| work.methods.iter().any(|m| m.name() == *name);
                let has_all = row.methods.iter().all(|method| is_run(&method.name));
                work.fingerprint == row.fingerprint && has_all && self.has(run)
            }
            _ => true,
        }
    }

    /// Returns the row of a run with exactly the run's methods; `None` if one is missing.
    pub(super) fn whole(&mut self, run: &Run) -> Option<RunRow> {
        match &run.work {
            Work::View(work) => {
                records::whole(self.view(&run.key, work)?, &work.methods).map(RunRow::View)
            }
            Work::Mesh(job) => self.mesh(&run.key, job).cloned().map(RunRow::Mesh),
        }
    }
}

impl Inputs<'_> {
    fn content(&mut self, file: &Path) -> Option<u64> {
        let content = self.hashes.entry(self.plan.paths.resolved(file));
        *content.or_insert_with_key(|path| content_hash(path))
    }

    /// Hashes of files by their names; a missing file has the hash `None`.
    pub(super) fn of_files(&mut self, files: &[PathBuf]) -> BTreeMap<String, String> {
        let of_file = |file: &PathBuf| {
            (file.display().to_string(), Fnv1a::of(format_args!("{:x?}", self.content(file))))
        };
        files.iter().map(of_file).collect()
    }

    /// Hash of the inputs of a mesh row (program sources, key, settings, cameras, files) and of the output files.
    pub(super) fn fingerprint(&mut self, job: &MeshJob, row: &MeshRunRow) -> Result<String> {
        let mut hash = Fnv1a::default();
        let sources = self.plan.program.sources;
        let (key, settings, cameras) = (&job.key, &job.settings, job.camera_text()?);
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{sources}\n{key:?}\n{settings:?}\n{cameras}\n");
        for file in &row.files {
            let content = self.content(file);
            let _ = writeln!(hash, "{} {content:x?}", file.display());
        }
        for output in &row.outputs {
            let content = content_hash(&self.folder.join(output));
            let _ = writeln!(hash, "{output} {content:x?}");
        }
        Ok(hash.text())
    }
}

fn content_hash(path: &Path) -> Option<u64> {
    let mut hash = Fnv1a::default();
    hash.add_file(path).ok()?;
    Some(hash.0)
}
