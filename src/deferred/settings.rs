//! Sampling, shading grids and kept outputs of a frame.

use super::sample::pattern::PixelPattern;
use super::shading::grid_view::GridRule;
use quadrille_base::math::SimdLevel;
use quadrille_mesh::frame::Faces;

/// Settings of a frame.
#[derive(Debug, Clone, Copy)]
pub struct DeferredSettings {
    /// Samples per pixel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// Positions of the samples in the pixel.
    pub pattern: PixelPattern,
    /// Seed of the samples.
    pub seed: u64,
    /// Cells of the shading grids.
    pub grid: GridRule,
    /// Which sides of triangles are drawn.
    pub faces: Faces,
    /// Whether the depths of samples are kept, a third of the memory of a frame. They are also kept if there
    /// are triangles that are drawn forward, which are tested against them.
    pub keeps_depths: bool,
    /// The host's SIMD level, which changes no result.
    pub level: SimdLevel,
}

impl Default for DeferredSettings {
    fn default() -> Self {
        Self {
            samples: 16,
            pattern: PixelPattern::Sobol,
            seed: 0,
            grid: GridRule::Pixel,
            faces: Faces::Material,
            keeps_depths: true,
            level: SimdLevel::best(),
        }
    }
}
