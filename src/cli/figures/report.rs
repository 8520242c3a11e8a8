//! The files of the report.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use super::args::Args;
use super::jobs::{Jobs, missing, results_files};
use crate::cli::console::print;
use quadrille_base::error::Result;
use quadrille_base::output::write_whole;
use quadrille_gpu::config::Config;
use quadrille_papers::figures::results::{PAPER_PRESET, Results};
use quadrille_papers::figures::summary::summary;
use quadrille_papers::figures::{ALL, Content, INTRODUCTION};
use quadrille_papers::page::{self, Page, Section};

/// Draws all figures from the results in the folder, and writes the page and the files of the chosen figures.
/// Returns what the chosen figures lack, each result once.
pub(super) fn write(args: &Args, plans: &[Jobs]) -> Result<Vec<String>> {
    // Of several shards that end at one time, the last to draw must have read the rows of all. Where a folder
    // cannot be locked, a later run mends the page.
    let lock = File::open(&args.output).ok();
    let _ = lock.as_ref().map(File::lock);
    let files = results_files(&args.output)?;
    let mut found = Vec::new();
    for jobs in plans {
        found.extend(jobs.found(&files)?);
    }
    let sections: Vec<(_, Vec<String>)> = ALL
        .iter()
        .map(|spec| (spec, missing(spec, &found)))
        .collect();
    let results = Results {
        views: found.into_iter().map(|one| one.view).collect(),
        config: Config::preset(PAPER_PRESET)?,
        command: args.command(),
    };
    let mut lacking: Vec<String> = Vec::new();
    let mut drawn = Vec::new();
    for (spec, missing) in sections {
        let content = spec.draw(&results);
        if args.is_chosen(spec.id) {
            let new = missing.iter().filter(|text| !lacking.contains(*text));
            let new: Vec<String> = new.cloned().collect();
            lacking.extend(new);
            write_files(
                &args.output,
                spec.id,
                &content,
                &spec.json(&content, &results, &missing),
            )?;
        }
        drawn.push(Section {
            heading: spec.heading(&results),
            content,
            missing,
        });
    }
    let summary = summary(&results);
    let page = Page {
        program: quadrille::PROGRAM,
        title: "VR-Pipe: published figures and ours",
        summary: &summary,
        introduction: INTRODUCTION,
        command: &results.command,
        fields: results.config.fields(),
    };
    let html = page::html(&page, &drawn);
    let index = args.output.join("index.html");
    write_whole(&index, |out| out.write_all(html.as_bytes()))?;
    print(format!("{summary}\n\n{}\n", index.display()))?;
    Ok(lacking)
}

/// Writes the table of a figure and its document.
pub(super) fn write_files(
    folder: &Path,
    id: &str,
    content: &Content,
    document: &Value,
) -> Result<()> {
    let csv = content.table.csv();
    write_whole(&folder.join(format!("{id}.csv")), |out| {
        out.write_all(csv.as_bytes())
    })?;
    write_whole(&folder.join(format!("{id}.json")), |out| {
        writeln!(out, "{document:#}")
    })
}
