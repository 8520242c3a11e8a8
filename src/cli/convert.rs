//! `convert`: scenes between formats, with filters and transforms.

pub(super) mod actions;

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use serde_json::{Value, json};

use self::actions::{GivenAction, OrderedActions, Step};
use super::console::{Exit, Verbosity, fail, print, print_json};
use super::inputs::{SceneFlags, warn_of_encoding};
use super::interrupt;
use super::outputs::Outputs;
use super::usage::{finite, parsed};
use super::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::write_whole;
use quadrille_base::shading::Profile;
use quadrille_render::convert::{self, AttributeErrors, ViewDifference, concatenate, worst_view};
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::{
    LoadOptions, OutputFormat, SplatTable, Splats, load_table_task, write_table_task,
};
use quadrille_suite::report::table::{TextTable, or_dash};

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
    /// File to write: .ply, .compressed.ply, .spz, .sog, .splat or .glb; or FOLDER/meta.json for a SOG
    /// in a folder
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Format of the output [default: by its name; .spz is version 4]
    #[arg(long, value_name = "NAME", value_parser = parse_format)]
    format: Option<OutputFormat>,
    /// Print a JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Compare the output with the joined inputs before the first action, and write PSNR, SSIM and FLIP of
    /// every view, errors of attributes and sizes to this JSON file
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Exit with code 1 if the PSNR of any view is below this, in dB; compares as --report does
    #[arg(long, value_name = "DB", value_parser = finite)]
    fail_under_psnr: Option<f64>,
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

fn parse_format(text: &str) -> std::result::Result<OutputFormat, String> {
    parsed(text, OutputFormat::named)
}

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
            "a name that ends in .ply, .compressed.ply, .spz, .sog, .splat, .glb or /meta.json, or --format";
        Error::argument("-o", expected, args.output.display().to_string())
    })?;
    // A folder that is read is the SOG whose description lies in it.
    let read = args.scenes.iter().map(|path| match path.is_dir() {
        true => OutputFormat::SogFolder.main_file(path),
        false => path.clone(),
    });
    let read: Vec<PathBuf> = read.collect();
    let read = read.iter().map(PathBuf::as_path);
    let mut outputs = Outputs::beside(read.chain(args.views.files()));
    outputs.add("-o", &format.main_file(&args.output))?;
    if let Some(report) = &args.report {
        outputs.add("--report", report)?;
    }
    let task = interrupt::task();
    let mut lines = Vec::new();
    let mut tables = Vec::new();
    for path in &args.scenes {
        let table = load_table_task(path, args.reading.options(), task)?;
        warn_of_input(path, &table, verbosity);
        lines.push(Line {
            bytes: Some(table.file_bytes),
            format: Some(table.format.name()),
            ..Line::of(path.display().to_string(), &table)
        });
        tables.push(table);
    }
    let Some(mut table) = concatenate(tables, task)? else {
        return Ok(Exit::Done);
    };
    let is_compared = args.report.is_some() || args.fail_under_psnr.is_some();
    let before = is_compared.then(|| table.splats_with(task)).transpose()?;
    for given in &args.actions.0 {
        apply(given, &mut table, args, verbosity)?;
        lines.push(Line::of(given.text.clone(), &table));
    }
    for loss in format.losses(&table) {
        verbosity.warn(&format!("{}: {loss}", args.output.display()));
    }
    write_table_task(&args.output, &table, format, task)?;
    lines.push(Line {
        bytes: written_bytes(&args.output, format).ok(),
        format: Some(format.name()),
        ..Line::of(args.output.display().to_string(), &table)
    });
    let loss = match before {
        Some((before, _)) => Some(measure(args, &before, &table, format, verbosity)?),
        None => None,
    };
    let mut body = document(&lines, args.scenes.len());
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
        print(page(&lines))?;
        if let Some(loss) = &loss {
            print(loss.page())?;
        }
    }
    let views = loss.as_ref().map_or(&[][..], |loss| &loss.views);
    Ok(check_psnr(args.fail_under_psnr, views))
}

/// Size of the output, of all files if it is a folder.
fn written_bytes(path: &Path, format: OutputFormat) -> std::io::Result<u64> {
    let path = format.main_file(path);
    if format != OutputFormat::SogFolder {
        return Ok(path.metadata()?.len());
    }
    let files = std::fs::read_dir(path.parent().unwrap_or(Path::new("")))?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

/// Reports the worst view if its PSNR is below `least`.
fn check_psnr(least: Option<f64>, views: &[ViewDifference]) -> Exit {
    let worst = worst_view(views).and_then(|view| Some((&view.name, view.comparison.psnr_db?)));
    match (least, worst) {
        (Some(least), Some((name, psnr))) if psnr < least => {
            fail(&format!(
                "view \"{name}\": expected a PSNR of at least {least} dB, found {psnr:.3} dB"
            ));
            Exit::CheckFailed
        }
        _ => Exit::Done,
    }
}

/// The profile that a scene was trained for, else the default.
fn profile(table: &SplatTable) -> Result<Profile> {
    let named = table.profile_hint.map(Profile::named).transpose()?;
    Ok(named.unwrap_or_default())
}

fn apply(
    given: &GivenAction,
    table: &mut SplatTable,
    args: &Args,
    verbosity: Verbosity,
) -> Result<()> {
    let path = args.scenes.first().map_or(Path::new("-"), PathBuf::as_path);
    match &given.action {
        step @ Step::Table(_) => step.filter(table, path),
        Step::Prune(threshold) => {
            let (splats, _) = table.splats_with(interrupt::task())?;
            let cameras = args.views.all_views(path, &splats, verbosity)?;
            let (profile, progress) = (profile(table)?, verbosity.progress("views"));
            convert::prune(table, *threshold, &cameras, &profile, path, &progress.task)
        }
    }
}

/// Loss of a conversion.
struct Loss {
    views: Vec<ViewDifference>,
    attributes: Option<AttributeErrors>,
}

/// Compares the written file with the scene before it.
fn measure(
    args: &Args,
    before: &Splats,
    table: &SplatTable,
    format: OutputFormat,
    verbosity: Verbosity,
) -> Result<Loss> {
    let progress = verbosity.progress("views");
    let task = interrupt::task();
    let written = load_table_task(&args.output, LoadOptions::default(), task)?;
    let path = args.scenes.first().map_or(Path::new("-"), PathBuf::as_path);
    let cameras = args.views.all_views(path, before, verbosity)?;
    let settings = RenderSettings {
        profile: profile(table)?,
        ..RenderSettings::default()
    };
    let (after, _) = written.splats_with(task)?;
    let views = convert::compare_views(before, &after, &cameras, &settings, &progress.task)?;
    let attributes = convert::attribute_errors(table, &written, format, &args.output, task)?;
    Ok(Loss { views, attributes })
}

impl Loss {
    fn document(&self) -> Value {
        json!({
            "protocol": "inria",
            "views": self.views,
            "worst_view": worst_view(&self.views).map(|view| &view.name),
            "attributes": self.attributes,
        })
    }

    fn page(&self) -> String {
        let mut table = TextTable::new(&["<view", "PSNR dB", "SSIM", "FLIP"]);
        for view in &self.views {
            let found = &view.comparison;
            table.row([
                view.name.clone(),
                or_dash(found.psnr_db, |db| format!("{db:.3}")),
                format!("{:.6}", found.ssim),
                format!("{:.6}", found.flip),
            ]);
        }
        let worst = match worst_view(&self.views) {
            Some(view) => format!("worst view: {}", view.name),
            None => "all views are identical".to_owned(),
        };
        format!("\n{table}{worst}\n")
    }
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
