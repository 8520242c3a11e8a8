//! The figures and tables of the VR-Pipe paper, drawn from results of the emulated GPU beside the published
//! numbers.
//!
//! ```text
//! rows of a suite --> Results --Spec::draw--> Content: charts, pictures, a table, comparisons, claims
//!                                               |-- page: a section of index.html
//!                                               '-- csv, json: the table of a figure as files
//! ```
//!
//! A [`Spec`] lists the methods and views that a figure needs, and the fields of the configuration that
//! change it. It is drawn from the available results; entries without results stay empty.

mod alternatives;
mod configuration;
mod diagrams;
mod frames;
mod further;
mod list;
mod microbenchmarks;
mod motivation;
pub mod results;
mod speedups;
pub mod summary;
pub(crate) mod table;
mod termination;

use serde_json::{Value, json};

use super::published::{self, Published, Statistic};
use super::svg::Series;
use results::{Results, ViewResult};
use table::Table;

pub use list::ALL;

/// The views that a figure needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Views {
    /// The first view of every scene.
    First,
    /// Every view of every scene.
    All,
    /// Every view of the large scenes.
    Large,
}

/// Methods that a figure needs, of some views, on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The views.
    pub views: Views,
    /// The preset of the GPU.
    pub preset: &'static str,
    /// Names of the methods.
    pub methods: &'static [&'static str],
}

/// Source of the numbers of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Cycles and counters of emulated draws.
    Emulated,
    /// Estimates on top of emulated draws, with assumed constants; the paper has measurements.
    Modelled,
    /// Specifications of products.
    Specifications,
    /// The configuration.
    Configuration,
}

impl Basis {
    /// Name on the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Emulated => "emulated",
            Self::Modelled => "modelled",
            Self::Specifications => "specifications",
            Self::Configuration => "configuration",
        }
    }
}

/// A figure or table of the paper.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Name in flags and files: `fig9`, `table1`.
    pub id: &'static str,
    /// Name on the page: `Figure 9`.
    pub number: &'static str,
    /// Title: the subject of the figure.
    pub title: &'static str,
    /// Part of the page that it belongs to.
    pub part: &'static str,
    /// Source of our numbers.
    pub basis: Basis,
    /// Results that it is drawn from.
    pub needs: &'static [Need],
    /// Fields of the configuration that move it.
    pub assumptions: &'static [&'static str],
    draw: fn(&Results) -> Content,
}

/// Identifier and names of a figure or table, for its section of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Name in flags and files: `fig9`, `table1`.
    pub(crate) id: &'static str,
    /// Name on the page: `Figure 9`.
    pub(crate) number: &'static str,
    /// Title: the subject of the figure.
    pub(crate) title: &'static str,
    /// Part of the page that it belongs to.
    pub(crate) part: &'static str,
    /// Source of our numbers.
    pub(crate) basis: Basis,
    /// Fields of the configuration that move it.
    pub(crate) assumptions: &'static [&'static str],
    /// The command that makes it.
    pub(crate) command: String,
}

impl Heading {
    /// The document of the figure's file.
    pub fn json<'a>(
        &self,
        content: &Content,
        published: impl Iterator<Item = &'a Published>,
        missing: &[String],
    ) -> Value {
        let claims = content.claims.iter().map(|claim| {
            json!({ "statement": claim.statement, "holds": claim.holds, "of": claim.of, "cases": claim.cases })
        });
        json!({
            "figure": self.id,
            "title": format!("{}: {}", self.number, self.title),
            "command": self.command,
            "basis": self.basis.name(),
            "published": published.collect::<Vec<_>>(),
            "ours": content.compared.iter().map(|c| c.ours).collect::<Vec<_>>(),
            "claims": claims.collect::<Vec<_>>(),
            "rows": content.table.json(),
            "missing": missing,
        })
    }
}

/// A chart with the text below it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// The chart as SVG.
    pub(crate) svg: String,
    /// Text below it.
    pub(crate) caption: String,
}

/// A picture as PNG.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    /// Content of the PNG file.
    pub(crate) png: Vec<u8>,
    /// Text below it.
    pub(crate) caption: String,
}

/// A statement of the paper that our results agree with or not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// The statement, in our words, and the section that makes it.
    pub(crate) statement: String,
    /// Number of cases in which it holds.
    pub(crate) holds: usize,
    /// Number of cases.
    pub(crate) of: usize,
    /// Plural noun for the cases, such as `scenes`.
    pub(crate) cases: &'static str,
}

impl Claim {
    /// Counts the cases in which a statement holds; cases that are not known are left out.
    pub(crate) fn count(
        statement: &str,
        cases: &'static str,
        outcomes: impl IntoIterator<Item = Option<bool>>,
    ) -> Self {
        let outcomes: Vec<bool> = outcomes.into_iter().flatten().collect();
        Self {
            statement: statement.to_owned(),
            holds: outcomes.iter().filter(|holds| **holds).count(),
            of: outcomes.len(),
            cases,
        }
    }
}

/// A published number beside ours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compared {
    /// The published number.
    pub(crate) published: &'static Published,
    /// Ours, if it is known.
    pub(crate) ours: Option<f64>,
}

