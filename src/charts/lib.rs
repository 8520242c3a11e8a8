//! Charts: bars, dots, lines, points, histograms, strips and heat maps, on linear and logarithmic axes.
//!
//! ```text
//! BarChart, LineChart, HeatChart, StripChart --draw-----> Drawings --inline--> two SVG elements of a page
//!                                            --on_paper-> Drawing  --svg, pdf-> a file
//! ```
//!
//! A chart paints elements (texts, rectangles, dots, lines) onto a canvas, which knows the occupied areas: no text covers
//! another one, a bar or a dot. `axis_labels` and `plot` find a free place or another way to write it.
//!
//! In a page, elements have classes (`s0` to `s7` for series, `pub` for published numbers) that [`style`] fills, in
//! light and in dark, and the style sheet has the font. Every chart is drawn twice, for wide and for narrow screens, so that
//! its text is readable on both without scaling. Files have their colours, sizes and fonts in their elements, and look the
//! same in every program.
//!
//! ```
//! use quadrille_charts::{Axis, LineChart, LineKind, LineSeries, PrintFormat};
//!
//! let points = [[8.0, 1.2], [16.0, 1.7], [32.0, 1.9]];
//! let series = LineSeries::ours("het", 0, points, LineKind::Line);
//! let axes = [Axis::linear("bins"), Axis::linear("speedup")];
//! let chart = LineChart::new("Speedup by bins", axes, Vec::new(), [series]);
//! let drawing = chart.on_paper(&PrintFormat::column())?;
//! assert!(drawing.svg().starts_with("<svg ") && drawing.pdf()?.starts_with(b"%PDF"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod axis_labels;
mod bars;
mod canvas;
mod drawing;
mod element;
mod font;
mod heat;
mod labels;
mod lines;
mod pdf;
mod plot;
mod strips;
pub mod style;
mod svg;
mod widths;

pub use axis::{Axis, measured, number};
pub use bars::{BarChart, BarValue, Group};
pub use drawing::{Drawing, Drawings, PrintFormat};
pub use heat::HeatChart;
pub use lines::{LineChart, LineKind, LineSeries};
pub use strips::{ActivityStrip, StripChart};
pub use svg::escaped;

use style::SeriesColour;

const PLOT_HEIGHT: f64 = 190.0;
const RIGHT: f64 = 10.0;
const COLOURS: usize = 8;

/// Name and colour of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Index of the colour, modulo 8.
    pub colour: usize,
    /// Whether the values are from a publication.
    pub is_published: bool,
}

impl Series {
    /// Creates a series of our own values in the colour of index `colour`.
    pub fn ours(name: impl Into<String>, colour: usize) -> Self {
        Self { name: name.into(), colour, is_published: false }
    }

    pub(crate) fn colour(&self) -> SeriesColour {
        SeriesColour { number: self.colour, is_published: self.is_published }
    }
}

/// A value of the vertical axis with a line across the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisMark {
    /// Value at which the line is drawn.
    pub value: f64,
    /// Text beside the line.
    pub label: String,
    /// Whether the value is published.
    pub is_published: bool,
    /// Whether the text stands at the left end of the line.
    pub is_left: bool,
}

impl AxisMark {
    /// Creates a line at a published value; `None` without a value.
    pub fn published(value: Option<f64>, label: &str) -> Option<Self> {
        let label = format!("published: {label}");
        value.map(|value| Self { value, label, is_published: true, is_left: false })
    }

    /// Creates a line at a value that is not published.
    pub fn at(value: f64, label: &str) -> Self {
        Self { value, label: label.to_owned(), is_published: false, is_left: false }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::RngSeed;

    use super::*;
    use crate::canvas::{Canvas, Look};
    use crate::drawing::WIDTHS;

    /// Checks that texts cover neither each other nor bars, dots or curves, and lie within the picture, on wide and on
    /// narrow screens.
    fn check(paint: impl Fn(&mut Canvas) -> f64) -> std::result::Result<(), TestCaseError> {
        let papers = [400.0, 240.0].map(|width| Look::paper(width, 150.0, "a heading"));
        for look in WIDTHS.map(Look::screen).into_iter().chain(papers) {
            let width = look.width;
            let mut canvas = Canvas::new(look);
            let height = paint(&mut canvas);
            let picture = labels::Area::new([0.0, 0.0], [width, height]);
            for (at, text) in canvas.texts.iter().enumerate() {
                prop_assert!(picture.holds(text), "{width}: {text:?}");
                let mut taken = canvas.texts[..at].iter().chain(&canvas.shapes);
                let covered = taken.find(|other| text.overlaps(other));
                prop_assert!(covered.is_none(), "{width}: {text:?} on {covered:?}");
            }
        }
        Ok(())
    }

    fn axis() -> impl Strategy<Value = Axis> {
        let label = "time over ROP-based blending of all the fragments of a frame, logarithmic";
        select(vec![Axis::linear("times"), Axis::log(label), Axis::share("lanes that blend")])
    }

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![8 => 0.0..1.0, 3 => 0.0..3000.0, 1 => Just(f64::NAN), 1 => Just(0.0), 1 => Just(84_243.0)]
    }

