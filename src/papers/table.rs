//! Tables of figures: the same numbers as CSV, as JSON and on the page.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use quadrille_base::units::percent;
use quadrille_charts::measured;
use quadrille_suite::csv::line;

/// Format of a column's numbers on the page; files contain all digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Number,
    Share,
    Whole,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) key: String,
    /// Heading on the page; `None` for a column that only the files show.
    pub(crate) heading: Option<String>,
    pub(crate) format: Format,
}

impl Column {
    pub(crate) fn new(key: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { key: key.into(), heading: Some(heading.into()), format: Format::Number }
    }

    pub(crate) fn share(key: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { format: Format::Share, ..Self::new(key, heading) }
    }

    pub(crate) fn whole(key: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { format: Format::Whole, ..Self::new(key, heading) }
    }

    pub(crate) fn shown(&self, cell: &Cell) -> String {
        match (cell, self.format) {
            (Cell::Text(text), _) => text.clone(),
            (Cell::Missing, _) => "–".to_owned(),
            (Cell::Number(n), Format::Share) => percent(*n),
            (Cell::Number(n), Format::Whole) => grouped(*n),
            (Cell::Number(n), Format::Number) => measured(*n),
        }
    }

    pub(crate) fn hidden(key: impl Into<String>) -> Self {
        Self { heading: None, ..Self::new(key, "") }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Text(String),
    Number(f64),
    Missing,
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.filter(|n| n.is_finite()).map_or(Self::Missing, Self::Number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Some(number).into()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Missing => Ok(()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Adds a column with a cell per row; in a table without columns, the cells make the rows.
    pub(crate) fn push(&mut self, column: Column, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        if self.columns.is_empty() {
            self.rows = vec![Vec::new(); cells.len()];
        }
        debug_assert_eq!(cells.len(), self.rows.len());
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
        self.columns.push(column);
    }

    pub(crate) fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }

    pub(crate) fn shown(&self) -> Vec<usize> {
        let columns = 0..self.columns.len();
        columns.filter(|at| self.columns[*at].heading.is_some()).collect()
    }

    pub(crate) fn hide(&mut self) {
        for column in &mut self.columns {
            column.heading = None;
        }
    }

    pub(crate) fn number(&self, row: usize, key: &str) -> Option<f64> {
        match self.rows[row][self.column(key)?] {
            Cell::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn words(&self, key: &str) -> impl Iterator<Item = Option<&str>> {
        let column = self.column(key);
        self.rows.iter().map(move |row| {
            if let Cell::Text(text) = &row[column?] { Some(text.as_str()) } else { None }
        })
    }

    /// Comma-separated values (RFC 4180), with a heading.
    pub(crate) fn csv(&self) -> String {
        let heading = line(self.columns.iter().map(|column| &column.key));
        let rows = self.rows.iter().map(|row| {
            let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
            line(cells.iter())
        });
        [heading].into_iter().chain(rows).collect()
    }

    pub(crate) fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row);
            cells.map(|(column, cell)| (column.key.as_str(), json!(cell))).collect::<Value>()
        });
        rows.collect()
    }
}

fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_all_columns_and_all_digits() {
        let mut table = Table::default();
        let text = |text: &str| Cell::from(text);
        table.push(Column::new("scene", "scene"), [text("a, \"b\""), text("c")]);
        let lanes = [Some(1.0 / 3.0), None].map(Cell::from);
        table.push(Column::share("lanes", "lanes"), lanes);
        let cycles = [7.0, f64::NAN].map(Cell::from);
        table.push(Column::hidden("cycles"), cycles);
        assert_eq!(table.csv(), "scene,lanes,cycles\n\"a, \"\"b\"\"\",0.3333333333333333,7\nc,,\n");
        let json = table.json();
        assert_eq!(json[0]["cycles"], 7.0);
        assert!(json[1]["lanes"].is_null());
    }

    #[test]
    fn digits_are_grouped() {
        for (value, text) in
            [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (1_234_567.0, "1,234,567")]
        {
            assert_eq!(grouped(value), text);
        }
    }
}
