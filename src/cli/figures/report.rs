use std::fs::{self, File};

use super::args::Args;
use super::jobs::{DEFERRED_PAPERS, Found, Jobs, MERGING_PAPERS, SPLAT_PAPERS, results_files};
use crate::cli::console::{Exit, fail, listed, print};
use quadrille_base::output::write_whole;
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::config::Config;
use quadrille_papers::deferred_figures::results::DeferredResults;
use quadrille_papers::figures::results::Results;
use quadrille_papers::merging_figures::results::MergingResults;
use quadrille_papers::paper::{Figure, PAPER_PRESET};
use quadrille_papers::report::{Inputs, Report};
use quadrille_papers::{docs, files};

pub(super) fn write(
    args: &Args,
    suites: &[Jobs],
    kept: Option<MergingResults>,
) -> Result<Vec<String>> {
    let _lock = folder(args)?;
    let files = results_files(&args.output)?;
    let mut found = Found::default();
    suites.iter().try_for_each(|jobs| jobs.find(&files, &mut found))?;
    let draws = |papers: &[&str]| suites.iter().any(|jobs| jobs.papers.contains(&papers[0]));
    let counts = draws(&MERGING_PAPERS).then(|| MergingResults::new(&found.meshes));
    if let Some(counts) = &counts {
        write_whole(&args.output.join("counts.jsonl"), &Task::NEVER, |out| counts.write(out))?;
    }
    let views = found.views.iter().map(|one| one.view.clone()).collect();
    let config = Config::preset(PAPER_PRESET)?;
    let deferred = draws(&DEFERRED_PAPERS);
    let deferred = deferred.then(|| DeferredResults::new(&found.meshes, &args.output));
    let inputs = Inputs {
        splats: draws(&SPLAT_PAPERS).then_some(Results { views, config }),
        deferred: deferred.transpose()?,
        merging: counts.or(kept),
        hardware: None,
        command: args.command(),
        choice: args.choice(),
        program: quadrille::PROGRAM,
    };
    publish(args, &inputs, &|figure: &Figure| found.missing(figure))
}

/// Creates the output folder and locks it, so that one run at a time draws the page. If several shards end together,
/// the last one then reads the rows of all. Without locks (`None`), the page may lack rows until the next run.
pub(super) fn folder(args: &Args) -> Result<Option<File>> {
    fs::create_dir_all(&args.output).map_err(|e| Error::write(&args.output, e))?;
    let lock = File::open(&args.output).ok();
    let _ = lock.as_ref().map(File::lock);
    Ok(lock)
}

pub(super) fn publish(
    args: &Args,
    inputs: &Inputs,
    missing: &dyn Fn(&Figure) -> Vec<String>,
) -> Result<Vec<String>> {
    let report = Report::draw(inputs, &|id| args.is_chosen(id), missing);
    let written = files::write(&report, &args.output, args.pdf)?;
    if let Some(folder) = &args.docs {
        docs::update(&report, folder)?;
    }
    let summary = report.summary();
    let gap = if summary.is_empty() { "" } else { "\n\n" };
    print(format!("{summary}{gap}{}\n", written.index.display()))?;
    let mut missing = written.missing;
    if !args.only.is_empty() {
        let empty = report.empty_figures();
        missing.extend(empty.map(|id| format!("{id}, for which the suites have no views")));
    }
    Ok(missing)
}

pub(super) fn exit(missing: &[String]) -> Exit {
    if missing.is_empty() {
        return Exit::Done;
    }
    fail(&format!("results are missing:{}", listed(missing)));
    Exit::CheckFailed
}
