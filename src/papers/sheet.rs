//! A figure under construction: rows of results, the columns of its table, and the recipes that draw charts, comparisons
//! and statements from them.
//!
//! ```text
//! rows --columns--> table --bars, lines--> charts
//!                     |----published-----> published numbers beside ours
//!                     '----claim---------> statements, by group
//! ```
//!
//! Rows with the same label, such as the views of a scene, are a group. Bars, means and statements refer to groups; the
//! value of a group is the mean over its rows. Charts and statements name columns by their keys, so that every number that
//! is drawn or judged is in the files of the figure.

use std::ops::{Deref, DerefMut};

use crate::content::{Compared, Content};
use crate::paper::{Figure, Statistic};
use crate::table::{Cell, Column, Format, Table};
use quadrille_charts::{
    Axis, AxisMark, BarChart, BarValue, Group, LineChart, LineKind, LineSeries,
};

/// Figure under construction, with a row of results per table row.
pub(crate) struct Sheet<R> {
    figure: &'static Figure,
    rows: Vec<R>,
    labels: Vec<String>,
    cases: &'static str,
    /// Our values of published numbers without a column, by quantity.
    ours: Vec<(&'static str, Option<f64>)>,
    content: Content,
}

pub(crate) struct Rows<'a> {
    pub(crate) label: &'a str,
    table: &'a Table,
    rows: Vec<usize>,
}

#[derive(Default)]
pub(crate) struct Bars<'a> {
    /// Accessible title (aria-label).
    pub(crate) title: &'a str,
    pub(crate) axis: Axis,
    /// Columns with legend names. The columns `KEY_low` and `KEY_high`, if any, bound a bar.
    pub(crate) series: &'a [[&'a str; 2]],
    /// Whether the mean over several groups is drawn as a group.
    pub(crate) has_mean: bool,
    /// Whether published means and maxima of the columns are drawn as a group.
    pub(crate) has_published: bool,
    pub(crate) marks: Vec<AxisMark>,
    pub(crate) caption: &'a str,
}

impl<R> Deref for Sheet<R> {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.content
    }
}

impl<R> DerefMut for Sheet<R> {
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.content
    }
}

impl<R> Sheet<R> {
    /// Begins a figure with its caption, its published rows, and rows of ours without columns. `label` returns the
    /// label of a row, and `cases` is the plural noun for the groups.
    pub(crate) fn new(
        figure: &'static Figure,
        rows: impl IntoIterator<Item = R>,
        cases: &'static str,
        label: impl Fn(&R) -> String,
    ) -> Self {
        let rows: Vec<R> = rows.into_iter().collect();
        let mut content = Content::default();
        content.say(&*figure.text);
        Self {
            figure,
            labels: rows.iter().map(label).collect(),
            rows,
            cases,
            ours: Vec::new(),
            content,
        }
    }

    /// As [`Sheet::new`], with the labels as the first column.
    pub(crate) fn labelled(
        figure: &'static Figure,
        rows: impl IntoIterator<Item = R>,
        cases: &'static str,
        key: &str,
        label: impl Fn(&R) -> String,
    ) -> Self {
        let mut sheet = Self::new(figure, rows, cases, &label);
        sheet.text(key, key, label);
        sheet
    }

    fn column(&mut self, column: Column, cell: impl Fn(&R) -> Cell) -> &mut Self {
        let published = self.figure.rows.iter();
        let published = published.map(|row| row.get(&column.key).cloned().unwrap_or(Cell::Missing));
        let cells: Vec<Cell> = published.chain(self.rows.iter().map(cell)).collect();
        self.content.table.push(column, cells);
        self
    }

    pub(crate) fn text(
        &mut self,
        key: &str,
        heading: &str,
        of: impl Fn(&R) -> String,
    ) -> &mut Self {
        self.column(Column::new(key, heading), |row| of(row).into())
    }

    pub(crate) fn word(
        &mut self,
        key: &str,
        heading: &str,
        of: impl Fn(&R) -> Option<String>,
    ) -> &mut Self {
        self.column(Column::new(key, heading), |row| of(row).map_or(Cell::Missing, Cell::Text))
    }

    pub(crate) fn number(
        &mut self,
        key: &str,
        heading: &str,
        of: impl Fn(&R) -> Option<f64>,
    ) -> &mut Self {
        self.column(Column::new(key, heading), |row| of(row).into())
    }

    pub(crate) fn share(
        &mut self,
        key: &str,
        heading: &str,
        of: impl Fn(&R) -> Option<f64>,
    ) -> &mut Self {
        self.column(Column::share(key, heading), |row| of(row).into())
    }

