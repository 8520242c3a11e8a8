//! Rendering on the CPU: [`mod@reference`] defines a frame, [`Renderer`] computes the same one fast.
//!
//! ```text
//! Projected (splats on the picture plane)
//!   -> bin: for every tile of 32x32 pixels, the splats whose bounds touch it
//!   -> sort: each tile's list by depth
//!   -> raster, tile by tile: coverage (which 4x4 blocks) -> blend (16 pixels at once)
//! ```

mod bin;
mod blend;
mod coverage;
mod items;
mod order;
mod raster;
pub(crate) mod reference;
mod renderer;
mod tile;

pub use renderer::{RenderTimes, Renderer, render};

use crate::math::SimdLevel;
use crate::shading::Profile;

/// Settings of a renderer.
#[derive(Debug, Clone, Copy, Default)]
pub struct RenderSettings {
    /// Constants of the renderer whose pictures to reproduce.
    pub profile: Profile,
    /// Vector instructions to use; the reference renderer ignores this.
    pub level: SimdLevel,
}

/// Counters of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Splats whose footprint's bounding box touches the picture.
    pub splats_in_frustum: u64,
    /// Fragments blended into pixels: above the alpha cut, and not refused by the stop rule.
    pub fragments_blended: u64,
}
