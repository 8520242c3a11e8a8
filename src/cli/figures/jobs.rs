//! Runs that the figures need: the methods of each view of a suite, and the studies of meshes.

use std::path::{Path, PathBuf};

use super::args::Args;
use crate::cli::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_gpu::config::Config;
use quadrille_gpu::method::Method;
use quadrille_papers::figures::results::ViewResult;
use quadrille_papers::paper::{
    Figure, Need, NeededViews, PAPER_PRESET, Paper, QUICK_SCENES, figures,
};
use quadrille_suite::{
    Configuration, JobKey, MeshRunRow, MethodChoice, Plan, Row, Run, RunKey, RunOptions, RunRow,
    Suite, ViewWork, Workload, unique,
};

pub(super) const SPLAT_PAPERS: [&str; 1] = ["vr-pipe"];
pub(super) const DEFERRED_PAPERS: [&str; 1] = ["sort-based-deferred-shading"];
pub(super) const MERGING_PAPERS: [&str; 2] = ["quad-fragment-merging", "pixel-merge-unit"];

pub(super) struct Jobs {
    plan: Plan,
    pub(super) scenes: Vec<String>,
    pub(super) papers: Vec<&'static str>,
}

#[derive(Default)]
pub(super) struct Found {
    pub(super) views: Vec<FoundView>,
    pub(super) meshes: Vec<MeshRunRow>,
    /// Keys of meshes without results.
    missing: Vec<RunKey>,
}

pub(super) struct FoundView {
    pub(super) view: ViewResult,
    missing: Vec<Method>,
}

fn presets() -> Vec<&'static str> {
    let needs = figures().flat_map(|figure| &figure.needs);
    unique([PAPER_PRESET].into_iter().chain(needs.map(|need| &*need.preset)))
}

/// Whether a view is the first of its scene, its scene is large, and the view is a frame of a sequence.
type Place = [bool; 3];

fn applies(need: &Need, [is_first, is_large, is_frame]: Place, preset: &str) -> bool {
    let fits = match need.views {
        NeededViews::First => is_first && !is_large && !is_frame,
        NeededViews::All => !is_large && !is_frame,
        NeededViews::Large => is_large,
        NeededViews::Frames => is_frame,
    };
    fits && need.preset == preset
}

fn place(key: &JobKey, work: &ViewWork) -> Place {
    [work.view == 0, work.is_large, key.frame.is_some()]
}

fn methods<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    place: Place,
    preset: &str,
) -> Vec<Method> {
    let needs = figures.flat_map(|figure| &figure.needs);
    let needs = needs.filter(|need| applies(need, place, preset));
    unique(needs.flat_map(|need| &need.methods).filter_map(|name| Method::parse(name).ok()))
}

/// Papers whose figures are drawn from a suite.
pub(super) fn papers_of(suite: &Suite) -> Vec<&'static str> {
    let of = |workload, papers: &'static [&str]| {
        suite.meshes().has(workload).then_some(papers).into_iter().flatten()
    };
    let splats = suite.has_scenes().then_some(SPLAT_PAPERS).into_iter().flatten();
    let merging = of(Workload::Merging, &MERGING_PAPERS);
    splats.chain(merging.chain(of(Workload::Deferred, &DEFERRED_PAPERS)).copied()).collect()
}

impl Jobs {
    /// Plans the runs of all figures; each view is planned on every GPU preset that a figure uses.
    pub(super) fn plan(suite: Suite, args: &Args, session: &Session) -> Result<Self> {
        let papers = papers_of(&suite);
        let bases =
            presets().into_iter().map(|preset| Configuration::new(preset, Config::preset(preset)?));
        let bases: Vec<Configuration> = bases.collect::<Result<_>>()?;
        if suite.has_configurations() {
            session.warn(
                "the suite's matrix and configurations are not used: figures have configurations of their own, \
                 and `quadrille plot` draws the suite's configurations from the results of `quadrille bench`",
            );
        }
        let suite = suite.without_configurations();
        let mut warn = |text: String| session.warn(&text);
        let plan = suite.plan(&bases, quadrille::PROGRAM, session.task, &mut warn)?;
        let keys = plan.runs().iter().filter_map(Run::view);
        let scenes = unique(keys.map(|(key, _)| key.scene.clone()));
        let is_quick = |run: &Run| match run.view() {
            Some((key, work)) => {
                let [is_first, is_large, is_frame] = place(key, work);
                !is_large && (is_first || is_frame) && work.scene < QUICK_SCENES
            }
            None => run.mesh().is_some_and(|(_, is_first)| is_first),
        };
        let choose = |key: &JobKey, work: &ViewWork| {
            let place = place(key, work);
            MethodChoice {
                methods: methods(figures(), place, &key.preset),
                has_details: place == [true, false, false],
            }
        };
        let plan = plan.only(|run| !args.quick || is_quick(run)).by_method(choose);
        Ok(Self { plan, scenes, papers })
    }

