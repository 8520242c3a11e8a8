//! The jobs of the figures: which methods each view of a suite is run with.

use std::path::{Path, PathBuf};

use super::args::Args;
use crate::cli::interrupt;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_gpu::config::Config;
use quadrille_gpu::method::Method;
use quadrille_papers::figures::results::ViewResult;
use quadrille_papers::paper::{Figure, Need, NeededViews, PAPER_PRESET, figures};
use quadrille_suite::method_plan::{Candidate, MethodChoice, MethodPlan, PlannedRow};
use quadrille_suite::{Configuration, Event, Row, RunFacts, Suite};

const QUICK_SCENES: usize = 4;

pub(super) struct Jobs {
    plan: MethodPlan,
    scenes: Vec<String>,
}

pub(super) struct Found {
    pub(super) view: ViewResult,
    missing: Vec<Method>,
}

fn presets() -> Vec<&'static str> {
    let mut presets = vec![PAPER_PRESET];
    for need in figures().flat_map(|figure| &figure.needs) {
        if !presets.contains(&&*need.preset) {
            presets.push(&need.preset);
        }
    }
    presets
}

fn applies(need: &Need, [is_first, is_large]: [bool; 2], preset: &str) -> bool {
    let fits = match need.views {
        NeededViews::First => is_first && !is_large,
        NeededViews::All => !is_large,
        NeededViews::Large => is_large,
    };
    fits && need.preset == preset
}

fn place(candidate: &Candidate<'_>) -> [bool; 2] {
    [candidate.view == 0, candidate.is_large]
}

fn methods<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    place: [bool; 2],
    preset: &str,
) -> Vec<Method> {
    let needs = figures.flat_map(|figure| &figure.needs);
    let needs = needs.filter(|need| applies(need, place, preset));
    let mut methods = Vec::new();
    for method in needs.flat_map(|need| &need.methods).filter_map(|name| Method::parse(name).ok()) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

impl Jobs {
    pub(super) fn plan(suite: &Suite, args: &Args, warn: &mut dyn FnMut(String)) -> Result<Self> {
        let bases = presets().into_iter().map(|preset| {
            let config = Config::preset(preset)?;
            Configuration::new(preset, config)
        });
        let bases: Vec<Configuration> = bases.collect::<Result<_>>()?;
        if suite.has_configurations() {
            let ignored = "the suite's matrix and configurations are not used: figures have configurations of their own, \
                 and `quadrille plot` draws the suite's configurations from the results of `quadrille bench`";
            warn(ignored.to_owned());
        }
        let suite = suite.clone().without_configurations();
        let plan = suite.plan(&bases, quadrille::PROGRAM, interrupt::task(), warn)?;
        let mut scenes: Vec<String> = Vec::new();
        for key in plan.keys() {
            if !scenes.contains(&key.scene) {
                scenes.push(key.scene.clone());
            }
        }
        let mut choose = |candidate: &Candidate<'_>| {
            let is_left_out =
                candidate.is_large || candidate.view > 0 || candidate.scene >= QUICK_SCENES;
            if args.quick && is_left_out {
                return MethodChoice::default();
            }
            let [is_first, is_large] = place(candidate);
            MethodChoice {
                methods: methods(figures(), [is_first, is_large], &candidate.key.preset),
                has_details: is_first && !is_large,
            }
        };
        Ok(Self { plan: plan.choose(&mut choose), scenes })
    }

    pub(super) fn scenes(&self) -> impl Iterator<Item = &str> {
        self.scenes.iter().map(String::as_str)
    }

    pub(super) fn run(
        &self,
        args: &Args,
        results: &Path,
        task: &Task,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        let others = results_files(&args.output)?;
        let is_wanted = |candidate: &Candidate<'_>, method: Method| {
            let chosen = figures().filter(|figure| args.is_chosen(&figure.id));
            methods(chosen, place(candidate), &candidate.key.preset).contains(&method)
        };
        let level = args.host.level;
        self.plan.wanted(&is_wanted).run(args.shard, (results, &others), level, task, watch)
    }

    pub(super) fn found(&self, files: &[PathBuf]) -> Result<Vec<Found>> {
        let rows = self.plan.rows(files)?.into_iter();
        Ok(rows.map(found).collect())
    }
}

fn found(planned: PlannedRow<'_>) -> Found {
    let [is_first, is_large] = place(&planned.candidate);
    let unknown = || Row::new(planned.candidate.key, &RunFacts::default(), Vec::new());
    let row = planned.row.unwrap_or_else(unknown);
    Found { view: ViewResult { row, is_first, is_large }, missing: planned.missing }
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

pub(super) fn missing(figure: &Figure, found: &[Found]) -> Vec<String> {
    let mut missing = Vec::new();
    for need in &figure.needs {
        for name in need.methods.iter().filter(|name| Method::parse(name).is_err()) {
            let text = format!("method {name}: this build does not have it");
            if !missing.contains(&text) {
                missing.push(text);
            }
        }
        for one in found {
            let view = &one.view;
            if !applies(need, [view.is_first, view.is_large], view.preset()) {
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
    missing
}
