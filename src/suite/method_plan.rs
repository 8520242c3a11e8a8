//! Jobs of one method each: the views of a suite, with the methods to run in each.
//!
//! A job is a view of a scene in one configuration by one method. Its row is appended to the results file as soon
//! as the method is done, whatever the other methods of the view still do. Several results files may hold the rows
//! of one plan, for example of shards on several machines.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use super::details::{self, FigureDetails};
use super::key::{Fnv1a, JobKey};
use super::plan::{Plan, ViewJob};
use super::records::Records;
use super::results_file::{LineContent, Lines, ResultsFile};
use super::row::{Row, RunFacts};
use super::rows::MethodRow;
use super::runner::Event;
use super::shard::Shard;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::SimdLevel;
use quadrille_base::task::{Steps, Task};
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Watch;

/// A view of a scene in a configuration, for which methods are chosen.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Key of the view in the configuration.
    pub key: &'a JobKey,
    /// Index of the scene, from 0.
    pub scene: usize,
    /// Index of the view in its scene, from 0.
    pub view: usize,
    /// Whether figures show the scene apart.
    pub is_large: bool,
}

/// Methods to run for a candidate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MethodChoice {
    /// Methods, each once.
    pub methods: Vec<Method>,
    /// Whether reports have the details of figures.
    pub has_details: bool,
}

#[derive(Debug, Clone, Copy)]
struct MethodJob {
    job: usize,
    method: Method,
    has_details: bool,
}

/// The chosen jobs of a suite, in order: scenes, views, configurations, methods.
pub struct MethodPlan {
    plan: Plan,
    jobs: Vec<MethodJob>,
}

/// A row of a plan.
pub struct PlannedRow<'a> {
    /// The candidate that the row belongs to.
    pub candidate: Candidate<'a>,
    /// Results of all methods that are known; `None` if there are none.
    pub row: Option<Row>,
    /// Methods without results.
    pub missing: Vec<Method>,
}

impl Plan {
    /// Chooses methods for every view in every configuration.
    pub fn choose(mut self, choose: &mut dyn FnMut(&Candidate<'_>) -> MethodChoice) -> MethodPlan {
        let mut jobs = Vec::new();
        for at in 0..self.jobs.len() {
            let choice = choose(&self.candidate(at));
            if choice.has_details {
                // Rows with details are kept apart: `bench` does not reuse them, and its rows lack the details.
                let key = &mut self.jobs[at].key;
                let mut hash = Fnv1a::default();
                // Writing to a hash cannot fail.
                let _ = write!(hash, "{} with details", key.fingerprint);
                key.fingerprint = format!("{:016x}", hash.0);
            }
            jobs.extend(choice.methods.into_iter().map(|method| MethodJob {
                job: at,
                method,
                has_details: choice.has_details,
            }));
        }
        MethodPlan { plan: self, jobs }
    }

    fn candidate(&self, at: usize) -> Candidate<'_> {
        let job = &self.jobs[at];
        Candidate {
            key: &job.key,
            scene: job.scene,
            view: job.camera,
            is_large: self.scenes[job.scene].entry.is_large,
        }
    }
}

impl MethodPlan {
    /// Jobs of one view in one configuration each.
    fn groups<'a>(
        &self,
        jobs: &'a [MethodJob],
    ) -> impl Iterator<Item = (&ViewJob, &'a [MethodJob])> {
        let groups = jobs.chunk_by(|a, b| a.job == b.job);
        groups.map(|group| (&self.plan.jobs[group[0].job], group))
    }

    /// Selects the jobs to run.
    pub fn wanted(&self, is_wanted: &dyn Fn(&Candidate<'_>, Method) -> bool) -> Selection<'_> {
        let wanted = |job: &&MethodJob| is_wanted(&self.plan.candidate(job.job), job.method);
        Selection { plan: self, jobs: self.jobs.iter().filter(wanted).copied().collect() }
    }

    fn read(&self, path: &Path, records: &mut Records) -> Result<()> {
        let lines = match Lines::of_file(path) {
            Err(Error::Read { .. }) if !path.exists() => return Ok(()),
            read => read?.lines,
        };
        let keys: HashSet<&JobKey> = self.plan.keys().collect();
        for line in lines {
            if matches!(&line.content, LineContent::Row(row) if keys.contains(&row.key)) {
                records.add_line(line)?;
            }
        }
        Ok(())
    }

    /// The rows of all jobs in `files`, in order, each with the methods whose results are missing.
    ///
    /// # Errors
    /// Errors of reading the files, and [`Error::Malformed`] naming two rows of one job with different numbers.
    pub fn rows(&self, files: &[PathBuf]) -> Result<Vec<PlannedRow<'_>>> {
        let mut records = Records::default();
        for file in files {
            self.read(file, &mut records)?;
        }
        let groups = self.jobs.chunk_by(|a, b| a.job == b.job);
        let rows = groups.map(|group| {
            let candidate = self.plan.candidate(group[0].job);
            let methods: Vec<Method> = group.iter().map(|job| job.method).collect();
            let known = records.known(candidate.key, &methods);
            let row = records.row(candidate.key).map(|row| Row { variants: known, ..row.clone() });
            PlannedRow { candidate, missing: records.missing(candidate.key, &methods), row }
        });
        Ok(rows.collect())
    }
}

