//! `deferred`: stochastic raster, sort-based deferred shading, and the pipelines it is compared with.

mod args;
mod blur;
mod job;

use serde_json::json;

use super::console::{Exit, Verbosity, print, print_json};
use super::interrupt;
use super::views::report;
pub(super) use args::Args;
use job::Job;
use quadrille_base::error::Result;
use quadrille_deferred::draw::DeferredResult;
use quadrille_suite::report::deferred::table;
use quadrille_suite::rows::DeferredRow;

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let settings = args.settings()?;
    settings.check()?;
    let job = Job::new(args, &settings)?;
    let prepared = settings.prepare(&verbosity)?;
    report(&prepared.views, verbosity);
    job.prepare_outputs(&prepared.views.cameras)?;
    let host = (args.host.level, interrupt::task());
    let mut keep = |row: &DeferredRow, result: &DeferredResult| job.write(row, result);
    let pool = args.host.pool()?;
    let rows = pool.install(|| prepared.run(job.wants(), host, &verbosity, &mut keep))?;
    job.write_bars(&rows)?;
    if args.json {
        print_json(json!({ "rows": rows }))?;
    } else if !job.writes_to_stdout() {
        print(table(&rows))?;
    }
    Ok(Exit::Done)
}
