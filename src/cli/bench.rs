//! `bench`: draws the views of a suite by several methods.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::console::{Exit, fail, listed, print, print_json};
use super::options::{GpuFlags, named_methods};
use super::outputs::{Outputs, refuse_given};
use super::session::{HostFlags, Session};
use quadrille_base::error::{Error, Result};
use quadrille_gpu::frame_sequence::FrameSequence;
use quadrille_papers::suite_table::{summaries, table};
use quadrille_suite::{
    Configuration, Event, MeshRows, Plan, RunOptions, RunRow, Shard, Suite, csv, newest, read_rows,
    report, unique,
};

/// Draw the views of a suite with several methods, cycle by cycle
///
/// Every view in every configuration appends one JSON line to the results file as soon as it is done.
/// A stopped run continues where it stopped; a complete run prints its table at once.
///
/// Studies of meshes (workload = "merging" or "deferred") run in the same way, with the pipelines of `quadrille mesh` and
/// `quadrille deferred`; benches/mesh.toml and benches/deferred.toml show the keys.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
pub(super) struct Args {
    /// Suite to run, a TOML file; "-" reads standard input. Of a results file (.jsonl), only the table is printed
    suite: PathBuf,
    /// Results file with one JSON object per line: views in the file are not run again, new views are
    /// appended; "-" prints the lines instead of the table
    #[arg(short, long, value_name = "RESULTS.jsonl")]
    output: Option<PathBuf>,
    /// Methods to run instead of the suite's, as for `quadrille sim`
    #[arg(
        long = "method",
        aliases = ["variant", "unit"],
        value_name = "METHOD",
        value_delimiter = ','
    )]
    methods: Vec<String>,
    /// Run only shard I of N, from 1/N to N/N; its results file is RESULTS.I-of-N.jsonl
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    /// Join the results files of all shards into the results file, and run nothing; exits with code 1 if
    /// views are missing
    #[arg(long, requires = "output", conflicts_with = "shard")]
    merge: bool,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Print comma-separated values instead of a table: one line per view, configuration and method,
    /// one column per number
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    gpu: GpuFlags,
    #[command(flatten)]
    pub(super) host: HostFlags,
}

const OTHER_FORMATS: [&str; 9] = ["csv", "tsv", "json", "txt", "md", "tex", "toml", "png", "svg"];

