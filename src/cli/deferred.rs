//! `deferred`: stochastic raster, sort-based deferred shading, and the pipelines it is compared with.

mod args;
mod blur;
mod job;
mod rows;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::console::{Exit, Verbosity, print, print_json};
pub(super) use args::Args;
use job::Job;
use quadrille_base::error::Result;
use quadrille_suite::report::deferred::{DeferredRow, table};

/// Runs the command without printing; returns the rows of its document, and the files that they follow from
/// besides those of cameras.
pub(super) fn rows(args: &Args, verbosity: Verbosity) -> Result<(Vec<Value>, Vec<PathBuf>)> {
    let (rows, named) = run_job(&Job::new(args)?, args, verbosity)?;
    let given = args.inputs().map(Path::to_path_buf);
    Ok((
        rows.iter().map(DeferredRow::json).collect(),
        given.chain(named).collect(),
    ))
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let job = Job::new(args)?;
    let (rows, _) = run_job(&job, args, verbosity)?;
    if args.json {
        let rows: Vec<_> = rows.iter().map(DeferredRow::json).collect();
        print_json(json!({ "rows": rows }))?;
    } else if !job.writes_to_stdout() {
        print(table(&rows))?;
    }
    Ok(Exit::Done)
}

/// Returns the rows, and the files that the mesh file names.
fn run_job(
    job: &Job<'_>,
    args: &Args,
    verbosity: Verbosity,
) -> Result<(Vec<DeferredRow>, Vec<PathBuf>)> {
    args.views.check()?;
    let input = args.input.load(&args.mesh, verbosity)?;
    let look = args.look.of(&input, args.views.up(), verbosity)?;
    let framing = || input.framing(args.views.up(), verbosity);
    let cameras = args.views.of_mesh(input.cameras(), framing, verbosity)?;
    job.prepare_outputs(&cameras)?;
    let views = args.blur.views(&cameras, &input, &args.views, verbosity)?;
    let pool = args.host.pool()?;
    let rows = pool.install(|| job.run_all((&input, &look), &views, verbosity))?;
    job.write_bars(&rows)?;
    Ok((rows, input.files))
}
