//! Labels of a horizontal axis, placed so that they do not cover each other.

use crate::canvas::Canvas;
use crate::labels::{ABOVE, Anchor, Area, BELOW, Size};

/// Angle of slanted labels in degrees.
const SLANT: f64 = -35.0;
/// Longest label in pixels; longer ones are abridged.
const LONGEST: f64 = 130.0;

/// Whether texts cover each other or leave the picture.
fn collide(places: &[Area], width: f64) -> bool {
    let inside = places.iter().all(|place| place.is_within(width));
    let apart = |(at, place): (usize, &Area)| places[..at].iter().all(|p| !place.overlaps(p));
    !inside || !places.iter().enumerate().all(apart)
}

impl Canvas {
    /// Writes labels below the axis at `top`: side by side, else slanted, else upright without those that would
    /// cover the previous one. Returns the height at which they end.
    pub(crate) fn labels_below(&mut self, top: f64, size: Size, labels: &[(f64, String)]) -> f64 {
        let named = labels.iter().filter(|(_, text)| !text.is_empty());
        let labels: Vec<(f64, String)> =
            named.map(|(x, text)| (*x, size.abridged(text, LONGEST))).collect();
        let half = |text: &str| size.width(text) / 2.0;
        let level = labels.iter().map(|(x, text)| {
            // A label at the end of the axis moves into the picture.
            ([x.min(self.look.width - half(text)).max(half(text)), top + 19.0], 0.0, Anchor::Middle)
        });
        let slanted = labels.iter().map(|(x, _)| ([x + 5.0, top + 14.0], SLANT, Anchor::End));
        let ways = [level.collect::<Vec<_>>(), slanted.collect()];
        let areas = |places: &[([f64; 2], f64, Anchor)]| -> Vec<Area> {
            let pairs = places.iter().zip(&labels);
            pairs
                .map(|((at, angle, anchor), (_, text))| size.area(*at, *angle, *anchor, text))
                .collect()
        };
        let way = ways.iter().find(|way| !collide(&areas(way), self.look.width));
        let upright = || {
            let places = labels.iter();
            let shift = (ABOVE - BELOW) / 2.0 * size.pixels();
            places.map(|(x, _)| ([x + shift, top + 8.0], -90.0, Anchor::End)).collect()
        };
        let places = way.cloned().unwrap_or_else(upright);
        let mut bottom = top + 8.0;
        let mut last: Option<Area> = None;
        for (((at, angle, anchor), (_, text)), area) in
            places.iter().zip(&labels).zip(areas(&places))
        {
            if last.is_some_and(|last| last.overlaps(&area)) {
                continue;
            }
            last = Some(area);
            self.turned_text(*at, *angle, *anchor, size, text);
            bottom = area.bottom().max(bottom);
        }
        bottom
    }
}