const EXAMPLES: &str = "A suite:
  method = [\"baseline\", \"het+qm\"]         # default: all seven of --method all
  [matrix]                                  # optional: every combination is run
  preset = [\"vr-pipe\", \"orin\"]
  seed = [0, 1]                             # of procedural scenes
  tc.bins = [16, 32]
  [[scene]]
  name = \"island\"
  path = \"../scenes/island.ply\"             # relative to the suite's folder
  cameras = \"../scenes/island.cameras.json\" # or eye, target, up, fov, orbit as flags of render
  view = \"0..3\"                             # as render's --view; default: all
  width = 640                               # width, height as render's flags
  profile = \"inria\"
  warm = true                               # the views are frames that keep the caches, as sim --warm
  [[scene]]
  name = \"room\"
  recipe = \"room\"                           # with splats, sh_degree, seed as in synth
  orbit = 4

Examples:
  quadrille bench benches/island.toml -o island.jsonl
  quadrille bench benches/island.toml -o island.jsonl --set tc.bins=64 --json
  quadrille bench benches/island.toml -o island.jsonl --shard 1/4
  quadrille bench benches/island.toml -o island.jsonl --merge
  quadrille bench island.jsonl --csv > island.csv";

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    if args.suite.extension().is_some_and(|e| e == "jsonl") {
        return print_results(args, session);
    }
    args.check_output()?;
    let prints_rows = args.output.as_deref() == Some(Path::new("-"));
    if prints_rows {
        refuse_stdout(args)?;
    }
    let mut plan = args.plan(prints_rows, session)?;
    let mut file = args.output.clone().filter(|_| !prints_rows);
    if let Some(shard) = args.shard {
        plan = plan.shard(shard);
        file = file.map(|path| shard.file(&path));
    }
    match &file {
        Some(path) => {
            let inputs = [args.suite.as_path()].into_iter().chain(args.gpu.files());
            Outputs::beside(inputs).add("-o", path)?;
        }
        None if prints_rows || args.json || args.csv => {}
        None => session.warn("the rows are not kept; -o RESULTS.jsonl writes them to a file"),
    }
    let (rows, exit) = match &file {
        Some(path) if args.merge => merge(&plan, path, session)?,
        _ => {
            let run = || run_plan(&plan, file.as_deref(), prints_rows, session);
            (session.install(run)?, Exit::Done)
        }
    };
    if !prints_rows {
        let configuration = single_configuration(&rows, &plan);
        print_rows(args, rows, Some(&plan))?;
        if let Some(shard) = args.shard.filter(|_| !args.json && !args.csv) {
            print(format!(
                "Rows of shard {shard} alone{configuration}; --merge prints the table of all shards when they are done.\n"
            ))?;
        }
    }
    Ok(exit)
}

impl Args {
    /// Reads the suite and plans its runs, with the methods and configurations that flags choose.
    fn plan(&self, prints_rows: bool, session: &Session) -> Result<Plan> {
        let base = Configuration { config: session.base().clone(), ..Configuration::default() };
        let suite = Suite::read_for(&self.suite, &base)?;
        suite.remarks().iter().for_each(|remark| session.warn(remark));
        if !suite.has_scenes() {
            self.refuse_flags_of_splats("a suite of splats")?;
        }
        if !suite.meshes().is_empty() && (prints_rows || self.output.is_none()) {
            let needed = "-o with the name of a file, beside which heat maps are written";
            return Err(Error::needs("a suite of meshes", needed));
        }
        let suite = suite.with_methods(named_methods(&self.methods, session)?);
        let configurations = self.gpu.configurations(session)?;
        let mut warn = |text: String| session.warn(&text);
        let plan = suite.plan(&configurations, quadrille::PROGRAM, session.task, &mut warn)?;
        if suite.has_scenes() {
            let read: &[_] = if suite.has_sequences() { &FrameSequence::READS } else { &[] };
            GpuFlags::warn_of_unused(plan.configurations(), suite.methods(), read, session)?;
        }
        Ok(plan)
    }

    fn check_output(&self) -> Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        if !OTHER_FORMATS.contains(&extension.to_ascii_lowercase().as_str()) {
            return Ok(());
        }
        let expected = "a name that ends in .jsonl, since it holds a JSON object per line";
        Err(Error::argument("-o", expected, path.display()))
    }

    fn refuse_flags_of_splats(&self, needed: &str) -> Result<()> {
        let given = [
            ("--method", !self.methods.is_empty()),
            ("--set, --preset, --config", self.gpu.is_given()),
        ];
        let suite = self.suite.display();
        refuse_given(given, |flag| Error::needs(flag, format!("{needed}, not {suite}")))
    }
}

/// Words about the configuration that all rows have, of several in the plan; a table of one configuration has no column
/// for it.
fn single_configuration(rows: &[RunRow], plan: &Plan) -> String {
    let views = rows.iter().filter_map(|row| match row {
        RunRow::View(row) => Some(row.key.configuration_label()),
        RunRow::Mesh(_) => None,
    });
    match &unique(views)[..] {
        [label] if plan.configurations().len() > 1 => format!(", in the configuration {label}"),
        _ => String::new(),
    }
}

fn refuse_stdout(args: &Args) -> Result<()> {
    let others = [("--json", args.json), ("--csv", args.csv), ("--merge", args.merge)];
    refuse_given(others, |flag| Error::conflict("-o -", format!("{flag} (name a file)")))
}

