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
const DOT: f64 = 3.0;
/// Radius of a dot over the radius of a dot that it covers, of which a rim is seen.
const DOT_ON_DOT: f64 = 0.6;
/// Distance within which a point hides another one: half of a line's width.
const HIDDEN: f64 = 1.0;

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
        let all = canvas.look.width;
        for line in Size::Axis.wrapped(&self.x.label, all - 8.0) {
            below += 16.0;
            canvas.text([all / 2.0, below], Anchor::Middle, Size::Axis, &line);
        }
        let middle = self.series.len().saturating_sub(1) as f64 / 2.0;
        let mut drawn: Vec<(Vec<Place>, u32)> = Vec::new();
        for (at, one) in self.series.iter().enumerate() {
            for (point, band) in one.points.iter().zip(&one.bands) {
                if let Some(band) = band {
                    // Bands stand beside each other, so that the bands of all series can be told apart.
                    let aside = DODGE * (at as f64 - middle);
                    let style = Style::Line { series: one.series.colour(), covered: 0 };
                    canvas.band(x(point[0]) + aside, band.map(|value| plot.y(value)), style);
                }
            }
            let finite = one.points.iter().filter(|p| p[1].is_finite());
            let places = finite.map(|p| Place { value: p[1], at: [x(p[0]), plot.y(p[1])] });
            let places: Vec<Place> = places.collect();
            let hidden = drawn.iter().filter(|(below, _)| are_hidden(below, &places));
            let covered = hidden.map(|(_, covered)| covered + 1).max().unwrap_or(0);
            draw(canvas, one, &places, covered, &plot.scale);
            drawn.push((places, covered));
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

struct Place {
    value: f64,
    at: [f64; 2],
}

/// Whether a series that is drawn later would hide all points of an earlier one.
fn are_hidden(below: &[Place], above: &[Place]) -> bool {
    let is_hidden = |place: &Place| {
        let distance = |other: &Place| (place.at[0] - other.at[0]).hypot(place.at[1] - other.at[1]);
        above.iter().any(|other| distance(other) <= HIDDEN)
    };
    !below.is_empty() && below.iter().all(is_hidden)
}

/// Draws a series. If it covers others, it has dashes and smaller dots.
fn draw(canvas: &mut Canvas, one: &LineSeries, places: &[Place], covered: u32, scale: &Scale) {
    let series = one.series.colour();
    let line = Style::Line { series, covered };
    match one.kind {
        LineKind::Line | LineKind::Points => {
            if one.kind == LineKind::Line {
                canvas.polyline(places.iter().map(|place| place.at).collect(), line);
            }
            let radius = DOT * (0..covered).fold(1.0, |radius, _| DOT_ON_DOT * radius);
            for Place { value, at } in places {
                let title = format!("{}: {}", one.series.name, scale.text(*value));
                canvas.dot(*at, radius, Style::Fill(series), &title);
            }
        }
        LineKind::Steps => {
            let mut steps = Vec::new();
            for pair in places.windows(2) {
                let [from, to] = [pair[0].at, pair[1].at];
                steps.extend([from, [to[0], from[1]]]);
            }
            canvas.polyline(steps, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn chart(kind: LineKind) -> LineChart {
        let points = [[1.0, 1.0], [2.0, f64::NAN], [4.0, 1.5]];
        let truck = LineSeries::ours("truck", 2, points, kind);
        let axes = [Axis::log("passes"), Axis::linear("speedup")];
        LineChart::new("speedup by passes", axes, Vec::new(), [truck])
    }

    #[test]
    fn points_without_a_value_are_left_out() {
        let svg = chart(LineKind::Line).draw().wide().svg();
        assert_eq!(svg.matches("<polygon").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(!svg.contains("NaN"), "{svg}");
        let points = chart(LineKind::Points).draw().wide().svg();
        assert!(!points.contains("<polyline"));
    }

    /// Of three series on one course, the upper two have dashes and smaller dots; a series elsewhere has neither.
    #[test]
    fn hidden_series_are_seen() {
        let mut chart = chart(LineKind::Line);
        let mut elsewhere = chart.series[0].clone();
        elsewhere.points = vec![[1.0, 1.4], [4.0, 1.5]];
        chart.series = vec![chart.series[0].clone(); 3];
        chart.series.push(elsewhere);
        let on_page = chart.draw().inline().split("</svg>").next().unwrap().to_owned();
        for svg in [chart.draw().wide().svg(), on_page] {
            let lines: Vec<_> = svg.split("<polyline").skip(1).collect();
            let dashes = lines.iter().map(|line| {
                let line = line.split("/>").next().unwrap();
                line.split_once("dasharray=\"").map(|(_, dash)| dash.split('"').next().unwrap())
            });
            assert_eq!(dashes.collect::<Vec<_>>(), [None, Some("6 6"), Some("4 8"), None], "{svg}");
        }
        let covered = chart.draw();
        let dots = covered.wide().elements.iter().filter_map(|element| match element {
            Element::Dot { radius, title, .. } if title.contains(':') => Some(*radius),
            _ => None,
        });
        let radii: Vec<f64> = dots.collect();
        assert_eq!(radii.len(), 8);
        assert!(radii[0] > radii[2] && radii[2] > radii[4] && radii[6] == radii[0], "{radii:?}");
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
