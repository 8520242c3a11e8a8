//! Strips: shares over time, one line per unit, as shades of one colour.

use crate::canvas::Canvas;
use crate::drawing::Drawings;
use crate::labels::{Anchor, Size};
use crate::style::Style;

const NAMES: f64 = 84.0;
const HEIGHT: f64 = 14.0;
/// Number of shades between no work and full work.
const SHADES: f64 = 20.0;

/// Activity of a unit over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityStrip {
    /// Name of the unit.
    pub name: String,
    /// Shares of work in windows of equal length, 0 to 1.
    pub shares: Vec<f64>,
    /// Total time of the windows, in a unit that all strips of a chart share.
    pub length: f64,
}

/// Strips below each other, with one scale of time.
#[derive(Debug, Clone, PartialEq)]
pub struct StripChart {
    /// Accessible title (aria-label).
    pub title: String,
    /// Strips with headings: a heading begins a group, an empty one continues the group.
    pub strips: Vec<(String, ActivityStrip)>,
    /// Text at the end of the time axis.
    pub end: String,
}

impl StripChart {
    /// Draws the chart for screens.
    pub fn draw(&self) -> Drawings {
        Drawings::draw(&self.title, |canvas| self.paint(canvas))
    }

    pub(crate) fn paint(&self, canvas: &mut Canvas) -> f64 {
        let longest = self.strips.iter().map(|(_, s)| s.length).fold(f64::MIN_POSITIVE, f64::max);
        let room = canvas.look.width;
        let across = room - NAMES - 6.0;
        let (mut y, mut group) = (4.0, 0);
        for (heading, strip) in &self.strips {
            if !heading.is_empty() {
                group += 1;
                let heading = Size::Text.abridged(heading, room - 8.0);
                canvas.text([4.0, y + 13.0], Anchor::Start, Size::Text, &heading);
                y += 19.0;
            }
            let name = Size::Value.abridged(&strip.name, NAMES - 8.0);
            canvas.text([NAMES - 6.0, y + 11.0], Anchor::End, Size::Value, &name);
            let width = across * strip.length / longest;
            canvas.rect([NAMES, y], [width, HEIGHT - 2.0], Style::Ground, &strip.name);
            for (from, to, opacity) in runs(&strip.shares) {
                let cell = width / strip.shares.len() as f64;
                let at = [NAMES + cell * from as f64, y];
                let size = [cell * (to - from) as f64, HEIGHT - 2.0];
                canvas.shade(at, size, Style::Shade { number: group, opacity });
            }
            y += HEIGHT;
        }
        let end = [room - 6.0, y + 14.0];
        canvas.text([NAMES, y + 14.0], Anchor::Start, Size::Axis, "start of the draw");
        canvas.text(end, Anchor::End, Size::Axis, &self.end);
        y + 22.0
    }
}

/// Joins neighbours of one shade into (first window, end, share). Windows without work are left out.
fn runs(shares: &[f64]) -> Vec<(usize, usize, f64)> {
    let mut runs: Vec<(usize, usize, f64)> = Vec::new();
    for (at, share) in shares.iter().enumerate() {
        let shade = (share.clamp(0.0, 1.0) * SHADES).round() / SHADES;
        match runs.last_mut() {
            Some((_, to, last)) if *last == shade => *to = at + 1,
            _ => runs.push((at, at + 1, shade)),
        }
    }
    runs.retain(|(_, _, shade)| *shade > 0.0);
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_rectangle() {
        assert_eq!(runs(&[0.0, 0.5, 0.51, 1.0, 0.0]), [(1, 3, 0.5), (3, 4, 1.0)]);
    }

    #[test]
    fn strips_are_as_long_as_their_time() {
        let strip =
            |length| ActivityStrip { name: "crop".to_owned(), shares: vec![1.0; 4], length };
        let chart = StripChart {
            title: "timeline".to_owned(),
            strips: vec![("baseline".to_owned(), strip(2.0)), ("het+qm".to_owned(), strip(1.0))],
            end: "2 ms".to_owned(),
        };
        let svg = chart.draw().inline();
        assert!(svg.contains("width=\"430.0\"") && svg.contains("width=\"215.0\""));
        assert!(svg.contains("shade s1") && svg.contains("shade s2"));
    }
}
