//! From splats in the world to splats on the picture plane, in drawing order.
//!
//! ```text
//! block of 16 splats -> view space, near cull -> covariance, low-pass filter -> opacity, cut
//!   -> bounding box, frustum cull -> colour -> ProjectedSplat      (in parallel, chunk by chunk)
//! all survivors -> depth sort (stable, ties by index), for those who want one order for all
//! ```
//!
//! [`exact`] is the definition, one splat at a time in f64; `lanes` does sixteen and falls back on
//! the definition for the few splats that f32 cannot place. [`Preprocessed::run`] shows the order.

pub(crate) mod exact;
mod lanes;
mod project;
mod projected;
mod view_transform;

use std::time::{Duration, Instant};

use rayon::prelude::*;

pub use projected::{LOG2_ALPHA_CUT, PixelBounds, ProjectedSplat};
pub use view_transform::{ViewTransform, cut_radius_squared};

use crate::math::SimdLevel;
use crate::scene::{Camera, Splats};
use crate::shading::Profile;
pub(crate) use project::Projected;

/// The splats of a frame on the picture plane, and the order to draw all of them in.
///
/// The tiled renderer does without: it sorts each tile's list by itself.
#[derive(Debug, Default)]
pub struct Preprocessed {
    projected: Projected,
    /// Depth keys in the high halves and slots in the low ones, in order: all differ, so any way of
    /// sorting them gives this order.
    order: Vec<u64>,
}

/// How long the steps took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PreprocessTimes {
    /// Cull, project, colour, box.
    pub project: Duration,
    /// Depth sort.
    pub sort: Duration,
}

impl Preprocessed {
    /// Preprocesses a frame on rayon's current pool.
    pub fn run(
        &mut self,
        splats: &Splats,
        camera: &Camera,
        profile: &Profile,
        level: SimdLevel,
    ) -> PreprocessTimes {
        let start = Instant::now();
        self.projected.run(splats, camera, profile, level);
        let projected = Instant::now();
        self.order.clear();
        for chunk in 0..self.projected.chunks() {
            let chunk = self.projected.chunk(chunk);
            let slots = chunk.keys.iter().zip(chunk.first_slot..);
            let entries = slots.map(|(&key, slot)| u64::from(key) << 32 | u64::from(slot));
            self.order.extend(entries);
        }
        self.order.par_sort_unstable();
        PreprocessTimes {
            project: projected - start,
            sort: projected.elapsed(),
        }
    }

    /// Number of splats whose footprint may touch the picture.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no footprint touches the picture.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The splats and their pixel bounds in drawing order: nearest first, ties by index in the
    /// scene.
    #[allow(clippy::cast_possible_truncation, reason = "the low half is the slot")]
    pub fn in_order(&self) -> impl ExactSizeIterator<Item = (&ProjectedSplat, PixelBounds)> {
        self.order.iter().map(|&entry| {
            let slot = entry as u32 as usize;
            (&self.projected.slots()[slot], self.projected.bounds()[slot])
        })
    }
}