/// Some jobs of a plan.
pub struct Selection<'a> {
    plan: &'a MethodPlan,
    jobs: Vec<MethodJob>,
}

impl Selection<'_> {
    /// Runs the jobs of a shard that have no row in `results` or in `others`, and appends their rows to
    /// `results`. Without a shard, all jobs are run.
    pub fn run(
        &self,
        shard: Option<Shard>,
        (results, others): (&Path, &[PathBuf]),
        level: SimdLevel,
        task: &Task,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        task.check()?;
        let mut file = ResultsFile::open(results)?;
        let mut records = Records::default();
        for line in file.take_lines() {
            records.add_line(line)?;
        }
        for other in others.iter().filter(|other| *other != results) {
            self.plan.read(other, &mut records)?;
        }
        let is_own = |at: usize| shard.is_none_or(|shard| shard.contains(at));
        let own = (0..).zip(&self.jobs).filter(|(at, _)| is_own(*at));
        let own: Vec<MethodJob> = own.map(|(_, job)| *job).collect();
        let open: Vec<MethodJob> = own
            .iter()
            .filter(|job| {
                let key = &self.plan.plan.jobs[job.job].key;
                !records.missing(key, &[job.method]).is_empty()
            })
            .copied()
            .collect();
        watch(Event::Resumed { jobs: own.len(), done: own.len() - open.len() });
        let steps = task.steps(open.len() as u64);
        let scene_of = |job: &MethodJob| self.plan.plan.jobs[job.job].scene;
        for of_scene in open.chunk_by(|a, b| scene_of(a) == scene_of(b)) {
            self.run_scene(of_scene, &mut file, level, &steps, watch)?;
        }
        Ok(())
    }

    fn run_scene(
        &self,
        jobs: &[MethodJob],
        file: &mut ResultsFile,
        level: SimdLevel,
        steps: &Steps<'_>,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        let task = &steps.task().without_progress();
        let planned = &self.plan.plan.scenes[self.plan.plan.jobs[jobs[0].job].scene];
        let scene = planned.entry.load(&self.plan.plan.suite, task)?;
        let camera_of = |job: &MethodJob| self.plan.plan.jobs[job.job].camera;
        for of_view in jobs.chunk_by(|a, b| camera_of(a) == camera_of(b)) {
            let camera = &planned.cameras[camera_of(&of_view[0])];
            let (splats, profile) = (&scene.splats, &scene.profile);
            let view = PreparedView::new(splats, camera, profile, level, task)?;
            for (job, group) in self.plan.groups(of_view) {
                watch(Event::Begun(&job.key));
                if view.draw().is_empty() {
                    let text = format!("{}: no splat is in view", job.key);
                    watch(Event::Warning(text));
                }
                let rows = self.run_group(job, group, (&view, profile.name), file, task)?;
                steps.advance(group.len() as u64)?;
                for (row, discrepancies) in rows {
                    for sentence in discrepancies {
                        let method = &row.variants[0].name;
                        watch(Event::Warning(format!("{}, {method}: {sentence}", row.key)));
                    }
                    watch(Event::Done(&row));
                }
            }
        }
        Ok(())
    }

    fn run_group(
        &self,
        job: &ViewJob,
        group: &[MethodJob],
        (view, profile): (&PreparedView<'_>, &str),
        file: &mut ResultsFile,
        task: &Task,
    ) -> Result<Vec<(Row, Vec<String>)>> {
        let config = &self.plan.plan.configurations[job.configuration].config;
        let file = Mutex::new(file);
        let run = |one: &MethodJob| {
            let start = Instant::now();
            let watched = match one.has_details {
                true => details::watch(one.method),
                false => Watch::default(),
            };
            let run = Machine::new(config, one.method, watched)?.run(view, task)?;
            let mut method = MethodRow::new(&run.outcome, config, run.host);
            if one.has_details {
                method.details = FigureDetails::of(&run.outcome, view, config);
            }
            let discrepancies = run.outcome.discrepancies();
            let host_s = start.elapsed().as_secs_f64();
            let splats = u64::from(view.draw().len());
            let facts = RunFacts { profile, commit: self.plan.plan.program.commit, splats, host_s };
            let row = Row::new(&job.key, &facts, vec![method]);
            file.lock().unwrap_or_else(PoisonError::into_inner).append(&row)?;
            Ok((row, discrepancies))
        };
        group.par_iter().map(run).collect()
    }
}
