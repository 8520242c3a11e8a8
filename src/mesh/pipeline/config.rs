//! The configuration of the mesh path: the emulated GPU's and that of its own units.

use serde::{Deserialize, Serialize};

use super::cores::PixelShaderSpec;
use super::grids::GridsSpec;
use super::pack::PackSpec;
use super::quads::QuadsSpec;
use crate::error::{Error, Result};
use crate::gpu::config::{Config, as_toml, overlaid};
use crate::mesh::merge::pmu::PmuSpec;
use crate::mesh::merge::qfm::QfmSpec;
use crate::pipeline::spec::Field;

/// Every unit's specification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeshConfig {
    /// The units that are those of the emulated pipeline.
    pub gpu: Config,
    /// Tessellation and vertex shading.
    pub grids: GridsSpec,
    /// Raster tiles to quads.
    pub quads: QuadsSpec,
    /// Quad-fragment merging; sizes come with the unit that is run.
    pub qfm: QfmSpec,
    /// Pixel merging; sizes come with the unit that is run.
    pub pmu: PmuSpec,
    /// Packing of warps.
    pub pack: PackSpec,
    /// The pixel shader.
    pub pixel_shader: PixelShaderSpec,
}

impl MeshConfig {
    /// Checks every field of every unit.
    ///
    /// # Errors
    /// A caller's error naming the field, its bounds and its value.
    pub fn validate(&self) -> Result<()> {
        self.gpu.validate()?;
        self.grids.validate()?;
        self.quads.validate()?;
        self.qfm.validate()?;
        self.pmu.validate()?;
        self.pack.validate()?;
        self.pixel_shader.validate()?;
        if self.gpu.gpu.gpcs != 1 {
            // Merging units see the quads of one GPC: counts would depend on how many there are.
            let found = self.gpu.gpu.gpcs.to_string();
            return Err(Error::caller("gpu.gpcs", "1 for meshes in cycles", found));
        }
        Ok(())
    }

    /// This configuration with one assignment `unit.field=value`, of its own units or of those of
    /// the emulated GPU.
    ///
    /// # Errors
    /// [`Error::Caller`] naming what does not fit.
    pub fn with(&self, assignment: &str) -> Result<Self> {
        let text = as_toml(assignment)?;
        let unit = assignment.split('.').next().unwrap_or_default().trim();
        let own = ["grids", "quads", "qfm", "pmu", "pack", "pixel_shader"];
        let config = if own.contains(&unit) {
            overlaid(self, &text, &format!("--set {assignment}"))?
        } else {
            Self {
                gpu: self.gpu.with(assignment)?,
                ..self.clone()
            }
        };
        config.validate()?;
        Ok(config)
    }

    /// Every field of every unit.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        [
            self.gpu.fields(),
            self.grids.fields(),
            self.quads.fields(),
            self.qfm.fields(),
            self.pmu.fields(),
            self.pack.fields(),
            self.pixel_shader.fields(),
        ]
        .concat()
    }
}
