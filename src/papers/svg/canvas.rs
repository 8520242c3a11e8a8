//! A picture in the making, and the places in it that are taken.

use std::fmt::Write;

use super::labels::{Anchor, Area, Size, abridged, text_width};
use super::{LEFT, Series, style};

/// Widths in pixels of the drawings for wide and for narrow screens.
pub(super) const WIDTHS: [f64; 2] = [520.0, 320.0];
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 19.0;

/// A chart as drawn for wide and for narrow screens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Svg {
    title: String,
    /// Width, height and elements of each drawing.
    drawings: [(f64, f64, String); 2],
}

impl Svg {
    /// Draws a chart at both widths. `paint` draws it and returns its height.
    pub(super) fn draw(title: &str, paint: impl Fn(&mut Canvas) -> f64) -> Self {
        let drawings = WIDTHS.map(|width| {
            let mut canvas = Canvas::new(width);
            let height = paint(&mut canvas);
            (width, height, canvas.body)
        });
        Self {
            title: title.to_owned(),
            drawings,
        }
    }

    /// Both drawings for a page, whose style sheet shows one of them.
    pub(crate) fn inline(&self) -> String {
        let classes = ["wide", "narrow"].map(|class| format!("class=\"{class}\""));
        let drawings = self.drawings.iter().zip(&classes);
        drawings
            .map(|(drawing, class)| self.element(drawing, class, ""))
            .collect()
    }

    /// The wide drawing as a file with colours and fonts of its own.
    pub(crate) fn file(&self) -> String {
        let head = format!(
            "<style>{}</style><rect width=\"100%\" height=\"100%\" class=\"paper\"/>",
            style::of_file()
        );
        let namespace = "xmlns=\"http://www.w3.org/2000/svg\"";
        self.element(&self.drawings[0], namespace, &head) + "\n"
    }

    fn element(
        &self,
        (width, height, body): &(f64, f64, String),
        attributes: &str,
        head: &str,
    ) -> String {
        let title = escaped(&self.title);
        format!(
            "<svg {attributes} viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">{head}{body}</svg>"
        )
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

/// A picture in the making.
pub(super) struct Canvas {
    pub(super) width: f64,
    body: String,
    /// Places of texts.
    pub(super) texts: Vec<Area>,
    /// Places of bars, dots and curves, which no text may cover.
    pub(super) shapes: Vec<Area>,
    /// Places of lines across the plot, which only values may cross.
    pub(super) rules: Vec<Area>,
}

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self {
            width,
            body: String::new(),
            texts: Vec::new(),
            shapes: Vec::new(),
            rules: Vec::new(),
        }
    }

    pub(super) fn text(&mut self, at: [f64; 2], anchor: Anchor, size: Size, text: &str) {
        self.turned_text(at, 0.0, anchor, size, text);
    }

    /// Draws a text turned clockwise about its point by an angle in degrees.
    pub(super) fn turned_text(
        &mut self,
        [x, y]: [f64; 2],
        angle: f64,
        anchor: Anchor,
        size: Size,
        text: &str,
    ) {
        self.texts
            .push(Area::of_text([x, y], angle, anchor, size, text));
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let place = if angle == 0.0 {
            format!("x=\"{x:.1}\" y=\"{y:.1}\"")
        } else {
            format!("transform=\"translate({x:.1} {y:.1}) rotate({angle})\"")
        };
        let (class, text) = (size.class(), escaped(text));
        let _ = write!(
            self.body,
            "<text {place} text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    /// Draws a rectangle with a text that browsers show beside the pointer.
    pub(super) fn rect(
        &mut self,
        [x, y]: [f64; 2],
        [width, height]: [f64; 2],
        class: &str,
        title: &str,
    ) {
        let (width, height, title) = (width.max(0.0), height.max(0.0), escaped(title));
        self.shapes.push(Area::new([x, y], [x + width, y + height]));
        let _ = write!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"{class}\"><title>{title}</title></rect>"
        );
    }

    /// Draws a rectangle of this opacity.
    pub(super) fn shade(
        &mut self,
        [x, y]: [f64; 2],
        [width, height]: [f64; 2],
        class: &str,
        opacity: f64,
    ) {
        let _ = write!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" class=\"{class}\" fill-opacity=\"{opacity:.2}\"/>"
        );
    }

    /// Draws a dot with a text that browsers show beside the pointer.
    pub(super) fn circle(&mut self, [x, y]: [f64; 2], radius: f64, class: &str, title: &str) {
        let title = escaped(title);
        let corner = |sign: f64| [x + sign * radius, y + sign * radius];
        self.shapes.push(Area::new(corner(-1.0), corner(1.0)));
        let _ = write!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" class=\"{class}\"><title>{title}</title></circle>"
        );
    }

    /// Draws a line that texts may cross, such as a line of the grid.
    pub(super) fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], class: &str) {
        let _ = write!(
            self.body,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>"
        );
    }

    /// Draws a line that no text may cover.
    pub(super) fn stroke(&mut self, from: [f64; 2], to: [f64; 2], class: &str) {
        self.shapes.push(Area::of_line(from, to));
        self.line(from, to, class);
    }

    pub(super) fn polyline(&mut self, points: &[[f64; 2]], class: &str) {
        for pair in points.windows(2) {
            self.shapes.push(Area::of_line(pair[0], pair[1]));
        }
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

    /// Whether a place lies within the picture's sides and covers neither text nor shape.
    pub(super) fn is_free(&self, area: &Area) -> bool {
        let shapes = self.shapes.iter().chain(&self.rules);
        let mut taken = self.texts.iter().chain(shapes);
        area.is_within(self.width) && !taken.any(|other| area.overlaps(other))
    }

    /// Writes the legend of all named series at the height `top`, unless there is only one series; returns
    /// the height of the legend.
    pub(super) fn legend(&mut self, top: f64, series: &[Series]) -> f64 {
        const SWATCH: f64 = 11.0;
        const GAP: f64 = 16.0;
        let named: Vec<&Series> = series.iter().filter(|s| !s.name.is_empty()).collect();
        if named.len() < 2 {
            return 0.0;
        }
        let (mut x, mut y) = (LEFT, top);
        for one in named {
            let name = abridged(&one.name, Size::Text, self.width - LEFT - SWATCH - 8.0);
            let width = SWATCH + 5.0 + text_width(&name, Size::Text) + GAP;
            if x + width - GAP > self.width && x > LEFT {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            self.rect(
                [x, y + 3.0],
                [SWATCH, SWATCH],
                &format!("fill {}", one.class()),
                &one.name,
            );
            self.text(
                [x + SWATCH + 5.0, y + 13.0],
                Anchor::Start,
                Size::Text,
                &name,
            );
            x += width;
        }
        y + LEGEND_LINE + 4.0 - top
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
        let mut canvas = Canvas::new(WIDTHS[0]);
        let height = canvas.legend(0.0, &series);
        assert!(height > 2.0 * LEGEND_LINE, "{height}");
        assert_eq!(canvas.body.matches("<rect").count(), 9);
        let one = [Series::ours("alone", 0)];
        assert_eq!(Canvas::new(WIDTHS[0]).legend(0.0, &one), 0.0);
    }
}
