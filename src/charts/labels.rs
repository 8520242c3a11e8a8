//! Placement of texts: their sizes, and the areas that they cover.

use crate::font;
use crate::style::{Rgb, light};

pub(crate) const TEXT_SIZE: f64 = 13.0;
/// Extent above and below the baseline, in text sizes.
pub(crate) const ABOVE: f64 = 0.9;
pub(crate) const BELOW: f64 = 0.24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// Share of the text before its anchor point.
    pub(crate) fn share(self) -> f64 {
        match self {
            Self::Start => 0.0,
            Self::Middle => 0.5,
            Self::End => 1.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Text,
    Axis,
    Value,
    Line,
    Gap,
    Heading,
    Cell { is_dark: bool },
}

impl Size {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Text | Self::Heading => "t",
            Self::Axis => "m",
            Self::Value | Self::Cell { .. } => "v",
            Self::Line => "l",
            Self::Gap => "gap",
        }
    }

    /// Text size in units of the drawing, which are pixels in a page; the same as in the style sheet.
    pub(crate) fn pixels(self) -> f64 {
        match self {
            Self::Heading => 14.0,
            Self::Text | Self::Gap => TEXT_SIZE,
            Self::Axis => 12.5,
            Self::Value | Self::Cell { .. } => 11.5,
            Self::Line => 12.0,
        }
    }

    /// Colour in a file, and width of the halo if the text may cross lines.
    pub(crate) fn paint(self) -> (Rgb, Option<f64>) {
        match self {
            Self::Text | Self::Heading | Self::Cell { is_dark: false } => (light("ink"), None),
            Self::Axis => (light("muted"), None),
            Self::Value => (light("ink"), Some(3.0)),
            Self::Line => (light("ink"), Some(4.0)),
            Self::Gap => (light("bad"), None),
            Self::Cell { is_dark: true } => (light("ground"), None),
        }
    }

    pub(crate) fn width(self, text: &str) -> f64 {
        font::width(text) * self.pixels()
    }

    /// Returns the text, or its beginning with an ellipsis if it is wider than `width`.
    pub(crate) fn abridged(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut kept: String = text.to_owned();
        while kept.pop().is_some() {
            let short = format!("{}…", kept.trim_end());
            if self.width(&short) <= width {
                return short;
            }
        }
        kept
    }

    /// Returns lines of whole words up to `width` wide, where possible.
    pub(crate) fn wrapped(self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let word = self.abridged(word, width);
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}")) <= width => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines
    }

    pub(crate) fn area(self, [x, y]: [f64; 2], angle: f64, anchor: Anchor, text: &str) -> Area {
        let width = self.width(text);
        let left = -anchor.share() * width;
        let [top, bottom] = [-ABOVE, BELOW].map(|part| part * self.pixels());
        let (sin, cos) = angle.to_radians().sin_cos();
        let upright = Area::new([left, top], [left + width, bottom]);
        Area(upright.0.map(|[u, v]| [x + u * cos - v * sin, y + u * sin + v * cos]))
    }
}

/// Rotated rectangle: its corners in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area([[f64; 2]; 4]);

impl Area {
    pub(crate) fn new([left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> Self {
        Self([[left, top], [right, top], [right, bottom], [left, bottom]])
    }

    pub(crate) fn of_line(from: [f64; 2], to: [f64; 2]) -> Self {
        Self([from, to, to, from])
    }

    fn range(&self, direction: [f64; 2]) -> [f64; 2] {
        let along = self.0.map(|[x, y]| x.mul_add(direction[0], y * direction[1]));
        [
            along.into_iter().fold(f64::INFINITY, f64::min),
            along.into_iter().fold(f64::NEG_INFINITY, f64::max),
        ]
    }

    /// Whether two areas overlap, by the separating axis theorem.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        const TOUCH: f64 = 1e-6;
        let sides = [self, other].into_iter().flat_map(|area| {
            let [a, b, _, d] = area.0;
            [b, d].map(|end| [a[1] - end[1], end[0] - a[0]])
        });
        // A line has only one side of nonzero length, and can be separated along it too.
        let sides = sides.filter(|[x, y]| x.hypot(*y) > TOUCH);
        sides.flat_map(|[x, y]| [[x, y], [-y, x]]).all(|direction| {
            let [low, high] = self.range(direction);
            let [other_low, other_high] = other.range(direction);
            low + TOUCH < other_high && other_low + TOUCH < high
        })
    }

    pub(crate) fn holds(&self, other: &Self) -> bool {
        [[1.0, 0.0], [0.0, 1.0]].into_iter().all(|direction| {
            let [low, high] = self.range(direction);
            let [other_low, other_high] = other.range(direction);
            low <= other_low && other_high <= high
        })
    }

    pub(crate) fn is_within(&self, width: f64) -> bool {
        let [left, right] = self.range([1.0, 0.0]);
        left >= 0.0 && right <= width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.range([0.0, 1.0])[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_texts_overlap_by_their_corners() {
        let slanted = |x| Size::Text.area([x, 0.0], -35.0, Anchor::End, "a label");
        assert!(slanted(0.0).overlaps(&slanted(20.0)));
        assert!(!slanted(0.0).overlaps(&slanted(27.0)));
        // The upright boxes around them overlap, and a bar above both does not.
        assert!(!slanted(27.0).overlaps(&Area::new([-30.0, -40.0], [-1.0, -12.0])));
        let line = Area::of_line([-20.0, 20.0], [20.0, -20.0]);
        let on = Area::new([-1.0, -1.0], [1.0, 1.0]);
        let beside = Area::new([5.0, 5.0], [10.0, 10.0]);
        assert!(line.overlaps(&on) && on.overlaps(&line));
        assert!(!line.overlaps(&beside) && !beside.overlaps(&line));
    }

    #[test]
    fn long_texts_are_wrapped_or_abridged() {
        let width = Size::Text.width("0123456789");
        assert_eq!(Size::Text.wrapped("one two three", width), ["one two", "three"]);
        assert_eq!(Size::Text.abridged("0123456789", width), "0123456789");
        assert_eq!(Size::Text.abridged("0123456789abc", width), "01234567…");
        assert_eq!(Size::Text.abridged("0123", 0.0), "");
    }
}
