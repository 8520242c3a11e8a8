use std::path::Path;

use super::args::Args;
use super::jobs::results_files;
use crate::cli::console::Verbosity;
use quadrille_base::error::Result;
use quadrille_papers::paper::{Figure, Paper};
use quadrille_suite::Event;
use quadrille_suite::mesh_suite::{
    MeshPlan, MeshRunFiles, MeshRunKey, MeshSuite, PlannedRun, Workload,
};

/// Papers that are drawn from runs of `deferred`.
const DEFERRED_PAPERS: [&str; 1] = ["sort-based-deferred-shading"];
/// Papers that are drawn from runs of `mesh`.
pub(super) const MERGING_PAPERS: [&str; 2] = ["quad-fragment-merging", "pixel-merge-unit"];

pub(super) struct MeshJobs {
    plan: MeshPlan,
    /// Whether there are runs of `mesh`.
    pub(super) has_merging: bool,
    /// Whether there are runs of `deferred`.
    pub(super) has_deferred: bool,
}

pub(super) fn needs(figure: &Figure, key: &MeshRunKey) -> bool {
    figure.runs.contains(&key.study)
}

impl MeshJobs {
    /// Plans the studies of a suite.
    pub(super) fn new(suite: &MeshSuite, args: &Args) -> Self {
        Self {
            has_merging: suite.has(Workload::Merging),
            has_deferred: suite.has(Workload::Deferred),
            plan: suite.clone().plan(quadrille::PROGRAM, args.quick),
        }
    }

    /// Papers whose figures are drawn from the results.
    pub(super) fn papers(&self) -> impl Iterator<Item = &'static str> + use<> {
        let merging = self.has_merging.then_some(&MERGING_PAPERS[..]);
        let deferred = self.has_deferred.then_some(&DEFERRED_PAPERS[..]);
        merging.into_iter().chain(deferred).flatten().copied()
    }

    pub(super) fn run(&self, args: &Args, results: &Path, verbosity: Verbosity) -> Result<()> {
        let others = results_files(&args.output)?;
        let files = MeshRunFiles { results, others: &others };
        let is_wanted = |key: &MeshRunKey| {
            let mut figures = self.papers().flat_map(|paper| Paper::figures_of(paper));
            figures.any(|figure| needs(figure, key) && args.is_chosen(&figure.id))
        };
        let progress = verbosity.progress("runs");
        let bar = &progress.bar;
        let mut watch = |event: Event<'_>| match event {
            Event::BegunMesh(key) => bar.set_message(key.to_string()),
            Event::Warning(text) => bar.suspend(|| verbosity.warn(&text)),
            _ => {}
        };
        let host = (args.host.level, &progress.task);
        self.plan.run(files, args.shard, &is_wanted, host, &mut watch)?;
        Ok(())
    }

    pub(super) fn found(&self, args: &Args) -> Result<Vec<PlannedRun>> {
        self.plan.runs(&args.output, &results_files(&args.output)?)
    }
}
