//! The figures of the paper on sort-based deferred shading: a suite of runs of `deferred`, whose rows are kept in the
//! results file as soon as a run is done.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args as _, FromArgMatches};
use serde::Deserialize;

use super::args::Args;
use super::jobs::results_files;
use crate::cli::console::Verbosity;
use crate::cli::{deferred, usage};
use quadrille_base::error::{Error, Result};
use quadrille_papers::deferred_figures::results::{Kind, Results, Run};
use quadrille_papers::paper::{Figure, Paper};
use quadrille_suite::mesh_runs::{MeshRunKey, MeshRunOutcome, MeshRunRow, MeshRuns};

/// Value of the key `paper` of suites of this paper, which is its name.
pub(super) const PAPER: &str = "sort-based-deferred-shading";

/// The content of a suite file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    paper: String,
    #[serde(default, rename = "scene")]
    scenes: Vec<RawRun>,
    #[serde(default, rename = "blur")]
    blurs: Vec<RawRun>,
    #[serde(default, rename = "trace")]
    traces: Vec<RawRun>,
    #[serde(default, rename = "heat")]
    heats: Vec<RawRun>,
}

/// A run of the suite file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRun {
    name: String,
    mesh: String,
    cameras: Option<PathBuf>,
    motion: Option<PathBuf>,
    #[serde(default)]
    flags: Vec<String>,
}

/// A run of `deferred`.
struct Job {
    kind: Kind,
    key: MeshRunKey,
    parsed: deferred::Args,
}

/// A suite of runs.
pub(super) struct MeshSuite {
    jobs: Vec<Job>,
}

impl MeshSuite {
    /// Whether the text of a suite names a paper, as suites of meshes do.
    pub(super) fn is_one(text: &str) -> bool {
        toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("paper"))
    }

    /// Checks the text of a suite at `path`. Paths of meshes, cameras and motions are relative to its folder.
    pub(super) fn parse(text: &str, path: &Path, args: &Args) -> Result<Self> {
        let raw: RawSuite = toml::from_str(text).map_err(|e| {
            Error::malformed(
                path,
                "suite",
                "keys and values of a suite of meshes",
                e.message(),
            )
        })?;
        if raw.paper != PAPER {
            let found = format!("\"{}\"", raw.paper);
            return Err(Error::malformed(
                path,
                "paper",
                format!("\"{PAPER}\""),
                found,
            ));
        }
        let lists = [raw.scenes, raw.blurs, raw.traces, raw.heats];
        let mut jobs: Vec<Job> = Vec::new();
        for (kind, runs) in Kind::ALL.into_iter().zip(lists) {
            let wanted = if args.quick { 1 } else { runs.len() };
            for run in runs.into_iter().take(wanted) {
                let place = format!("{} \"{}\"", kind.name(), run.name);
                let is_plain = |c: char| c.is_alphanumeric() || " -_.+".contains(c);
                if run.name.is_empty() || !run.name.chars().all(is_plain) {
                    let expected = "a name of letters, digits, spaces and -_.+";
                    return Err(Error::malformed(path, place, expected, "another"));
                }
                if jobs
                    .iter()
                    .any(|j| j.kind == kind && j.key.name == run.name)
                {
                    return Err(Error::malformed(
                        path,
                        place,
                        "a name of its own",
                        "one used before",
                    ));
                }
                jobs.push(Job::parse(kind, run, path, args)?);
            }
        }
        if jobs.is_empty() {
            let expected = "at least one [[scene]], [[blur]], [[trace]] or [[heat]]";
            return Err(Error::malformed(path, "suite", expected, "none"));
        }
        Ok(Self { jobs })
    }

    /// Runs the jobs of the chosen figures that no results file has.
    pub(super) fn run(&self, args: &Args, verbosity: Verbosity) -> Result<()> {
        let results = args.results();
        let is_wanted = |job: &Job| {
            let mut figures = Paper::figures_of(PAPER).iter();
            figures.any(|figure| needs(figure, job.kind) && args.is_chosen(&figure.id))
        };
        let mut runs = read_runs(&args.output)?;
        let progress = verbosity.progress("runs");
        let steps = progress.task.steps(self.jobs.len() as u64);
        for (number, job) in self.jobs.iter().enumerate() {
            progress
                .bar
                .set_message(format!("{} {}", job.kind.name(), job.key.name));
            let is_here = args.shard.is_none_or(|shard| shard.contains(number));
            if is_here && is_wanted(job) && job.row(&mut runs).is_none() {
                let outcome = job.run(&args.output, verbosity)?;
                runs.keep(&results, &job.key, &|| job.parsed.cameras_text(), outcome)?;
            }
            steps.advance(1)?;
        }
        Ok(())
    }

    /// The results of all jobs in the folder's results files, and the kinds and names of those without.
    pub(super) fn found(&self, args: &Args) -> Result<(Results, Vec<(Kind, String)>)> {
        let mut rows = read_runs(&args.output)?;
        let mut runs = Vec::new();
        let mut gaps = Vec::new();
        for job in &self.jobs {
            match job.found(&mut rows, &args.output)? {
                Some(run) => runs.push(run),
                None => gaps.push((job.kind, format!("{} {}", job.kind.name(), job.key.name))),
            }
        }
        Ok((Results { runs }, gaps))
    }
}

