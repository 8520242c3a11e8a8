//! `microbench`: the microbenchmarks of the paper on the emulated pipeline.

use serde_json::json;

use super::console::{Exit, Verbosity, print, print_json};
use super::options::GpuFlags;
use crate::error::Result;
use crate::gpu::microbench::{ALL, Check, Microbenchmark};
use crate::report::table::TextTable;

/// Measure the emulated pipeline as VR-Pipe's authors measured hardware
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Measure the emulated pipeline as VR-Pipe's authors measured hardware (section \
    VII-A).\n\nExits with 1 when a measurement is not that of the hardware, as it may well be for \
    another configuration."
)]
pub(super) struct Args {
    /// Run this one only: tile-bins, crop-footprint, pixels-per-clock or quads-per-pixel
    name: Option<String>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gpu: GpuFlags,
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let config = args.gpu.config()?;
    let chosen = match &args.name {
        Some(name) => vec![Microbenchmark::named(name)?],
        None => ALL.to_vec(),
    };
    let mut checks = Vec::new();
    for microbenchmark in chosen {
        verbosity.remark(&format!(
            "{}: {}",
            microbenchmark.name, microbenchmark.about
        ));
        checks.extend(microbenchmark.run(&config)?);
    }
    if args.json {
        print_json(&json!({ "results": checks }))?;
    } else {
        print(table(&checks))?;
    }
    if checks.iter().all(Check::ok) {
        Ok(Exit::Done)
    } else {
        Ok(Exit::CheckFailed)
    }
}

/// A line a measurement.
fn table(checks: &[Check]) -> String {
    let mut table = TextTable::new(&["<measurement", "expected", "measured", "<unit", "<ok"]);
    for check in checks {
        let rule = match check.expected.rule().as_str() {
            "equal" => String::new(),
            rule => format!("{rule} "),
        };
        let measured = (check.measured * 1e4).round() / 1e4;
        table.row([
            check.name.clone(),
            format!("{rule}{}", check.expected.value()),
            measured.to_string(),
            check.unit.to_owned(),
            if check.ok() { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    table.to_string()
}
