//! The area of a plot: its axis, its legend and the lines across it.

use super::axis::{Axis, Scale};
use super::canvas::Canvas;
use super::labels::{Anchor, Area, Size, wrapped};
use super::{LEFT, Mark, PLOT_HEIGHT, RIGHT, Series};

/// Distance of the lines of a text.
const LINE: f64 = 15.0;
/// Length of the sample of a line that is explained below the plot.
const SAMPLE: f64 = 22.0;

/// Class of a line across the plot.
fn class(mark: &Mark) -> &'static str {
    match mark.is_published {
        true => "mark pub",
        false => "mark",
    }
}

/// The area of a plot with its vertical axis.
pub(super) struct Plot {
    top: f64,
    pub(super) scale: Scale,
}

impl Plot {
    /// A plot whose area begins at the height `top`.
    pub(super) fn new(top: f64, scale: Scale) -> Self {
        Self { top, scale }
    }

    /// Draws the legend and the axis with its ticks and its label, and leaves `room` between the label and the plot.
    pub(super) fn begin(
        canvas: &mut Canvas,
        series: &[Series],
        axis: &Axis,
        scale: Scale,
        room: f64,
    ) -> Self {
        const MARGIN: f64 = 4.0;
        let mut baseline = MARGIN + canvas.legend(MARGIN, series) + 13.0;
        for line in wrapped(&axis.label, Size::Axis, canvas.width - 2.0 * MARGIN) {
            canvas.text([MARGIN, baseline], Anchor::Start, Size::Axis, &line);
            baseline += LINE;
        }
        let plot = Self::new(baseline + room, scale);
        let right = canvas.width - RIGHT;
        for tick in plot.scale.ticks() {
            let y = plot.y(tick);
            canvas.line([LEFT, y], [right, y], "grid");
            let text = plot.scale.text(tick);
            canvas.text([LEFT - 6.0, y + 4.0], Anchor::End, Size::Axis, &text);
        }
        canvas.line([LEFT, plot.bottom()], [right, plot.bottom()], "axis");
        plot
    }

    /// Height of a value.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.top + PLOT_HEIGHT * (1.0 - self.scale.position(value))
    }

    /// Height of the horizontal axis.
    pub(super) fn bottom(&self) -> f64 {
        self.top + PLOT_HEIGHT
    }

    /// Draws lines across the plot.
    pub(super) fn draw_lines(&self, canvas: &mut Canvas, marks: &[Mark]) {
        for mark in marks {
            let y = self.y(mark.value);
            let [from, to] = [[LEFT, y], [canvas.width - RIGHT, y]];
            canvas.rules.push(Area::of_line(from, to));
            canvas.line(from, to, class(mark));
        }
    }

    /// Writes the labels of lines beside them, where these cover nothing, or else below the plot, from the height
    /// `below`. Returns the height at which the picture ends.
    pub(super) fn name_lines(&self, canvas: &mut Canvas, marks: &[Mark], below: f64) -> f64 {
        let mut end = below;
        for mark in marks.iter().filter(|mark| !mark.label.is_empty()) {
            if let Some((at, anchor)) = self.free_place(canvas, mark) {
                canvas.text(at, anchor, Size::Line, &mark.label);
                continue;
            }
            let lines = wrapped(&mark.label, Size::Line, canvas.width - SAMPLE - 14.0);
            for (number, line) in lines.iter().enumerate() {
                end += LINE;
                if number == 0 {
                    canvas.line([4.0, end - 1.0], [4.0 + SAMPLE, end - 1.0], class(mark));
                }
                canvas.text([SAMPLE + 10.0, end + 3.0], Anchor::Start, Size::Line, line);
            }
        }
        end + 8.0
    }

    /// A place for the label of a line, above or below it, as near as possible to its end.
    fn free_place(&self, canvas: &Canvas, mark: &Mark) -> Option<([f64; 2], Anchor)> {
        const STEP: f64 = 6.0;
        let (from, step, anchor) = match mark.is_left {
            true => (LEFT + 4.0, STEP, Anchor::Start),
            false => (canvas.width - RIGHT, -STEP, Anchor::End),
        };
        let y = self.y(mark.value);
        let plot = Area::new([LEFT, self.top - LINE], [canvas.width, self.bottom()]);
        let places = (0..).map(|n| from + step * f64::from(n));
        let places = places.take_while(|x| (LEFT..=canvas.width).contains(x));
        let mut places = places.flat_map(|x| [[x, y - 4.0], [x, y + 12.0]]);
        let found = places.find(|at| {
            let area = Area::of_text(*at, 0.0, anchor, Size::Line, &mark.label);
            plot.holds(&area) && canvas.is_free(&area)
        });
        found.map(|at| (at, anchor))
    }
}
