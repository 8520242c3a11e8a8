//! Heat maps: a value for each pair of two fields, as colour and number.

use crate::RIGHT;
use crate::axis::{Axis, measured};
use crate::canvas::{Canvas, MARGIN};
use crate::drawing::{Drawing, PrintFormat};
use crate::labels::{Anchor, Size};
use crate::style::{Rgb, Style};
use quadrille_base::error::Result;

/// Number of cells of the colour bar.
const BAR_CELLS: u32 = 60;
const BAR: [f64; 2] = [120.0, 9.0];
/// Luma, 0 to 255, below which a cell is dark.
const DARK: f64 = 140.0;
/// Least height of a row whose name is written.
const ROW: f64 = 13.0;
/// Widest name of a row, as a share of the drawing.
const NAMES: f64 = 0.35;

/// A heat map: a coloured cell per column and row.
#[derive(Debug, Clone)]
pub struct HeatChart {
    /// Accessible title (aria-label).
    pub title: String,
    /// Labels of the horizontal and the vertical axis.
    pub axes: [String; 2],
    /// Names of columns, from left to right.
    pub columns: Vec<String>,
    /// Names of rows, from top to bottom, with a value per column; `None` for a value that is missing.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// Scale of the values: its label, and whether it is logarithmic.
    pub values: Axis,
    /// Whether cells are squares, as for positions in a picture.
    pub is_square: bool,
    /// Colour of a position on the scale, 0 to 1.
    pub ramp: fn(f32) -> Rgb,
}

fn is_dark([r, g, b]: Rgb) -> bool {
    // Luma of Rec. 709.
    0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b) < DARK
}

impl HeatChart {
    /// Draws the chart in a print format.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a height without room for the plot.
    pub fn on_paper(&self, format: &PrintFormat) -> Result<Drawing> {
        format.draw(&self.title, |canvas| self.paint(canvas))
    }

    fn ends(&self) -> [f64; 2] {
        let values = self.rows.iter().flat_map(|(_, values)| values);
        let values: Vec<f64> = values
            .flatten()
            .copied()
            .filter(|v| v.is_finite() && (!self.values.is_log || *v > 0.0))
            .collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        [least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }

    #[allow(clippy::cast_possible_truncation, reason = "a position from 0 to 1")]
    fn colour(&self, value: f64, [least, most]: [f64; 2]) -> Rgb {
        let on_scale = |v: f64| if self.values.is_log { v.ln() } else { v };
        let [value, least, most] = [value, least, most].map(on_scale);
        let share = (value - least) / (most - least);
        // A single value gets the colour in the middle.
        let share = if share.is_finite() { share } else { 0.5 };
        (self.ramp)(share.clamp(0.0, 1.0) as f32)
    }

    pub(crate) fn paint(&self, canvas: &mut Canvas) -> f64 {
        let width = canvas.look.width;
        let ends = self.ends();
        let mut top = MARGIN + canvas.heading(MARGIN);
        top = self.explain(canvas, top, ends);
        let across = width - 2.0 * MARGIN;
        for line in Size::Axis.wrapped(&self.axes[1], across) {
            canvas.text([MARGIN, top + 12.0], Anchor::Start, Size::Axis, &line);
            top += 15.0;
        }
        top += 4.0;
        let names = self.rows.iter().map(|(name, _)| name);
        let names = names.map(|name| Size::Axis.width(name));
        let names = names.fold(0.0, f64::max).min(width * NAMES);
        let left = MARGIN + names + 6.0;
        let mut cell = [
            (width - left - RIGHT) / self.columns.len().max(1) as f64,
            canvas.look.plot_height / self.rows.len().max(1) as f64,
        ];
        if self.is_square {
            cell = [cell[0].min(cell[1]); 2];
        }
        let at = |column: usize, row: usize| {
            [left + cell[0] * column as f64, top + cell[1] * row as f64]
        };
        for (row, (name, values)) in self.rows.iter().enumerate() {
            let middle = at(0, row)[1] + cell[1] / 2.0 + 4.0;
            // If rows are lower than a text, only every n-th row has its name.
            if row as f64 % (ROW / cell[1]).ceil().max(1.0) == 0.0 {
                let name = Size::Axis.abridged(name, names);
                canvas.text([left - 6.0, middle], Anchor::End, Size::Axis, &name);
            }
            for (column, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    let title = format!("{}, {name}: {}", self.columns[column], measured(*value));
                    let style = Style::Cell(self.colour(*value, ends));
                    canvas.rect(at(column, row), cell, style, &title);
                }
            }
        }
        self.write_values(canvas, &at, cell, ends);
        let bottom = top + cell[1] * self.rows.len() as f64;
        let names = self.columns.iter().enumerate();
        let names: Vec<(f64, String)> =
            names.map(|(column, name)| (at(column, 0)[0] + cell[0] / 2.0, name.clone())).collect();
        let mut below = canvas.labels_below(bottom - 4.0, Size::Axis, &names);
        for line in Size::Axis.wrapped(&self.axes[0], across) {
            below += 16.0;
            canvas.text([width / 2.0, below], Anchor::Middle, Size::Axis, &line);
        }
        below + 6.0
    }

