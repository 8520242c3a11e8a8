//! `convert`: scenes between formats, with filters and transforms.

pub(super) mod actions;
mod judge;

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use serde_json::{Value, json};

use self::actions::{GivenAction, OrderedActions, Step, check_left};
use self::judge::{Judge, Loss, measure};
use super::console::{Exit, Verbosity, fail, print, print_json};
use super::inputs::{SceneFlags, note_file_of_folder, warn_of_encoding};
use super::interrupt;
use super::outputs::Outputs;
use super::usage::{finite, parsed, whole_number};
use super::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_whole;
use quadrille_render::convert::{self, Action, Amount, coarser_levels, concatenate};
use quadrille_scene::formats::scene_file;
use quadrille_scene::{OutputFormat, SplatTable, WriteOptions, load_table_task, write_levels_if};
use quadrille_suite::report::table::TextTable;

/// Convert scenes between formats, filter and move splats
///
/// Several inputs are joined. Actions are applied in the order in which they are given. What the output
/// format cannot hold is refused, or left out with a warning; columns that only PLY has are kept in PLY.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Scene files or SOG folders; "-" reads standard input
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
    /// File to write: .ply, .compressed.ply, .spz, .sog, .ssog (streamed SOG), .splat or .glb; or
    /// FOLDER/meta.json or FOLDER/lod-meta.json for a SOG or streamed SOG in a folder
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Format of the output [default: by its name; .spz is version 4]
    #[arg(long, value_name = "NAME", value_parser = parse_format)]
    format: Option<OutputFormat>,
    /// Print a JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Compare the output with the joined inputs, and write PSNR, SSIM and FLIP of every view, errors of
    /// attributes and sizes to this JSON file. Crops (--keep-box, --keep-sphere, --where by place),
    /// --drop-nan and moves are applied to both sides; all other actions count as loss. Views are the
    /// cameras beside the scene, else a circle of 8, unless flags choose others; after --prune, views
    /// halfway between the ones that it used
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Write nothing and exit with code 1 if the PSNR of any view is below this, in dB; compares as --report
    /// does
    #[arg(long, value_name = "DB", value_parser = finite)]
    fail_under_psnr: Option<f64>,
    /// Drop splats that the format of the output cannot hold, such as positions beyond 2048 in SPZ, after
    /// all actions that drop or move splats
    #[arg(long)]
    drop_outside: bool,
    /// Level of compression of SPZ: 1 is the fastest, 22 (9 for spz3) takes half a minute for a million splats and
    /// gives the fewest bytes [default: 3, and 15 or, in large scenes, 12 for
    /// spherical harmonics; 6 for spz3]
    #[arg(long, value_name = "LEVEL")]
    compression_level: Option<u8>,
    /// Levels of detail of a streamed SOG, 1 to 8: neighbours are merged until each level has half the splats of the
    /// one before [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_levels)]
    lod_levels: Option<usize>,
    #[command(flatten)]
    reading: SceneFlags,
    #[command(flatten)]
    actions: OrderedActions,
    // Last, since it ends with the heading of the views.
    #[command(flatten)]
    views: ViewArgs,
}

const EXAMPLES: &str = "Examples:
  quadrille convert scene.ply -o scene.spz
  quadrille convert a.spz b.ply --translate 0,1,0 -o both.ply
  quadrille convert scene.ply --drop-nan --sh 1 --keep-sphere 0,0,0,4 \\
    -o small.compressed.ply";

impl Args {
    fn write_options(&self) -> WriteOptions {
        let options = WriteOptions::default();
        match self.compression_level {
            Some(level) => options.compression_level(level),
            None => options,
        }
    }
}

/// Levels of detail of a streamed SOG if no flag says another number (assumed): the coarsest has an eighth of the
/// splats.
const LOD_LEVELS: usize = 4;
/// Largest number of levels of detail: the coarsest has less than a hundredth of the splats.
const MAX_LOD_LEVELS: usize = 8;
/// Share of the splats of a level of detail that the next one has.
const LOD_SHARE: f64 = 0.5;

