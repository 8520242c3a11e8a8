//! `figures`: draws the figures and tables of papers again, beside the published numbers.

mod args;
mod correlate;
mod jobs;
mod meshes;
mod report;

use std::path::{Path, PathBuf};

use super::console::{Exit, Verbosity};
use super::outputs::Outputs;
pub(super) use args::Args;
use jobs::Jobs;
use meshes::{MERGING_PAPERS, MeshJobs};
use quadrille_base::error::{Error, Result};
use quadrille_papers::merging_figures::results::MergingResults;
use quadrille_suite::{Event, Suite};

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    if let Some(measured) = &args.correlate {
        return correlate::run(measured, args, verbosity);
    }
    if args.gpu.is_given() {
        let needed = "--correlate; figures have configurations of their own";
        return Err(Error::needs("each of --preset, --config and --set", needed));
    }
    let mut suites = Vec::new();
    for path in &args.suites {
        let suite = Suite::read(path)?;
        suite.remarks().iter().for_each(|remark| verbosity.warn(remark));
        suites.push((path, suite));
    }
    let meshes = suites.iter().map(|(_, suite)| suite.meshes()).filter(|suite| !suite.is_empty());
    let meshes: Vec<MeshJobs> = meshes.map(|suite| MeshJobs::new(suite, args)).collect();
    let splats: Vec<_> = suites.iter().filter(|(_, suite)| suite.has_scenes()).collect();
    let kept = args.kept.as_deref().map(MergingResults::read_kept).transpose()?;
    let of_splats = (!splats.is_empty()).then_some("vr-pipe");
    let of_meshes = meshes.iter().flat_map(MeshJobs::papers);
    let of_kept = kept.iter().flat_map(|_| MERGING_PAPERS);
    let papers = of_splats.into_iter().chain(of_meshes).chain(of_kept);
    args.check_figures(&papers.collect::<Vec<_>>())?;
    let plans = plan(&splats, args, verbosity)?;
    let results = args.results();
    Outputs::beside(args.suites.iter().map(PathBuf::as_path)).add("-o", &results)?;
    args.host.pool()?.install(|| {
        for jobs in &plans {
            run_jobs(jobs, args, &results, verbosity)?;
        }
        for jobs in &meshes {
            jobs.run(args, &results, verbosity)?;
        }
        Ok(report::exit(&report::write(args, &plans, &meshes, kept)?))
    })
}

/// Plans the jobs of suites of splats, whose scenes must have names of their own.
fn plan(suites: &[&(&PathBuf, Suite)], args: &Args, verbosity: Verbosity) -> Result<Vec<Jobs>> {
    let mut plans: Vec<Jobs> = Vec::new();
    for (path, suite) in suites {
        let jobs = Jobs::plan(suite, args, &mut |text| verbosity.warn(&text))?;
        if let Some(scene) = jobs.scenes().find(|name| {
            let mut earlier = plans.iter().flat_map(Jobs::scenes);
            earlier.any(|other| other == *name)
        }) {
            let expected = "scenes with names of their own in all suites";
            return Err(Error::malformed(path, "scene", expected, scene));
        }
        plans.push(jobs);
    }
    Ok(plans)
}

fn run_jobs(jobs: &Jobs, args: &Args, results: &Path, verbosity: Verbosity) -> Result<()> {
    let progress = verbosity.progress("jobs");
    let bar = &progress.bar;
    let mut watch = |event: Event<'_>| match event {
        Event::Resumed { jobs, done: done @ 1.. } => {
            verbosity.remark(&format!("{done} of {jobs} jobs are in the results files"));
        }
        Event::Begun(key) => {
            bar.set_message(format!("{} {} {}", key.scene, key.view.name, key.preset));
        }
        Event::Warning(text) => bar.suspend(|| verbosity.warn(&text)),
        _ => {}
    };
    jobs.run(args, results, &progress.task, &mut watch)
}
