//! `figures`: draws the figures and tables of the VR-Pipe paper again, or those of the paper on sort-based deferred
//! shading, beside the published numbers.

mod args;
mod deferred;
mod jobs;
mod report;

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::console::{Exit, Verbosity, fail};
use super::outputs::Outputs;
pub(super) use args::Args;
use deferred::MeshSuite;
use jobs::Jobs;
use quadrille_base::error::{Error, Result};
use quadrille_scene::text_file::read_text;
use quadrille_suite::{Event, Suite};

/// Results that the program lists on standard error before the rest is cut off.
const LISTED: usize = 12;

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let mut texts = Vec::new();
    for path in &args.suites {
        texts.push((path, read_text(path, "a suite")?));
    }
    let is_of_meshes = texts.iter().any(|(_, text)| MeshSuite::is_one(text));
    args.check_figures(is_of_meshes)?;
    if is_of_meshes {
        let [(path, text)] = &texts[..] else {
            let expected = "a suite of meshes alone";
            return Err(Error::argument("SUITE", expected, "several suites"));
        };
        return run_meshes(&MeshSuite::parse(text, path, args)?, args, verbosity);
    }
    let suites = texts.iter().map(|(path, text)| Suite::parse(text, path));
    let suites: Vec<Suite> = suites.collect::<Result<_>>()?;
    let mut plans = Vec::new();
    for (suite, path) in suites.iter().zip(&args.suites) {
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
    let results = args.results();
    Outputs::beside(args.suites.iter().map(PathBuf::as_path)).add("-o", &results)?;
    args.host.pool()?.install(|| {
        for jobs in &plans {
            run_jobs(jobs, args, &results, verbosity)?;
        }
        Ok(exit(&report::write(args, &plans)?))
    })
}

fn run_meshes(suite: &MeshSuite, args: &Args, verbosity: Verbosity) -> Result<Exit> {
    Outputs::beside(args.suites.iter().map(PathBuf::as_path)).add("-o", &args.results())?;
    Ok(exit(&suite.run(args, verbosity)?))
}

/// Lists the results that are missing.
fn exit(missing: &[String]) -> Exit {
    if missing.is_empty() {
        return Exit::Done;
    }
    let listed = missing.iter().take(LISTED);
    let listed: Vec<_> = listed.map(|text| format!("\n  {text}")).collect();
    let more = match missing.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    fail(&format!("results are missing:{}{more}", listed.concat()));
    Exit::CheckFailed
}

fn run_jobs(jobs: &Jobs, args: &Args, results: &Path, verbosity: Verbosity) -> Result<()> {
    let mut bar = ProgressBar::hidden();
    let mut watch = |event: Event<'_>| match event {
        Event::Resumed { jobs, done } => {
            if done > 0 {
                verbosity.remark(&format!("{done} of {jobs} jobs are in the results files"));
            }
            bar = verbosity.progress_bar(jobs as u64, "jobs");
            bar.set_position(done as u64);
        }
        Event::Begun(key) => {
            bar.set_message(format!("{} {} {}", key.scene, key.view.name, key.preset));
        }
        Event::Done(_) => bar.inc(1),
        Event::Warning(text) => bar.suspend(|| verbosity.warn(&text)),
        _ => {}
    };
    jobs.run(args, results, &mut watch)?;
    bar.finish_and_clear();
    Ok(())
}
