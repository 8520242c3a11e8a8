//! `microbench`: runs microbenchmarks on the emulated pipeline.

use serde_json::json;

use super::console::{Exit, print, print_json};
use super::options::GpuFlags;
use super::session::Session;
use quadrille_base::error::Result;
use quadrille_suite::microbench::{ALL, Check, Microbenchmark};
use quadrille_suite::report::table::TextTable;

/// Run microbenchmarks on the emulated pipeline
///
/// Each microbenchmark draws rectangles or triangles and measures the pipeline from outside, as the VR-Pipe paper
/// measures real GPUs (section VII-A). The basis of an expected value is a measurement on hardware, an ideal model, a
/// field of the configuration that the row reads back, or a measurement that the draw is designed to
/// reproduce. Exits with code 1 if a value differs from the expected value, which can happen with
/// configurations other than the default.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  quadrille microbench\n  quadrille microbench tile-bins --set tc.bins=64"
)]
pub(super) struct Args {
    name: Option<String>,
    /// Print a JSON document instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gpu: GpuFlags,
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    let config = args.gpu.config()?;
    let chosen = match &args.name {
        Some(name) => vec![Microbenchmark::named(name)?],
        None => ALL.to_vec(),
    };
    let mut checks = Vec::new();
    for microbenchmark in chosen {
        session.remark(&format!("{}: {}", microbenchmark.name, microbenchmark.about));
        checks.extend(microbenchmark.run(&config, session.task)?);
    }
    if args.json {
        print_json(json!({ "results": checks }))?;
    } else {
        print(table(&checks))?;
    }
    Ok(Exit::of(checks.iter().all(Check::ok)))
}

fn table(checks: &[Check]) -> String {
    let mut table =
        TextTable::new(&["<measurement", "expected", "measured", "<unit", "<basis", "<ok"]);
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
            check.basis.name().to_owned(),
            if check.ok() { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    table.to_string()
}
