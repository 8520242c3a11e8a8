//! `bench`: runs the views of a suite through variants of the emulated pipeline.

use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde_json::json;

use super::console::{Exit, Verbosity, print, print_json};
use super::options::{GpuFlags, HostFlags, named_variants};
use super::outputs::Outputs;
use crate::error::{Error, Result};
use crate::suite::runner::{Event, Runner};
use crate::suite::suite_file::Suite;
use crate::suite::table::{summaries, table};

/// Run a suite of views through variants of the emulated pipeline
///
/// Every view appends one JSON line to the results file as soon as it is done. A stopped run
/// continues where it was; a complete one prints its table at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Suite to run, a TOML file; "-" reads standard input
    suite: PathBuf,
    /// Results file with one JSON object per line: views in it are not run again, new ones are
    /// appended; "-" prints the lines instead of the table
    #[arg(short, long, value_name = "RESULTS.jsonl")]
    output: Option<PathBuf>,
    /// Variants to run instead of the suite's, as for `quadrille sim`
    #[arg(
        long = "variant",
        alias = "unit",
        value_name = "VARIANT",
        value_delimiter = ','
    )]
    variants: Vec<String>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gpu: GpuFlags,
    #[command(flatten)]
    host: HostFlags,
}

const EXAMPLES: &str = "A suite:
  variants = [\"baseline\", \"het+qm\"]        # default: all five, with qm, het, tgc
  [[scene]]
  name = \"island\"
  path = \"../scenes/island.ply\"             # relative to the suite's folder
  cameras = \"../scenes/island.cameras.json\"
  views = \"0..3\"                            # as render's --view; default: all
  width = 640                               # width, height as render's flags
  profile = \"inria\"

Examples:
  quadrille bench benches/island.toml -o island.jsonl
  quadrille bench benches/island.toml -o island.jsonl --set tc.bins=64 --json";

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let config = args.gpu.config()?;
    let pool = args.host.pool()?;
    let variants = named_variants(&args.variants)?;
    let mut suite = Suite::read(&args.suite)?;
    if !variants.is_empty() {
        suite.variants = variants;
    }
    args.gpu
        .warn_of_unused(&config, &suite.variants, verbosity)?;
    let prints_rows = args.output.as_deref() == Some(Path::new("-"));
    if prints_rows && args.json {
        let found = "-, which is standard output";
        return Err(Error::argument(
            "-o",
            "a file, since --json writes to standard output",
            found,
        ));
    }
    let file = args.output.as_deref().filter(|_| !prints_rows);
    match file {
        Some(path) => Outputs::beside([args.suite.as_path()]).add("-o", path)?,
        None if prints_rows || args.json => {}
        None => verbosity.warn("the rows are not kept; -o RESULTS.jsonl writes them to a file"),
    }
    let mut printed = Ok(());
    let mut bar = ProgressBar::hidden();
    let mut watch = |event: Event<'_>| match event {
        Event::Resumed { views, done } => {
            if done > 0 {
                verbosity.remark(&format!("{done} of {views} views are in the results file"));
            }
            bar = verbosity.progress_bar(views as u64, "views");
            bar.set_position(done as u64);
        }
        Event::Begun(key) => bar.set_message(format!("{} {}", key.scene, key.view.name)),
        Event::Done(row) => {
            if prints_rows {
                let line = serde_json::to_string(row).unwrap_or_default();
                printed = print(format!("{line}\n"));
            }
            bar.inc(1);
        }
        Event::Warning(text) => bar.suspend(|| verbosity.warn(&text)),
    };
    let runner = Runner::new(
        &suite,
        &config,
        &args.gpu.preset,
        args.host.level,
        &mut watch,
    )?;
    let rows = pool.install(|| runner.run(file, &mut watch))?;
    bar.finish_and_clear();
    printed?;
    if args.json {
        print_json(json!({
            "suite": args.suite.display().to_string(),
            "config": config,
            "rows": rows,
            "summaries": summaries(&rows),
        }))?;
    } else if !prints_rows {
        print(table(&rows))?;
    }
    Ok(Exit::Done)
}
