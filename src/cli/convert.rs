//! `convert`: scenes between formats, with filters and transforms.

pub(super) mod actions;

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use serde_json::json;

use self::actions::OrderedActions;
use super::console::{Exit, fail, print, print_json};
use super::inputs::{note_file_of_folder, warn_of_encoding};
use super::limits::{LimitFlags, sort_by_psnr};
use super::options::NearFlag;
use super::outputs::{Outputs, first_given, refuse_given, refuse_terminal};
use super::resume::{Resume, note_of};
use super::session::{Progress, Session};
use super::view_page::write_cameras;
use super::views::JudgingViews;
use quadrille_base::output::{STDOUT, write_bytes};
use quadrille_base::parse::whole_number;
use quadrille_base::units::counted;
use quadrille_base::{Error, Result, Task};
use quadrille_evaluation::pairing::PairName;
use quadrille_evaluation::{
    Conditions, Evaluated, LpipsDistances, MetricColumn, PairRow, Summary, TextRows, UnmeasuredRow,
    Verdict,
};
use quadrille_render::convert::{
    Change, Conversion, ConversionHost, ConversionLoss, Converted, ConvertedFile, ConvertedOutput,
    DrawnBy, LOD_LEVELS, MAX_LOD_LEVELS, Step, StepResult, ViewDifference, worst_view,
};
use quadrille_render::{ChunkIndex, index_path};
use quadrille_scene::cameras::ViewSpec;
use quadrille_scene::formats::scene_file;
use quadrille_scene::{Camera, LoadOptions, OutputFormat, SplatTable, Splats, WriteOptions};
use quadrille_suite::report::table::{LineTable, TextTable};

/// Convert scenes between formats, filter and move splats
///
/// Several inputs are joined. Actions are applied in the order in which they are given. Data that the
/// output format cannot hold are refused, or left out with a warning; PLY output keeps additional columns of PLY input.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Scene files or SOG folders; "-" reads standard input
    #[arg(required = true)]
    scenes: Vec<PathBuf>,
    /// File to write: .ply, .compressed.ply, .spz, .sog, .ssog (streamed SOG), .splat, .glb or .usdz; or
    /// FOLDER/meta.json or FOLDER/lod-meta.json for a SOG or streamed SOG in a folder
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Format of the output [default: from its name; .spz is version 4]
    #[arg(long, value_name = "NAME", value_parser = OutputFormat::named)]
    format: Option<OutputFormat>,
    /// Skip the conversion if an earlier call with --resume has completed the output from the same inputs, with the
    /// same build and flags. The file OUT.resume beside the output records inputs and flags
    #[arg(long, conflicts_with_all = ["report", "fail_under_psnr", "fail_under_ssim", "fail_over_flip", "json", "cameras_out"])]
    resume: bool,
    /// Print a JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Compare every level of detail of the output with the joined inputs, and write PSNR, SSIM and FLIP of every view,
    /// errors of attributes and sizes to this JSON file. Crops (--keep-box, --keep-sphere, --where on positions),
    /// --drop-nan and moves are applied to both sides; all other actions count as loss. Views are the
    /// cameras beside the scene, else a circle of 8 views, unless flags choose others; after --prune, views
    /// halfway between the views that --prune used
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) limits: LimitFlags,
    /// Write the cameras beside the first input, or of --cameras, moved with it, in the form of cameras.json
    #[arg(long, value_name = "FILE.json")]
    cameras_out: Option<PathBuf>,
    #[command(flatten)]
    written: WrittenFlags,
    /// Compression level of SPZ, from 1 (fastest) to 22 (9 for spz3); the highest level makes the smallest file, in half a
    /// minute per million splats [default: 6 for spz3; else 15 for spherical harmonics, 12 in large scenes, and 3 for
    /// all other data]
    #[arg(long, value_name = "LEVEL")]
    compression_level: Option<u8>,
    /// Levels of detail of a streamed SOG, 1 to 8: neighbours are merged until each level has half the splats of the
    /// previous level [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_levels)]
    lod_levels: Option<usize>,
    #[command(flatten)]
    near: NearFlag,
    #[command(flatten)]
    reading: LoadOptions,
    #[command(flatten)]
    actions: OrderedActions,
    // Last, since it ends with the heading of the views.
    #[command(flatten)]
    views: ViewSpec,
}

