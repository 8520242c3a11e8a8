//! Configuration of the modelled hardware.

use serde::{Deserialize, Serialize};

use super::backend::attributes::VertexCacheSpec;
use super::memory::spec::MemorySpec;
use super::raster::cost::RasterCost;
use quadrille_base::error::Result;

/// Specifications of the modelled hardware. They affect counters and traffic, but no picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeferredConfig {
    /// Configuration of the caches and of the memory bus.
    pub memory: MemorySpec,
    /// Arithmetic operations per step of the raster.
    pub raster: RasterCost,
    /// Configuration of the vertex cache of the back end.
    pub vertex_cache: VertexCacheSpec,
}

impl DeferredConfig {
    /// Checks every field against its bounds.
    pub fn validate(&self) -> Result<()> {
        self.memory.validate()?;
        self.raster.validate()?;
        self.vertex_cache.validate()
    }
}
