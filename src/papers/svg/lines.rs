//! Lines, points and histograms over two axes.

use super::axis::Axis;
use super::canvas::Canvas;
use super::labels::{Anchor, Size, wrapped};
use super::plot::Plot;
use super::{LEFT, Mark, RIGHT, Series, Svg, class};

/// Drawing style of the points of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Joined, with a dot each.
    Line,
    /// Dots.
    Points,
    /// Bins of a histogram: each point is the left end of a bin, and the last one ends the last bin.
    Steps,
}

/// A series of points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineSeries {
    /// Name and colour.
    pub(crate) series: Series,
    /// Points from left to right.
    pub(crate) points: Vec<[f64; 2]>,
    /// Style in which the points are drawn.
    pub(crate) kind: LineKind,
}

impl LineSeries {
    /// Creates a series of ours, in the colour of this number.
    pub(crate) fn ours(
        name: impl Into<String>,
        colour: usize,
        points: impl IntoIterator<Item = [f64; 2]>,
        kind: LineKind,
    ) -> Self {
        Self {
            series: Series::ours(name, colour),
            points: points.into_iter().collect(),
            kind,
        }
    }
}

/// A chart of series of points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineChart {
    /// Accessible title (aria-label).
    pub(crate) title: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// Labels of the horizontal axis in place of numbers.
    pub(crate) x_labels: Vec<(f64, String)>,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// Series of the chart.
    pub(crate) series: Vec<LineSeries>,
    /// Lines across the plot.
    pub(crate) marks: Vec<Mark>,
}

impl LineChart {
    /// Creates a chart of the series that have points, without lines across the plot.
    pub(crate) fn new(
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

    /// Draws the chart.
    pub(crate) fn svg(&self) -> Svg {
        Svg::draw(&self.title, |canvas| self.paint(canvas))
    }

    pub(super) fn paint(&self, canvas: &mut Canvas) -> f64 {
        let names: Vec<_> = self.series.iter().map(|s| s.series.clone()).collect();
        let points = || self.series.iter().flat_map(|s| s.points.iter());
        let marks = self.marks.iter().map(|m| m.value);
        let scale = self.y.scale(points().map(|p| p[1]).chain(marks));
        let plot = Plot::begin(canvas, &names, &self.y, scale, 0.0);
        let labels = self.x_labels.iter().map(|(at, _)| *at);
        let across = self.x_scale(points().map(|p| p[0]).chain(labels));
        let width = canvas.width - LEFT - RIGHT;
        let x = |value: f64| LEFT + 8.0 + (width - 16.0) * across.position(value);
        let ticks: Vec<(f64, String)> = if self.x_labels.is_empty() {
            let ticks = across.ticks().into_iter();
            ticks.map(|t| (x(t), across.text(t))).collect()
        } else {
            let labels = self.x_labels.iter();
            labels.map(|(at, text)| (x(*at), text.clone())).collect()
        };
        let axis = plot.bottom();
        for (x, _) in &ticks {
            canvas.line([*x, axis], [*x, axis + 4.0], "axis");
        }
        let mut below = canvas.labels_below(axis, Size::Axis, &ticks);
        for line in wrapped(&self.x.label, Size::Axis, canvas.width - 8.0) {
            below += 16.0;
            let middle = canvas.width / 2.0;
            canvas.text([middle, below], Anchor::Middle, Size::Axis, &line);
        }
        for one in &self.series {
            draw(canvas, one, &x, &plot);
        }
        plot.draw_lines(canvas, &self.marks);
        plot.name_lines(canvas, &self.marks, below)
    }

    /// The scale of the horizontal axis, which need not begin at 0.
    fn x_scale(&self, values: impl Iterator<Item = f64>) -> super::axis::Scale {
        let values: Vec<f64> = values.collect();
        if self.x.is_log || self.x_labels.is_empty() {
            return self.x.scale(values.into_iter());
        }
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        super::axis::Scale::between(least.min(most), most)
    }
}

fn draw(canvas: &mut Canvas, one: &LineSeries, x: &impl Fn(f64) -> f64, plot: &Plot) {
    let name = &one.series.name;
    let class = class(one.series.colour, one.series.is_published);
    let finite = one.points.iter().filter(|p| p[1].is_finite());
    let places: Vec<_> = finite.map(|p| (p, [x(p[0]), plot.y(p[1])])).collect();
    match one.kind {
        LineKind::Line | LineKind::Points => {
            if one.kind == LineKind::Line {
                let line: Vec<_> = places.iter().map(|(_, at)| *at).collect();
                canvas.polyline(&line, &format!("line {class}"));
            }
            for (point, at) in &places {
                let title = format!("{name}: {}", plot.scale.text(point[1]));
                canvas.circle(*at, 3.0, &format!("fill {class}"), &title);
            }
        }
        LineKind::Steps => {
            let mut steps = Vec::new();
            for pair in places.windows(2) {
                let [(_, from), (_, to)] = [pair[0], pair[1]];
                steps.extend([from, [to[0], from[1]]]);
            }
            canvas.polyline(&steps, &format!("line {class}"));
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
        let svg = chart(LineKind::Line).svg().file();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(!svg.contains("NaN"), "{svg}");
        let points = chart(LineKind::Points).svg().file();
        assert!(!points.contains("<polyline"));
    }

    #[test]
    fn histograms_keep_the_height_of_a_bin() {
        let mut histogram = chart(LineKind::Steps);
        histogram.series[0].points = vec![[1.0, 3.0], [2.0, 1.0], [4.0, 0.0]];
        let svg = histogram.svg().file();
        let (_, line) = svg.split_once("points=\"").unwrap();
        let line = line.split('"').next().unwrap();
        let points: Vec<Vec<&str>> = line.split(' ').map(|p| p.split(',').collect()).collect();
        assert_eq!(points.len(), 4);
        assert_eq!((points[0][1], points[2][1]), (points[1][1], points[3][1]));
        assert_eq!(points[1][0], points[2][0]);
    }
}