/// Flags for additional properties of the output.
#[derive(Debug, Clone, Copy, clap::Args)]
struct WrittenFlags {
    /// Drop splats that the format of the output cannot hold, such as positions beyond 2048 in SPZ, after
    /// all actions that drop or move splats
    #[arg(long)]
    drop_outside: bool,
    /// Write an index beside a PLY, OUT.ply.index, with which `render` of a single view and `render --memory` skip
    /// splats outside all views; it helps if neighbours in the file are neighbours in space, as after --morton
    #[arg(long)]
    index: bool,
}

const EXAMPLES: &str = "Examples:
  quadrille convert scene.ply -o scene.spz
  quadrille convert a.spz b.ply --input 2 --translate 0,1,0 -o both.ply
  quadrille convert large.ply --morton --index -o ordered.ply
  quadrille convert scene.ply --drop-nan --sh 1 --keep-sphere 0,0,0,4 \\
    -o small.compressed.ply";

fn parse_levels(text: &str) -> std::result::Result<usize, String> {
    let levels = whole_number(text).ok().filter(|n| (1..=MAX_LOD_LEVELS).contains(n));
    levels.ok_or_else(|| format!("expected a whole number from 1 to {MAX_LOD_LEVELS}"))
}

fn checked_format(args: &Args) -> Result<OutputFormat> {
    let format = args.format.or_else(|| OutputFormat::of_name(&args.output));
    let format = format.ok_or_else(|| {
        let expected =
            "a name that ends in .ply, .compressed.ply, .spz, .sog, .ssog, .splat, .glb, .usdz, .usdc, .usda, /meta.json or /lod-meta.json, or --format";
        Error::argument("-o", expected, args.output.display())
    })?;
    WriteOptions::new(format).compression_level(args.compression_level).check()?;
    if args.written.index && format != OutputFormat::Ply {
        return Err(Error::needs("--index", "-o with a name that ends in .ply"));
    }
    if args.lod_levels.is_some() && !format.has_levels() {
        let needed = "-o with a streamed SOG (.ssog or /lod-meta.json)";
        return Err(Error::needs("--lod-levels", needed));
    }
    Ok(format)
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    args.views.check()?;
    let format = checked_format(args)?;
    let scene = args.scenes.first().map_or(Path::new("-"), PathBuf::as_path);
    let is_pruned = |step: &Step| matches!(step.change, Change::Prune(_));
    let is_compared = args.report.is_some() || args.limits.are_set();
    let is_pruned = args.actions.0.iter().any(is_pruned);
    let refused_by =
        first_given([("--prune", is_pruned), ("--cameras-out", args.cameras_out.is_some())]);
    let views = (is_compared || refused_by.is_some())
        .then(|| JudgingViews::new(&args.views, scene, refused_by, session))
        .transpose()?
        .map(|views| views.of_pinholes(args.cameras_out.is_some()));
    // For a folder, list the scene file in it; if it has none, loading the folder reports the error.
    let of_folder = |path: &PathBuf| scene_file(path).unwrap_or_else(|_| path.clone());
    let read: Vec<PathBuf> = args.scenes.iter().map(of_folder).collect();
    let read = read.iter().map(PathBuf::as_path);
    let beside = views.iter().flat_map(JudgingViews::files);
    let main_file = format.main_file(&args.output);
    let outputs = Outputs::beside(read.chain(args.views.files()).chain(beside));
    check_outputs(args, outputs, format, &main_file)?;
    for path in &args.scenes {
        note_file_of_folder(path, session);
    }
    let conversion = Conversion {
        inputs: args.scenes.clone(),
        reading: args.reading,
        steps: args.actions.0.clone(),
        drop_outside: args.written.drop_outside.then(|| "--drop-outside".to_owned()),
        output: args.output.clone(),
        format,
        compression_level: args.compression_level,
        lod_levels: args.lod_levels.unwrap_or(LOD_LEVELS),
        is_compared,
        near: args.near.near,
        keeps_cameras: args.cameras_out.is_some(),
    };
    let index = args.written.index.then(|| index_path(&main_file));
    let made: Vec<PathBuf> = [main_file.clone()].into_iter().chain(index).collect();
    let resume = args.resume.then(|| {
        let settings = format!("{conversion:?} {:?}", args.views);
        Resume::new(&args.scenes, &settings)?.with(views.iter().flat_map(JudgingViews::files))
    });
    let resume = resume.transpose()?;
    if resume.as_ref().is_some_and(|resume| resume.is_made("", &made)) {
        print(format!("{}: kept, since the same command made it\n", args.output.display()))?;
        return Ok(Exit::Done);
    }
    let mut host = Host {
        limits: &args.limits,
        verdict: Verdict::default(),
        scene,
        views,
        session,
        lines: (!args.json).then(|| StepLines::new(args)),
        progress: None,
    };
    let converted = conversion.run(&mut host)?;
    if args.written.index && converted.output.written {
        let task = host.begin("splats");
        ChunkIndex::of(&main_file, &task)?.write(&main_file, &task)?;
    }
    host.progress = None;
    report(args, &converted, &host.verdict, host.lines)?;
    if let Some(path) = args.cameras_out.as_ref().filter(|_| converted.output.written) {
        write_cameras(path, &converted.cameras)?;
    }
    if let Some(resume) = resume.filter(|_| converted.output.written) {
        resume.record("", &made)?;
    }
    Ok(Exit::of(converted.output.written))
}

