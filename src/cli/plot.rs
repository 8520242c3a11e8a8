//! `plot`: plots over the fields of a results file.

use std::path::{Path, PathBuf};

use super::console::{Exit, print};
use super::outputs::Outputs;
use super::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::{STDOUT, write_bytes};
use quadrille_base::parse::finite;
use quadrille_charts::{Drawing, PrintFormat};
use quadrille_plots::{Combine, Fields, Filter, Plot, PlotFormat, PlotKind, Plotted, Spread};

/// Extension of the file of plotted numbers; not `.csv`, which could overwrite the output of `bench --csv`.
const NUMBERS: &str = "plot.csv";
/// Least and largest width and height of a plot.
const SIDES_MM: [f64; 2] = [20.0, 1000.0];
/// Least and largest text size.
const TEXTS_PT: [f64; 2] = [3.0, 40.0];

/// Plot fields of a results file: lines, bars, dots or a heat map for a paper
///
/// Reads the results files of `quadrille bench`, CSV, or documents of `mesh` and `deferred`, and draws any field over any
/// other field. Rows with equal --x and --series are one point, by default their mean (--combine). OUT ends in .svg or
/// .pdf; the files embed all colours and fonts, and OUT.plot.csv beside them holds the plotted numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
pub(super) struct Args {
    /// Results files (.jsonl) that `quadrille bench` has written, CSV files (.csv) of bench, sim, mesh and deferred,
    /// documents (.json) of mesh and deferred, or arrays of counts and layers (.npy), whose fields are pixel_x, pixel_y
    /// and value; with several files, the field "file" holds the name; "-" reads standard input
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// Plot to write, .svg or .pdf, with the plotted numbers as .plot.csv beside it; may be given twice. "-" writes an SVG
    /// to standard output
    #[arg(
        short,
        long,
        value_name = "OUT",
        required_unless_present_any = ["list_fields", "markdown", "latex"]
    )]
    output: Vec<PathBuf>,
    /// Write the plotted numbers as a table for a README, with a line per x and a column per series
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Write the plotted numbers as a table for a paper, a tabular that needs no package
    #[arg(long, value_name = "FILE.tex")]
    latex: Option<PathBuf>,
    /// Also write a PDF beside the SVG
    #[arg(long)]
    pdf: bool,
    /// Print all fields with the number of their values and their range, and draw nothing
    #[arg(long)]
    list_fields: bool,
    /// Field of the horizontal axis, such as scene or tc.bins: a column of `bench --csv`
    #[arg(long, value_name = "FIELD", required_unless_present = "list_fields")]
    x: Option<String>,
    /// Field of the vertical axis, such as speedup or units.crop.utilisation
    #[arg(long, value_name = "FIELD", required_unless_present = "list_fields")]
    y: Option<String>,
    /// Field of the colours of a heat map of --x and --y
    #[arg(long, value_name = "FIELD")]
    value: Option<String>,
    /// Fields that distinguish lines, or bars of a group
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',')]
    series: Vec<String>,
    /// Plot only rows that meet a condition, such as scene=island,vase or 'tc.bins>=16'; also with !=, <, <= and >; may
    /// be repeated
    #[arg(long = "where", value_name = "CONDITION", value_parser = str::parse::<Filter>)]
    filters: Vec<Filter>,
    /// Kind of plot [default: heat with --value, lines if --x has numbers, else bars]
    #[arg(long)]
    kind: Option<PlotKind>,
    /// Rule by which the rows of one point are combined
    #[arg(long, value_name = "RULE", default_value = "mean")]
    combine: Combine,
    /// Draw the range of the values of each point: range, from the smallest to the largest, or sd, the standard deviation
    /// on both sides of the mean; tables then have it too, with the number of values [default: range]
    #[arg(long, value_name = "RANGE", num_args = 0..=1, default_missing_value = "range")]
    spread: Option<Spread>,
    /// Name a series, as in het+qm=HET+QM: a value of a field of --series, and its name in the plot and in tables; may be
    /// repeated
    #[arg(long = "name", value_name = "VALUE=NAME", value_parser = parse_name)]
    names: Vec<[String; 2]>,
    /// Add a last group of bars that combines all other groups by this rule
    #[arg(long, value_name = "RULE")]
    summary: Option<Combine>,
    /// Draw a line across the plot at a value, such as 1 for speedups; may be repeated
    #[arg(long = "mark", value_name = "VALUE", value_parser = finite)]
    marks: Vec<f64>,
    /// Make the horizontal axis logarithmic
    #[arg(long)]
    log_x: bool,
    /// Make the vertical axis, or the colours of a heat map, logarithmic
    #[arg(long)]
    log_y: bool,
    /// Begin the horizontal axis near the smallest value instead of at 0
    #[arg(long)]
    fit_x: bool,
    /// Begin the vertical axis near the smallest value instead of at 0
    #[arg(long)]
    fit_y: bool,
    /// Heading above the plot
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Label of the horizontal axis [default: the name of the field]
    #[arg(long, value_name = "TEXT")]
    x_label: Option<String>,
    /// Label of the vertical axis
    #[arg(long, value_name = "TEXT")]
    y_label: Option<String>,
    /// Label of the colours of a heat map
    #[arg(long, value_name = "TEXT", requires = "value")]
    value_label: Option<String>,
    /// Width in millimetres
    #[arg(long, value_name = "MM", default_value_t = 88.9, value_parser = parse_side)]
    width: f64,
    /// Height in millimetres [default: from the width]
    #[arg(long, value_name = "MM", value_parser = parse_side)]
    height: Option<f64>,
    /// Size of the text in points
    #[arg(long, value_name = "PT", default_value_t = 8.0, value_parser = parse_text)]
    text: f64,
}

