//! Runs of methods that a suite compares, and their records. This is the only file of suites that knows what
//! a method reports.

use std::time::Duration;

use super::row::MethodRow;
use crate::report::json::outcome_report;
use quadrille_base::error::Result;
use quadrille_base::task::Task;
use quadrille_gpu::config::Config;
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
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
        row: method_row(&run.outcome, config, run.host),
    });
    Ok(runs.collect())
}

/// The record of a method that ran on `config`.
pub fn method_row(outcome: &Outcome, config: &Config, host: Duration) -> MethodRow {
    let mut report = outcome_report(outcome, config);
    // Fields of their own in a row.
    for key in ["name", "cycles", "frame_ms"] {
        report.shift_remove(key);
    }
    MethodRow {
        name: outcome.method().to_string(),
        cycles: outcome.cycles(),
        frame_ms: outcome.cycles() as f64 / (config.gpu.clock_mhz * 1e3),
        report,
        host_s: host.as_secs_f64(),
    }
}