    /// Runs the jobs of the chosen figures and the shard that have no row in a results file.
    pub(super) fn run(&self, args: &Args, results: &Path, session: &Session) -> Result<()> {
        let is_wanted = |run: &Run| match (run.view(), run.mesh()) {
            (Some((key, work)), _) => {
                let chosen = figures().filter(|figure| args.is_chosen(&figure.id));
                let wanted = methods(chosen, place(key, work), &key.preset);
                work.methods.iter().all(|method| wanted.contains(method))
            }
            (_, Some((key, _))) => {
                let mut figures = self.papers.iter().flat_map(|paper| Paper::figures_of(paper));
                figures.any(|f| f.runs.contains(&key.study) && args.is_chosen(&f.id))
            }
            _ => false,
        };
        let mut plan = self.plan.clone().only(is_wanted);
        if let Some(shard) = args.shard {
            plan = plan.shard(shard);
        }
        let progress = session.progress_in_lines("runs");
        let options = RunOptions {
            results: Some(results),
            others: &results_files(&args.output)?,
            level: session.level,
            task: &progress.task,
        };
        let run = plan.run(&options, &mut |event| progress.show(&event, session));
        progress.tell_kept(run, results, session).map(drop)
    }

    /// Adds the rows that `files` hold for the planned runs, and the keys of mesh runs without one.
    pub(super) fn find(&self, files: &[PathBuf], found: &mut Found) -> Result<()> {
        let rows = self.plan.rows(files)?;
        for of_key in rows.chunk_by(|(a, _), (b, _)| a.key == b.key) {
            if of_key[0].0.view().is_some() {
                found.views.extend(found_view(of_key));
            }
            for (run, row) in of_key.iter().filter(|(run, _)| run.mesh().is_some()) {
                match row {
                    Some(RunRow::Mesh(row)) => found.meshes.push(row.clone()),
                    _ => found.missing.push(run.key.clone()),
                }
            }
        }
        Ok(())
    }
}

fn found_view(runs: &[(&Run, Option<RunRow>)]) -> Option<FoundView> {
    let (key, work) = runs.first()?.0.view()?;
    let rows = runs.iter().filter_map(|(_, row)| match row {
        Some(RunRow::View(row)) => Some(row),
        _ => None,
    });
    let lacking = runs.iter().filter(|(_, row)| row.is_none());
    let lacking = lacking.filter_map(|(run, _)| run.view()).flat_map(|(_, work)| &work.methods);
    let [is_first, is_large, _] = place(key, work);
    let methods = rows.clone().flat_map(|row| row.methods.clone()).collect();
    let unknown = || Row { key: key.clone(), ..Row::default() };
    let row = rows.clone().next().cloned().unwrap_or_else(unknown).with_methods(methods);
    Some(FoundView {
        view: ViewResult { row, is_first, is_large },
        missing: lacking.copied().collect(),
    })
}

/// Results files in a folder: `results.jsonl`, and files of shards and other commands with the same prefix and
/// suffix.
pub(super) fn results_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unread = |e| Error::read(folder, e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("results.") && name.ends_with(".jsonl") || name == "results.jsonl" {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Found {
    pub(super) fn missing(&self, figure: &Figure) -> Vec<String> {
        let mut missing = Vec::new();
        for need in &figure.needs {
            for name in need.methods.iter().filter(|name| Method::parse(name).is_err()) {
                let text = format!("this build does not have the method {name}");
                if !missing.contains(&text) {
                    missing.push(text);
                }
            }
            for one in &self.views {
                let view = &one.view;
                let place = [view.is_first, view.is_large, view.frame().is_some()];
                if !applies(need, place, view.preset()) {
                    continue;
                }
                for name in &need.methods {
                    if one.missing.iter().any(|method| method.name() == *name) {
                        let (scene, preset) = (view.scene(), view.preset());
                        missing.push(format!("{scene} {}, {preset}: {name}", view.name()));
                    }
                }
            }
        }
        missing.extend(self.missing.iter().filter_map(|key| match key {
            RunKey::Mesh(key) if figure.runs.contains(&key.study) => Some(key.to_string()),
            _ => None,
        }));
        missing
    }
}
