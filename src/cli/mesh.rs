//! `mesh`: draws triangle meshes and subdivision surfaces with multi-sampling and quad merging.

mod aov;
mod args;
mod assumptions;
mod framing;
pub(super) mod input;
mod job;
pub(super) mod look;
pub(super) mod options;
mod versus;

use serde_json::json;

use super::console::{Exit, Verbosity, print, print_json};
pub(super) use args::Args;
use job::Job;
use quadrille_base::error::Result;
use quadrille_suite::report;
use quadrille_suite::report::mesh::{MeshRow, tables};

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    if args.config_dump {
        let config = args.gpu.mesh_config()?;
        print(report::config::mesh_toml(&config, &args.gpu.preset))?;
        return Ok(Exit::Done);
    }
    args.views.check()?;
    let job = Job::new(args)?;
    let input = args.input.load(args.mesh(), verbosity)?;
    input.warn_of_blended(verbosity);
    let framing = || input.framing(args.views.up(), verbosity);
    let cameras = args.views.of_mesh(input.cameras(), framing, verbosity)?;
    let look = args.look.of(&input, args.views.up(), verbosity)?;
    job.prepare_outputs(&cameras)?;
    let pool = args.host.pool()?;
    let versus = || versus::run(args, (&input, &look), &cameras, verbosity);
    if let Some(versus) = pool.install(versus)? {
        match args.json {
            true => print_json(versus.json())?,
            false => print(versus::page(&versus))?,
        }
        return Ok(Exit::Done);
    }
    let rows = pool.install(|| job.run_all((&input, &look), &cameras, verbosity))?;
    if args.json {
        let rows: Vec<_> = rows.iter().map(MeshRow::json).collect();
        print_json(json!({ "rows": rows }))?;
    } else if !job.writes_to_stdout() {
        print(tables(&rows))?;
    }
    Ok(Exit::Done)
}
