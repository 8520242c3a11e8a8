//! Files of a comparison: pictures of differences, tables, a page, and the journal of an interrupted run.

use std::path::{Path, PathBuf};

use crate::cli::console::command_line;
use crate::cli::outputs::{NAME, Outputs, Template, require_values};
use crate::cli::session::Session;
use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result};
use quadrille_base::output::{STDOUT, make_folder_of, write_bytes};
use quadrille_evaluation::pairing::{PairName, STDIN};
use quadrille_evaluation::{
    Conditions, Evaluated, Journal, MetricColumn, Page, Summary, TableFormat, bytes_per_pair, table,
};

/// Flags for output files.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct OutputFlags {
    /// Write the FLIP error of every pixel as a heat map, from black (0) to cream (1), with a legend. For folders and
    /// several views, the name must contain "{name}", which is replaced by the name of the pair or view
    #[arg(long, value_name = "OUT.png")]
    diff: Option<PathBuf>,
    /// Write a page of all pairs, worst first, with pictures and error maps, to DIR/index.html, and
    /// the table to DIR/table.csv
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Write the table as CSV, one line per pair with all digits
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Write the table as Markdown, for a README
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Write the table as LaTeX, for a paper (booktabs)
    #[arg(long, value_name = "FILE.tex")]
    latex: Option<PathBuf>,
    /// Continue an interrupted call with --resume: pairs whose pictures, scene and settings are the same are not
    /// compared again. Until all pairs are done, results are kept in compare.resume in the folder of --html,
    /// or beside the file of --csv, with its name and .resume
    #[arg(long)]
    pub(super) resume: bool,
}

pub(super) struct PageFacts<'a> {
    pub(super) title: String,
    pub(super) sides: [&'static str; 2],
    pub(super) columns: &'a [MetricColumn],
    pub(super) conditions: &'a Conditions,
}

impl OutputFlags {
    fn tables(&self) -> impl Iterator<Item = (&'static str, PathBuf, TableFormat)> {
        let beside_page = self.html.as_ref().map(|folder| folder.join("table.csv"));
        let csv = self.csv.clone();
        let all = [
            ("--html", beside_page, TableFormat::Csv),
            ("--csv", csv, TableFormat::Csv),
            ("--markdown", self.markdown.clone(), TableFormat::Markdown),
            ("--latex", self.latex.clone(), TableFormat::Latex),
        ];
        all.into_iter().filter_map(|(flag, path, format)| Some((flag, path?, format)))
    }

    fn page(&self) -> Option<PathBuf> {
        self.html.as_ref().map(|folder| folder.join("index.html"))
    }

    /// Checks the names of all output files and creates their folders. Returns the name template of `--diff`. Outputs must
    /// not overwrite the pictures or `files`, and `counted` names the pairs in the plural. A comparison of folders always
    /// needs "{name}" in `--diff`, since the next call may find more pairs. `add_others` adds outputs of other flags.
    pub(super) fn prepare<'p>(
        &self,
        pairs: &[PairName],
        counted: &str,
        are_folders: bool,
        files: impl Iterator<Item = &'p Path>,
        add_others: impl FnOnce(&mut Outputs<'_>) -> Result<()>,
    ) -> Result<Option<Template>> {
        let diff = self.diff.as_deref().map(diff_template).transpose()?;
        let read = pairs.iter().flat_map(|pair| [Path::new(&pair.a), Path::new(&pair.b)]);
        let read = read.filter(|path| *path != Path::new(STDIN));
        let files: Vec<&Path> = files.collect();
        let mut outputs = Outputs::beside(read.chain(files));
        if let Some(diff) = &diff {
            let least = if are_folders { 2 } else { 1 };
            diff.require(NAME, pairs.len().max(least), counted)?;
            for pair in pairs {
                outputs.add("--diff", &diff.filled(&[(NAME, &pair.name)]))?;
            }
        }
        if let Some(page) = self.page() {
            outputs.add("--html", &page)?;
        }
        for (flag, path, _) in self.tables() {
            outputs.add(flag, &path)?;
        }
        add_others(&mut outputs)?;
        Ok(diff)
    }

    /// Size limit in bytes of a pair's pictures on the page; `None` without `--html`.
    pub(super) fn page_bytes(&self, pairs: usize) -> Option<usize> {
        self.html.as_ref().map(|_| bytes_per_pair(pairs))
    }

    pub(super) fn journal(&self, conditions: &Conditions, pairs: usize) -> Result<Option<Journal>> {
        if !self.resume {
            return Ok(None);
        }
        let csv = self.csv.as_ref().filter(|path| *path != Path::new(STDOUT));
        let path = match (&self.html, csv) {
            (Some(folder), _) => folder.join("compare.resume"),
            (None, Some(csv)) => {
                let mut name = csv.as_os_str().to_owned();
                name.push(".resume");
                name.into()
            }
            (None, None) => {
                let needed = "--html DIR or --csv FILE, which keep results";
                return Err(Error::needs("--resume", needed));
            }
        };
        make_folder_of(&path)?;
        let settings = format!(
            "{} {conditions:?} {:?} {:?}",
            PROGRAM.sources,
            self.page_bytes(pairs),
            self.diff
        );
        Journal::open(&path, &settings).map(Some)
    }

    pub(super) fn write(
        &self,
        facts: &PageFacts<'_>,
        evaluated: &Evaluated,
        summary: &Summary,
        session: &Session,
    ) -> Result<()> {
        let write = |path: &Path, text: String| {
            write_bytes(path, text)?;
            session.remark(&format!("wrote {}", path.display()));
            Ok(())
        };
        for (_, path, format) in self.tables() {
            write(&path, table(format, evaluated, facts.columns, summary, facts.conditions))?;
        }
        if let Some(path) = self.page() {
            let page = Page {
                title: &facts.title,
                sides: facts.sides,
                command: &command_line(),
                program: &format!("Quadrille {} ({})", PROGRAM.version, PROGRAM.commit),
                columns: facts.columns,
                conditions: facts.conditions,
            };
            write(&path, page.html(evaluated, summary))?;
        }
        Ok(())
    }
}

fn diff_template(path: &Path) -> Result<Template> {
    require_values("--diff", path)?;
    Template::parse("--diff", path, &[NAME])
}
