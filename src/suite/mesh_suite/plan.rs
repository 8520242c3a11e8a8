//! The jobs of a suite, and their rows in results files.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::file::{MeshJob, MeshSuite, RunSettings};
use crate::key::Fnv1a;
use crate::mesh_input::camera_text;
use crate::mesh_row::{MeshRunKey, MeshRunRow};
use crate::program::Program;
use crate::results_file::{Line, LineContent, Lines, ResultsFile, replace};
use crate::shard::Shard;
use quadrille_base::error::{Error, Result};

/// The jobs of a suite of meshes, in order.
#[derive(Debug, Clone)]
pub struct MeshPlan {
    pub(super) suite: MeshSuite,
    pub(super) program: Program,
}

/// A job of a plan with its results.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// Identification of the job.
    pub key: MeshRunKey,
    /// Its row; `None` without a row that this build would make again from the same files.
    pub row: Option<MeshRunRow>,
    /// Its heat maps as PNG files, with the names of their variants.
    pub pictures: Vec<(String, Vec<u8>)>,
}

pub(super) struct KeptRows<'a> {
    plan: &'a MeshPlan,
    folder: PathBuf,
    rows: HashMap<MeshRunKey, Vec<MeshRunRow>>,
    /// Hashes of input files, each read once.
    hashes: HashMap<PathBuf, Option<u64>>,
}

impl MeshSuite {
    /// Lists the jobs of the suite, or only the first of each study. Rows of another `program` are not used.
    #[must_use]
    pub fn plan(mut self, program: Program, is_quick: bool) -> MeshPlan {
        self.jobs.retain(|job| !is_quick || job.is_first);
        MeshPlan { suite: self, program }
    }
}

impl MeshPlan {
    /// Keys of the jobs, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &MeshRunKey> {
        self.suite.keys()
    }

    /// The jobs with their rows in `files`, whose outputs lie in `folder`.
    pub fn runs(&self, folder: &Path, files: &[PathBuf]) -> Result<Vec<PlannedRun>> {
        let mut kept = KeptRows::new(self, folder);
        files.iter().try_for_each(|file| kept.read(file))?;
        let runs = self.suite.jobs.iter().map(|job| {
            let row = kept.current(job);
            let outputs = row.iter().flat_map(|row| &row.outputs);
            let pictures = outputs.map(|name| {
                let path = folder.join(name);
                let png = fs::read(&path).map_err(|e| Error::read(&path, e))?;
                Ok((variant(&job.key, name).to_owned(), png))
            });
            Ok(PlannedRun { key: job.key.clone(), pictures: pictures.collect::<Result<_>>()?, row })
        });
        runs.collect()
    }
}

impl MeshPlan {
    /// Joins the rows of `results` and of the shards' files beside it in `results`, which is replaced whole: first the
    /// current rows of the jobs, in order, then lines of the old file that belong to other jobs.
    ///
    /// # Errors
    /// [`Error::Argument`] if there is no file of a shard; errors of reading and writing the files.
    pub fn merge(&self, results: &Path) -> Result<Vec<PlannedRun>> {
        let folder = results.parent().unwrap_or(Path::new(""));
        let mut files = Shard::files_to_merge(results)?;
        // The lock keeps other runs from writing the file until it is replaced.
        let lock = results.exists().then(|| ResultsFile::open(results));
        let mut lock = lock.transpose()?;
        let old = lock.iter_mut().flat_map(ResultsFile::take_lines);
        let others: Vec<LineContent> =
            old.map(|line| line.content).filter(|content| !self.has(content)).collect();
        files.push(results.to_owned());
        let runs = self.runs(folder, &files)?;
        let rows = runs.iter().filter_map(|run| run.row.clone());
        let rows = rows.map(|row| LineContent::Mesh(Box::new(row)));
        replace(results, rows.chain(others))?;
        Ok(runs)
    }

    fn has(&self, content: &LineContent) -> bool {
        matches!(content, LineContent::Mesh(row) if self.keys().any(|key| *key == row.key))
    }
}

pub(super) fn picture_name(key: &MeshRunKey, variant: &str) -> String {
    format!("{key}.{variant}.png")
}

fn variant<'a>(key: &MeshRunKey, file: &'a str) -> &'a str {
    let rest = file.strip_prefix(&format!("{key}."));
    rest.and_then(|rest| rest.strip_suffix(".png")).unwrap_or(file)
}

impl<'a> KeptRows<'a> {
    pub(super) fn new(plan: &'a MeshPlan, folder: &Path) -> Self {
        Self { plan, folder: folder.to_owned(), rows: HashMap::new(), hashes: HashMap::new() }
    }

    fn read(&mut self, path: &Path) -> Result<()> {
        match Lines::of_file(path) {
            Err(Error::Read { .. }) if !path.exists() => {}
            read => self.add(read?.lines),
        }
        Ok(())
    }

    pub(super) fn read_others(&mut self, own: &Path, files: &[PathBuf]) -> Result<()> {
        let mut others = files.iter().filter(|file| *file != own);
        others.try_for_each(|file| self.read(file))
    }

    /// Adds lines; lines that are not rows of meshes are ignored.
    pub(super) fn add(&mut self, lines: Vec<Line>) {
        for line in lines {
            if let LineContent::Mesh(row) = line.content {
                self.rows.entry(row.key.clone()).or_default().push(*row);
            }
        }
    }

    /// Last row of a job with the current fingerprint.
    pub(super) fn current(&mut self, job: &MeshJob) -> Option<MeshRunRow> {
        let rows = self.rows.get(&job.key)?.clone();
        // A camera file that cannot be read is an error of the run that follows.
        let cameras = job.camera_text().ok()?;
        let mut rows = rows.into_iter().rev();
        rows.find(|row| row.fingerprint == self.fingerprint(job, &cameras, row))
    }

    /// Hash of everything that a row depends on, and of its outputs.
    pub(super) fn fingerprint(&mut self, job: &MeshJob, cameras: &str, row: &MeshRunRow) -> String {
        let mut hash = Fnv1a::default();
        let sources = self.plan.program.sources;
        let (key, settings) = (&job.key, &job.settings);
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{sources}\n{key:?}\n{settings:?}\n{cameras}\n");
        for file in &row.files {
            let path = self.plan.suite.paths.resolved(file);
            let content = self.hashes.entry(path);
            let content = content.or_insert_with_key(|path| content_hash(path));
            let _ = writeln!(hash, "{} {content:x?}", file.display());
        }
        for output in &row.outputs {
            let content = content_hash(&self.folder.join(output));
            let _ = writeln!(hash, "{output} {content:x?}");
        }
        format!("{:016x}", hash.0)
    }
}

impl MeshJob {
    pub(super) fn camera_text(&self) -> Result<String> {
        camera_text(match &self.settings {
            RunSettings::Deferred(settings) => &settings.views,
            RunSettings::Merging(settings) => &settings.views,
        })
    }
}

fn content_hash(path: &Path) -> Option<u64> {
    let mut hash = Fnv1a::default();
    hash.add_file(path).ok()?;
    Some(hash.0)
}
