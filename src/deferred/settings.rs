//! Settings of a frame.

use serde::{Deserialize, Serialize};

use super::backend::attributes::VertexCacheSpec;
use super::memory::spec::MemorySpec;
use super::raster::cost::RasterCost;
use super::sample::pattern::PixelPattern;
use super::shading::grid::GridRule;
use crate::error::Result;
use crate::math::SimdLevel;
use crate::mesh::frame::Faces;

/// Specifications of the modelled hardware. They change counters and traffic, and no picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeferredConfig {
    /// Caches and bus.
    pub memory: MemorySpec,
    /// Arithmetic operations of the raster.
    pub raster: RasterCost,
    /// The vertex cache of the back end.
    pub vertex_cache: VertexCacheSpec,
}

impl DeferredConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) naming the field, its bounds and its value.
    pub fn validate(&self) -> Result<()> {
        self.memory.validate()?;
        self.raster.validate()?;
        self.vertex_cache.validate()
    }
}

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
    /// The host's SIMD level, which changes no result.
    pub level: SimdLevel,
}

impl Default for DeferredSettings {
    /// 16 Sobol samples per pixel, pixel grids, fronts alone.
    fn default() -> Self {
        Self {
            samples: 16,
            pattern: PixelPattern::Sobol,
            seed: 0,
            grid: GridRule::Pixel,
            faces: Faces::Front,
            level: SimdLevel::best(),
        }
    }
}
