//! `deferred`: stochastic raster, sort-based deferred shading, and the pipelines it is compared with.

mod aov;
mod args;
mod job;

use super::console::Exit;
use super::film::{Film, FilmFrames, report_rows};
use super::session::Session;
use super::views::report;
pub(super) use args::Args;
use job::DeferredJob;
use quadrille_base::error::Result;
use quadrille_deferred::draw::DeferredResult;
use quadrille_suite::deferred_runs::DeferredView;
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
        let mut keep = |row: &DeferredRow, result: &DeferredResult, view: &DeferredView| {
            FilmFrames::take_if(film, result.picture.as_ref())?;
            job.write(row, result, view, &|text| session.note(text))
        };
        rows = session.install(|| prepared.run(&job.wants(), level, task, session, &mut keep))?;
        Ok(1)
    };
    let finished = Film::record_if(job.film, &prepared.views, args.background, session, draw)?;
    job.write_bars(&rows)?;
    let table = || (!job.writes_to_stdout()).then(|| table(&rows));
    let is_measured = job.measures().is_some();
    report_rows(finished, &rows, &prepared.views.cameras, args.rows, is_measured, table)?;
    Ok(Exit::Done)
}