fn run_plan(
    plan: &Plan,
    results: Option<&Path>,
    prints_rows: bool,
    session: &Session,
) -> Result<Vec<RunRow>> {
    let mut printed = Ok(());
    let progress = session.progress_in_lines("runs");
    let mut watch = |event: Event<'_>| match event {
        Event::Done(row) if prints_rows => {
            let line = serde_json::to_string(row).unwrap_or_default();
            printed = print(format!("{line}\n"));
        }
        other => progress.show(&other, session),
    };
    let options =
        RunOptions { results, level: session.level, task: &progress.task, ..RunOptions::default() };
    let run = plan.run(&options, &mut watch);
    let rows = match results {
        Some(results) => progress.tell_kept(run, results, session)?,
        None => run?,
    };
    drop(progress);
    printed?;
    Ok(rows)
}

fn merge(plan: &Plan, results: &Path, session: &Session) -> Result<(Vec<RunRow>, Exit)> {
    let merged = plan.merge(results)?;
    let (rows, files) = (merged.rows.len(), merged.files.len());
    session.remark(&format!("rows merged: {rows}, files of shards: {files}"));
    if merged.left_out > 0 {
        session.warn(&format!(
            "rows of shards that another build, suite or configuration made are left out: {}",
            merged.left_out
        ));
    }
    let exit = missing(&merged.missing.iter().map(ToString::to_string).collect::<Vec<_>>(), rows);
    Ok((merged.rows, exit))
}

fn missing(missing: &[String], found: usize) -> Exit {
    if missing.is_empty() {
        return Exit::Done;
    }
    fail(&format!(
        "{} of {} rows are missing; run their shards again, or the suite without --merge:{}",
        missing.len(),
        missing.len() + found,
        listed(missing)
    ));
    Exit::CheckFailed
}

fn print_results(args: &Args, session: &Session) -> Result<Exit> {
    let kept = [("-o", args.output.is_some()), ("--shard", args.shard.is_some())];
    let needed = format!(
        "a suite (.toml); {} holds results, which can only be printed",
        args.suite.display()
    );
    refuse_given(kept, |flag| Error::needs(flag, needed))?;
    args.refuse_flags_of_splats("a suite (.toml)")?;
    let rows = read_rows(&args.suite)?;
    let expected = "rows of results, as `bench` writes them";
    Error::malformed_if(rows.is_empty(), &args.suite, "content", expected, "none")?;
    let (rows, left_out) = newest(rows);
    if left_out > 0 {
        session.warn(&format!(
            "{}: rows of earlier versions of a scene, the machine or the program that are left out: {left_out}",
            args.suite.display()
        ));
    }
    print_rows(args, rows, None)?;
    Ok(Exit::Done)
}

/// Prints a table of all views and a table for each mesh, or the rows as JSON or CSV.
fn print_rows(args: &Args, rows: Vec<RunRow>, plan: Option<&Plan>) -> Result<()> {
    let all = args.json.then(|| json!(rows));
    let (views, meshes) = RunRow::split(rows);
    let has_views = !views.is_empty() || meshes.is_empty();
    if args.csv {
        return print(csv::text(&views, &meshes));
    }
    if args.json {
        let mut document = json!({ "suite": args.suite.display().to_string() });
        if has_views {
            let configurations = plan.map_or(&[][..], Plan::configurations);
            let described = configurations.iter().map(|c| {
                json!({
                    "name": c.name,
                    "preset": c.preset,
                    "changed": c.changed,
                    "config": c.config,
                })
            });
            document["config"] = json!(configurations.first().map(|c| &c.config));
            document["configurations"] = described.collect();
        }
        document["rows"] = json!(all);
        if has_views {
            document["summaries"] = json!(summaries(&views));
        }
        return print_json(document);
    }
    let views = has_views.then(|| table(&views));
    let meshes = meshes.iter().map(|row| match &row.rows {
        MeshRows::Deferred(rows) => format!("{}\n{}", row.key, report::deferred::table(rows)),
        MeshRows::Merging(rows) => format!("{}\n{}", row.key, report::mesh::tables(rows)),
    });
    print(views.into_iter().chain(meshes).collect::<Vec<_>>().join("\n"))
}
