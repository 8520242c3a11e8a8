//! Description of a plot: fields, rows and kind of chart.

use crate::combine::{Combine, Spread};
use crate::filter::Filter;
use crate::points::SEPARATOR;
use quadrille_base::choice;
use quadrille_machine::spec::shown_size;

choice! {
    /// Kind of a plot.
    pub enum PlotKind {
        /// Lines over a numeric field
        Lines = "lines",
        /// Bars, grouped by the values of a field
        Bars = "bars",
        /// One dot per row, over two numeric fields
        Scatter = "scatter",
        /// One coloured cell per pair of values of two fields
        Heat = "heat" | "heatmap",
    }
}

/// Description of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// Kind; `None` is a heat map if there is a `value`, lines if all values of `x` are numbers, and else bars.
    pub kind: Option<PlotKind>,
    /// Field of the horizontal axis.
    pub x: String,
    /// Field of the vertical axis.
    pub y: String,
    /// Field of the colours of a heat map.
    pub value: Option<String>,
    /// Fields whose values distinguish series.
    pub series: Vec<String>,
    /// Conditions that rows must meet.
    pub filters: Vec<Filter>,
    /// Rule by which rows of one point are combined.
    pub combine: Combine,
    /// Range of the values of a point that is drawn, if any.
    pub spread: Option<Spread>,
    /// Rule of a last group of bars that summarises all others; `None` draws no such group.
    pub summary: Option<Combine>,
    /// Whether the axes are logarithmic; in a heat map, the second entry applies to the colours.
    pub is_log: [bool; 2],
    /// Whether the axes begin near their least value instead of at 0.
    pub is_fitted: [bool; 2],
    /// Values with a line across the plot.
    pub marks: Vec<f64>,
    /// Labels of the axes in place of the names of their fields; in a heat map, the third labels the colours.
    pub labels: [Option<String>; 3],
    /// Names of series, or of parts of them, in the plot and in tables, in place of the values of the fields.
    pub names: Vec<[String; 2]>,
    /// Accessible title in place of one that names the fields.
    pub title: Option<String>,
}

impl Plot {
    /// Creates a plot of `y` over `x` with default settings.
    #[must_use]
    pub fn new(x: &str, y: &str) -> Self {
        Self {
            kind: None,
            x: x.to_owned(),
            y: y.to_owned(),
            value: None,
            series: Vec::new(),
            filters: Vec::new(),
            combine: Combine::default(),
            spread: None,
            summary: None,
            is_log: [false; 2],
            is_fitted: [false; 2],
            marks: Vec::new(),
            labels: [None, None, None],
            names: Vec::new(),
            title: None,
        }
    }

    /// Name of a series: its values with their units, or the names given to them.
    pub(crate) fn series_name(&self, text: &str) -> String {
        let renamed = |text: &str| {
            let found = self.names.iter().find(|[value, _]| value == text);
            found.map(|[_, name]| name.clone())
        };
        renamed(text).unwrap_or_else(|| {
            let cells: Vec<&str> = match &self.series[..] {
                [_] => vec![text],
                _ => text.split(SEPARATOR).collect(),
            };
            if cells.len() != self.series.len() {
                return text.to_owned();
            }
            let shown = cells.into_iter().zip(&self.series).map(|(cell, field)| {
                let size = || shown_size(field, cell);
                renamed(cell).or_else(size).unwrap_or_else(|| cell.to_owned())
            });
            shown.collect::<Vec<_>>().join(SEPARATOR)
        })
    }

    pub(crate) fn label(&self, at: usize) -> String {
        let fields = [Some(&self.x), Some(&self.y), self.value.as_ref()];
        self.labels[at].clone().or_else(|| fields[at].cloned()).unwrap_or_default()
    }

    pub(crate) fn title(&self) -> String {
        let shown = self.value.as_ref().map_or_else(
            || format!("{} by {}", self.y, self.x),
            |value| format!("{value} by {} and {}", self.x, self.y),
        );
        self.title.clone().unwrap_or(shown)
    }
}
