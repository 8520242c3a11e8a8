//! The files of the report.

use std::fs::{self, File};

use super::args::Args;
use super::deferred::{MeshSuite, needs};
use super::jobs::{Jobs, missing, results_files};
use crate::cli::console::print;
use quadrille_base::error::{Error, Result};
use quadrille_gpu::config::Config;
use quadrille_papers::figures::results::Results;
use quadrille_papers::merging_figures::results::Results as Merging;
use quadrille_papers::paper::{Figure, PAPER_PRESET};
use quadrille_papers::report::{Inputs, Report};
use quadrille_papers::{docs, files};

/// Draws all figures from the results in the folder, and writes the page and the files of the chosen figures.
/// Returns what the chosen figures lack, each result once.
pub(super) fn write(
    args: &Args,
    plans: &[Jobs],
    meshes: Option<&MeshSuite>,
    merging: Option<Merging>,
) -> Result<Vec<String>> {
    // Of several shards that end at one time, the last to draw must have read the rows of all. Where a folder
    // cannot be locked, a later run mends the page.
    fs::create_dir_all(&args.output).map_err(|e| Error::write(&args.output, e))?;
    let lock = File::open(&args.output).ok();
    let _ = lock.as_ref().map(File::lock);
    let rows = results_files(&args.output)?;
    let mut found = Vec::new();
    for jobs in plans {
        found.extend(jobs.found(&rows)?);
    }
    let (deferred, gaps) = match meshes {
        Some(suite) => {
            let (results, gaps) = suite.found(args)?;
            (Some(results), gaps)
        }
        None => (None, Vec::new()),
    };
    let views = found.iter().map(|one| one.view.clone()).collect();
    let config = Config::preset(PAPER_PRESET)?;
    let inputs = Inputs {
        splats: (!plans.is_empty()).then_some(Results { views, config }),
        deferred,
        merging,
        command: args.command(),
        program: quadrille::PROGRAM,
    };
    let report = Report::draw(&inputs, &|figure: &Figure| {
        let runs = gaps.iter().filter(|(kind, _)| needs(figure, *kind));
        let runs = runs.map(|(_, text)| text.clone());
        missing(figure, &found).into_iter().chain(runs).collect()
    });
    let written = files::write(&report, &args.output, &|id| args.is_chosen(id))?;
    if let Some(folder) = &args.docs {
        docs::update(&report, folder)?;
    }
    print(format!(
        "{}\n\n{}\n",
        report.summary(),
        written.index.display()
    ))?;
    Ok(written.missing)
}
