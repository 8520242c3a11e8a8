//! `deferred`: stochastic raster, sort-based deferred shading, and the pipelines it is compared with.

mod args;
mod job;

use serde_json::json;

use super::console::{Exit, print, print_json};
use super::film::{Film, FilmFrames};
use super::session::Session;
use super::views::report;
pub(super) use args::Args;
use job::DeferredJob;
use quadrille_base::error::Result;
use quadrille_deferred::draw::DeferredResult;
use quadrille_suite::report::deferred::table;
use quadrille_suite::rows::DeferredRow;

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    let settings = args.settings()?;
    settings.check()?;
    let job = DeferredJob::new(args, &settings)?;
    let mut prepared = settings.prepare(session)?;
    report(&prepared.views, session);
    prepared.views = args.film.path.flown(prepared.views)?;
    job.prepare_outputs(&prepared.views.cameras)?;
    let (level, task) = (session.level, session.task);
    let mut rows = Vec::new();
    let draw = |film: Option<&FilmFrames>| {
        let mut keep = |row: &DeferredRow, result: &DeferredResult| {
            if let Some((film, picture)) = film.zip(result.picture.as_ref()) {
                film.take(picture, None)?;
            }
            job.write(row, result)
        };
        rows = session.install(|| prepared.run(job.wants(), level, task, session, &mut keep))?;
        Ok(1)
    };
    let finished = Film::record_if(job.film, &prepared.views, args.background, session, draw)?;
    job.write_bars(&rows)?;
    match finished {
        Some(film) => {
            film.report(args.json.then(|| json!({ "rows": rows })), &prepared.views.cameras)?;
        }
        None if args.json => print_json(json!({ "rows": rows }))?,
        None if job.writes_to_stdout() => {}
        None => print(table(&rows))?,
    }
    Ok(Exit::Done)
}
