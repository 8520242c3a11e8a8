//! `bench`: every view of a suite through the variants of the emulated pipeline.
//!
//! A view's row is in the results file before the next view begins, so that a run that was stopped,
//! however hard, goes on where it was.

mod suite_file;

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::gpu_options::GpuArgs;
use super::render_options::{named_profile, thread_pool};
use super::{Outcome, Verbosity, stdout};
use crate::error::Result;
use crate::gpu::config::Config;
use crate::gpu::pipeline::Watch;
use crate::gpu::view::PreparedView;
use crate::math::SimdLevel;
use crate::scene::{Camera, Scene, load};
use crate::shading::Profile;
use crate::suite::results::{Row, RowKey, VariantRow, summaries, table};
use crate::suite::results_file::ResultsFile;
use suite_file::{Suite, SuiteScene};

/// Run a suite of views through the variants of the emulated pipeline
///
/// One JSON line a view goes to the results file as soon as the view is done; a run that was
/// stopped goes on where it was, and one that is complete prints its table at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The suite, a TOML file; "-" for standard input
    suite: PathBuf,
    /// The results, a JSON object a line: read for views that are done, and added to
    #[arg(short, long, value_name = "RESULTS.jsonl")]
    output: Option<PathBuf>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Threads; 0 for one a core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

const EXAMPLES: &str = "A suite:
  variants = [\"baseline\", \"het+qm\"]        # default: baseline, qm, het, het+qm, tgc
  [[scene]]
  name = \"island\"
  path = \"../scenes/island.ply\"             # from the suite's folder
  cameras = \"../scenes/island.cameras.json\"
  views = \"0..3\"                            # as render's --view; default: all
  width = 640                               # width and height as render's flags
  profile = \"inria\"

Examples:
  quadrille bench benches/island.toml -o island.jsonl
  quadrille bench benches/island.toml -o island.jsonl --set tc.bins=64 --json";

/// A view to be run.
struct Job {
    /// Index of its scene in the suite.
    scene: usize,
    camera: Camera,
    key: RowKey,
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Outcome> {
    let config = args.gpu.config()?;
    let pool = thread_pool(args.threads)?;
    let suite = Suite::read(&args.suite)?;
    let jobs = jobs(&suite, &config, verbosity)?;
    let mut file = args.output.as_deref().map(ResultsFile::open).transpose()?;
    let mut done: HashMap<usize, Row> = HashMap::new();
    if let Some(file) = &mut file {
        for row in file.take_rows() {
            if let Some(index) = jobs.iter().position(|job| job.key == row.key()) {
                done.insert(index, row);
            }
        }
    }
    if !done.is_empty() {
        verbosity.remark(&format!("{} of {} views are done", done.len(), jobs.len()));
    }
    pool.install(|| run_missing(&suite, &config, &jobs, &mut done, &mut file, verbosity))?;
    let rows: Vec<Row> = (0..jobs.len()).filter_map(|i| done.remove(&i)).collect();
    if args.json {
        let document = json!({
            "suite": args.suite.display().to_string(),
            "config": config,
            "rows": rows,
            "summaries": summaries(&rows),
        });
        stdout::write(format!("{document:#}\n").as_bytes())?;
    } else {
        stdout::write(table(&rows).as_bytes())?;
    }
    Ok(Outcome::Done)
}

/// Every view of the suite, in order, with all files it needs there.
fn jobs(suite: &Suite, config: &Config, verbosity: Verbosity) -> Result<Vec<Job>> {
    let variants: Vec<_> = suite.variants.iter().map(ToString::to_string).collect();
    let config = toml::to_string(config).unwrap_or_default();
    let mut jobs = Vec::new();
    for (index, scene) in suite.scenes.iter().enumerate() {
        let content = suite.scene_hash(scene)?;
        for camera in suite.cameras(scene, verbosity)? {
            let profile = scene.profile.as_deref().unwrap_or("as the scene says");
            let version = env!("CARGO_PKG_VERSION");
            let all = format!("{version}\n{config}\n{profile}\n{content:x}\n{camera:?}");
            let key = RowKey {
                scene: scene.name.clone(),
                view: camera.name.clone(),
                width: camera.width,
                height: camera.height,
                variants: variants.clone(),
                fingerprint: format!("{:016x}", suite_file::hash(all.as_bytes())),
            };
            jobs.push(Job {
                scene: index,
                camera,
                key,
            });
        }
    }
    Ok(jobs)
}

/// Runs the views that are not in `done`, each into the file before the next.
fn run_missing(
    suite: &Suite,
    config: &Config,
    jobs: &[Job],
    done: &mut HashMap<usize, Row>,
    file: &mut Option<ResultsFile>,
    verbosity: Verbosity,
) -> Result<()> {
    let bar = progress_bar(jobs.len(), verbosity);
    bar.set_position(done.len() as u64);
    let mut loaded: Option<(usize, Scene, Profile)> = None;
    for (index, job) in jobs.iter().enumerate() {
        if done.contains_key(&index) {
            continue;
        }
        bar.set_message(format!("{} {}", job.key.scene, job.key.view));
        if loaded
            .as_ref()
            .is_none_or(|(scene, ..)| *scene != job.scene)
        {
            // The one before goes first: both might not fit.
            drop(loaded.take());
            let scene = load_scene(&suite.scenes[job.scene])?;
            loaded = Some((job.scene, scene.0, scene.1));
        }
        let Some((_, scene, profile)) = &loaded else {
            continue;
        };
        let row = run_view(suite, config, job, (scene, profile), verbosity);
        if let Some(file) = file {
            file.append(&row)?;
        }
        done.insert(index, row);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// A scene, and the profile that its suite or its file names.
fn load_scene(entry: &SuiteScene) -> Result<(Scene, Profile)> {
    let scene = load(&entry.path)?;
    let name = entry.profile.as_deref().or(scene.profile_hint);
    let profile = name.map(named_profile).transpose()?;
    Ok((scene, profile.unwrap_or_default()))
}

fn run_view(
    suite: &Suite,
    config: &Config,
    job: &Job,
    (scene, profile): (&Scene, &Profile),
    verbosity: Verbosity,
) -> Row {
    let start = Instant::now();
    let view = PreparedView::new(&scene.splats, &job.camera, profile, SimdLevel::best());
    let runs = view.run_all(config, &suite.variants, Watch::default());
    for run in &runs {
        for sentence in run.outcome.discrepancies() {
            verbosity.warn(&format!(
                "{} {}, {}: {sentence}",
                job.key.scene, job.key.view, run.outcome.variant
            ));
        }
    }
    let clock_mhz = config.gpu.clock_mhz;
    let variants = runs
        .iter()
        .map(|run| VariantRow::of(&run.outcome, clock_mhz));
    let splats = u64::from(view.draw().len());
    Row::new(&job.key, splats, variants.collect(), start.elapsed())
}

fn progress_bar(views: usize, verbosity: Verbosity) -> ProgressBar {
    if !verbosity.progress() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} views, {eta} left, {msg}");
    ProgressBar::new(views as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
