//! The table of rows as text, whose lines are printed while pairs are compared.

use quadrille_suite::report::table::{LineTable, shortened};

use super::columns::MetricColumn;
use super::conditions::Conditions;
use super::evaluated::Evaluated;
use super::pairing::PairName;
use super::row::PairRow;
use super::summary::Summary;

/// Formatter of the lines of a table.
pub struct TextRows {
    columns: Vec<MetricColumn>,
    lines: LineTable,
    headings: String,
}

impl TextRows {
    /// Creates a table whose first column is wide enough for the names of `pairs`.
    pub fn new(columns: &[MetricColumn], pairs: &[PairName]) -> Self {
        let widths = pairs.iter().map(|pair| shortened(&pair.name).chars().count());
        let name = ("<", widths.chain(["median".len()]).max().unwrap_or(0));
        // The longest number is "identical"; a reason in its place may be longer.
        let numbers = columns.iter().map(|column| (column.heading, 9));
        let widths: Vec<_> = std::iter::once(name).chain(numbers).collect();
        let (lines, headings) = LineTable::new(&widths);
        Self { columns: columns.to_vec(), lines, headings }
    }

    /// The line of headings.
    pub fn headings(&self) -> &str {
        &self.headings
    }

    fn line(&self, name: &str, numbers: impl IntoIterator<Item = Option<f64>>) -> String {
        let numbers = self.columns.iter().zip(numbers).map(|(column, number)| column.text(number));
        self.lines.line(std::iter::once(name.to_owned()).chain(numbers))
    }

    /// Formats the line of a pair.
    pub fn row(&self, row: &PairRow) -> String {
        let numbers = self.columns.iter().map(|column| (column.value)(row));
        self.line(&shortened(&row.pair.name), numbers)
    }

    /// Formats the line of a pair that was not compared.
    pub fn unmeasured(&self, pair: &PairName) -> String {
        self.lines.line([shortened(&pair.name), "not compared".to_owned()])
    }

    /// Formats the lines below the rows: statistics of several rows, pairs that were not compared or are not finite, and the
    /// conditions.
    pub fn end(&self, summary: &Summary, evaluated: &Evaluated, conditions: &Conditions) -> String {
        let mut text = String::new();
        let others: Vec<_> = evaluated.without_row().collect();
        if summary.count > 1 {
            for (name, numbers) in summary.lines() {
                text += &self.line(name, numbers.iter().copied());
            }
        }
        if !others.is_empty() {
            let count = summary.count;
            text += &format!("{count} of {} pairs were compared\n", count + others.len());
        }
        for (pair, reason) in others {
            text += &format!("{} was not compared: {reason}\n", shortened(&pair.name));
        }
        for (row, mark) in evaluated.marks() {
            text += &format!("{}: {mark}\n", shortened(&row.pair.name));
        }
        if let Some(worst) = summary.worst_pair.as_ref().filter(|_| summary.count > 1) {
            text += &format!("lowest PSNR: {}\n", shortened(worst));
        }
        text + &conditions.sentence(summary) + "\n"
    }
}
