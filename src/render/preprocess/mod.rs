//! Projects splats from the world to the picture plane, and sorts them by depth.
//!
//! ```text
//! block of 16 splats -> view space, near cull -> covariance, low-pass filter -> opacity, cut
//!   -> bounding box, frustum cull -> colour -> ProjectedSplat      (in parallel, chunk by chunk)
//! all visible splats -> depth sort (stable, ties by index), for renderers that need one order
//! ```
//!
//! [`exact`] is the definition, one splat at a time in f64, by which [`Preprocessed`] projects. `lanes`
//! projects sixteen at a time in f32 for the fast renderer and leaves the few splats for which f32 is not
//! accurate enough to the definition. [`Preprocessed::run`] shows the order of the steps.

mod disc;
pub mod exact;
mod in_place;
mod kept;
mod lanes;
mod points;
mod project;
mod projected;
mod rows;
mod source;
mod view_transform;

use std::time::{Duration, Instant};

use rayon::prelude::*;

pub use disc::ExactDisc;
pub use in_place::InPlace;
pub use projected::{LOG2_ALPHA_CUT, PixelBounds, ProjectedSplat, SplatShapes};
pub use rows::SplatRows;
pub use source::{Coefficients, ShScratch, SplatSource};
pub use view_transform::{ViewTransform, cut_radius_squared};

pub(crate) use disc::ProjectedDisc;
pub(crate) use kept::KeptSplats;
pub(crate) use lanes::{PlaneLanes, WorldLanes, chain, colour_chain};
pub(crate) use project::{CHUNK, Projected, ProjectedChunk};
use quadrille_base::shading::Profile;
use quadrille_base::{Result, Task};
use quadrille_scene::{Camera, Splats};

/// Projected splats of a frame, and their drawing order.
///
/// The CPU renderer uses neither this order, since it sorts each tile's list separately, nor the definition.
#[derive(Debug, Default)]
pub struct Preprocessed {
    projected: Projected,
    /// Sorted depth keys in the high and slots in the low halves; all differ, so every algorithm yields this order.
    order: Vec<u64>,
}

/// Wall-clock times of the steps of preprocessing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct PreprocessTimes {
    /// Culling, projection, colours and bounding boxes.
    pub project: Duration,
    /// Sorting by depth.
    pub sort: Duration,
}

impl Preprocessed {
    /// Preprocesses a frame on rayon's current thread pool. Splats are projected by the definition, one at a
    /// time in f64, so that the result is the same on every machine.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), and
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a profile of discs, since the splats are drawn as ellipsoids.
    pub fn run(
        &mut self,
        splats: &Splats,
        camera: &Camera,
        profile: &Profile,
        task: &Task,
    ) -> Result<PreprocessTimes> {
        profile.refuse_discs()?;
        let start = Instant::now();
        self.projected.run(splats, camera, profile, None, task);
        let projected = Instant::now();
        self.order.clear();
        for chunk in 0..self.projected.chunks() {
            if task.is_cancelled() {
                break;
            }
            let chunk = self.projected.chunk(chunk);
            let slots = chunk.keys.iter().zip(chunk.first_slot..);
            self.order.extend(slots.map(|(&key, slot)| u64::from(key) << 32 | u64::from(slot)));
        }
        quadrille_base::span!("sort");
        let mut order = std::mem::take(&mut self.order);
        self.order = task.uninterrupted(move || {
            order.par_sort_unstable();
            order
        })?;
        Ok(PreprocessTimes { project: projected - start, sort: projected.elapsed() })
    }

    /// Number of splats with a footprint that may touch the picture. At the seam of a panorama, a splat has two.
    pub fn splats_in_view(&self) -> usize {
        self.projected.splats_in_view()
    }

    /// Number of footprints that may touch the picture.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no footprint touches the picture.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the splats with their pixel bounds in drawing order: nearest first, ties by scene index.
    #[allow(clippy::cast_possible_truncation, reason = "the low half is the slot")]
    pub fn in_order(&self) -> impl ExactSizeIterator<Item = (&ProjectedSplat, PixelBounds)> {
        self.order.iter().map(|&entry| {
            let slot = entry as u32 as usize;
            (&self.projected.slots()[slot], self.projected.bounds()[slot])
        })
    }
}
