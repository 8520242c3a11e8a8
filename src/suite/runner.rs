//! Runs of suites. The row of a run is in the results file before the next run begins, so that a
//! stopped suite continues where it was.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use super::details::{self, FigureDetails};
use super::key::{JobKey, RunKey};
use super::known::KnownRows;
use super::mesh_suite::MeshJob;
use super::plan::{Plan, Run, ViewWork, Work};
use super::records;
use super::results_file::ResultsFile;
use super::row::Row;
use super::rows::MethodRow;
use super::run_row::RunRow;
use super::warm_frames::WarmFrames;
use quadrille_base::error::Result;
use quadrille_base::math::SimdLevel;
use quadrille_base::task::{Steps, Task};
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::relief::relief;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Watch;
use quadrille_render::Sight;

/// An event of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The suite begins. The results files already hold the rows of `done` of its `jobs` runs.
    Resumed {
        /// Number of runs.
        jobs: usize,
        /// Number of runs whose rows are known.
        done: usize,
    },
    /// A run begins.
    Begun(&'a RunKey),
    /// The row of a run is in the results file.
    Done(&'a RunRow),
    /// Something is strange: a view without splats, or counters that do not add up.
    Warning(String),
}

/// Files and host of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions<'a> {
    /// Results file: its rows are used, and rows are appended. Heat maps are written into its folder. Without it, rows are
    /// not kept and heat maps not drawn.
    pub results: Option<&'a Path>,
    /// Other results files whose rows are used.
    pub others: &'a [PathBuf],
    /// Vector instructions.
    pub level: SimdLevel,
    /// Progress is in runs.
    pub task: &'a Task,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self { results: None, others: &[], level: SimdLevel::best(), task: &Task::NEVER }
    }
}

impl Plan {
    /// Runs everything without a row in the results files on rayon's current pool, and returns the rows of all
    /// runs in order. A row of a view with some of its methods is used, and only the others are run.
    ///
    /// # Errors
    /// Errors of reading scenes and meshes, and of reading and writing the results files, of which no other run may be
    /// writing the first; [`Error::Malformed`](quadrille_base::error::Error::Malformed) naming two rows that have the
    /// same key and different numbers; [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
    pub fn run(
        &self,
        options: &RunOptions<'_>,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<RunRow>> {
        let task = options.task;
        task.check()?;
        let mut file = options.results.map(ResultsFile::open).transpose()?;
        let mut known = KnownRows::new(self, options.results.unwrap_or(Path::new("")));
        for line in file.iter_mut().flat_map(ResultsFile::take_lines) {
            known.records.add_line(line)?;
        }
        for other in options.others.iter().filter(|other| Some(other.as_path()) != options.results)
        {
            known.read(other)?;
        }
        let open: Vec<&Run> = self.runs.iter().filter(|run| !known.has(run)).collect();
        watch(Event::Resumed { jobs: self.runs.len(), done: self.runs.len() - open.len() });
        for run in &open {
            if let Work::View(work) = &run.work {
                self.configurations[work.configuration].check_methods(&work.methods)?;
                self.scenes[work.scene].entry.check_methods(&self.suite, &work.methods)?;
            }
        }
        let mut running = Running {
            plan: self,
            level: options.level,
            part: task.without_progress(),
            steps: task.steps(open.len() as u64),
            folder: options.results.map(|path| path.parent().unwrap_or(Path::new(""))),
            file: file.map(Mutex::new),
            known,
        };
        for together in open.chunk_by(|a, b| a.scene().is_some() && a.scene() == b.scene()) {
            match &together[0].work {
                Work::View(work) => running.views(work.scene, together, watch)?,
                Work::Mesh(job) => running.mesh(&together[0].key, job, watch)?,
            }
        }
        let mut known = running.known;
        Ok(self.runs.iter().filter_map(|run| known.whole(run)).collect())
    }
}

/// Runs that are made together, per thread: with one, threads wait for the longest run; more are told late.
const RUNS_PER_THREAD: usize = 4;