    /// Writes the values into their cells, unless one of them does not fit.
    fn write_values(
        &self,
        canvas: &mut Canvas,
        at: &dyn Fn(usize, usize) -> [f64; 2],
        cell: [f64; 2],
        ends: [f64; 2],
    ) {
        let size = |value| Size::Cell { is_dark: is_dark(self.colour(value, ends)) };
        let values = self.rows.iter().enumerate().flat_map(|(row, (_, values))| {
            let numbered = values.iter().enumerate();
            numbered.filter_map(move |(column, value)| Some((column, row, (*value)?)))
        });
        let values: Vec<_> = values.collect();
        let fits = |(_, _, value): &(usize, usize, f64)| {
            let text = size(*value).width(&measured(*value));
            text + 4.0 <= cell[0] && size(*value).pixels() + 2.0 <= cell[1]
        };
        if !values.iter().all(fits) {
            return;
        }
        for (column, row, value) in values {
            let [x, y] = at(column, row);
            let middle = [x + cell[0] / 2.0, y + cell[1] / 2.0 + 4.0];
            canvas.text(middle, Anchor::Middle, size(value), &measured(value));
        }
    }

    fn explain(&self, canvas: &mut Canvas, top: f64, ends: [f64; 2]) -> f64 {
        if ends[0] >= ends[1] {
            return top;
        }
        let [least, most] = ends.map(measured);
        let mut x = MARGIN + Size::Axis.width(&least);
        canvas.text([x, top + 11.0], Anchor::End, Size::Axis, &least);
        x += 5.0;
        let cell = BAR[0] / f64::from(BAR_CELLS);
        for number in 0..BAR_CELLS {
            let share = (f64::from(number) + 0.5) / f64::from(BAR_CELLS);
            let value = match self.values.is_log {
                true => ends[0] * (ends[1] / ends[0]).powf(share),
                false => ends[0] + (ends[1] - ends[0]) * share,
            };
            let style = Style::Cell(self.colour(value, ends));
            // Shades are a little wider than a cell, so that no seam shows.
            canvas.shade([x + cell * f64::from(number), top + 2.0], [cell + 0.3, BAR[1]], style);
        }
        x += BAR[0] + 5.0;
        canvas.text([x, top + 11.0], Anchor::Start, Size::Axis, &most);
        x += Size::Axis.width(&most) + 14.0;
        let room = canvas.look.width - x - MARGIN;
        let label = Size::Text.abridged(&self.values.label, room);
        canvas.text([x, top + 11.0], Anchor::Start, Size::Text, &label);
        top + 20.0
    }
}
