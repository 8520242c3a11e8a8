//! `mesh`: the MSAA path of triangle meshes and subdivision surfaces.

mod args;
mod job;
mod options;
mod subject;
mod versus;

use serde_json::{Value, json};

use super::console::{Exit, Verbosity, print};
use crate::error::Result;
use crate::report::mesh::{MeshRow, cycles_table, table};
pub(super) use args::Args;
use job::Job;

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let host = args.host.check()?;
    let job = Job::new(args, host.level)?;
    let subject = args.subject.load(&args.mesh, verbosity)?;
    let cameras = args.views.views_of(|| subject.framing(), verbosity)?;
    job.check_views(&cameras)?;
    let pool = host.pool()?;
    let versus = || versus::run(args, host.level, &subject, &cameras, verbosity);
    if let Some(page) = pool.install(versus)? {
        print(page)?;
        return Ok(Exit::Done);
    }
    let rows = pool.install(|| job.run_all(&subject, &cameras))?;
    let text = if args.json {
        let mut rows: Vec<Value> = rows.iter().map(MeshRow::json).collect();
        let document = if rows.len() == 1 {
            rows.remove(0)
        } else {
            json!({ "rows": rows })
        };
        format!("{document:#}\n")
    } else {
        table(&rows) + &cycles_table(&rows)
    };
    if args.json || !job.writes_to_stdout() {
        print(text)?;
    }
    Ok(Exit::Done)
}