    pub(crate) fn whole(
        &mut self,
        key: &str,
        heading: &str,
        of: impl Fn(&R) -> Option<f64>,
    ) -> &mut Self {
        self.column(Column::whole(key, heading), |row| of(row).into())
    }

    pub(crate) fn ratio(
        &mut self,
        key: &str,
        heading: &str,
        [over, under]: [&str; 2],
    ) -> &mut Self {
        let table = &mut self.content.table;
        let ratios = (0..table.rows.len()).map(|row| {
            let [over, under] = [over, under].map(|key| table.number(row, key));
            quotient(over, under).into()
        });
        table.push(Column::new(key, heading), ratios.collect::<Vec<Cell>>());
        self
    }

    /// Adds a column of numbers that only the files show.
    pub(crate) fn hidden(&mut self, key: &str, of: impl Fn(&R) -> Option<f64>) -> &mut Self {
        self.column(Column::hidden(key), |row| of(row).into())
    }

    pub(crate) fn rows(&self) -> &[R] {
        &self.rows
    }

    pub(crate) fn values(&self, key: &str) -> Vec<Option<f64>> {
        let offset = self.figure.rows.len();
        let rows = offset..offset + self.rows.len();
        rows.map(|row| self.table.number(row, key)).collect()
    }

    pub(crate) fn groups(&self) -> Vec<Rows<'_>> {
        let mut groups: Vec<Rows<'_>> = Vec::new();
        for (label, row) in self.labels.iter().zip(self.figure.rows.len()..) {
            match groups.iter_mut().find(|group| group.label == label) {
                Some(group) => group.rows.push(row),
                None => groups.push(Rows { label, table: &self.content.table, rows: vec![row] }),
            }
        }
        groups
    }

    pub(crate) fn mean(&self, key: &str) -> Option<f64> {
        mean(self.groups().iter().map(|group| group.of(key)))
    }

    /// Word for [`Self::mean`] before the name of a number; empty for the value of a single group.
    pub(crate) fn mean_word(&self) -> &'static str {
        if self.groups().len() == 1 { "" } else { "mean " }
    }

    /// Standard deviation of the groups' values.
    pub(crate) fn spread(&self, key: &str) -> Option<f64> {
        standard_deviation(self.groups().iter().map(|group| group.of(key)))
    }

    /// Adds a row with the mean of each numeric column, if there are several groups. Line charts include the row.
    pub(crate) fn mean_row(&mut self) {
        self.statistic_row("mean", Self::mean);
    }

    /// Adds rows with mean and standard deviation over the groups, if there are several.
    pub(crate) fn spread_rows(&mut self) {
        self.mean_row();
        self.statistic_row("standard deviation", Self::spread);
    }

    fn statistic_row(&mut self, name: &str, of: fn(&Self, &str) -> Option<f64>) {
        if self.groups().len() < 2 {
            return;
        }
        let columns = self.table.columns.iter().enumerate();
        let cells = columns.map(|(at, column)| match (at, column.format) {
            (0, _) => name.into(),
            (_, Format::Whole) => Cell::Missing,
            _ => of(self, &column.key).into(),
        });
        self.content.table.rows.push(cells.collect::<Vec<Cell>>());
    }

    pub(crate) fn ours(&mut self, quantity: &'static str, ours: Option<f64>) {
        self.ours.push((quantity, ours));
    }

    pub(crate) fn judge(&mut self, statement: &str, holds: impl Fn(&Rows<'_>) -> Option<bool>) {
        let outcomes: Vec<_> = self.groups().iter().map(holds).collect();
        self.content.claim(statement, self.cases, outcomes);
    }

    pub(crate) fn bars(&mut self, bars: Bars<'_>) {
        let names: Vec<&str> = bars.series.iter().map(|[_, name]| *name).collect();
        let keys = || bars.series.iter().map(|[key, _]| *key);
        let mut groups: Vec<Group> = self.groups().iter().map(|g| g.bars(keys())).collect();
        let mut caption = bars.caption.to_owned();
        if bars.has_mean && groups.len() > 1 {
            let means = keys().map(|key| {
                let (mean, spread) = (self.mean(key)?, self.spread(key));
                let band = spread.map(|spread| [mean - spread, mean + spread]);
                Some(BarValue { band, ..BarValue::ours(mean) })
            });
            groups.push(Group { label: "mean".to_owned(), bars: means.collect() });
            caption += " Means are arithmetic; their whiskers are the standard deviation over the ";
            caption += self.cases;
            caption += ".";
        }
        if bars.has_published {
            let stated = |key, statistic| self.figure.number_of_column(key, statistic);
            groups.push(Group {
                label: "published".to_owned(),
                bars: keys()
                    .map(|key| {
                        let [mean, most] =
                            [Statistic::Mean, Statistic::Maximum].map(|s| stated(key, s));
                        Some(BarValue::mean_and_most(mean, most))
                    })
                    .collect(),
            });
        }
        let chart =
            BarChart { marks: bars.marks, ..BarChart::new(bars.title, bars.axis, &names, groups) };
        self.chart(chart.draw(), caption);
    }

    /// Adds a chart over a parameter with a line per row of ours. `columns` are the columns of the parameter's values
    /// with their positions and labels on the horizontal axis.
    pub(crate) fn lines(
        &mut self,
        [title, caption]: [&str; 2],
        axes: [Axis; 2],
        columns: &[(String, f64, String)],
    ) {
        let offset = self.figure.rows.len();
        // The row of means, if there is one, follows our rows.
        let labels = self.labels.iter().map(String::as_str).chain(["mean"]);
        let labels = labels.take(self.table.rows.len() - offset);
        let series = labels.enumerate().map(|(row, label)| {
            let points = columns
                .iter()
                .filter_map(|(key, x, _)| Some([*x, self.table.number(offset + row, key)?]));
            LineSeries::ours(label, row, points, LineKind::Line)
        });
        let labels = columns.iter().map(|(_, x, label)| (*x, label.clone()));
        let chart = LineChart::new(title, axes, labels.collect(), series);
        self.chart(chart.draw(), caption);
    }

    /// Completes the figure: sets published numbers beside ours.
    pub(crate) fn finish(mut self) -> Content {
        for published in &self.figure.published {
            let computed = self.ours.iter().find(|(q, _)| *q == published.quantity);
            let ours = match (computed, &published.column) {
                (Some((_, ours)), _) => *ours,
                (None, Some(key)) => {
                    self.statistic(key, published.ours.unwrap_or(published.statistic))
                }
                (None, None) => continue,
            };
            self.compared.push(Compared { published, ours });
        }
        self.content
    }

    fn statistic(&self, key: &str, statistic: Statistic) -> Option<f64> {
        let groups = self.groups();
        let means = groups.iter().map(|group| group.of(key));
        match statistic {
            Statistic::Mean | Statistic::Value => mean(means),
            Statistic::Maximum => largest(self.values(key)),
            Statistic::Below => largest(means),
            Statistic::Above => least(means),
        }
    }
}

