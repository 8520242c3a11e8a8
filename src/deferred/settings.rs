//! Settings of a frame: sampling, shading grids and optional outputs.

use super::sample::pattern::PixelPattern;
use super::shading::grid_view::GridRule;
use quadrille_base::math::SimdLevel;
use quadrille_mesh::frame::Faces;

/// Settings of a frame.
#[derive(Debug, Clone, Copy)]
pub struct DeferredSettings {
    /// Samples per pixel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// Sample positions in the pixel.
    pub pattern: PixelPattern,
    /// Seed of the random numbers that scramble the samples.
    pub seed: u64,
    /// Rule for the cell sizes of the shading grids.
    pub grid: GridRule,
    /// Sides of triangles that are drawn.
    pub faces: Faces,
    /// Whether the depths of samples are kept, a third of the memory of a frame. They are also kept if there are
    /// alpha-tested or blended triangles, which are tested against them.
    pub keeps_depths: bool,
    /// SIMD level of the host, which does not affect results.
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
