use std::path::{Path, PathBuf};

use crate::cli::options::GpuFlags;
use crate::cli::session::HostFlags;
use quadrille_base::error::{Error, Result};
use quadrille_papers::paper::{Figure, Paper, figures};
use quadrille_suite::Shard;

/// Draw figures and tables of papers, with our numbers beside the published
///
/// Runs the views of a suite through all methods that the figures need and writes index.html, which holds
/// all figures and tables, FIG.csv, FIG.svg, FIG.json, FIG.md and FIG.tex for each, and all published numbers beside ours
/// in summary.csv and summary.json. A job is a view, a configuration and a method; its row is in results.jsonl in the
/// folder as soon as it is done, and a stopped run continues where it stopped. Exits with code 1 if results are missing,
/// for example of other shards.
///
/// Scenes give the figures of the VR-Pipe paper. Studies of meshes with workload = "deferred" give the figures of the
/// paper on sort-based deferred shading, where a job is a run of `quadrille deferred`; with workload = "merging" they give
/// the figures of the papers on quad-fragment merging and on the pixel merge unit, where a job is a run of `quadrille
/// mesh`. Several suites make one page of all their papers. With --correlate, the page compares the
/// emulator with measurements on a machine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    /// Suites of scenes and views, as for `quadrille bench`; their methods, matrix and configurations are not used.
    /// Scenes with `large = true` belong to Figure 23
    #[arg(required_unless_present_any = ["kept", "correlate"], value_name = "SUITE.toml")]
    pub(super) suites: Vec<PathBuf>,
    /// Folder for the page, the files and the results
    #[arg(short, long, value_name = "DIR", required = true)]
    pub(super) output: PathBuf,
    /// Run, draw and write only these figures and tables, such as fig9,fig16,table2
    #[arg(long, value_name = "FIG,...", value_delimiter = ',', value_parser = parse_figure)]
    pub(super) only: Vec<&'static str>,
    /// Run only shard I of N, from 1/N to N/N; its results file is results.I-of-N.jsonl
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(super) shard: Option<Shard>,
    /// Run only the first view of each of the first four scenes, and no large scene; of meshes, only the first
    /// job of each study
    #[arg(long)]
    pub(super) quick: bool,
    /// Draw the figures of quad-fragment merging and of the pixel merge unit from a file of stored counts, such as
    /// benches/mesh.results.jsonl, without running any job
    #[arg(long, value_name = "FILE")]
    pub(super) kept: Option<PathBuf>,
    /// Compare the emulator with measurements on a machine, from a CSV file with the columns item, scene, view, width,
    /// height, value and unit: kernels of the software renderer in views of the suites' scenes, and rates of units.
    /// Draws no figure of a paper
    #[arg(long, value_name = "MEASURED.csv", conflicts_with_all = ["kept", "quick", "shard"])]
    pub(super) correlate: Option<PathBuf>,
    /// Also write each chart as a PDF, with its font embedded
    #[arg(long)]
    pub(super) pdf: bool,
    /// Also write the tables of complete figures into the Markdown files of a folder, between the lines
    /// `<!-- figures: FIG -->` and `<!-- figures end -->`
    #[arg(long, value_name = "DIR")]
    pub(super) docs: Option<PathBuf>,
    /// Emulated counterpart of the machine of --correlate.
    #[command(flatten)]
    pub(super) gpu: GpuFlags,
    #[command(flatten)]
    pub(in crate::cli) host: HostFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille figures benches/figures-island.toml -o report
  quadrille figures benches/figures.toml -o report --quick
  quadrille figures benches/figures.toml benches/large.toml -o report
  quadrille figures benches/figures.toml -o report --only fig9,fig16
  quadrille figures benches/figures.toml -o report --shard 1/3
  quadrille figures benches/deferred.toml -o report
  quadrille figures benches/figures.toml benches/deferred.toml -o report
  quadrille figures --kept benches/mesh.results.jsonl -o report
  quadrille figures benches/trained.toml --correlate benches/hardware/h200.csv --preset h200 -o report";

fn parse_figure(text: &str) -> Result<&'static str> {
    let ids = || figures().map(|figure| &*figure.id);
    ids().find(|id| *id == text.trim()).ok_or_else(|| {
        Error::unknown_name("figure", format!("one of {}", names(figures())), text, ids())
    })
}

fn names<'a>(figures: impl Iterator<Item = &'a Figure>) -> String {
    let names: Vec<&str> = figures.map(|figure| &*figure.id).collect();
    names.join(", ")
}

impl Args {
    pub(super) fn is_chosen(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.contains(&id)
    }

    pub(super) fn check_figures(&self, papers: &[&str]) -> Result<()> {
        let figures = || papers.iter().flat_map(|paper| Paper::figures_of(paper));
        match self.only.iter().find(|id| figures().all(|figure| figure.id != **id)) {
            None => Ok(()),
            Some(id) => Err(Error::argument("--only", format!("one of {}", names(figures())), *id)),
        }
    }

    pub(super) fn command(&self) -> String {
        let suites = self.suites.iter().map(|path| quoted(path));
        let output = ["-o".to_owned(), quoted(&self.output)];
        let kept = self.kept.iter();
        let kept = kept.flat_map(|path| ["--kept".to_owned(), quoted(path)]);
        let quick = self.quick.then(|| "--quick".to_owned());
        let correlate = self.correlate.iter();
        let correlate = correlate.flat_map(|path| {
            ["--correlate".to_owned(), quoted(path)].into_iter().chain(self.gpu.words())
        });
        let words = suites.chain(kept).chain(correlate).chain(output);
        let words: Vec<String> = words.chain(quick).collect();
        words.join(" ")
    }

    /// Flags that select parts of the report and further files.
    pub(super) fn choice(&self) -> Vec<String> {
        let only = (!self.only.is_empty()).then(|| format!("--only {}", self.only.join(",")));
        let pdf = self.pdf.then(|| "--pdf".to_owned());
        let docs = self.docs.iter().map(|folder| format!("--docs {}", quoted(folder)));
        only.into_iter().chain(pdf).chain(docs).collect()
    }

    pub(super) fn results(&self) -> PathBuf {
        let whole = self.output.join("results.jsonl");
        self.shard.map_or(whole.clone(), |shard| shard.file(&whole))
    }
}

/// Quotes a path for a shell: relative to the current folder or, for a file elsewhere, the file name alone,
/// since absolute paths differ between machines.
fn quoted(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = match path.strip_prefix(here) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".as_ref(),
        Ok(inside) => inside.as_os_str(),
        Err(_) if path.is_absolute() => path.file_name().unwrap_or(path.as_os_str()),
        Err(_) => path.as_os_str(),
    };
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-+=,:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