fn parse_levels(text: &str) -> std::result::Result<usize, String> {
    let levels = whole_number(text)
        .ok()
        .filter(|n| (1..=MAX_LOD_LEVELS).contains(n));
    levels.ok_or_else(|| format!("expected a whole number from 1 to {MAX_LOD_LEVELS}"))
}

fn parse_format(text: &str) -> std::result::Result<OutputFormat, String> {
    parsed(text, OutputFormat::named)
}

/// Share of the splats below which a count was probably meant as a percentage.
const SMALL_SHARE: f64 = 0.01;

/// A line of the results.
struct Line {
    name: String,
    splats: usize,
    sh_degree: u8,
    bytes: Option<u64>,
    format: Option<&'static str>,
}

impl Line {
    fn of(name: String, table: &SplatTable) -> Self {
        Self {
            name,
            splats: table.rows(),
            sh_degree: table.sh_degree(),
            bytes: None,
            format: None,
        }
    }
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    args.views.check()?;
    let format = args.format.or_else(|| OutputFormat::of_name(&args.output));
    let format = format.ok_or_else(|| {
        let expected =
            "a name that ends in .ply, .compressed.ply, .spz, .sog, .ssog, .splat, .glb, /meta.json or /lod-meta.json, or --format";
        Error::argument("-o", expected, args.output.display().to_string())
    })?;
    args.write_options().check(format)?;
    if args.lod_levels.is_some() && !format.has_levels() {
        let expected = "a streamed SOG (.ssog or /lod-meta.json)";
        return Err(Error::argument(
            "--lod-levels",
            expected,
            args.output.display().to_string(),
        ));
    }
    let is_compared = args.report.is_some() || args.fail_under_psnr.is_some();
    let scene = args.scenes.first().map_or(Path::new("-"), PathBuf::as_path);
    let is_pruned = (args.actions.0.iter()).any(|given| matches!(given.action, Step::Prune(_)));
    let judge = match is_compared || is_pruned {
        true => {
            let refused_by = is_pruned.then_some("--prune");
            let views = args.views.judging(scene, refused_by, verbosity)?;
            Some(Judge::new(scene, views, verbosity))
        }
        false => None,
    };
    // Of a folder, one file is read. A folder without one is an error when it is loaded.
    let of_folder = |path: &PathBuf| scene_file(path).unwrap_or_else(|_| path.clone());
    let read = args.scenes.iter().map(of_folder);
    let read: Vec<PathBuf> = read.collect();
    let read = read.iter().map(PathBuf::as_path);
    let beside = judge.iter().flat_map(|judge| judge.views.files());
    let mut outputs = Outputs::beside(read.chain(args.views.files()).chain(beside));
    outputs.add("-o", &format.main_file(&args.output))?;
    if let Some(report) = &args.report {
        outputs.add("--report", report)?;
    }
    let task = interrupt::task();
    let mut lines = Vec::new();
    let mut tables = Vec::new();
    for path in &args.scenes {
        note_file_of_folder(path, verbosity);
        let table = load_table_task(path, args.reading.options(), task)?;
        warn_of_input(path, &table, verbosity);
        lines.push(Line {
            bytes: Some(table.file_bytes),
            format: Some(table.format.name()),
            ..Line::of(path.display().to_string(), &table)
        });
        tables.push(table);
    }
    let Some(table) = concatenate(tables, task)? else {
        return Ok(Exit::Done);
    };
    let mut conversion = Conversion {
        args,
        format,
        table,
        reference: None,
        is_compared,
        judge,
        scene,
        lines,
        verbosity,
    };
    conversion.apply_all()?;
    let (loss, exit) = conversion.write()?;
    let lines = &conversion.lines;
    let mut body = document(lines, args.scenes.len());
    body["output"]["written"] = json!(exit == Exit::Done);
    if let Some(loss) = &loss {
        body["report"] = loss.document();
    }
    if let Some(path) = &args.report {
        let text = format!("{body:#}\n");
        write_whole(path, |out| out.write_all(text.as_bytes()))?;
    }
    if args.json {
        print_json(body)?;
    } else {
        print(page(lines))?;
        if let Some(loss) = &loss {
            print(loss.page())?;
        }
    }
    Ok(exit)
}

