//! Charts as SVG: bars, lines, points, histograms and strips, on linear and logarithmic axes.
//!
//! Charts carry no colours of their own: elements have classes (`s0` to `s7` for series, `pub` for published
//! numbers) that the style sheet of the page fills, in light and in dark. They have one width, at
//! which their text is readable, and scale down by a third at most on a narrow screen.

mod axis;
mod bars;
mod lines;
mod strips;

use std::fmt::Write;

pub(crate) use axis::{Axis, measured, number};
pub(crate) use bars::{BarChart, BarValue, Group};
pub(crate) use lines::{LineChart, LineKind, LineSeries};
pub(crate) use strips::{Strip, StripChart};

/// Width of every chart in its own units, which are pixels where there is room.
const WIDTH: f64 = 520.0;
/// Height of the area of the plot.
const PLOT_HEIGHT: f64 = 190.0;
/// Room to the left of the plot, for the labels of the axis.
const LEFT: f64 = 50.0;
/// Room to the right of the plot.
const RIGHT: f64 = 10.0;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 19.0;
/// Mean width of a character of the chart's text, whose size is 13, or 15 on a narrow screen.
const CHARACTER: f64 = 7.7;
/// Number of colours of series.
const COLOURS: usize = 8;

/// Name and colour of a series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Name in the legend.
    pub(crate) name: String,
    /// Number of the colour.
    pub(crate) colour: usize,
    /// Whether its values are published ones.
    pub(crate) is_published: bool,
}

impl Series {
    /// Our values, in the colour of this number.
    pub(crate) fn ours(name: impl Into<String>, colour: usize) -> Self {
        Self {
            name: name.into(),
            colour,
            is_published: false,
        }
    }

    fn class(&self) -> String {
        class(self.colour, self.is_published)
    }
}

/// Classes of an element of a series.
fn class(colour: usize, is_published: bool) -> String {
    let colour = colour % COLOURS;
    if is_published {
        format!("s{colour} pub")
    } else {
        format!("s{colour}")
    }
}

/// A value of the vertical axis with a line across the plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// The value.
    pub(crate) value: f64,
    /// Text above the line.
    pub(crate) label: String,
    /// Whether the value is published.
    pub(crate) is_published: bool,
    /// Whether the text stands at the left end of the line.
    pub(crate) is_left: bool,
}

impl Mark {
    /// A line at a published value.
    pub(crate) fn published(value: Option<f64>, label: &str) -> Option<Self> {
        let label = format!("published: {label}");
        value.map(|value| Self {
            value,
            label,
            is_published: true,
            is_left: false,
        })
    }

    /// A line at another value.
    pub(crate) fn at(value: f64, label: &str) -> Self {
        Self {
            value,
            label: label.to_owned(),
            is_published: false,
            is_left: false,
        }
    }
}

/// Replaces the characters that have a meaning in SVG and HTML, and leaves out control characters, which neither
/// may contain.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            // XML has no place for these, not even as references.
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Width of a text in the chart's own units, roughly.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Position of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture in the making.
struct Canvas {
    body: String,
}

impl Canvas {
    fn new() -> Self {
        Self {
            body: String::new(),
        }
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        let _ = write!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    /// Draws text rotated by -35 degrees, right-aligned at the point.
    fn slanted_text(&mut self, [x, y]: [f64; 2], class: &str, text: &str) {
        let text = escaped(text);
        let _ = write!(
            self.body,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-35)\" text-anchor=\"end\" class=\"{class}\">{text}</text>"
        );
    }

    /// Draws a rectangle with a text that browsers show beside the pointer.
    fn rect(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], class: &str, title: &str) {
        let (width, height, title) = (width.max(0.0), height.max(0.0), escaped(title));
        let _ = write!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"{class}\"><title>{title}</title></rect>"
        );
    }

    /// Draws a rectangle of this opacity.
    fn shade(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], class: &str, opacity: f64) {
        let _ = write!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" class=\"{class}\" fill-opacity=\"{opacity:.2}\"/>"
        );
    }

    fn circle(&mut self, [x, y]: [f64; 2], radius: f64, class: &str, title: &str) {
        let title = escaped(title);
        let _ = write!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" class=\"{class}\"><title>{title}</title></circle>"
        );
    }

    fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], class: &str) {
        let _ = write!(
            self.body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        );
    }

    fn polyline(&mut self, points: &[[f64; 2]], class: &str) {
        let points: Vec<_> = points
            .iter()
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        let _ = write!(
            self.body,
            "<polyline points=\"{points}\" class=\"{class}\"/>"
        );
    }

    /// Writes the legend of all named series at the height `top`, unless there is only one series; returns
    /// the height of the legend.
    fn legend(&mut self, top: f64, series: &[Series]) -> f64 {
        const SWATCH: f64 = 11.0;
        const GAP: f64 = 16.0;
        let named: Vec<&Series> = series.iter().filter(|s| !s.name.is_empty()).collect();
        if named.len() < 2 {
            return 0.0;
        }
        let (mut x, mut y) = (LEFT, top);
        for one in named {
            let width = SWATCH + 5.0 + text_width(&one.name) + GAP;
            if x + width - GAP > WIDTH && x > LEFT {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            self.rect(
                [x, y + 3.0],
                [SWATCH, SWATCH],
                &format!("fill {}", one.class()),
                &one.name,
            );
            self.text([x + SWATCH + 5.0, y + 13.0], Anchor::Start, "t", &one.name);
            x += width;
        }
        y + LEGEND_LINE + 4.0 - top
    }

    fn finish(self, title: &str, height: f64) -> String {
        let (title, body) = (escaped(title), self.body);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">{body}</svg>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let hostile = "<script>alert(\"x\" & 'y')</script>\u{0}\u{1b}\n]]>";
        assert_eq!(
            escaped(hostile),
            "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt; ]]&gt;"
        );
    }

    #[test]
    fn legends_wrap() {
        let series: Vec<_> = (0..9)
            .map(|n| Series::ours(format!("a series of {n}"), n))
            .collect();
        let mut canvas = Canvas::new();
        let height = canvas.legend(0.0, &series);
        assert!(height > 2.0 * LEGEND_LINE, "{height}");
        assert_eq!(canvas.body.matches("<rect").count(), 9);
        let one = [Series::ours("alone", 0)];
        assert_eq!(Canvas::new().legend(0.0, &one), 0.0);
    }
}
