//! Content of a figure: text, charts, pictures, a table, published numbers beside ours, and statements.

use serde::Serialize;
use serde_json::{Value, json};

use crate::paper::{Figure, Published, Statistic};
use crate::table::Table;
use quadrille_charts::Drawings;

/// Functions that draw figures from results, by the names of the figures.
pub(crate) type DrawnFrom<R> = [(&'static str, fn(&'static Figure, &R) -> Content)];

#[derive(Debug, PartialEq)]
pub(crate) struct Chart {
    pub(crate) drawings: Drawings,
    pub(crate) caption: String,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) png: Vec<u8>,
    pub(crate) caption: String,
}

/// A statement of the paper, with the number of cases in which our results agree.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Claim {
    /// Statement in our words, with its section.
    pub(crate) statement: String,
    pub(crate) holds: usize,
    pub(crate) of: usize,
    /// Plural noun for the cases, such as `scenes`.
    pub(crate) cases: &'static str,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Compared {
    pub(crate) published: &'static Published,
    pub(crate) ours: Option<f64>,
}

/// Deviation from a published number above which a reason is given.
pub(crate) const LARGE_DEVIATION: f64 = 0.15;

impl Compared {
    /// Whether our number keeps to a published bound; `None` if the number is not a bound or ours is missing. A published
    /// maximum is not a bound: "up to 2.78" says how far the paper's scenes reach.
    pub(crate) fn holds(&self) -> Option<bool> {
        let (ours, bound) = (self.ours.filter(|n| n.is_finite())?, self.published.value);
        match self.published.statistic {
            Statistic::Below => Some(ours < bound),
            Statistic::Above => Some(ours > bound),
            Statistic::Maximum | Statistic::Mean | Statistic::Value => None,
        }
    }

    /// Our number over the published one, less one; `None` if the number is a bound or ours is missing.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let ours = self.ours.filter(|n| n.is_finite())?;
        self.holds().is_none().then(|| ours / self.published.value - 1.0)
    }

    /// Whether our number deviates by more than 15 %, or breaks a bound.
    pub(crate) fn is_far(&self) -> bool {
        self.holds() == Some(false) || self.deviation().is_some_and(|d| d.abs() > LARGE_DEVIATION)
    }

    /// Reason of a large deviation or of a broken bound.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        self.published.reason.as_deref().filter(|_| self.is_far())
    }
}

#[derive(Debug, PartialEq, Default)]
pub(crate) struct Content {
    pub(crate) text: Vec<String>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) pictures: Vec<Picture>,
    pub(crate) table: Table,
    pub(crate) compared: Vec<Compared>,
    pub(crate) claims: Vec<Claim>,
}

impl Content {
    /// Draws a figure from results; `None` if `drawings` has no function for it.
    pub(crate) fn draw<R>(
        drawings: &DrawnFrom<R>,
        figure: &'static Figure,
        results: &R,
    ) -> Option<Self> {
        let (_, draw) = drawings.iter().find(|(id, _)| *id == figure.id)?;
        Some(draw(figure, results))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.rows.is_empty() && self.charts.is_empty() && self.pictures.is_empty()
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.text.push(text.into());
    }

    pub(crate) fn chart(&mut self, drawings: Drawings, caption: impl Into<String>) {
        self.charts.push(Chart { drawings, caption: caption.into() });
    }

    /// Adds a statement with the number of cases in which it holds; unknown cases are not counted.
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

    pub(crate) fn json(&self, figure: &Figure, command: &str, missing: &[String]) -> Value {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::paper::Paper;

    /// Checks that figures without results have gaps and claim nothing.
    pub(crate) fn check_gaps<R>(papers: &[&str], drawings: &DrawnFrom<R>, results: &R) {
        let figures: Vec<_> = papers.iter().flat_map(|paper| Paper::figures_of(paper)).collect();
        assert_eq!(figures.len(), drawings.len());
        for figure in figures {
            let content = Content::draw(drawings, figure, results).unwrap();
            assert!(content.claims.iter().all(|c| c.of == 0), "{}", figure.id);
            assert!(content.compared.iter().all(|c| c.ours.is_none()));
            assert_eq!(content.compared.len(), figure.published.len(), "{}", figure.id);
            assert!(content.charts.iter().all(|c| !c.drawings.inline().contains("NaN")));
        }
    }
}
