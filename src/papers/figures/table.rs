//! Tables of figures: the same numbers as CSV, as JSON and on the page.

use serde_json::{Map, Value, json};

/// How a column's numbers are written for people. Files have them unrounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Three digits.
    Number,
    /// A share, in percent.
    Share,
    /// A whole number.
    Whole,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// Name in files.
    pub(crate) key: String,
    /// Heading on the page; `None` for a column of the files alone.
    pub(crate) heading: Option<String>,
    /// Format of its numbers on the page.
    pub(crate) format: Format,
}

impl Column {
    /// A column with numbers of three digits on the page.
    pub(crate) fn new(key: impl Into<String>, heading: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            heading: Some(heading.into()),
            format: Format::Number,
        }
    }

    /// A column of shares.
    pub(crate) fn share(key: impl Into<String>, heading: impl Into<String>) -> Self {
        Self {
            format: Format::Share,
            ..Self::new(key, heading)
        }
    }

    /// A column of whole numbers.
    pub(crate) fn whole(key: impl Into<String>, heading: impl Into<String>) -> Self {
        Self {
            format: Format::Whole,
            ..Self::new(key, heading)
        }
    }

    /// A column of the files alone.
    pub(crate) fn hidden(key: impl Into<String>) -> Self {
        Self {
            heading: None,
            ..Self::new(key, "")
        }
    }
}

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(f64),
    /// A value that is not known or does not exist.
    Missing,
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number
            .filter(|n| n.is_finite())
            .map_or(Self::Missing, Self::Number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Some(number).into()
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
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

/// Columns and rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Columns.
    pub(crate) columns: Vec<Column>,
    /// Rows with a cell per column.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        let rows = Vec::new();
        Self { columns, rows }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Comma-separated values (RFC 4180), with a heading.
    pub fn csv(&self) -> String {
        let keys = self.columns.iter().map(|column| quoted(&column.key));
        let mut text = keys.collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => quoted(text),
                Cell::Number(number) => number.to_string(),
                Cell::Missing => String::new(),
            });
            text += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }

    /// An array of objects.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row);
            let cells = cells.map(|(column, cell)| {
                let value = match cell {
                    Cell::Text(text) => json!(text),
                    Cell::Number(number) => json!(number),
                    Cell::Missing => Value::Null,
                };
                (column.key.clone(), value)
            });
            Value::Object(cells.collect::<Map<_, _>>())
        });
        rows.collect()
    }
}

/// A cell of a CSV file.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_all_columns_and_all_digits() {
        let mut table = Table::new(vec![
            Column::new("scene", "scene"),
            Column::share("lanes", "lanes"),
            Column::hidden("cycles"),
        ]);
        table.row(vec![
            "a, \"b\"".into(),
            Some(1.0 / 3.0).into(),
            7_u64.into(),
        ]);
        table.row(vec!["c".into(), None.into(), Cell::from(f64::NAN)]);
        assert_eq!(
            table.csv(),
            "scene,lanes,cycles\n\"a, \"\"b\"\"\",0.3333333333333333,7\nc,,\n"
        );
        let json = table.json();
        assert_eq!(json[0]["cycles"], 7.0);
        assert!(json[1]["lanes"].is_null());
    }
}
