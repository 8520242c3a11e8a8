//! Lines, points and histograms over two axes.

use crate::axis::{Axis, Scale};
use crate::canvas::Canvas;
use crate::drawing::{Drawing, Drawings, PrintFormat};
use crate::labels::{Anchor, Size};
use crate::plot::Plot;
use crate::style::Style;
use crate::{AxisMark, RIGHT, Series};
use quadrille_base::error::Result;

/// Distance of the bands of neighbouring series at one point.
const DODGE: f64 = 5.0;

/// Drawing style of the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Points joined by a line, with a dot each.
    Line,
    /// Dots without a line.
    Points,
    /// Bins of a histogram: each point is the left end of a bin, and the last one ends the last bin.
    Steps,
}

/// A series of points.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSeries {
    /// Name and colour of the series.
    pub series: Series,
    /// Points from left to right.
    pub points: Vec<[f64; 2]>,
    /// Bounds of the points, in their order; empty if no point has any.
    pub bands: Vec<Option<[f64; 2]>>,
    /// Style in which the points are drawn.
    pub kind: LineKind,
}

impl LineSeries {
    /// Creates a series of our own values in the colour of index `colour`.
    pub fn ours(
        name: impl Into<String>,
        colour: usize,
        points: impl IntoIterator<Item = [f64; 2]>,
        kind: LineKind,
    ) -> Self {
        Self {
            series: Series::ours(name, colour),
            points: points.into_iter().collect(),
            bands: Vec::new(),
            kind,
        }
    }
}

/// A chart of lines, points and histograms.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// Accessible title (aria-label).
    pub title: String,
    /// Horizontal axis of the points.
    pub x: Axis,
    /// Labels of the horizontal axis in place of numbers.
    pub x_labels: Vec<(f64, String)>,
    /// Vertical axis of the points.
    pub y: Axis,
    /// Series in the order of the legend.
    pub series: Vec<LineSeries>,
    /// Labelled lines across the plot.
    pub marks: Vec<AxisMark>,
}

impl LineChart {
    /// Creates a chart of the series that have points, without lines across the plot.
    pub fn new(
        title: &str,
        [x, y]: [Axis; 2],
        x_labels: Vec<(f64, String)>,
        series: impl IntoIterator<Item = LineSeries>,
    ) -> Self {
        let series = series.into_iter().filter(|s| !s.points.is_empty());
        Self {
            title: title.to_owned(),
            x,
            x_labels,
            y,
            series: series.collect(),
            marks: Vec::new(),
        }
    }

    /// Draws the chart for screens.
    pub fn draw(&self) -> Drawings {
        Drawings::draw(&self.title, |canvas| self.paint(canvas))
    }

    /// Draws the chart in a print format.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a height without room for the plot.
    pub fn on_paper(&self, format: &PrintFormat) -> Result<Drawing> {
        format.draw(&self.title, |canvas| self.paint(canvas))
    }

    pub(crate) fn paint(&self, canvas: &mut Canvas) -> f64 {
        let names: Vec<_> = self.series.iter().map(|s| s.series.clone()).collect();
        let points = || self.series.iter().flat_map(|s| s.points.iter());
        let marks = self.marks.iter().map(|m| m.value);
        let bands = self.series.iter().flat_map(|s| s.bands.iter().flatten());
        let ends = bands.flatten().copied().chain(marks);
        let scale = self.y.scale(points().map(|p| p[1]).chain(ends));
        canvas.fit_left(&scale);
        let plot = Plot::begin(canvas, &names, true, &self.y, scale, 0.0);
        let labels = self.x_labels.iter().map(|(at, _)| *at);
        let across = self.x_scale(points().map(|p| p[0]).chain(labels));
        let left = canvas.left;
        let width = canvas.look.width - left - RIGHT;
        let x = |value: f64| left + 8.0 + (width - 16.0) * across.position(value);
        let ticks: Vec<(f64, String)> = if self.x_labels.is_empty() {
            across.ticks().into_iter().map(|t| (x(t), across.text(t))).collect()
        } else {
            self.x_labels.iter().map(|(at, text)| (x(*at), text.clone())).collect()
        };
        let axis = plot.bottom();
        for (x, _) in &ticks {
            canvas.line([*x, axis], [*x, axis + 4.0], Style::Axis);
        }
        let mut below = canvas.labels_below(axis, Size::Axis, &ticks);
        let (metrics, all) = (canvas.look.metrics, canvas.look.width);
        for line in metrics.wrapped(&self.x.label, Size::Axis, all - 8.0) {
            below += 16.0;
            canvas.text([all / 2.0, below], Anchor::Middle, Size::Axis, &line);
        }
        let middle = self.series.len().saturating_sub(1) as f64 / 2.0;
        for (at, one) in self.series.iter().enumerate() {
            draw(canvas, one, &x, &plot, DODGE * (at as f64 - middle));
        }
        plot.draw_lines(canvas, &self.marks);
        plot.name_lines(canvas, &self.marks, below)
    }