/// Number of levels of detail that are written.
fn levels(args: &Args, format: OutputFormat) -> usize {
    if format.has_levels() { args.lod_levels.unwrap_or(LOD_LEVELS) } else { 1 }
}

fn check_outputs(
    args: &Args,
    mut outputs: Outputs<'_>,
    format: OutputFormat,
    main_file: &Path,
) -> Result<()> {
    outputs.add("-o", main_file)?;
    format.check_replaceable(&args.output)?;
    if args.output == Path::new(STDOUT) {
        let is_compared = args.report.is_some() || args.limits.are_set();
        let needs_file = [
            ("a limit or --report", is_compared),
            ("--index", args.written.index),
            ("--resume", args.resume),
        ];
        refuse_given(needs_file, |flag| Error::needs(flag, "-o with the name of a file"))?;
        refuse_terminal("a scene")?;
    }
    args.limits.prepare(levels(args, format), args.limits.are_set(), &mut outputs)?;
    if args.written.index {
        outputs.add("--index", &index_path(main_file))?;
    }
    if args.resume {
        outputs.add("--resume", &note_of(main_file))?;
    }
    let others = [("--report", &args.report), ("--cameras-out", &args.cameras_out)];
    others
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path.as_ref()?)))
        .try_for_each(|(flag, path)| outputs.add(flag, path))
}

fn report(
    args: &Args,
    converted: &Converted,
    verdict: &Verdict,
    lines: Option<StepLines>,
) -> Result<()> {
    let mut result = json!(converted);
    if args.limits.are_set() {
        let count = converted.loss.as_ref().map_or(1, |loss| loss.coarser_levels.len() + 1);
        let limits: Vec<_> = (0..count).map(|level| args.limits.of_level(level)).collect();
        match limits.as_slice() {
            [limit] => verdict.add_to(&mut result, limit),
            limits => verdict.add_to(&mut result, limits),
        }
    }
    if let Some(path) = &args.report {
        write_bytes(path, format!("{result:#}\n"))?;
    }
    let has_table = lines.is_some();
    match lines {
        None => print_json(result)?,
        Some(mut lines) => {
            lines.output(&converted.output)?;
            match (&converted.loss, &converted.pruned_by) {
                (Some(loss), _) => print(page_of_loss(loss))?,
                (None, Some(by)) => print(format!(
                    "pruned by {} from {}: {}\n",
                    counted(by.views.len(), "view", "views"),
                    by.views_from,
                    by.views.join(", ")
                ))?,
                (None, None) => {}
            }
        }
    }
    if !converted.output.written {
        let output = args.output.display();
        fail(&format!("{output}: not written; an existing file of this name is unchanged"));
    }
    args.limits.conclude(verdict, has_table && args.limits.are_set()).map(drop)
}

