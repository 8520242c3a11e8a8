//! Plots with their points, ready to be drawn and to be written as numbers.

use crate::chart::Chart;
use quadrille_base::error::Result;
use quadrille_charts::{Drawing, Paper};

/// A plot with its points.
#[derive(Debug)]
pub struct Plotted {
    pub(crate) chart: Chart,
    /// Headings and rows of the plotted numbers.
    pub(crate) table: Vec<Vec<String>>,
    /// What a reader should know about the points: combined rows, missing values.
    pub remarks: Vec<String>,
}

impl Plotted {
    /// Draws the chart.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a height without room for the plot.
    pub fn on_paper(&self, paper: &Paper) -> Result<Drawing> {
        match &self.chart {
            Chart::Bars(chart) => chart.on_paper(paper),
            Chart::Lines(chart) => chart.on_paper(paper),
            Chart::Heat(chart) => chart.on_paper(paper),
        }
    }

    /// The plotted numbers as comma-separated values, unrounded, with a heading.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in &self.table {
            // Writing to memory cannot fail.
            let _ = writer.write_record(line);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}