const EXAMPLES: &str = "Examples:
  quadrille plot rows.jsonl --list-fields
  quadrille plot rows.jsonl --x tc.bins --y speedup --series method -o bins.svg
  quadrille plot rows.jsonl --x scene --y speedup --series method --summary geomean --mark 1 -o scenes.svg --pdf
  quadrille plot rows.jsonl --x tc.bins --y speedup --series method --where scene=island --spread -o island.pdf
  quadrille plot rows.jsonl --x scene --y speedup --series method --latex scenes.tex --markdown scenes.md
  quadrille plot rows.jsonl --kind scatter --x quads_ratio --y speedup --series scene -o quads.svg
  quadrille plot rows.jsonl --x tc.bins --y l2.bytes --value speedup --where method=het+qm -o heat.svg
  quadrille plot heat.npy --x pixel_x --y pixel_y --value value --where 'pixel_x<64' --where 'pixel_y<64' -o heat.pdf
  quadrille plot sweep.csv --x tc.bins --y units.crop.utilisation --series method --y-label 'CROP busy' -o crop.pdf";

fn between(text: &str, [least, most]: [f64; 2]) -> std::result::Result<f64, String> {
    let number = finite(text).ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

fn parse_name(text: &str) -> std::result::Result<[String; 2], String> {
    let parts = text.split_once('=').filter(|(value, name)| !value.is_empty() && !name.is_empty());
    let parts = parts.map(|(value, name)| [value, name].map(str::to_owned));
    parts.ok_or_else(|| "expected VALUE=NAME, such as het=HET".to_owned())
}

fn parse_side(text: &str) -> std::result::Result<f64, String> {
    between(text, SIDES_MM)
}

fn parse_text(text: &str) -> std::result::Result<f64, String> {
    between(text, TEXTS_PT)
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    let outputs = args.outputs()?;
    let fields = Fields::read(&args.results)?;
    if args.list_fields {
        print(fields.list())?;
        return Ok(Exit::Done);
    }
    let plotted = args.plot().draw(&fields)?;
    for remark in &plotted.remarks {
        session.note(remark);
    }
    args.write_tables(&plotted)?;
    let drawing = plotted.on_paper(&PrintFormat {
        width_mm: args.width,
        height_mm: args.height,
        text_pt: args.text,
        heading: args.title.clone().unwrap_or_default(),
    })?;
    let lacking = drawing.lacking();
    if !lacking.is_empty() && outputs.iter().any(|(format, _)| *format == PlotFormat::Pdf) {
        session.warn(&format!(
            "the font of PDF files lacks {lacking}: question marks stand in their place"
        ));
    }
    write(&outputs, &plotted, &drawing)?;
    Ok(Exit::Done)
}

fn write(outputs: &[(PlotFormat, PathBuf)], plotted: &Plotted, drawing: &Drawing) -> Result<()> {
    let csv = plotted.csv();
    for (format, path) in outputs {
        let bytes = format.bytes(drawing, path)?;
        write_bytes(path, &bytes)?;
        if path != Path::new(STDOUT) {
            write_bytes(&path.with_extension(NUMBERS), &csv)?;
        }
    }
    Ok(())
}

impl Args {
    fn outputs(&self) -> Result<Vec<(PlotFormat, PathBuf)>> {
        if self.list_fields {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for path in &self.output {
            let is_stdout = path == Path::new(STDOUT);
            let format = if is_stdout { PlotFormat::Svg } else { PlotFormat::of(path)? };
            files.push((format, path.clone()));
        }
        if self.pdf && files.iter().all(|(format, _)| *format == PlotFormat::Svg) {
            let Some(path) = self.output.iter().find(|path| *path != Path::new(STDOUT)) else {
                return Err(Error::needs("--pdf", "-o with the name of a file"));
            };
            files.push((PlotFormat::Pdf, path.with_extension("pdf")));
        }
        let mut outputs = Outputs::beside(self.results.iter().map(PathBuf::as_path));
        let texts = [("--markdown", &self.markdown), ("--latex", &self.latex)];
        for (flag, path) in texts {
            if let Some(path) = path {
                outputs.add(flag, path)?;
            }
        }
        let mut tables: Vec<PathBuf> = Vec::new();
        for (_, path) in &files {
            outputs.add("-o", path)?;
            if path == Path::new(STDOUT) {
                continue;
            }
            let table = path.with_extension(NUMBERS);
            if !tables.contains(&table) {
                outputs.add("the numbers beside -o", &table)?;
                tables.push(table);
            }
        }
        Ok(files)
    }

    fn write_tables(&self, plotted: &Plotted) -> Result<()> {
        let table = plotted.typeset();
        if let Some(path) = &self.markdown {
            write_bytes(path, table.markdown())?;
        }
        if let Some(path) = &self.latex {
            write_bytes(path, table.latex())?;
        }
        Ok(())
    }

    fn plot(&self) -> Plot {
        let [x, y] = [&self.x, &self.y].map(|field| field.as_deref().unwrap_or_default());
        Plot {
            kind: self.kind,
            value: self.value.clone(),
            series: self.series.clone(),
            filters: self.filters.clone(),
            combine: self.combine,
            spread: self.spread,
            names: self.names.clone(),
            summary: self.summary,
            is_log: [self.log_x, self.log_y],
            is_fitted: [self.fit_x, self.fit_y],
            marks: self.marks.clone(),
            labels: [&self.x_label, &self.y_label, &self.value_label].map(Clone::clone),
            title: self.title.clone(),
            ..Plot::new(x, y)
        }
    }
}