struct Host<'a> {
    limits: &'a LimitFlags,
    /// Verdict about the output, once it was compared.
    verdict: Verdict,
    scene: &'a Path,
    views: Option<JudgingViews>,
    session: &'a Session,
    lines: Option<StepLines>,
    progress: Option<Progress>,
}

impl ConversionHost for Host<'_> {
    fn warn(&mut self, text: &str) {
        self.session.warn(text);
    }

    fn note(&mut self, text: &str) {
        self.session.note(text);
    }

    fn has_read(&mut self, path: &Path, table: &SplatTable, file: &ConvertedFile) -> Result<()> {
        self.progress = None;
        warn_of_input(path, table, self.session);
        self.lines.as_mut().map_or(Ok(()), |lines| lines.file(file))
    }

    fn has_applied(&mut self, step: &StepResult) -> Result<()> {
        self.progress = None;
        self.lines.as_mut().map_or(Ok(()), |lines| lines.step(step))
    }

    fn begin(&mut self, counted: &str) -> Task {
        // Drop the previous bar before drawing a new one.
        self.progress = None;
        self.progress.insert(self.session.progress(counted)).task.clone()
    }

    fn views(&mut self, splats: &Splats) -> Result<Vec<Camera>> {
        match &self.views {
            Some(views) => views.cameras(self.scene, splats, self.session),
            None => Ok(Vec::new()),
        }
    }

    fn source_of_views(&self) -> (String, bool) {
        let views = self.views.as_ref();
        views.map_or_else(Default::default, |views| (views.source.clone(), views.is_placed))
    }

    fn accepts(&mut self, loss: &ConversionLoss) -> bool {
        self.progress = None;
        let (rows, blank) = (rows_of(&loss.views), blank_rows(loss));
        self.verdict = self.limits.of_level(0).verdict("view", &rows, &blank, &[]);
        for (level, coarser) in (1..).zip(&loss.coarser_levels) {
            let (what, rows) = (format!("level of detail {level}, view"), rows_of(&coarser.views));
            self.verdict.extend(self.limits.of_level(level).verdict(&what, &rows, &blank, &[]));
        }
        self.verdict.passed()
    }
}

fn rows_of(views: &[ViewDifference]) -> Vec<PairRow> {
    let row = |view: &ViewDifference| PairRow {
        pair: PairName { name: view.name.clone(), ..PairName::default() },
        comparison: view.comparison,
        lpips: LpipsDistances::default(),
        ssimulacra2: None,
        mask_share: None,
        diff: None,
    };
    let mut rows: Vec<PairRow> = views.iter().map(row).collect();
    sort_by_psnr(&mut rows);
    rows
}

fn blank_rows(loss: &ConversionLoss) -> Vec<UnmeasuredRow> {
    let blank = loss.blank_views.iter().map(|name| {
        let pair = PairName { name: name.clone(), ..PairName::default() };
        UnmeasuredRow::blank(&pair, "no splat of the input is in view".to_owned())
    });
    blank.collect()
}

fn warn_of_input(path: &Path, table: &SplatTable, session: &Session) {
    if !table.encoding.axes_stated {
        session.remark(&format!(
            "{}: the file does not state its axes; they are taken as {}, which --axes changes",
            path.display(),
            table.encoding.axes
        ));
    }
    warn_of_encoding(path, &table.encoding, session);
}

struct StepLines {
    lines: LineTable,
    headings: String,
}

impl StepLines {
    fn new(args: &Args) -> Self {
        let files = args.scenes.iter().chain([&args.output]).map(|path| path.display().to_string());
        let steps = args.actions.0.iter().map(|step| step.text.clone());
        let widths = files.chain(steps).map(|text| text.chars().count());
        // Widths fit counts of up to 99,999,999 splats and the longest format name.
        let columns = [
            ("<step", widths.max().unwrap_or(0)),
            ("splats", 8),
            ("SH", 2),
            ("<format", 14),
            ("size", 10),
        ];
        let (lines, headings) = LineTable::new(&columns);
        Self { lines, headings }
    }

