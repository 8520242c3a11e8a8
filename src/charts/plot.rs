//! The area of a plot: its axis, its legend and the lines across it.

use crate::axis::{Axis, Scale};
use crate::canvas::{Canvas, MARGIN};
use crate::labels::{Anchor, Area, Size};
use crate::style::Style;
use crate::{AxisMark, RIGHT, Series};

const LINE: f64 = 15.0;
/// Length of a line's sample in the list below the plot.
const SAMPLE: f64 = 22.0;

fn style(mark: &AxisMark) -> Style {
    Style::Mark { is_published: mark.is_published }
}

pub(crate) struct Plot {
    top: f64,
    left: f64,
    height: f64,
    pub(crate) scale: Scale,
}

impl Plot {
    pub(crate) fn new(canvas: &Canvas, top: f64, scale: Scale) -> Self {
        Self { top, left: canvas.left, height: canvas.look.plot_height, scale }
    }

    /// Draws legend and axis, and leaves `room` between the axis label and the plot.
    pub(crate) fn begin(
        canvas: &mut Canvas,
        series: &[Series],
        has_dots: bool,
        axis: &Axis,
        scale: Scale,
        room: f64,
    ) -> Self {
        let top = MARGIN + canvas.heading(MARGIN);
        let mut baseline = top + canvas.legend(top, series, has_dots) + 13.0;
        let width = canvas.look.width;
        for line in Size::Axis.wrapped(&axis.label, width - 2.0 * MARGIN) {
            canvas.text([MARGIN, baseline], Anchor::Start, Size::Axis, &line);
            baseline += LINE;
        }
        let plot = Self::new(canvas, baseline + room, scale);
        let (left, right) = (plot.left, width - RIGHT);
        for tick in plot.scale.ticks() {
            let y = plot.y(tick);
            canvas.line([left, y], [right, y], Style::Grid);
            let text = plot.scale.text(tick);
            canvas.text([left - 6.0, y + 4.0], Anchor::End, Size::Axis, &text);
        }
        let axis = plot.y(plot.scale.base());
        canvas.line([left, axis], [right, axis], Style::Axis);
        plot
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - self.scale.position(value))
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn draw_lines(&self, canvas: &mut Canvas, marks: &[AxisMark]) {
        for mark in marks {
            let y = self.y(mark.value);
            let [from, to] = [[self.left, y], [canvas.look.width - RIGHT, y]];
            canvas.rules.push(Area::of_line(from, to));
            canvas.line(from, to, style(mark));
        }
    }

    /// Writes the labels of lines beside the lines where there is room, else below the plot from the height `below` on.
    /// Returns the height at which the picture ends.
    pub(crate) fn name_lines(&self, canvas: &mut Canvas, marks: &[AxisMark], below: f64) -> f64 {
        let mut end = below;
        for mark in marks.iter().filter(|mark| !mark.label.is_empty()) {
            if let Some((at, anchor)) = self.free_place(canvas, mark) {
                canvas.text(at, anchor, Size::Line, &mark.label);
                continue;
            }
            let room = canvas.look.width - SAMPLE - 14.0;
            let lines = Size::Line.wrapped(&mark.label, room);
            for (number, line) in lines.iter().enumerate() {
                end += LINE;
                if number == 0 {
                    canvas.line([4.0, end - 1.0], [4.0 + SAMPLE, end - 1.0], style(mark));
                }
                canvas.text([SAMPLE + 10.0, end + 3.0], Anchor::Start, Size::Line, line);
            }
        }
        end + 8.0
    }

    /// Free place for a line's label, above or below the line, as near as possible to its end.
    fn free_place(&self, canvas: &Canvas, mark: &AxisMark) -> Option<([f64; 2], Anchor)> {
        const STEP: f64 = 6.0;
        let (left, width) = (self.left, canvas.look.width);
        let (from, step, anchor) = match mark.is_left {
            true => (left + 4.0, STEP, Anchor::Start),
            false => (width - RIGHT, -STEP, Anchor::End),
        };
        let y = self.y(mark.value);
        let plot = Area::new([left, self.top - LINE], [width, self.bottom()]);
        let places = (0..).map(|n| from + step * f64::from(n));
        let places = places.take_while(|x| (left..=width).contains(x));
        let found = places.flat_map(|x| [[x, y - 4.0], [x, y + 12.0]]).find(|at| {
            let area = Size::Line.area(*at, 0.0, anchor, &mark.label);
            plot.holds(&area) && canvas.is_free(&area)
        });
        found.map(|at| (at, anchor))
    }
}
