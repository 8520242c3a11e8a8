//! A figure as drawn: text, charts, pictures, a table, published numbers beside ours, and statements.

use serde::Serialize;
use serde_json::{Value, json};

use crate::paper::{Figure, Published, Statistic};
use crate::table::Table;
use quadrille_charts::Drawings;

/// A chart with the text below it.
#[derive(Debug, PartialEq)]
pub(crate) struct Chart {
    /// The drawing.
    pub(crate) drawings: Drawings,
    /// Text below it.
    pub(crate) caption: String,
}

/// A picture as PNG.
#[derive(Debug, PartialEq)]
pub(crate) struct Picture {
    /// Content of the PNG file.
    pub(crate) png: Vec<u8>,
    /// Text below it.
    pub(crate) caption: String,
}

/// A statement of the paper that our results agree with or not.
#[derive(Debug, PartialEq, Serialize)]
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

/// A published number beside ours.
#[derive(Debug, PartialEq)]
pub(crate) struct Compared {
    /// The published number.
    pub(crate) published: &'static Published,
    /// Ours, if it is known.
    pub(crate) ours: Option<f64>,
}

impl Compared {
    /// Whether our number keeps to a published bound; `None` if the published number is not a bound or ours is missing.
    pub(crate) fn holds(&self) -> Option<bool> {
        let (ours, bound) = (self.ours.filter(|n| n.is_finite())?, self.published.value);
        match self.published.statistic {
            Statistic::Below => Some(ours < bound),
            Statistic::Above => Some(ours > bound),
            Statistic::Maximum => Some(ours <= bound),
            Statistic::Mean | Statistic::Value => None,
        }
    }
}

/// A figure as drawn.
#[derive(Debug, PartialEq, Default)]
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
    pub(crate) fn chart(&mut self, drawings: Drawings, caption: impl Into<String>) {
        let caption = caption.into();
        self.charts.push(Chart { drawings, caption });
    }

    /// Adds a statement with the number of cases in which it holds; cases that are not known are left out.
    pub(crate) fn claim(
        &mut self,
        statement: &str,
        cases: &'static str,
        outcomes: impl IntoIterator<Item = Option<bool>>,
    ) {
        let outcomes: Vec<bool> = outcomes.into_iter().flatten().collect();
        self.claims.push(Claim {
            statement: statement.to_owned(),
            holds: outcomes.iter().filter(|holds| **holds).count(),
            of: outcomes.len(),
            cases,
        });
    }

    /// The document of the figure's file.
    pub fn json(&self, figure: &Figure, command: &str, missing: &[String]) -> Value {
        json!({
            "figure": figure.id,
            "title": format!("{}: {}", figure.number, figure.title),
            "command": command,
            "basis": figure.basis.name(),
            "published": figure.published,
            "ours": self.compared.iter().map(|c| c.ours).collect::<Vec<_>>(),
            "claims": self.claims,
            "rows": self.table.json(),
            "missing": missing,
        })
    }
}