    fn print(&mut self, cells: [String; 5]) -> Result<()> {
        print(std::mem::take(&mut self.headings) + &self.lines.line(cells))
    }

    fn file(&mut self, file: &ConvertedFile) -> Result<()> {
        self.print([
            file.path.clone(),
            file.splats.to_string(),
            file.sh_degree.to_string(),
            file.format.to_owned(),
            file.file_bytes.map(|bytes| HumanBytes(bytes).to_string()).unwrap_or_default(),
        ])
    }

    /// Prints the line of the output, without a format and a size if it was not written.
    fn output(&mut self, output: &ConvertedOutput) -> Result<()> {
        if output.written {
            return self.file(&output.file);
        }
        let ConvertedFile { path, splats, sh_degree, .. } = &output.file;
        let [splats, degree] = [splats.to_string(), sh_degree.to_string()];
        self.print([path.clone(), splats, degree, "not written".to_owned(), String::new()])
    }

    fn step(&mut self, step: &StepResult) -> Result<()> {
        let (splats, degree) = (step.splats.to_string(), step.sh_degree.to_string());
        let none = String::new();
        self.print([step.action.clone(), splats, degree, none.clone(), none])
    }
}

fn page_of_loss(loss: &ConversionLoss) -> String {
    let (rows, columns) = (rows_of(&loss.views), MetricColumn::shown(&[], true));
    let conditions =
        Conditions { protocol: loss.protocol, background: [0.0; 3], clauses: Vec::new() };
    let names: Vec<PairName> = rows.iter().map(|row| row.pair.clone()).collect();
    let text = TextRows::new(&columns, &names);
    let mut table = text.headings().to_owned();
    table.extend(rows.iter().map(|row| text.row(row)));
    let summary = Summary::of(&rows, &columns);
    let evaluated = Evaluated { rows, unmeasured: blank_rows(loss), ..Evaluated::default() };
    table += &text.end(&summary, &evaluated, &conditions);
    if !loss.coarser_levels.is_empty() {
        table += &format!("\n{}", levels_table(loss));
    }
    let source = &loss.views_from;
    let from = match (&loss.pruned_by, loss.views_are_between) {
        (None, _) => format!("views from {source}"),
        (Some(views), true) => format!(
            "pruned by {} from {source}, reported from {} halfway between neighbours",
            counted(views.len(), "view", "views"),
            counted(loss.views.len(), "view", "views")
        ),
        (Some(views), false) => {
            format!(
                "pruned by and reported from the same {} from {source}",
                counted(views.len(), "view", "views")
            )
        }
    };
    let DrawnBy { input, output } = loss.profiles;
    let profiles = match input == output {
        true => String::new(),
        false => format!("the input is drawn by the profile {input}, the output by {output}\n"),
    };
    format!("\n{table}{from}\n{profiles}")
}

/// Table of the coarser levels of detail, with means and the worst view.
fn levels_table(loss: &ConversionLoss) -> String {
    let headings =
        ["level of detail", "splats", "PSNR dB", "SSIM", "FLIP", "lowest PSNR", "<in view"];
    let mut table = TextTable::new(&headings);
    for level in &loss.coarser_levels {
        let columns = MetricColumn::shown(&[], false).into_iter();
        let of = |key: &str, value: Option<f64>| {
            let column = columns.clone().find(|column| column.key == key);
            column.map_or(String::new(), |column| column.text(value))
        };
        let worst = worst_view(&level.views);
        table.row([
            level.level_of_detail.to_string(),
            level.splats.to_string(),
            of("psnr_db", level.mean.and_then(|mean| mean.psnr_db)),
            of("ssim", level.mean.map(|mean| mean.ssim)),
            of("flip", level.mean.map(|mean| mean.flip)),
            of("psnr_db", worst.and_then(|view| view.comparison.psnr_db)),
            worst.map_or(String::new(), |view| view.name.clone()),
        ]);
    }
    table.to_string()
}