struct Running<'a> {
    plan: &'a Plan,
    level: SimdLevel,
    /// The run's task without progress: passes cancellation on to a part of the work.
    part: Task,
    steps: Steps<'a>,
    folder: Option<&'a Path>,
    file: Option<Mutex<ResultsFile>>,
    known: KnownRows<'a>,
}

struct ReadyView<'a> {
    view: PreparedView<'a>,
    profile: &'static str,
    /// Frames before the view, if it is one of a sequence.
    sequences: Option<&'a WarmFrames>,
    /// Start of the preparation, or of the runs that are made together.
    start: Instant,
}

/// Row of a run with its discrepancies.
type MadeRow = Result<(Row, Vec<String>)>;

/// Rows of parallel runs. A row is appended as soon as all rows before it are, so that the file has the order of the plan.
struct MadeRows(Mutex<(usize, Vec<Option<MadeRow>>)>);

impl MadeRows {
    fn new(runs: usize) -> Self {
        Self(Mutex::new((0, std::iter::repeat_with(|| None).take(runs).collect())))
    }

    fn put(&self, index: usize, row: MadeRow, append: impl Fn(&Row) -> Result<()>) {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (appended, rows) = &mut *made;
        rows[index] = Some(row);
        while let Some(Some(next)) = rows.get_mut(*appended)
            && let Ok((row, _)) = next
        {
            if let Err(error) = append(row) {
                *next = Err(error);
                return;
            }
            *appended += 1;
        }
    }

    /// The rows in order, after those behind a failed run are appended too.
    fn into_rows(self, append: impl Fn(&Row) -> Result<()>) -> impl Iterator<Item = MadeRow> {
        let (appended, rows) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.into_iter().enumerate().filter_map(move |(index, row)| {
            Some(row?.and_then(|made| match index < appended {
                true => Ok(made),
                false => append(&made.0).map(|()| made),
            }))
        })
    }
}