/// A conversion in progress.
struct Conversion<'a> {
    args: &'a Args,
    format: OutputFormat,
    table: SplatTable,
    /// The splats with nothing but the intended actions, since the first other action; only for a report.
    reference: Option<SplatTable>,
    is_compared: bool,
    /// The views, if splats are pruned or a report is wanted.
    judge: Option<Judge<'a>>,
    /// The first input.
    scene: &'a Path,
    lines: Vec<Line>,
    verbosity: Verbosity,
}

impl Conversion<'_> {
    /// Applies the actions in order, and checks that the format can hold the splats as soon as no action is left that
    /// drops or moves some.
    fn apply_all(&mut self) -> Result<()> {
        let actions = &self.args.actions.0;
        let keeps =
            |given: &GivenAction| matches!(&given.action, Step::Table(a) if a.keeps_positions());
        let moving = actions.iter().rposition(|given| !keeps(given));
        let settled = moving.map_or(0, |last| last + 1);
        for given in &actions[..settled] {
            self.apply(given)?;
        }
        let task = interrupt::task();
        if self.args.drop_outside {
            self.keep_reference();
            let (flag, before) = ("--drop-outside", self.table.rows());
            let rows = self.format.rows_inside(&self.table, task)?;
            check_left(flag, before, rows.len())?;
            self.table.select(&rows, task)?;
            self.lines.push(Line::of(flag.to_owned(), &self.table));
        }
        self.format.check(&self.table, &self.args.output, task)?;
        for given in &actions[settled..] {
            self.apply(given)?;
        }
        Ok(())
    }

    fn apply(&mut self, given: &GivenAction) -> Result<()> {
        let (path, text) = (self.scene, given.text.as_str());
        let progress = self.verbosity.progress("steps");
        let task = &progress.task;
        match &given.action {
            Step::Table(action) if action.is_intended() => {
                actions::apply(action, text, &mut self.table, path, task)?;
                if let Some(reference) = &mut self.reference {
                    actions::apply(action, text, reference, path, task)?;
                }
                if let Some(judge) = &mut self.judge {
                    judge.follow(action, text)?;
                }
            }
            Step::Table(action) => {
                self.keep_reference();
                self.warn_of_amount(action);
                actions::apply(action, text, &mut self.table, path, task)?;
            }
            Step::Prune(threshold) => {
                self.keep_reference();
                let before = self.table.rows();
                if let Some(judge) = &mut self.judge {
                    let cameras = judge.pruning(&self.table)?;
                    let profile = self.table.profile();
                    let progress = self.verbosity.progress("views");
                    let table = &mut self.table;
                    convert::prune(table, *threshold, &cameras, &profile, path, &progress.task)?;
                }
                check_left(text, before, self.table.rows())?;
            }
        }
        self.lines.push(Line::of(given.text.clone(), &self.table));
        Ok(())
    }

    /// Keeps the splats as they are, before an action that a report is about.
    fn keep_reference(&mut self) {
        if self.is_compared && self.reference.is_none() {
            self.reference = Some(self.table.clone());
        }
    }

    /// Warns of a count of splats that was probably meant as a percentage.
    fn warn_of_amount(&self, action: &Action) {
        let rows = self.table.rows();
        if let Action::Decimate(Amount::Splats(count)) = action {
            let share = *count as f64 / rows.max(1) as f64;
            if share < SMALL_SHARE {
                self.verbosity.warn(&format!(
                    "--decimate {count}: {count} of {rows} splats are left, since a number without % is a count; \
                     {count} percent is written {count}%"
                ));
            }
        }
    }

    /// The levels of detail of the output below the finest one, which are listed with the results.
    fn coarser_levels(&mut self) -> Result<Vec<SplatTable>> {
        let count = match self.format.has_levels() {
            true => self.args.lod_levels.unwrap_or(LOD_LEVELS),
            false => 1,
        };
        let progress = self.verbosity.progress("steps of levels of detail");
        let levels = coarser_levels(
            &self.table,
            count - 1,
            LOD_SHARE,
            self.scene,
            &progress.task,
        )?;
        for (number, level) in (1..).zip(&levels) {
            self.lines
                .push(Line::of(format!("level of detail {number}"), level));
        }
        Ok(levels)
    }

    /// Writes the output, unless a check fails, and compares it with the reference.
    fn write(&mut self) -> Result<(Option<Loss>, Exit)> {
        let (args, format) = (self.args, self.format);
        for loss in format.losses(&self.table) {
            self.verbosity
                .warn(&format!("{}: {loss}", args.output.display()));
        }
        let (mut loss, mut bytes, mut exit) = (None, None, Exit::Done);
        let coarser = self.coarser_levels()?;
        let levels: Vec<&SplatTable> = [&self.table].into_iter().chain(&coarser).collect();
        let levels = levels.as_slice();
        let (table, judge, reference) = (&self.table, &mut self.judge, &mut self.reference);
        let (is_compared, verbosity) = (self.is_compared, self.verbosity);
        let writing = verbosity.progress("steps of writing");
        let judged = |new: &Path| {
            writing.bar.finish_and_clear();
            bytes = written_bytes(new, format).ok();
            if let (Some(judge), true) = (judge, is_compared) {
                let reference = reference.take();
                let measured = measure(
                    judge,
                    reference.as_ref().unwrap_or(table),
                    table,
                    new,
                    format,
                )?;
                exit = measured.summary().check_psnr("view", args.fail_under_psnr);
                loss = Some(measured);
            }
            Ok(exit == Exit::Done)
        };
        let options = args.write_options();
        let is_written =
            write_levels_if(&args.output, levels, format, options, &writing.task, judged)?;
        if !is_written {
            let output = args.output.display();
            fail(&format!(
                "{output}: not written; a file that was there stays as it was"
            ));
        }
        self.lines.push(Line {
            bytes,
            format: Some(format.name()),
            ..Line::of(args.output.display().to_string(), &self.table)
        });
        Ok((loss, exit))
    }
}