/// A figure as drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    /// Paragraphs about the figure.
    pub(crate) text: Vec<String>,
    /// Charts of the figure, in page order.
    pub(crate) charts: Vec<Chart>,
    /// Pictures of the figure, in page order.
    pub(crate) pictures: Vec<Picture>,
    /// Numbers of the figure.
    pub table: Table,
    /// Published numbers beside ours.
    pub(crate) compared: Vec<Compared>,
    /// Statements of the paper.
    pub(crate) claims: Vec<Claim>,
}

impl Content {
    /// Adds a paragraph.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.text.push(text.into());
    }

    /// Adds a chart.
    pub(crate) fn chart(&mut self, svg: String, caption: impl Into<String>) {
        let caption = caption.into();
        self.charts.push(Chart { svg, caption });
    }

    /// Sets a published number beside ours.
    fn compare(&mut self, figure: &str, quantity: &str, statistic: Statistic, ours: Option<f64>) {
        let mut all = published::of_figure(figure);
        let found = all.find(|p| p.quantity == quantity && p.statistic == statistic);
        debug_assert!(found.is_some(), "{figure}: {quantity}");
        let compared = found.map(|published| Compared { published, ours });
        self.compared.extend(compared);
    }
}

impl Spec {
    /// Draws the figure from the results that there are.
    pub fn draw(&self, results: &Results) -> Content {
        (self.draw)(results)
    }

    /// The heading of the figure.
    pub fn heading(&self, results: &Results) -> Heading {
        Heading {
            id: self.id,
            number: self.number,
            title: self.title,
            part: self.part,
            basis: self.basis,
            assumptions: self.assumptions,
            command: format!("quadrille figures {} --only {}", results.command, self.id),
        }
    }

    /// The document of the figure's file.
    pub fn json(&self, content: &Content, results: &Results, missing: &[String]) -> Value {
        let published = published::of_figure(self.id);
        self.heading(results).json(content, published, missing)
    }
}

/// The paper and its numbers, in HTML.
pub const INTRODUCTION: &str = "<p>The paper is J. Lee, J. Kim, J. Park and J. Sim, <em>VR-Pipe: Streamlining Hardware Graphics \
     Pipeline for Volume Rendering</em>, HPCA 2025. Published numbers are those of its text, with the section that states \
     them; they stand in the plots as dashed outlines and lines. Each figure says where our numbers come from: \
     <em>emulated</em> ones are cycles and counters of the emulated GPU, <em>modelled</em> ones are estimates on top of them \
     where the paper has measurements of machines that are not at hand.</p>";

/// Series of ours with these names, in colours from 0.
pub(crate) fn series(names: &[&str]) -> Vec<Series> {
    let names = names.iter().zip(0..);
    names.map(|(name, at)| Series::ours(*name, at)).collect()
}

/// Cells of a view's key.
fn key_cells(view: &ViewResult) -> [table::Cell; 2] {
    [view.scene.as_str().into(), view.view.as_str().into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_gpu::config::Config;
    use results::tests::view;

    fn results(views: Vec<ViewResult>) -> Results {
        Results {
            views,
            config: Config::default(),
            command: "suite.toml -o out".to_owned(),
        }
    }

    /// Every published number of a figure stands beside ours, or in the table for Table I.
    #[test]
    fn published_numbers_are_drawn() {
        let methods = [
            ("baseline", 2000, 3000),
            ("het", 1000, 1200),
            ("het+qm", 900, 900),
        ];
        let results = results(vec![view("a", &methods)]);
        for spec in ALL {
            let content = spec.draw(&results);
            let rows = content.table.json();
            for one in published::of_figure(spec.id) {
                let is_compared = content.compared.iter().any(|c| c.published == one);
                let is_row =
                    rows.as_array().unwrap().iter().any(|row| {
                        row["quantity"] == one.quantity && row["published"] == one.value
                    });
                assert!(is_compared || is_row, "{}: {}", spec.id, one.quantity);
            }
        }
        let fig16 = ALL.iter().find(|spec| spec.id == "fig16").unwrap();
        let chart = &fig16.draw(&results).charts[0].svg;
        assert!(
            chart.contains("published, HET+QM, published: 2.07"),
            "{chart}"
        );
        assert!(
            chart.contains(">max 2.78<") && chart.contains(">max 1.49<"),
            "{chart}"
        );
    }

    /// Without any result, figures are drawn with gaps, and claim nothing.
    #[test]
    fn figures_without_results_have_gaps() {
        let results = results(Vec::new());
        for spec in ALL.iter().filter(|spec| !spec.needs.is_empty()) {
            let content = spec.draw(&results);
            assert!(content.claims.iter().all(|c| c.of == 0), "{}", spec.id);
            assert!(
                content.compared.iter().all(|c| {
                    c.ours.is_none() || matches!(spec.id, "fig11" | "fig14" | "table3")
                })
            );
            assert!(content.charts.iter().all(|c| !c.svg.contains("NaN")));
            let document = spec.json(&content, &results, &["a 0: het".to_owned()]);
            assert_eq!(document["missing"][0], "a 0: het");
            let command = document["command"].as_str().unwrap();
            assert!(
                command.ends_with(&format!("--only {}", spec.id)),
                "{command}"
            );
        }
    }
}