impl Running<'_> {
    fn views(
        &mut self,
        scene: usize,
        runs: &[&Run],
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        let planned = &self.plan.scenes[scene];
        let scene = planned.entry.load(&self.plan.suite, &self.part)?;
        scene.warnings.iter().for_each(|text| watch(Event::Warning(text.clone())));
        let index = |run: &Run| run.view().map_or(0, |(_, work)| work.view);
        let frames = planned.entry.is_warm.then(|| {
            WarmFrames::new(runs.iter().filter_map(|run| {
                let (_, work) = run.view()?;
                let known = self.known.view(&run.key, work);
                Some((work, records::missing(known, &work.methods)))
            }))
        });
        let works = runs.iter().filter_map(|run| run.view());
        let methods: Vec<Method> = works.flat_map(|(_, work)| work.methods.clone()).collect();
        let mut later = runs;
        for (at, camera) in planned.cameras.iter().enumerate() {
            let of_view;
            (of_view, later) = later.split_at(later.partition_point(|run| index(run) <= at));
            if of_view.is_empty() && (later.is_empty() || frames.is_none()) {
                continue;
            }
            let start = Instant::now();
            let splats = &scene.splats;
            let view = PreparedView::new(splats, camera, &scene.profile, self.level, &self.part)?;
            let view = planned.entry.stencil.applied(view, &methods)?;
            match Sight::of(view.splats_in_view, splats, camera, &scene.profile) {
                Sight::Enough => {}
                Sight::Little(text) => watch(Event::Warning(text)),
                Sight::Nothing(text) => {
                    if let Some(Run { key, .. }) = of_view.first() {
                        watch(Event::Warning(format!("{key}: {text}; ratios exclude this view")));
                    }
                }
            }
            if let Some(frames) = &frames {
                frames.draw_again(at, &view, &self.plan.configurations, &self.part)?;
            }
            let (profile, sequences) = (scene.profile.name, frames.as_ref());
            let mut ready = ReadyView { view, profile, sequences, start };
            let mut begun = None;
            // Runs of a view are parallel, also of different configurations. Their rows are in the file in order.
            for together in of_view.chunks(RUNS_PER_THREAD * rayon::current_num_threads()) {
                for run in together {
                    if begun.replace(&run.key) != Some(&run.key) {
                        watch(Event::Begun(&run.key));
                    }
                }
                let made = MadeRows::new(together.len());
                together.par_iter().enumerate().for_each(|(index, run)| {
                    quadrille_base::span!("row");
                    if let Some((key, work)) = run.view() {
                        made.put(index, self.view(&run.key, key, work, &ready), |row| {
                            self.append(row)
                        });
                    }
                });
                let mut all = Ok(());
                // Rows that were made before another run failed or was cancelled are kept and told too.
                let rows: Vec<MadeRow> = made.into_rows(|row| self.append(row)).collect();
                for row in rows {
                    let added = row.and_then(|(row, discrepancies)| {
                        for sentence in discrepancies {
                            watch(Event::Warning(format!("{}, {sentence}", row.key)));
                        }
                        self.add(RunRow::View(row), watch)
                    });
                    all = all.and(added);
                }
                all?;
                ready.start = Instant::now();
            }
        }
        Ok(())
    }

    /// Runs the methods of a view that have no results. Returns the row with all methods, and the counters that do not add
    /// up.
    fn view(&self, run: &RunKey, key: &JobKey, work: &ViewWork, ready: &ReadyView<'_>) -> MadeRow {
        let config = &self.plan.configurations[work.configuration].config;
        let known = self.known.view(run, work);
        let missing = records::missing(known, &work.methods);
        let watch =
            |method| if work.has_details { details::watch(method) } else { Watch::default() };
        let machines = missing.iter().map(|method| match ready.sequences {
            Some(frames) => frames.machine(work.configuration, config, *method, watch(*method)),
            None => Machine::new(config, *method, watch(*method)),
        });
        let machines: Vec<Machine> = machines.collect::<Result<_>>()?;
        let mut methods = records::known(known, &work.methods);
        let mut discrepancies = Vec::new();
        let reliefs = match work.has_relief {
            true => relief(&ready.view, config, &missing, &self.part, &mut |_, _| ())?,
            false => Vec::new(),
        };
        for run in Machine::run_all(&machines, &ready.view, &self.part)? {
            let mut row = MethodRow::new(&run.outcome, config, run.host);
            if work.has_details {
                row.details = FigureDetails::of(&run.outcome, &ready.view, config);
            }
            if let Some(relief) = reliefs.iter().find(|r| r.method == run.outcome.method()) {
                row.details = row.details.with_relief(relief);
            }
            let sentences = run.outcome.discrepancies().into_iter();
            discrepancies.extend(sentences.map(|sentence| format!("{}: {sentence}", row.name)));
            methods.push(row);
            if let Some(frames) = ready.sequences {
                frames.keep(work.configuration, run.outcome);
            }
        }
        methods.sort_by_key(|row| work.methods.iter().position(|m| m.name() == row.name));
        let row = Row {
            key: key.clone(),
            fingerprint: work.fingerprint.clone(),
            inputs: work.inputs.clone(),
            profile: ready.profile.to_owned(),
            commit: self.plan.program.commit.to_owned(),
            splats: u64::from(ready.view.draw().len()),
            host_s: ready.start.elapsed().as_secs_f64(),
            ..Row::default()
        };
        Ok((row.with_methods(methods), discrepancies))
    }

    fn mesh(
        &mut self,
        key: &RunKey,
        job: &MeshJob,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        quadrille_base::span!("row");
        watch(Event::Begun(key));
        let (mut row, warnings) = job.run(self.folder, &self.plan.paths, self.level, &self.part)?;
        self.plan.program.commit.clone_into(&mut row.commit);
        row.inputs = self.known.inputs.of_files(&row.files);
        row.fingerprint = self.known.inputs.fingerprint(job, &row)?;
        for text in warnings {
            watch(Event::Warning(format!("{key}: {text}")));
        }
        self.append(&row)?;
        self.add(RunRow::Mesh(row), watch)
    }

    fn append(&self, row: &impl Serialize) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.lock().unwrap_or_else(PoisonError::into_inner).append(row)
    }

    fn add(&mut self, row: RunRow, watch: &mut dyn FnMut(Event<'_>)) -> Result<()> {
        watch(Event::Done(&row));
        self.known.records.add(row, None)?;
        self.steps.advance(1)
    }
}
