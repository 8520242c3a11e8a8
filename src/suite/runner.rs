//! Runs of suites. The row of a job is in the results file before the next job begins, so that a
//! stopped run continues where it was.

use std::path::Path;
use std::time::Instant;

use super::key::JobKey;
use super::mesh_row::{MeshRunKey, MeshRunRow};
use super::method::run_all;
use super::plan::{Plan, ViewJob};
use super::records::Records;
use super::results_file::ResultsFile;
use super::row::{Row, RunFacts};
use super::rows::MethodRow;
use quadrille_base::error::Result;
use quadrille_base::math::SimdLevel;
use quadrille_base::task::Task;
use quadrille_gpu::view::PreparedView;

/// An event of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins with `done` of all `jobs` in the results file.
    Resumed {
        /// Number of jobs.
        jobs: usize,
        /// Number of jobs that need not be run.
        done: usize,
    },
    /// A job begins.
    Begun(&'a JobKey),
    /// The row of a job is in the results file.
    Done(&'a Row),
    /// A job of meshes begins.
    BegunMesh(&'a MeshRunKey),
    /// The row of a job of meshes is in the results file.
    DoneMesh(&'a MeshRunRow),
    /// Something is strange: a view without splats, or counters that do not add up.
    Warning(String),
}

impl Plan {
    /// Runs the jobs without a row in the results file, if one is given, and returns the rows of all jobs
    /// in order. A row of the file with some of the methods is used, and only the others are run.
    ///
    /// # Errors
    /// Errors of reading scenes and of reading and writing the results file, which no other run may be
    /// writing; [`Error::Malformed`](quadrille_base::error::Error::Malformed) naming two rows of the file that have the
    /// same key and different numbers.
    pub fn run(
        &self,
        results: Option<&Path>,
        level: SimdLevel,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<Row>> {
        self.run_task(results, level, &Task::NEVER, watch)
    }

    /// As [`Self::run`], as a task, whose progress is in jobs. The rows of jobs that are done stay in the
    /// results file, from which another run continues.
    pub fn run_task(
        &self,
        results: Option<&Path>,
        level: SimdLevel,
        task: &Task,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<Row>> {
        task.check()?;
        let part = task.without_progress();
        let mut file = results.map(ResultsFile::open).transpose()?;
        let mut records = Records::default();
        for line in file.iter_mut().flat_map(ResultsFile::take_lines) {
            records.add_line(line)?;
        }
        let is_open = |job: &&ViewJob| !records.missing(&job.key, &self.methods).is_empty();
        let open: Vec<&ViewJob> = self.jobs.iter().filter(is_open).collect();
        watch(Event::Resumed { jobs: self.jobs.len(), done: self.jobs.len() - open.len() });
        let steps = task.steps(open.len() as u64);
        for of_scene in open.chunk_by(|a, b| a.scene == b.scene) {
            let planned = &self.scenes[of_scene[0].scene];
            let scene = planned.entry.load(&self.suite, &part)?;
            for of_view in of_scene.chunk_by(|a, b| a.camera == b.camera) {
                let mut start = Instant::now();
                let camera = &planned.cameras[of_view[0].camera];
                let (splats, profile) = (&scene.splats, &scene.profile);
                let view = PreparedView::new(splats, camera, profile, level, &part)?;
                let splats = u64::from(view.draw().len());
                if splats == 0 {
                    let key = &of_view[0].key;
                    let text = format!("{key}: no splat is in view; ratios exclude this view");
                    watch(Event::Warning(text));
                }
                for job in of_view {
                    quadrille_base::span!("row");
                    watch(Event::Begun(&job.key));
                    let methods = self.run_methods(job, &view, &records, &part, watch)?;
                    let host_s = start.elapsed().as_secs_f64();
                    let run = RunFacts {
                        profile: scene.profile.name,
                        commit: self.program.commit,
                        splats,
                        host_s,
                    };
                    let row = Row::new(&job.key, &run, methods);
                    if let Some(file) = &mut file {
                        file.append(&row)?;
                    }
                    watch(Event::Done(&row));
                    records.add(row, None)?;
                    steps.advance(1)?;
                    start = Instant::now();
                }
            }
        }
        let rows = self.jobs.iter();
        Ok(rows.filter_map(|job| records.take(&job.key, &self.methods)).collect())
    }

    /// Runs the methods of a job that `records` lacks; returns all results in the order of the suite.
    fn run_methods(
        &self,
        job: &ViewJob,
        view: &PreparedView<'_>,
        records: &Records,
        task: &Task,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<MethodRow>> {
        let config = &self.configurations[job.configuration].config;
        let missing = records.missing(&job.key, &self.methods);
        let mut rows = records.known(&job.key, &self.methods);
        for run in run_all(&missing, view, config, task)? {
            for sentence in run.discrepancies {
                let text = format!("{}, {}: {sentence}", job.key, run.row.name);
                watch(Event::Warning(text));
            }
            rows.push(run.row);
        }
        let place = |name: &str| self.methods.iter().position(|m| m.name() == name);
        rows.sort_by_key(|row| place(&row.name));
        Ok(rows)
    }
}
