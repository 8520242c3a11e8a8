//! `mesh`: draws triangle meshes and subdivision surfaces with multi-sampling and quad merging.

mod aov;
mod args;
mod job;
mod versus;

use serde_json::json;

use super::console::{Exit, Verbosity, print, print_json};
use super::film::TakeFrame;
use super::interrupt;
use super::views::report;
pub(super) use args::Args;
use job::MeshDrawing;
use quadrille_base::error::Result;
use quadrille_suite::merging_runs::MergedFrame;
use quadrille_suite::report::config::mesh_toml;
use quadrille_suite::report::mesh::tables;
use quadrille_suite::rows::MeshRow;

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    if args.config_dump {
        let config = args.gpu.mesh_config()?;
        print(mesh_toml(&config, &args.gpu.preset))?;
        return Ok(Exit::Done);
    }
    let settings = args.settings()?;
    settings.check()?;
    let job = MeshDrawing::new(args, &settings)?;
    let mut prepared = settings.prepare(&verbosity)?;
    report(&prepared.views, verbosity);
    prepared.views = args.film.path.flown(prepared.views)?;
    job.prepare_outputs(&prepared.views.cameras)?;
    let pool = args.host.pool()?;
    let versus = || versus::run(args, &settings.frames, &prepared, verbosity);
    if let Some(versus) = pool.install(versus)? {
        match args.json {
            true => print_json(versus.json())?,
            false => print(versus::page(&versus))?,
        }
        return Ok(Exit::Done);
    }
    let host = (args.host.level, interrupt::task());
    if let Some(film) = &job.film {
        let draw = |take: &mut TakeFrame<'_>| {
            let mut keep = |row: &MeshRow, frame: MergedFrame<'_>| {
                frame.picture.iter().try_for_each(&mut *take)?;
                job.write(row, &frame)
            };
            pool.install(|| prepared.run(job.wants(), host, &verbosity, &mut keep))
        };
        let background = args.background;
        let (film, rows) = film.record_drawn(&prepared.views, background, verbosity, draw)?;
        let facts = args.json.then(|| json!({ "rows": rows }));
        film.report(facts, &prepared.views.cameras)?;
        return Ok(Exit::Done);
    }
    let mut keep = |row: &MeshRow, frame: MergedFrame<'_>| job.write(row, &frame);
    let rows = pool.install(|| prepared.run(job.wants(), host, &verbosity, &mut keep))?;
    if args.json {
        print_json(json!({ "rows": rows }))?;
    } else if !job.writes_to_stdout() {
        print(tables(&rows))?;
    }
    Ok(Exit::Done)
}
