//! `deferred`: stochastic raster, sort-based deferred shading, and the pipelines it is compared with.

mod args;
mod job;

use serde_json::json;

use super::console::{Exit, Verbosity, print, print_json};
use super::film::TakeFrame;
use super::interrupt;
use super::views::report;
pub(super) use args::Args;
use job::DeferredJob;
use quadrille_base::error::Result;
use quadrille_deferred::draw::DeferredResult;
use quadrille_suite::report::deferred::table;
use quadrille_suite::rows::DeferredRow;

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let settings = args.settings()?;
    settings.check()?;
    let job = DeferredJob::new(args, &settings)?;
    let mut prepared = settings.prepare(&verbosity)?;
    report(&prepared.views, verbosity);
    prepared.views = args.film.path.flown(prepared.views)?;
    job.prepare_outputs(&prepared.views.cameras)?;
    let host = (args.host.level, interrupt::task());
    let pool = args.host.pool()?;
    if let Some(film) = &job.film {
        let draw = |take: &mut TakeFrame<'_>| {
            let mut keep = |row: &DeferredRow, result: &DeferredResult| {
                result.picture.iter().try_for_each(&mut *take)?;
                job.write(row, result)
            };
            pool.install(|| prepared.run(job.wants(), host, &verbosity, &mut keep))
        };
        let background = args.background;
        let (film, rows) = film.record_drawn(&prepared.views, background, verbosity, draw)?;
        job.write_bars(&rows)?;
        let facts = args.json.then(|| json!({ "rows": rows }));
        film.report(facts, &prepared.views.cameras)?;
        return Ok(Exit::Done);
    }
    let mut keep = |row: &DeferredRow, result: &DeferredResult| job.write(row, result);
    let rows = pool.install(|| prepared.run(job.wants(), host, &verbosity, &mut keep))?;
    job.write_bars(&rows)?;
    if args.json {
        print_json(json!({ "rows": rows }))?;
    } else if !job.writes_to_stdout() {
        print(table(&rows))?;
    }
    Ok(Exit::Done)
}
