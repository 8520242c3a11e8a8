use serde::Deserialize;

use crate::checks::{each_once, one_or_more};
use crate::mesh_input::Frames;
use crate::rows::{BufferEntries, MergingUnit};
use quadrille_base::bytes::Bytes;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_gpu::mesh_pipeline::MeshConfig;
use quadrille_mesh::frame::{Cull, Faces, FrameSettings};
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::shade::Sampling;
use quadrille_scene::Camera;

choice! {
    /// Meaning of the target areas of tessellated triangles.
    pub enum AreaMeaning {
        /// An upper bound for triangles that face the viewer
        Bound = "bound",
        /// The mean of the triangles that are drawn in a view, hidden or not
        Mean = "mean",
    }
}

/// Settings of the frames. Several values of a setting give a row for each combination.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "settings that are on or off")]
pub struct MergingSettings {
    /// Units between the depth test and the shader.
    #[serde(deserialize_with = "one_or_more")]
    pub unit: Vec<MergingUnit>,
    /// Samples per pixel: 1, 2, 4, 8 or 16.
    #[serde(deserialize_with = "one_or_more")]
    pub msaa: Vec<u32>,
    /// Entries of the unit's buffer; none for the default. An unbounded buffer has no row for pixel merging.
    #[serde(deserialize_with = "one_or_more")]
    pub buffer: Vec<BufferEntries>,
    /// Items that the depth test culls before shading.
    pub cull: Cull,
    /// Sides of triangles to draw.
    pub faces: Faces,
    /// Whether 2x2 pixels are shaded at once, with all their samples.
    pub coarse: bool,
    /// Meaning of the target areas.
    pub area_is: AreaMeaning,
    /// Position in a pixel at which shading inputs are sampled.
    pub sampling: Sampling,
    /// Whether each picture is compared with the unmerged one.
    pub psnr: bool,
    /// Whether each picture is compared with one with 64 shaded samples per pixel.
    pub psnr_supersampled: bool,
    /// Whether each unit but Reyes is also run in cycles.
    pub cycles: bool,
    /// The emulated pipeline.
    pub hardware: MeshConfig,
}

impl Default for MergingSettings {
    /// Four samples per pixel without a unit, quads culled, the sides of the materials, 1 GiB.
    fn default() -> Self {
        Self {
            unit: vec![MergingUnit::None],
            msaa: vec![4],
            buffer: Vec::new(),
            cull: Cull::Quads,
            faces: Faces::Material,
            coarse: false,
            area_is: AreaMeaning::Bound,
            sampling: Sampling::default(),
            psnr: false,
            psnr_supersampled: false,
            cycles: false,
            hardware: MeshConfig::default(),
        }
    }
}

pub(super) type UnitChoice = (MergingUnit, MergeUnitKind);

impl Frames for MergingSettings {
    fn check(&self) -> Result<()> {
        each_once("unit", &self.unit)?;
        each_once("msaa", &self.msaa)?;
        each_once("buffer", &self.buffer)?;
        self.msaa.iter().try_for_each(|&n| self.pattern(n).map(drop))?;
        if self.cycles && self.unit.iter().all(|unit| *unit == MergingUnit::Reyes) {
            return Err(Error::needs("cycles", "a unit other than reyes, which has no pipeline"));
        }
        self.hardware.validate()?;
        self.choices().map(drop)
    }
}

impl MergingSettings {
    /// Number of rows per view and target area.
    ///
    /// # Errors
    /// [`Error::Argument`] for buffers that no unit has.
    pub fn rows_per_view(&self) -> Result<usize> {
        Ok(self.msaa.len() * self.choices()?.len())
    }

    pub(super) fn choices(&self) -> Result<Vec<UnitChoice>> {
        let kinds = || self.unit.iter().map(|unit| unit.kind());
        if !self.buffer.is_empty() && kinds().all(|kind| kind == MergeUnitKind::None) {
            return Err(Error::needs("buffer", "the unit qfm or pmu"));
        }
        let mut choices = Vec::new();
        for (&unit, kind) in self.unit.iter().zip(kinds()) {
            if self.buffer.is_empty() || kind == MergeUnitKind::None {
                choices.push((unit, kind));
                continue;
            }
            let is_finite = unit == MergingUnit::Pmu;
            let fitting = self.buffer.iter().filter(|b| !is_finite || b.0.is_some());
            let before = choices.len();
            choices.extend(fitting.map(|entries| (unit, kind.with_entries(entries.0))));
            if choices.len() == before {
                let expected = "a number of entries, since the buffer of pmu is finite";
                return Err(Error::argument("buffer", expected, "unbounded"));
            }
        }
        Ok(choices)
    }

    /// The pattern of `samples` samples per pixel.
    ///
    /// # Errors
    /// [`Error::Argument`] for another number of samples.
    pub fn pattern(&self, samples: u32) -> Result<&'static SamplePattern> {
        let pattern = match self.coarse {
            true => SamplePattern::coarse(samples),
            false => SamplePattern::standard(samples),
        };
        pattern.map(|p| p.shared()).map_err(|e| e.about("msaa"))
    }

    /// Settings of a frame with `samples` samples per pixel within a limit on its memory.
    pub fn frame(
        &self,
        camera: &Camera,
        (samples, memory): (u32, Bytes),
        level: SimdLevel,
    ) -> Result<FrameSettings> {
        Ok(FrameSettings {
            size: [camera.width, camera.height],
            pattern: self.pattern(samples)?,
            faces: self.faces,
            cull: self.cull,
            memory_bytes: memory.0,
            level,
        })
    }
}
