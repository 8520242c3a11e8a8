//! Measurement of the times of a frame's stages.

use std::time::{Duration, Instant};

/// Wall-clock times of the stages of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct RenderTimes {
    /// Culling, projection, colours and bounding boxes.
    pub preprocess: Duration,
    /// Binning splats into tiles.
    pub bin: Duration,
    /// Sorting the tiles' lists by depth.
    pub sort: Duration,
    /// Coverage and blending.
    pub raster: Duration,
    /// Time of the whole frame, including work between the stages.
    pub total: Duration,
}

/// Stopwatch for the stages of a frame.
pub(super) struct Clock {
    start: Instant,
    last: Instant,
    times: RenderTimes,
}

impl Clock {
    pub(super) fn start() -> Self {
        let start = Instant::now();
        Self { start, last: start, times: RenderTimes::default() }
    }

    pub(super) fn lap(&mut self, stage: impl FnOnce(&mut RenderTimes) -> &mut Duration) {
        let last = std::mem::replace(&mut self.last, Instant::now());
        *stage(&mut self.times) += self.last - last;
    }

    /// Counts the time since the last call only in the total.
    pub(super) fn skip(&mut self) {
        self.last = Instant::now();
    }

    /// Returns the times; the time since the last lap counts as raster.
    pub(super) fn stop(mut self) -> RenderTimes {
        self.lap(|times| &mut times.raster);
        self.times.total = self.last - self.start;
        self.times
    }
}
