//! `microbench`: the microbenchmarks of the paper on the emulated pipeline.

use std::fmt::Write;

use serde_json::json;

use super::gpu_options::GpuFlags;
use super::{Outcome, Verbosity, stdout};
use crate::error::Result;
use crate::gpu::microbench::{ALL, Check, Microbenchmark};

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

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Outcome> {
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
        checks.extend(microbenchmark.run(&config));
    }
    let text = if args.json {
        format!("{:#}\n", json!({ "results": checks }))
    } else {
        table(&checks)
    };
    stdout::write(text.as_bytes())?;
    if checks.iter().all(Check::ok) {
        Ok(Outcome::Done)
    } else {
        Ok(Outcome::CheckFailed)
    }
}

/// A line a measurement. Writing to a `String` cannot fail, so those results are let go.
fn table(checks: &[Check]) -> String {
    let longest = checks.iter().map(|c| c.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<longest$}  {:>22}  {:>10}  {:<16} ok",
        "measurement", "expected", "measured", "unit"
    );
    for check in checks {
        let rule = match check.expected.rule().as_str() {
            "equal" => String::new(),
            rule => format!("{rule} "),
        };
        let expected = format!("{rule}{}", check.expected.value());
        let measured = (check.measured * 1e4).round() / 1e4;
        let _ = writeln!(
            text,
            "{:<longest$}  {expected:>22}  {measured:>10}  {:<16} {}",
            check.name,
            check.unit,
            if check.ok() { "yes" } else { "NO" }
        );
    }
    text
}