impl Rows<'_> {
    pub(crate) fn values(&self, key: &str) -> Vec<Option<f64>> {
        self.rows.iter().map(|row| self.table.number(*row, key)).collect()
    }

    pub(crate) fn of(&self, key: &str) -> Option<f64> {
        mean(self.values(key))
    }

    fn bars<'k>(&self, keys: impl Iterator<Item = &'k str>) -> Group {
        let bar = |key: &str| {
            let bound = |end: &str| {
                let key = format!("{key}_{end}");
                self.table.column(&key).and_then(|_| self.of(&key))
            };
            Some(BarValue {
                band: bound("low").zip(bound("high")).map(|(low, high)| [low, high]),
                ..BarValue::ours(self.of(key)?)
            })
        };
        Group { label: self.label.to_owned(), bars: keys.map(bar).collect() }
    }
}

pub(crate) fn quotient(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let (a, b) = (a?, b?);
    (b != 0.0).then(|| a / b)
}

pub(crate) fn mean(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation; `None` for fewer than two values.
pub(crate) fn standard_deviation(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().flatten().collect();
    let mean = mean(values.iter().copied().map(Some))?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

pub(crate) fn largest(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    values.into_iter().flatten().reduce(f64::max)
}

pub(crate) fn least(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    values.into_iter().flatten().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_leave_out_what_is_missing() {
        assert_eq!(mean([Some(1.0), None, Some(3.0)]), Some(2.0));
        assert_eq!(mean([None]), None);
        assert_eq!(standard_deviation([Some(1.0), None, Some(3.0)]), Some(2.0_f64.sqrt()));
        assert_eq!(standard_deviation([Some(1.0), None]), None);
        assert_eq!(quotient(Some(1.0), Some(0.0)), None);
        assert_eq!(largest([Some(1.0), None, Some(3.0)]), Some(3.0));
        assert_eq!(least([]), None);
    }
}