    fn bar() -> impl Strategy<Value = Option<BarValue>> {
        let bars = (value(), any::<[bool; 3]>()).prop_map(
            |(value, [has_band, is_published, has_most])| BarValue {
                value,
                band: has_band.then_some([0.8 * value, 1.2 * value]),
                is_published,
                most: has_most.then_some(1.5 * value).filter(|most| most.is_finite()),
            },
        );
        prop::option::weighted(0.9, bars)
    }

    /// A value as the axis shows it: shares are at most 100 %.
    fn shown(axis: &Axis, value: f64) -> f64 {
        if axis.is_share { value.min(1.0) } else { value }
    }

    fn bars_of(axis: &Axis, bars: &[Option<BarValue>]) -> Vec<Option<BarValue>> {
        let shown = |bar: &BarValue| BarValue {
            value: shown(axis, bar.value),
            band: bar.band.map(|band| band.map(|end| shown(axis, end))),
            most: bar.most.map(|most| shown(axis, most)),
            ..*bar
        };
        bars.iter().map(|bar| bar.as_ref().map(shown)).collect()
    }

    fn marks() -> impl Strategy<Value = Vec<AxisMark>> {
        let labels = select(vec![
            "",
            "baseline",
            "below 40 % in all scenes",
            "means of all scenes of the paper above 1.5",
        ]);
        let mark = (0.0..2.0, labels, any::<[bool; 2]>());
        let mark = mark.prop_map(|(value, label, [is_published, is_left])| AxisMark {
            value,
            label: label.to_owned(),
            is_published,
            is_left,
        });
        prop::collection::vec(mark, 0..4)
    }

    /// Names of 0 to 39 characters.
    fn name() -> impl Strategy<Value = String> {
        "[a-z0-9:+ ]{0,39}|[a-z]{1,6}|山{1,20}"
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_of_bars_is_covered(
            (axis, marks, is_stacked) in (axis(), marks(), any::<bool>()),
            series in prop::collection::vec(name(), 1..6),
            names in prop::collection::vec(name(), 1..130),
            values in prop::collection::vec(bar(), 650),
        ) {
            let groups = names.iter().enumerate().map(|(at, name)| Group {
                label: name.clone(),
                bars: bars_of(&axis, &values[5 * at..5 * at + series.len()]),
            });
            let names: Vec<&str> = series.iter().map(String::as_str).collect();
            let chart = BarChart { marks, is_stacked, ..BarChart::new("chart", axis.clone(), &names, groups) };
            check(|canvas| chart.paint(canvas))?;
        }

        #[test]
        fn no_text_of_lines_is_covered(
            (x, y, marks) in (axis(), axis(), marks()),
            series in prop::collection::vec((name(), prop::collection::vec(value(), 1..40)), 1..6),
            names in prop::collection::vec(name(), 0..130),
            kind in select(vec![LineKind::Line, LineKind::Points, LineKind::Steps]),
        ) {
            let series = series.iter().zip(0..).map(|((name, values), colour)| {
                let points = values.iter().zip(1..).map(|(value, at)| [f64::from(at), shown(&y, *value)]);
                LineSeries::ours(name.clone(), colour, points, kind)
            });
            let labels = names.iter().zip(1..).map(|(name, at)| (f64::from(at), name.clone()));
            let chart = LineChart {
                marks,
                ..LineChart::new("chart", [x, y.clone()], labels.collect(), series)
            };
            check(|canvas| chart.paint(canvas))?;
        }

        #[test]
        fn no_text_of_strips_is_covered(names in prop::collection::vec((name(), name()), 1..20)) {
            let strips = names.into_iter().map(|(heading, name)| {
                (heading, ActivityStrip { name, shares: vec![0.5, 1.0], length: 1.0 })
            });
            let chart = StripChart {
                title: "chart".to_owned(),
                strips: strips.collect(),
                end: "12.3 ms".to_owned(),
            };
            check(|canvas| chart.paint(canvas))?;
        }
    }

    /// Of 120 names on one axis, more than 20 have room and are written, upright.
    #[test]
    fn many_names_are_thinned_out() {
        let groups = (0..120).map(|n| Group::of(format!("view {n}"), [Some(1.0)]));
        let chart = BarChart::new("chart", Axis::linear("times"), &["ours"], groups);
        let names = chart.draw().wide().svg().matches("rotate(-90)").count();
        assert!((20..60).contains(&names), "{names}");
    }
}
