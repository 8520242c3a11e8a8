//! Places of texts: their sizes, and what they cover.

/// Mean width of a character over the size of its text: an upper bound of common sans-serif fonts.
const WIDTH_OF_ASCII: f64 = 0.62;
/// Width of the widest characters, such as `%`, and of those beyond ASCII, which may be ideographs.
const WIDEST: f64 = 1.0;
/// Parts of the size of a text above and below its baseline.
pub(super) const ABOVE: f64 = 0.9;
pub(super) const BELOW: f64 = 0.24;

/// Position of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Kind of a text, which decides its size and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// Names of groups and series.
    Text,
    /// Axes.
    Axis,
    /// Values above bars.
    Value,
    /// Lines across the plot.
    Line,
    /// The cross of a missing bar.
    Gap,
}

impl Size {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Text => "t",
            Self::Axis => "m",
            Self::Value => "v",
            Self::Line => "l",
            Self::Gap => "gap",
        }
    }

    /// Size in pixels, as the style sheet of charts has it.
    pub(super) fn pixels(self) -> f64 {
        match self {
            Self::Text | Self::Gap => 13.0,
            Self::Axis => 12.5,
            Self::Value => 11.5,
            Self::Line => 12.0,
        }
    }
}

/// Width of a text in pixels, estimated from above.
pub(super) fn text_width(text: &str, size: Size) -> f64 {
    let widths = text.chars().map(|c| match c {
        '%' | '@' | 'm' | 'w' | 'M' | 'W' => WIDEST,
        c if c.is_ascii() => WIDTH_OF_ASCII,
        _ => WIDEST,
    });
    widths.sum::<f64>() * size.pixels()
}

/// The text, or its beginning with an ellipsis if it is wider than `width`.
pub(super) fn abridged(text: &str, size: Size, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut kept: String = text.to_owned();
    while kept.pop().is_some() {
        let short = format!("{}…", kept.trim_end());
        if text_width(&short, size) <= width {
            return short;
        }
    }
    kept
}

/// Lines of whole words that are at most `width` wide, where words allow it.
pub(super) fn wrapped(text: &str, size: Size, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = abridged(word, size, width);
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// A rectangle in any direction: its corners in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area([[f64; 2]; 4]);

impl Area {
    /// An upright rectangle.
    pub(super) fn new([left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> Self {
        Self([[left, top], [right, top], [right, bottom], [left, bottom]])
    }

    /// The place of a line.
    pub(super) fn of_line(from: [f64; 2], to: [f64; 2]) -> Self {
        Self([from, to, to, from])
    }

    /// The place of a text that is turned about its point by an angle in degrees.
    pub(super) fn of_text(
        [x, y]: [f64; 2],
        angle: f64,
        anchor: Anchor,
        size: Size,
        text: &str,
    ) -> Self {
        let width = text_width(text, size);
        let left = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let [top, bottom] = [-ABOVE, BELOW].map(|part| part * size.pixels());
        let (sin, cos) = angle.to_radians().sin_cos();
        let upright = Self::new([left, top], [left + width, bottom]);
        Self(
            upright
                .0
                .map(|[u, v]| [x + u * cos - v * sin, y + u * sin + v * cos]),
        )
    }

    fn range(&self, direction: [f64; 2]) -> [f64; 2] {
        let along = self
            .0
            .map(|[x, y]| x.mul_add(direction[0], y * direction[1]));
        [
            along.into_iter().fold(f64::INFINITY, f64::min),
            along.into_iter().fold(f64::NEG_INFINITY, f64::max),
        ]
    }

    /// Whether two places have an area in common: no side of either separates them.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        const TOUCH: f64 = 1e-6;
        let sides = [self, other].into_iter().flat_map(|area| {
            let [a, b, _, d] = area.0;
            [b, d].map(|end| [a[1] - end[1], end[0] - a[0]])
        });
        // A line has no second side, and separates along itself too.
        let sides = sides.filter(|[x, y]| x.hypot(*y) > TOUCH);
        sides.flat_map(|[x, y]| [[x, y], [-y, x]]).all(|direction| {
            let [low, high] = self.range(direction);
            let [other_low, other_high] = other.range(direction);
            low + TOUCH < other_high && other_low + TOUCH < high
        })
    }

    /// Whether an upright rectangle holds all of another place.
    pub(super) fn holds(&self, other: &Self) -> bool {
        [[1.0, 0.0], [0.0, 1.0]].into_iter().all(|direction| {
            let [low, high] = self.range(direction);
            let [other_low, other_high] = other.range(direction);
            low <= other_low && other_high <= high
        })
    }

    /// Whether it lies between the left and the right side of a picture of this width.
    pub(super) fn is_within(&self, width: f64) -> bool {
        let [left, right] = self.range([1.0, 0.0]);
        left >= 0.0 && right <= width
    }

    /// Height of its lowest corner.
    pub(super) fn bottom(&self) -> f64 {
        self.range([0.0, 1.0])[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_texts_overlap_by_their_corners() {
        let slanted = |x| Area::of_text([x, 0.0], -35.0, Anchor::End, Size::Text, "a label");
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
        let width = text_width("0123456789", Size::Text);
        assert_eq!(
            wrapped("one two three", Size::Text, width),
            ["one two", "three"]
        );
        assert_eq!(abridged("0123456789", Size::Text, width), "0123456789");
        assert_eq!(abridged("0123456789abc", Size::Text, width), "01234567…");
        assert_eq!(abridged("0123", Size::Text, 0.0), "");
    }
}
