//! Runs of methods that a suite compares, and their records.

use super::rows::MethodRow;
use quadrille_base::error::Result;
use quadrille_base::task::Task;
use quadrille_gpu::config::Config;
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Watch;

pub(super) struct MethodRun {
    pub(super) row: MethodRow,
    pub(super) discrepancies: Vec<String>,
}

pub(super) fn run_all(
    methods: &[Method],
    view: &PreparedView<'_>,
    config: &Config,
    task: &Task,
) -> Result<Vec<MethodRun>> {
    let machines = Machine::all(config, methods, Watch::default())?;
    let runs = Machine::run_all(&machines, view, task)?.into_iter();
    let runs = runs.map(|run| MethodRun {
        discrepancies: run.outcome.discrepancies(),
        row: MethodRow::new(&run.outcome, config, run.host),
    });
    Ok(runs.collect())
}
