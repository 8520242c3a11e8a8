//! Runs of suites. The row of a job is in the results file before the next job begins, so that a stopped run continues
//! where it was.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::file::{MeshJob, RunSettings};
use super::plan::{KeptRows, MeshPlan, picture_name};
use crate::deferred_runs::{DeferredWants, heat_picture};
use crate::merging_runs::{MergedFrame, MergingWants};
use crate::mesh_row::{MeshRows, MeshRunKey, MeshRunRow};
use crate::messages::Messages;
use crate::results_file::ResultsFile;
use crate::rows::{DeferredRow, MeshRow};
use crate::runner::Event;
use crate::shard::Shard;
use quadrille_base::error::Result;
use quadrille_base::image::files;
use quadrille_base::math::SimdLevel;
use quadrille_base::task::Task;
use quadrille_deferred::draw::DeferredResult;

/// Files of a run.
#[derive(Debug, Clone, Copy)]
pub struct MeshRunFiles<'a> {
    /// Results file that rows are appended to. Heat maps are written into its folder.
    pub results: &'a Path,
    /// Other results files whose rows are used.
    pub others: &'a [PathBuf],
}

#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Messages for Warnings {
    fn warn(&self, text: &str) {
        let mut warnings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(text.to_owned());
    }

    fn remark(&self, _: &str) {}
}

impl MeshPlan {
    /// Runs the wanted jobs of a shard that have no current row, on rayon's current pool, as a task whose progress is in
    /// jobs. Without a shard, all jobs are run.
    ///
    /// # Errors
    /// Errors of the jobs, and of reading and writing the results files, which no other run may be writing;
    /// [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
    pub fn run(
        &self,
        files: MeshRunFiles<'_>,
        shard: Option<Shard>,
        is_wanted: &dyn Fn(&MeshRunKey) -> bool,
        (level, task): (SimdLevel, &Task),
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        task.check()?;
        let mut results = ResultsFile::open(files.results)?;
        let folder = files.results.parent().unwrap_or(Path::new(""));
        let mut kept = KeptRows::new(self, folder);
        kept.read_others(files.results, files.others)?;
        kept.add(results.take_lines());
        let jobs = self.suite.jobs.iter().enumerate();
        let is_own = |at: usize, job: &MeshJob| {
            shard.is_none_or(|shard| shard.contains(at)) && is_wanted(&job.key)
        };
        let own = jobs.filter(|(at, job)| is_own(*at, job));
        let own: Vec<&MeshJob> = own.map(|(_, job)| job).collect();
        let open: Vec<&MeshJob> =
            own.iter().filter(|job| kept.current(job).is_none()).copied().collect();
        watch(Event::Resumed { jobs: own.len(), done: own.len() - open.len() });
        let part = task.without_progress();
        let steps = task.steps(open.len() as u64);
        for job in open {
            quadrille_base::span!("row");
            watch(Event::BegunMesh(&job.key));
            let warnings = Warnings::default();
            let mut row = self.row(job, folder, (level, &part), &warnings)?;
            row.fingerprint = kept.fingerprint(job, &job.camera_text()?, &row);
            let warnings = warnings.0.into_inner();
            for text in warnings.unwrap_or_else(PoisonError::into_inner) {
                watch(Event::Warning(format!("{}: {text}", job.key)));
            }
            results.append(&row)?;
            watch(Event::DoneMesh(&row));
            steps.advance(1)?;
        }
        Ok(())
    }

    fn row(
        &self,
        job: &MeshJob,
        folder: &Path,
        host: (SimdLevel, &Task),
        messages: &dyn Messages,
    ) -> Result<MeshRunRow> {
        let mut outputs = Vec::new();
        let (mut rows, files) = match &job.settings {
            RunSettings::Deferred(settings) => {
                let prepared = settings.prepare(messages)?;
                let wants = DeferredWants { heat: job.heat, ..DeferredWants::default() };
                let mut keep = |row: &DeferredRow, result: &DeferredResult| {
                    let Some(heat) = &result.heat else {
                        return Ok(());
                    };
                    let name = picture_name(&job.key, &row.variant_name());
                    files::write(folder.join(&name), &heat_picture(row, heat))?;
                    outputs.push(name);
                    Ok(())
                };
                let rows = prepared.run(wants, host, messages, &mut keep)?;
                let files: Vec<_> = prepared.files().map(Path::to_owned).collect();
                (MeshRows::Deferred(rows), files)
            }
            RunSettings::Merging(settings) => {
                let prepared = settings.prepare(messages)?;
                let wants = MergingWants { background: Some([0.0; 3]), ..MergingWants::default() };
                let mut keep = |_: &MeshRow, _: MergedFrame<'_>| Ok(());
                let rows = prepared.run(wants, host, messages, &mut keep)?;
                let files: Vec<_> = prepared.files().map(Path::to_owned).collect();
                (MeshRows::Merging(rows), files)
            }
        };
        match &mut rows {
            MeshRows::Deferred(rows) => rows.iter_mut().for_each(|r| r.mesh.clone_from(&job.mesh)),
            MeshRows::Merging(rows) => rows.iter_mut().for_each(|r| r.mesh.clone_from(&job.mesh)),
        }
        let mut row = MeshRunRow {
            key: job.key.clone(),
            commit: self.program.commit.to_owned(),
            fingerprint: String::new(),
            files: Vec::new(),
            outputs,
            rows,
        };
        for file in files {
            let file = self.suite.paths.portable(&file);
            if !row.files.contains(&file) {
                row.files.push(file);
            }
        }
        Ok(row)
    }
}
