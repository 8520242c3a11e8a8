//! A drawing under construction: its elements, and the areas that they occupy.

use crate::element::{Element, Shape};
use crate::labels::{Anchor, Area, Size};
use crate::style::Style;
use crate::{PLOT_HEIGHT, Series, axis::Scale};

const LEGEND_LINE: f64 = 19.0;
/// Margin of a drawing on paper; a page adds its own around charts.
pub(crate) const MARGIN: f64 = 4.0;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Look {
    pub(crate) width: f64,
    pub(crate) plot_height: f64,
    /// Heading above the chart; empty in a page, which has its own.
    pub(crate) heading: String,
}

impl Look {
    pub(crate) fn screen(width: f64) -> Self {
        Self { width, plot_height: PLOT_HEIGHT, heading: String::new() }
    }

    pub(crate) fn paper(width: f64, plot_height: f64, heading: &str) -> Self {
        Self { width, plot_height, heading: heading.to_owned() }
    }
}

pub(crate) struct Canvas {
    pub(crate) look: Look,
    pub(crate) left: f64,
    pub(crate) elements: Vec<Element>,
    pub(crate) texts: Vec<Area>,
    /// Bars, dots and curves, which no text may cover.
    pub(crate) shapes: Vec<Area>,
    /// Lines across the plot, which only values may cross.
    pub(crate) rules: Vec<Area>,
}

impl Canvas {
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            left: MARGIN,
            elements: Vec::new(),
            texts: Vec::new(),
            shapes: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Fits the left margin to the axis labels.
    pub(crate) fn fit_left(&mut self, scale: &Scale) {
        let texts = scale.ticks().into_iter().map(|tick| scale.text(tick));
        let widths = texts.map(|text| Size::Axis.width(&text));
        self.left = widths.fold(0.0, f64::max) + 6.0 + MARGIN;
    }

    pub(crate) fn text(&mut self, at: [f64; 2], anchor: Anchor, size: Size, text: &str) {
        self.turned_text(at, 0.0, anchor, size, text);
    }

    pub(crate) fn turned_text(
        &mut self,
        at: [f64; 2],
        angle: f64,
        anchor: Anchor,
        size: Size,
        text: &str,
    ) {
        self.texts.push(size.area(at, angle, anchor, text));
        self.elements.push(Element::Text { at, angle, anchor, size, text: text.to_owned() });
    }

    pub(crate) fn rect(&mut self, [x, y]: [f64; 2], size: [f64; 2], style: Style, title: &str) {
        let size = size.map(|side| side.max(0.0));
        self.shapes.push(Area::new([x, y], [x + size[0], y + size[1]]));
        self.elements.push(Element::Rect { at: [x, y], size, style, title: title.to_owned() });
    }

    /// Draws a rectangle that texts may cover.
    pub(crate) fn shade(&mut self, at: [f64; 2], size: [f64; 2], style: Style) {
        self.elements.push(Element::Shade { at, size, style });
    }

    pub(crate) fn dot(&mut self, [x, y]: [f64; 2], radius: f64, style: Style, title: &str) {
        let corner = |sign: f64| [x + sign * radius, y + sign * radius];
        self.shapes.push(Area::new(corner(-1.0), corner(1.0)));
        let shape = match style {
            Style::Fill(series) => Shape::of(series.number),
            _ => Shape::of(0),
        };
        self.elements.push(Element::Dot {
            at: [x, y],
            radius,
            shape,
            style,
            title: title.to_owned(),
        });
    }

    /// Draws a line that texts may cross, such as a grid line.
    pub(crate) fn line(&mut self, from: [f64; 2], to: [f64; 2], style: Style) {
        self.elements.push(Element::Line { from, to, style });
    }

    /// Draws a line that no text may cover.
    pub(crate) fn stroke(&mut self, from: [f64; 2], to: [f64; 2], style: Style) {
        self.shapes.push(Area::of_line(from, to));
        self.line(from, to, style);
    }

    pub(crate) fn polyline(&mut self, points: Vec<[f64; 2]>, style: Style) {
        for pair in points.windows(2) {
            self.shapes.push(Area::of_line(pair[0], pair[1]));
        }
        self.elements.push(Element::Polyline { points, style });
    }

    pub(crate) fn band(&mut self, x: f64, [low, high]: [f64; 2], style: Style) {
        const END: f64 = 4.0;
        self.stroke([x, low], [x, high], style);
        for y in [low, high] {
            self.stroke([x - END, y], [x + END, y], style);
        }
    }

    /// Whether an area is within the picture's sides and free of text and shapes.
    pub(crate) fn is_free(&self, area: &Area) -> bool {
        let mut taken = self.texts.iter().chain(self.shapes.iter().chain(&self.rules));
        area.is_within(self.look.width) && !taken.any(|other| area.overlaps(other))
    }

    /// Writes the heading, if any, at `top`; returns its height.
    pub(crate) fn heading(&mut self, top: f64) -> f64 {
        const LINE: f64 = 17.0;
        const GAP: f64 = 5.0;
        let lines = Size::Heading.wrapped(&self.look.heading, self.look.width - 2.0 * MARGIN);
        let mut y = top;
        for line in &lines {
            y += LINE;
            self.text([MARGIN, y - 4.0], Anchor::Start, Size::Heading, line);
        }
        let gap = if lines.is_empty() { 0.0 } else { GAP };
        y + gap - top
    }

    /// Writes the legend of all named series at `top`, unless there is only one series; returns its height. The legend
    /// of series with dots has dots.
    pub(crate) fn legend(&mut self, top: f64, series: &[Series], has_dots: bool) -> f64 {
        const SWATCH: f64 = 11.0;
        const GAP: f64 = 16.0;
        let named: Vec<&Series> = series.iter().filter(|s| !s.name.is_empty()).collect();
        if named.len() < 2 {
            return 0.0;
        }
        let (left, right) = (self.left, self.look.width);
        let (mut x, mut y) = (left, top);
        for one in named {
            let name = Size::Text.abridged(&one.name, right - left - SWATCH - 8.0);
            let width = SWATCH + 5.0 + Size::Text.width(&name) + GAP;
            if x + width - GAP > right && x > left {
                (x, y) = (left, y + LEGEND_LINE);
            }
            let style = Style::Fill(one.colour());
            match has_dots {
                true => self.dot([x + SWATCH / 2.0, y + 8.5], 4.5, style, &one.name),
                false => self.rect([x, y + 3.0], [SWATCH, SWATCH], style, &one.name),
            }
            self.text([x + SWATCH + 5.0, y + 13.0], Anchor::Start, Size::Text, &name);
            x += width;
        }
        y + LEGEND_LINE + 4.0 - top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_wrap() {
        let series: Vec<_> = (0..9).map(|n| Series::ours(format!("a series of {n}"), n)).collect();
        let mut canvas = Canvas::new(Look::screen(520.0));
        let height = canvas.legend(0.0, &series, false);
        assert!(height > 2.0 * LEGEND_LINE, "{height}");
        let is_rect = |e: &&Element| matches!(e, Element::Rect { .. });
        assert_eq!(canvas.elements.iter().filter(is_rect).count(), 9);
        let one = [Series::ours("alone", 0)];
        let mut canvas = Canvas::new(Look::screen(520.0));
        assert_eq!(canvas.legend(0.0, &one, false), 0.0);
    }
}
