//! Plots with their points, ready to be drawn and to be written as numbers.

use crate::chart::Chart;
use crate::combine::Spread;
use crate::plot::Plot;
use quadrille_base::error::Result;
use quadrille_charts::{Drawing, PrintFormat, measured};
use quadrille_machine::spec::shown_size;
use quadrille_suite::csv::line;
use quadrille_suite::report::typeset::Typeset;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A line per dot: x, series if any, and y.
    Dots,
    /// A line per point: x, series if any, value, least and largest one, standard deviation, and number of rows.
    Points { has_series: bool, spread: Option<Spread> },
}

/// A plot with its points, as a chart and as a table.
#[derive(Debug)]
pub struct Plotted {
    pub(crate) chart: Chart,
    pub(crate) table: Vec<Vec<String>>,
    pub(crate) layout: Layout,
    pub(crate) plot: Plot,
    /// Remarks on the points, such as combined rows and missing values.
    pub remarks: Vec<String>,
}

impl Plotted {
    /// Draws the chart in a print format.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a height without room for the plot.
    pub fn on_paper(&self, format: &PrintFormat) -> Result<Drawing> {
        match &self.chart {
            Chart::Bars(chart) => chart.on_paper(format),
            Chart::Lines(chart) => chart.on_paper(format),
            Chart::Heat(chart) => chart.on_paper(format),
        }
    }

    /// The plotted numbers as comma-separated values, unrounded, with a heading.
    pub fn csv(&self) -> String {
        self.table.iter().map(line).collect()
    }

    /// The plotted numbers as a table for a text, in three digits: a line per x and a column per series, or a line per dot
    /// of a scatter plot.
    pub fn typeset(&self) -> Typeset {
        let Some((headings, lines)) = self.table.split_first() else {
            return Typeset { headings: Vec::new(), has_words: Vec::new(), rows: Vec::new() };
        };
        let (headings, rows) = match self.layout {
            Layout::Dots => {
                let cells = |line: &Vec<String>| {
                    line.iter().zip(headings).map(|(cell, field)| shown(field, cell)).collect()
                };
                (headings.clone(), lines.iter().map(cells).collect())
            }
            Layout::Points { has_series, spread } => {
                by_series(&self.plot, headings, lines, has_series, spread)
            }
        };
        let is_word = |cell: &String| {
            cell != NO_VALUE && !cell.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        };
        let has_words = |at: usize| rows.iter().any(|row: &Vec<String>| is_word(&row[at]));
        Typeset { has_words: (0..headings.len()).map(has_words).collect(), headings, rows }
    }
}

const LARGE: f64 = 1000.0;

/// Placeholder of a missing value in a table.
const NO_VALUE: &str = "-";

/// A size with its unit, a number in three digits or all whole digits, and names unchanged.
fn shown(field: &str, cell: &str) -> String {
    shown_size(field, cell).unwrap_or_else(|| match cell.parse::<f64>() {
        Ok(number) if number.is_finite() && number.fract() != 0.0 => match number.abs() < LARGE {
            true => measured(number),
            false => format!("{number:.0}"),
        },
        _ => cell.to_owned(),
    })
}

/// Arranges lines of points as a line per x and a column per series.
fn by_series(
    plot: &Plot,
    headings: &[String],
    lines: &[Vec<String>],
    has_series: bool,
    spread: Option<Spread>,
) -> (Vec<String>, Vec<Vec<String>>) {
    let value = usize::from(has_series) + 1;
    let labels = [0, if plot.value.is_some() { 2 } else { 1 }].map(|at| plot.label(at));
    let series = |line: &Vec<String>| match (&plot.value, has_series) {
        (_, false) => labels[1].clone(),
        (None, true) => plot.series_name(&line[1]),
        (Some(_), true) => shown_size(&plot.y, &line[1]).unwrap_or_else(|| line[1].clone()),
    };
    let mut columns: Vec<String> = Vec::new();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        let name = series(line);
        let column = columns.iter().position(|one| *one == name).unwrap_or_else(|| {
            columns.push(name);
            columns.len() - 1
        });
        let row = rows.iter().position(|(x, _)| *x == line[0]).unwrap_or_else(|| {
            rows.push((line[0].clone(), Vec::new()));
            rows.len() - 1
        });
        let cells = &mut rows[row].1;
        cells.resize(cells.len().max(column + 1), NO_VALUE.to_owned());
        cells[column] = shown(&headings[value], &line[value]);
        let of_value = |at: usize| shown(&headings[value], &line[value + at]);
        let ([least, most, sd], n) = ([1, 2, 3].map(of_value), &line[value + 4]);
        match spread {
            Some(Spread::Range) if !least.is_empty() => {
                cells[column] += &format!(" ({least}–{most}, n = {n})");
            }
            Some(Spread::Sd) if !sd.is_empty() => {
                cells[column] += &format!(" ± {sd} (n = {n})");
            }
            Some(_) => cells[column] += &format!(" (n = {n})"),
            None => {}
        }
    }
    let rows = rows.into_iter().map(|(x, mut cells)| {
        cells.resize(columns.len(), NO_VALUE.to_owned());
        std::iter::once(shown(&headings[0], &x)).chain(cells).collect()
    });
    let rows = rows.collect();
    let x = match has_series {
        true => format!("{} by {}, {}", labels[1], labels[0], headings[1]),
        false => labels[0].clone(),
    };
    (std::iter::once(x).chain(columns).collect(), rows)
}
