//! Methods of drawing a view that a suite compares. This is the only file of suites that knows what
//! they are.

use std::time::Duration;

use rayon::prelude::*;

use super::row::MethodRow;
use crate::error::Result;
use crate::gpu::config::Config;
use crate::gpu::result::SimulationResult;
use crate::gpu::variant::Variant;
use crate::gpu::view::PreparedView;
use crate::gpu::wiring::Simulator;
use crate::gpu::zrop::framebuffer::Tests;
use crate::report::json::outcome_report;

/// A way to draw a view, which reports numbers: a variant of the emulated pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method(Variant);

impl From<Variant> for Method {
    fn from(variant: Variant) -> Self {
        Self(variant)
    }
}

/// Report of a method and what is wrong with it.
pub(super) struct MethodRun {
    pub(super) row: MethodRow,
    /// Counters that do not add up, one sentence each.
    pub(super) discrepancies: Vec<String>,
}

impl Method {
    /// Parses the name of a method, as `quadrille sim --variant` takes it.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) listing the names.
    pub fn parse(name: &str) -> Result<Self> {
        Variant::parse(name).map(Self)
    }

    /// The methods of a suite that names none.
    #[must_use]
    pub fn defaults() -> Vec<Self> {
        Variant::ALL.map(Self).to_vec()
    }

    /// Name of the method.
    #[must_use]
    pub fn name(self) -> String {
        self.0.to_string()
    }

    /// The variant of the emulated pipeline that the method runs.
    pub(crate) fn variant(self) -> Variant {
        self.0
    }

    /// Draws a view with several methods in parallel on rayon's current pool.
    pub(super) fn run_all(
        methods: &[Self],
        view: &PreparedView<'_>,
        config: &Config,
    ) -> Result<Vec<MethodRun>> {
        config.validate()?;
        let tests = Tests::default();
        let runs = methods.par_iter().map(|method| {
            let run = view.run(&Simulator::new(config, method.0)?, &tests);
            Ok(MethodRun {
                discrepancies: run.outcome.discrepancies(),
                row: pipeline_row(&run.outcome, config, run.host),
            })
        });
        runs.collect()
    }
}

/// The record of a variant of the pipeline that ran on `config`.
pub(crate) fn pipeline_row(
    outcome: &SimulationResult,
    config: &Config,
    host: Duration,
) -> MethodRow {
    let mut report = outcome_report(outcome, config);
    // Fields of their own in a row.
    for key in ["name", "cycles", "frame_ms"] {
        report.shift_remove(key);
    }
    MethodRow {
        name: outcome.variant.to_string(),
        cycles: outcome.cycles,
        frame_ms: outcome.cycles as f64 / (config.gpu.clock_mhz * 1e3),
        report,
        host_s: host.as_secs_f64(),
    }
}
