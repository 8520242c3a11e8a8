//! `mesh`: draws triangle meshes and subdivision surfaces with multi-sampling and quad merging.

mod aov;
mod args;
mod job;
mod versus;

use super::console::{Exit, print, print_json};
use super::film::{Film, FilmFrames, report_rows};
use super::session::Session;
use super::views::report;
pub(super) use args::Args;
use job::MeshDrawing;
use quadrille_base::error::Result;
use quadrille_suite::merging_runs::MergedFrame;
use quadrille_suite::report::config::mesh_toml;
use quadrille_suite::report::mesh::tables;
use quadrille_suite::rows::MeshRow;

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    if args.config_dump {
        print(mesh_toml(&args.gpu.mesh_config()?, &args.gpu.preset))?;
        return Ok(Exit::Done);
    }
    let settings = args.settings()?;
    settings.check()?;
    args.gpu.warn_of_unused_mesh(&settings.frames, session)?;
    let job = MeshDrawing::new(args, &settings)?;
    let mut prepared = settings.prepare(session)?;
    report(&prepared.views, session);
    prepared.views = args.film.path.flown(prepared.views)?;
    job.prepare_outputs(&prepared.views.cameras)?;
    let versus = || versus::run(args, &settings.frames, &prepared, session);
    if let Some(versus) = session.install(versus)? {
        match args.rows.json {
            true => print_json(versus.json())?,
            false => print(versus::page(&versus))?,
        }
        return Ok(Exit::Done);
    }
    let (level, task) = (session.level, session.task);
    let mut rows = Vec::new();
    let draw = |film: Option<&FilmFrames>| {
        let mut keep = |row: &MeshRow, frame: MergedFrame<'_>| {
            FilmFrames::take_if(film, frame.picture.as_ref())?;
            job.write(row, &frame, &|text| session.note(text))
        };
        rows = session.install(|| prepared.run(job.wants(), level, task, session, &mut keep))?;
        Ok(1)
    };
    let finished = Film::record_if(job.film, &prepared.views, args.background, session, draw)?;
    let table = || (!job.writes_to_stdout()).then(|| tables(&rows));
    let is_measured = job.measures().is_some();
    report_rows(finished, &rows, &prepared.views.cameras, args.rows, is_measured, table)?;
    Ok(Exit::Done)
}