/// Whether a figure is drawn from runs of a kind.
pub(super) fn needs(figure: &Figure, kind: Kind) -> bool {
    figure.runs.iter().any(|run| run == kind.name())
}

impl Job {
    fn parse(kind: Kind, run: RawRun, path: &Path, args: &Args) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let beside = |file: &Path| folder.join(file).display().to_string();
        // Names of procedural meshes have neither a folder nor an extension.
        let mesh = match Path::new(&run.mesh).extension().is_some() || run.mesh.contains('/') {
            true => beside(Path::new(&run.mesh)),
            false => run.mesh,
        };
        let mut arguments = vec![mesh];
        for (flag, file) in [("--cameras", run.cameras), ("--motion", run.motion)] {
            let file = file.map(|file| [flag.to_owned(), beside(&file)]);
            arguments.extend(file.into_iter().flatten());
        }
        arguments.extend(run.flags);
        arguments.extend(kind.flags().iter().map(|flag| (*flag).to_owned()));
        let output = match kind {
            Kind::Heat => Some(args.output.join(heat_name(&run.name, "{variant}"))),
            Kind::Scene | Kind::Blur | Kind::Trace => None,
        };
        let output = output.map(|path| ["--heat".to_owned(), path.display().to_string()]);
        let all = ["deferred".to_owned()].into_iter().chain(arguments.clone());
        let all = all.chain(output.into_iter().flatten());
        let command = deferred::Args::augment_args(clap::Command::new("deferred"));
        let parsed = command
            .try_get_matches_from(all)
            .and_then(|matches| deferred::Args::from_arg_matches(&matches));
        let parsed = parsed.map_err(|error| {
            let place = format!("{} \"{}\"", kind.name(), run.name);
            let expected = "flags of `quadrille deferred` besides those of pipelines and outputs";
            Error::malformed(path, place, expected, usage::message(&error))
        })?;
        Ok(Self {
            kind,
            key: MeshRunKey {
                kind: kind.name().to_owned(),
                name: run.name,
                arguments,
            },
            parsed: parsed.with_host(args.host.clone()),
        })
    }

    /// Runs `deferred`.
    fn run(&self, folder: &Path, verbosity: Verbosity) -> Result<MeshRunOutcome> {
        let (rows, files) = deferred::rows(&self.parsed, verbosity)?;
        let outputs = match self.kind {
            Kind::Heat => self.heat_maps(folder)?,
            Kind::Scene | Kind::Blur | Kind::Trace => Vec::new(),
        };
        Ok(MeshRunOutcome {
            rows,
            files,
            outputs,
        })
    }

    /// The row of the run, if inputs, program and outputs are still those that it was made from.
    fn row(&self, runs: &mut MeshRuns) -> Option<MeshRunRow> {
        runs.current(&self.key, &|| self.parsed.cameras_text())
    }

    /// The results of the run with its heat maps.
    fn found(&self, runs: &mut MeshRuns, folder: &Path) -> Result<Option<Run>> {
        let Some(row) = self.row(runs) else {
            return Ok(None);
        };
        let mut heat = Vec::new();
        for name in row.outputs {
            let path = folder.join(&name);
            let png = fs::read(&path).map_err(|e| Error::read(&path, e))?;
            let variant = self.variant(&name).unwrap_or(&name).to_owned();
            heat.push((variant, png));
        }
        Ok(Some(Run {
            kind: self.kind,
            name: self.key.name.clone(),
            rows: row.rows,
            heat,
        }))
    }

    /// The variant in the name of a heat map of the run; `None` for another file.
    fn variant<'a>(&self, file: &'a str) -> Option<&'a str> {
        let name = heat_name(&self.key.name, "\0");
        let (start, end) = name.split_once('\0')?;
        file.strip_prefix(start)?.strip_suffix(end)
    }

    /// Names of the heat maps of the run in a folder, in the order of their variants.
    fn heat_maps(&self, folder: &Path) -> Result<Vec<String>> {
        let unread = |e| Error::read(folder, e);
        let mut maps = Vec::new();
        for entry in fs::read_dir(folder).map_err(unread)? {
            let name = entry.map_err(unread)?.file_name();
            let name = name.to_str().filter(|name| self.variant(name).is_some());
            maps.extend(name.map(str::to_owned));
        }
        maps.sort_by(|a, b| self.variant(a).cmp(&self.variant(b)));
        Ok(maps)
    }
}

/// Name of the heat map of a run.
fn heat_name(run: &str, variant: &str) -> String {
    format!("fig13.{run}.{variant}.png")
}

/// The rows of all results files in a folder, which is made if there is none.
fn read_runs(folder: &Path) -> Result<MeshRuns> {
    fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    MeshRuns::read(quadrille::PROGRAM, folder, &results_files(folder)?)
}
