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

pub mod exact;
mod lanes;
mod project;
mod projected;
mod sort;
mod view;

use std::time::{Duration, Instant};

pub use projected::{LOG2_ALPHA_CUT, PixelBounds, ProjectedSplat};
pub use view::{View, cut_radius_squared};

use crate::math::SimdLevel;
use crate::scene::{Camera, Splats};
use crate::shading::Profile;
pub use project::Projected;
use sort::DepthSorter;

/// The splats of a frame on the picture plane, and the order to draw all of them in.
///
/// Keep one and run it again: its arrays are reused, so later frames allocate nothing.
#[derive(Debug, Default)]
pub struct Preprocessed {
    projected: Projected,
    sorter: DepthSorter,
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
        self.sorter.sort(&self.projected);
        PreprocessTimes {
            project: projected - start,
            sort: projected.elapsed(),
        }
    }

    /// Number of splats whose footprint may touch the picture.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorter.order().len()
    }

    /// Whether no footprint touches the picture.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Slots of the splats in view, nearest first, ties by index in the scene.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        self.sorter.order()
    }

    /// The splats by slot; only slots in [`Preprocessed::order`] are meaningful.
    #[must_use]
    pub fn slots(&self) -> &[ProjectedSplat] {
        self.projected.slots()
    }

    /// The pixel bounds of the splats in [`Preprocessed::order`].
    #[must_use]
    pub fn bounds(&self) -> &[PixelBounds] {
        self.sorter.bounds()
    }

    /// The splats in drawing order.
    pub fn in_order(&self) -> impl ExactSizeIterator<Item = &ProjectedSplat> {
        self.order()
            .iter()
            .map(|&slot| &self.slots()[slot as usize])
    }
}