/// Size of the output, of all files if it is a folder.
fn written_bytes(path: &Path, format: OutputFormat) -> std::io::Result<u64> {
    let path = format.main_file(path);
    match format.is_folder() {
        true => bytes_below(path.parent().unwrap_or(Path::new(""))),
        false => Ok(path.metadata()?.len()),
    }
}

/// Size of all files below a folder.
fn bytes_below(folder: &Path) -> std::io::Result<u64> {
    let size = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => bytes_below(&entry.path()),
            false => Ok(entry.metadata()?.len()),
        }
    };
    std::fs::read_dir(folder)?.map(size).sum()
}

/// Warns of content that is not drawn as the file states it, and remarks on axes that the file does not state.
fn warn_of_input(path: &Path, table: &SplatTable, verbosity: Verbosity) {
    if !table.encoding.axes_stated {
        verbosity.remark(&format!(
            "{}: the file does not state its axes; they are taken as {}, which --axes changes",
            path.display(),
            table.encoding.axes
        ));
    }
    warn_of_encoding(path, &table.encoding, verbosity);
}

fn page(steps: &[Line]) -> String {
    let mut table = TextTable::new(&["<step", "splats", "SH", "<format", "size"]);
    for step in steps {
        let bytes = step.bytes.map(|bytes| HumanBytes(bytes).to_string());
        table.row([
            step.name.clone(),
            step.splats.to_string(),
            step.sh_degree.to_string(),
            step.format.unwrap_or_default().to_owned(),
            bytes.unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn document(steps: &[Line], inputs: usize) -> Value {
    let file = |step: &Line| {
        json!({
            "path": step.name,
            "format": step.format,
            "splats": step.splats,
            "sh_degree": step.sh_degree,
            "file_bytes": step.bytes,
        })
    };
    let (read, rest) = steps.split_at(inputs.min(steps.len()));
    let (written, actions) = match rest.split_last() {
        Some((written, actions)) => (Some(file(written)), actions),
        None => (None, rest),
    };
    let action = |step: &Line| json!({"action": step.name, "splats": step.splats});
    json!({
        "inputs": read.iter().map(file).collect::<Vec<_>>(),
        "actions": actions.iter().map(action).collect::<Vec<_>>(),
        "output": written,
    })
}
