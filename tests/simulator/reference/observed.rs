//! Observations that are compared: events with their cycles, counts, and the picture.

use std::fmt::Debug;

use super::packets::Colour;
use super::queue::Cycle;

/// What happened in a run.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// Raster tiles as tile coalescing takes them: cycle, splat, screen tile, number of quads.
    pub(super) tiles: Vec<(Cycle, usize, u32, usize)>,
    /// Beats that leave ZROP: cycle at which they are taken, screen tile, number of quads.
    pub(super) beats: Vec<(Cycle, u32, usize)>,
    /// By quad and pixel: cycle in which the termination bit was written.
    pub(super) terminated_at: Vec<[Option<Cycle>; 4]>,
    /// Counts and busy cycles, in the order of the pipeline.
    pub(super) counts: Vec<(&'static str, u64)>,
    /// By quad: the colour.
    pub(super) colour: Vec<Colour>,
}

impl Observed {
    /// The first event, or else the first count or pixel, in which this run differs from `other`.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let events = [
            first("raster tile into tc", &self.tiles, &other.tiles, |e| e.0),
            first("beat out of zrop", &self.beats, &other.beats, |e| e.0),
            first("termination", &self.terminations(), &other.terminations(), |e| e.0),
        ];
        let event = events.into_iter().flatten().min_by_key(|(at, _)| *at);
        let count = || first("count", &self.counts, &other.counts, |_| 0);
        let colour = || first("colour of quad", &self.colour, &other.colour, |_| 0);
        let difference = event.or_else(count).or_else(colour);
        difference.map(|(_, text)| text)
    }

    /// Terminations in order: cycle, quad, pixel.
    fn terminations(&self) -> Vec<(Cycle, usize, usize)> {
        let quads = self.terminated_at.iter().enumerate();
        let pixels = quads.flat_map(|(quad, bits)| {
            let pixels = bits.iter().enumerate();
            pixels.filter_map(move |(pixel, at)| at.map(|at| (at, quad, pixel)))
        });
        let mut terminations: Vec<_> = pixels.collect();
        terminations.sort_unstable();
        terminations
    }

    /// Value of a count.
    pub(super) fn count(&self, name: &str) -> u64 {
        let found = self.counts.iter().find(|(n, _)| *n == name);
        found.expect("a count").1
    }
}

/// The first element in which two lists differ, and its cycle.
fn first<T: PartialEq + Debug>(
    what: &str,
    ours: &[T],
    theirs: &[T],
    cycle: impl Fn(&T) -> Cycle,
) -> Option<(Cycle, String)> {
    let at = (0..ours.len().max(theirs.len())).find(|i| ours.get(*i) != theirs.get(*i))?;
    let (ours, theirs) = (ours.get(at), theirs.get(at));
    let first = [ours, theirs].into_iter().flatten().map(cycle).min();
    let text = format!("{what} {at}: {ours:?}, in the reference {theirs:?}");
    Some((first.unwrap_or(0), text))
}