    fn x_scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let values: Vec<f64> = values.collect();
        if self.x.is_fitted && !self.x_labels.is_empty() {
            let (least, most) = ends(&values);
            return Scale::tight(least, most, self.x.is_log);
        }
        if self.x.is_log || self.x_labels.is_empty() {
            return self.x.scale(values.into_iter());
        }
        let (least, most) = ends(&values);
        Scale::between(least.min(most), most)
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// Draws a series, with its bands `aside` of the points, so that the bands of all series can be told apart.
fn draw(canvas: &mut Canvas, one: &LineSeries, x: &impl Fn(f64) -> f64, plot: &Plot, aside: f64) {
    let name = &one.series.name;
    let colour = one.series.colour();
    for (point, band) in one.points.iter().zip(&one.bands) {
        if let Some(band) = band {
            let ends = band.map(|value| plot.y(value));
            canvas.band(x(point[0]) + aside, ends, Style::Line(colour));
        }
    }
    let finite = one.points.iter().filter(|p| p[1].is_finite());
    let places: Vec<_> = finite.map(|p| (p, [x(p[0]), plot.y(p[1])])).collect();
    match one.kind {
        LineKind::Line | LineKind::Points => {
            if one.kind == LineKind::Line {
                let line: Vec<_> = places.iter().map(|(_, at)| *at).collect();
                canvas.polyline(line, Style::Line(colour));
            }
            for (point, at) in &places {
                let title = format!("{name}: {}", plot.scale.text(point[1]));
                canvas.dot(*at, 3.0, Style::Fill(colour), &title);
            }
        }
        LineKind::Steps => {
            let mut steps = Vec::new();
            for pair in places.windows(2) {
                let [(_, from), (_, to)] = [pair[0], pair[1]];
                steps.extend([from, [to[0], from[1]]]);
            }
            canvas.polyline(steps, Style::Line(colour));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(kind: LineKind) -> LineChart {
        let points = [[1.0, 1.0], [2.0, f64::NAN], [4.0, 1.5]];
        let truck = LineSeries::ours("truck", 2, points, kind);
        let axes = [Axis::log("passes"), Axis::linear("speedup")];
        LineChart::new("speedup by passes", axes, Vec::new(), [truck])
    }

    #[test]
    fn points_without_a_value_are_left_out() {
        let svg = chart(LineKind::Line).draw().wide().svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(!svg.contains("NaN"), "{svg}");
        let points = chart(LineKind::Points).draw().wide().svg();
        assert!(!points.contains("<polyline"));
    }

    #[test]
    fn histograms_keep_the_height_of_a_bin() {
        let mut histogram = chart(LineKind::Steps);
        histogram.series[0].points = vec![[1.0, 3.0], [2.0, 1.0], [4.0, 0.0]];
        let svg = histogram.draw().wide().svg();
        let (_, line) = svg.split_once("points=\"").unwrap();
        let line = line.split('"').next().unwrap();
        let points: Vec<Vec<&str>> = line.split(' ').map(|p| p.split(',').collect()).collect();
        assert_eq!(points.len(), 4);
        assert_eq!((points[0][1], points[2][1]), (points[1][1], points[3][1]));
        assert_eq!(points[1][0], points[2][0]);
    }
}
