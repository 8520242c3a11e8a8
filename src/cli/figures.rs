//! `figures`: draws the figures and tables of papers again, beside the published numbers.

mod args;
mod correlate;
mod jobs;
mod report;

use std::path::PathBuf;

use super::console::Exit;
use super::outputs::Outputs;
use super::session::Session;
pub(super) use args::Args;
use jobs::{Jobs, MERGING_PAPERS, papers_of};
use quadrille_base::error::{Error, Result};
use quadrille_papers::merging_figures::results::MergingResults;
use quadrille_suite::Suite;

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    if let Some(measured) = &args.correlate {
        return correlate::run(measured, args, session);
    }
    if args.gpu.is_given() {
        let needed = "--correlate; figures have configurations of their own";
        return Err(Error::needs("each of --preset, --config and --set", needed));
    }
    let mut suites = Vec::new();
    for path in &args.suites {
        let suite = Suite::read(path)?;
        suite.remarks().iter().for_each(|remark| session.warn(remark));
        suites.push(suite);
    }
    let kept = args.kept.as_deref().map(MergingResults::read_kept).transpose()?;
    let papers = suites.iter().flat_map(papers_of).chain(kept.iter().flat_map(|_| MERGING_PAPERS));
    args.check_figures(&papers.collect::<Vec<_>>())?;
    let jobs = plan(suites, args, session)?;
    let results = args.results();
    Outputs::beside(args.suites.iter().map(PathBuf::as_path)).add("-o", &results)?;
    session.install(|| {
        jobs.iter().try_for_each(|jobs| jobs.run(args, &results, session))?;
        Ok(report::exit(&report::write(args, &jobs, kept)?))
    })
}

/// Plans the runs of all suites. No two suites may have scenes of the same name.
fn plan(suites: Vec<Suite>, args: &Args, session: &Session) -> Result<Vec<Jobs>> {
    let mut planned: Vec<Jobs> = Vec::new();
    for (suite, path) in suites.into_iter().zip(&args.suites) {
        let jobs = Jobs::plan(suite, args, session)?;
        let is_known = |name: &&String| planned.iter().any(|jobs| jobs.scenes.contains(name));
        if let Some(scene) = jobs.scenes.iter().find(is_known) {
            let expected = "scenes whose names differ in all suites";
            return Err(Error::malformed(path, "scene", expected, scene.as_str()));
        }
        planned.push(jobs);
    }
    Ok(planned)
}
