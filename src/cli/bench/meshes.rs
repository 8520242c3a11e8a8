//! `bench` with suites of meshes and their results.

use std::path::Path;

use serde_json::json;

use super::{Args, missing};
use crate::cli::console::{Exit, Verbosity, print, print_json};
use crate::cli::outputs::Outputs;
use quadrille_base::error::{Error, Result};
use quadrille_suite::mesh_suite::{MeshRows, MeshRunFiles, MeshRunRow, MeshSuite};
use quadrille_suite::{Event, csv, report};

/// Runs a suite.
pub(super) fn run(args: &Args, text: &str, verbosity: Verbosity) -> Result<Exit> {
    args.refuse_flags_of_splats("a suite of splats beside it")?;
    let results = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let Some(results) = results else {
        let expected = "a results file, since heat maps lie beside it";
        return Err(Error::argument("-o", expected, "none"));
    };
    let plan = MeshSuite::parse(text, &args.suite)?.plan(quadrille::PROGRAM, false);
    let file = args.shard.map_or(results.to_owned(), |s| s.file(results));
    Outputs::beside([args.suite.as_path()]).add("-o", &file)?;
    let runs = match args.merge {
        true => plan.merge(results)?,
        false => {
            let progress = verbosity.progress("runs");
            let bar = &progress.bar;
            let mut watch = |event: Event<'_>| match event {
                Event::BegunMesh(key) => bar.set_message(key.to_string()),
                Event::Warning(text) => bar.suspend(|| verbosity.warn(&text)),
                _ => {}
            };
            let files = MeshRunFiles {
                results: &file,
                others: &[],
            };
            let host = (args.host.level, &progress.task);
            let run = || plan.run(files, args.shard, &|_| true, host, &mut watch);
            args.host.pool()?.install(run)?;
            let folder = file.parent().unwrap_or(Path::new(""));
            plan.runs(folder, std::slice::from_ref(&file))?
        }
    };
    let lacking = runs.iter().filter(|run| run.row.is_none());
    let lacking: Vec<String> = lacking.map(|run| run.key.to_string()).collect();
    let rows: Vec<MeshRunRow> = runs.into_iter().filter_map(|run| run.row).collect();
    print_rows(args, &rows)?;
    match args.merge {
        true => Ok(missing(&lacking, rows.len())),
        false => Ok(Exit::Done),
    }
}

/// Prints rows as a table for each run, as JSON or as CSV.
pub(super) fn print_rows(args: &Args, rows: &[MeshRunRow]) -> Result<()> {
    if args.csv {
        return print(csv::mesh_text(rows));
    }
    if args.json {
        let suite = args.suite.display().to_string();
        return print_json(json!({ "suite": suite, "rows": rows }));
    }
    let tables = rows.iter().map(|row| match &row.rows {
        MeshRows::Deferred(rows) => (&row.key, report::deferred::table(rows)),
        MeshRows::Merging(rows) => (&row.key, report::mesh::tables(rows)),
    });
    let tables: Vec<_> = tables
        .map(|(key, table)| format!("{key}\n{table}"))
        .collect();
    print(tables.join("\n"))
}
