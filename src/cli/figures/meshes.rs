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

pub(super) const DEFERRED_PAPERS: [&str; 1] = ["sort-based-deferred-shading"];
pub(super) const MERGING_PAPERS: [&str; 2] = ["quad-fragment-merging", "pixel-merge-unit"];

pub(super) struct MeshJobs {
    plan: MeshPlan,
    pub(super) papers: &'static [&'static str],
}

pub(super) fn needs(figure: &Figure, key: &MeshRunKey) -> bool {
    figure.runs.contains(&key.study)
}

impl MeshJobs {
    pub(super) fn parse(text: &str, path: &Path, args: &Args) -> Result<Self> {
        let suite = MeshSuite::parse(text, path)?;
        let papers: &[&str] = match suite.workload() {
            Workload::Deferred => &DEFERRED_PAPERS,
            Workload::Merging => &MERGING_PAPERS,
        };
        Ok(Self { plan: suite.plan(quadrille::PROGRAM, args.quick), papers })
    }

    pub(super) fn run(&self, args: &Args, results: &Path, verbosity: Verbosity) -> Result<()> {
        let others = results_files(&args.output)?;
        let files = MeshRunFiles { results, others: &others };
        let is_wanted = |key: &MeshRunKey| {
            let papers = self.papers.iter();
            let mut figures = papers.flat_map(|paper| Paper::figures_of(paper));
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
