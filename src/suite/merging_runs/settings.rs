use serde::Deserialize;

use crate::checks::{each_once, one_or_more};
use crate::mesh_input::Frames;
use crate::rows::{BufferEntries, MergingUnit};
use crate::suite_table::{SuiteTable, TableParts};
use quadrille_base::bytes::Bytes;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::samples::SamplePattern;
use quadrille_gpu::unused_fields::UnusedField;
use quadrille_mesh::frame::{Cull, Faces, FrameSettings};
use quadrille_mesh::merge::MergeUnitKind;
use quadrille_mesh::shade::Sampling;
use quadrille_mesh_pipeline::MeshConfig;
use quadrille_scene::Camera;

#[cfg(feature = "cli")]
pub(crate) const MEASUREMENTS: &str = "Measurements";

choice! {
    /// Meaning of the target areas of tessellated triangles.
    pub enum AreaMeaning {
        /// Upper bound of the areas of triangles that face the viewer
        Bound = "bound",
        /// Mean area of the triangles drawn in a view, hidden or not
        Mean = "mean",
    }
}

choice! {
    /// Unit between the depth test and the shader, or all units in turn.
    pub enum UnitChoice {
        /// No unit: every quad is shaded
        None = "none",
        /// Quad-fragment merging
        Qfm = "qfm",
        /// Pixel merging
        Pmu = "pmu",
        /// No quads: grid vertices are shaded before the raster
        Reyes = "reyes",
        /// All values above, one run each
        All = "all",
    }
}

impl UnitChoice {
    fn units(self) -> &'static [MergingUnit] {
        match self {
            Self::None => &[MergingUnit::None],
            Self::Qfm => &[MergingUnit::Qfm],
            Self::Pmu => &[MergingUnit::Pmu],
            Self::Reyes => &[MergingUnit::Reyes],
            Self::All => &MergingUnit::ALL,
        }
    }
}

/// Settings of the frames: keys of suites, and flags of `mesh`. Several values of a setting give a row for each
/// combination.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "settings that are on or off")]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Pipeline"))]
pub struct MergingSettings {
    /// Unit between the depth test and the shader
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(
        long, aliases = ["unit", "variant"], value_name = "UNIT", value_delimiter = ',',
        default_values_t = Self::default().method
    ))]
    pub method: Vec<UnitChoice>,
    /// Samples per pixel: 1, 2, 4, 8 or 16
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_delimiter = ',', default_values_t = Self::default().msaa))]
    pub msaa: Vec<u32>,
    /// Entries of the unit's buffer, or "unbounded", except for pmu [default: 32 for qfm, 512 for pmu]
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_delimiter = ','))]
    pub buffer: Vec<BufferEntries>,
    /// Items that the depth test culls before shading
    #[cfg_attr(feature = "cli", arg(long, default_value_t = Self::default().cull))]
    pub cull: Cull,
    /// Sides of triangles to draw
    #[cfg_attr(feature = "cli", arg(long, default_value_t = Self::default().faces))]
    pub faces: Faces,
    /// Shade 2x2 pixels at once, with all their samples; for 1, 2 or 4 samples per pixel
    #[cfg_attr(feature = "cli", arg(long))]
    pub coarse: bool,
    /// Meaning of the target areas of triangles
    #[cfg_attr(feature = "cli", arg(long, value_name = "MEANING", default_value_t = Self::default().area_is))]
    pub area_is: AreaMeaning,
    /// Position in a pixel at which shading inputs are sampled
    #[cfg_attr(feature = "cli", arg(long, default_value_t = Self::default().sampling))]
    pub sampling: Sampling,
    /// Measure the PSNR of each picture against the unmerged one, in dB
    #[cfg_attr(feature = "cli", arg(long, help_heading = MEASUREMENTS))]
    pub psnr: bool,
    /// Measure the PSNR of each picture against one with 64 shaded samples per pixel, in dB
    #[cfg_attr(feature = "cli", arg(long, help_heading = MEASUREMENTS))]
    pub psnr_supersampled: bool,
    /// Also run each unit except reyes through the emulated pipeline, for the cycles and the busiest units
    #[cfg_attr(feature = "cli", arg(long, help_heading = MEASUREMENTS))]
    pub cycles: bool,
    /// Configuration of the emulated pipeline.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub hardware: MeshConfig,
}

impl Default for MergingSettings {
    fn default() -> Self {
        Self {
            method: vec![UnitChoice::None],
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

pub(super) type BufferedUnit = (MergingUnit, MergeUnitKind);

impl Frames for MergingSettings {
    fn check(&self) -> Result<()> {
        let units: Vec<MergingUnit> = self.units().collect();
        each_once("method", &units)?;
        each_once("msaa", &self.msaa)?;
        each_once("buffer", &self.buffer)?;
        self.msaa.iter().try_for_each(|&n| self.pattern(n).map(drop))?;
        if self.cycles && units.iter().all(|unit| *unit == MergingUnit::Reyes) {
            return Err(Error::needs("cycles", "a unit other than reyes, which has no pipeline"));
        }
        self.hardware.validate()?;
        self.choices().map(drop)
    }
}

impl TableParts for MergingSettings {
    fn take_from(table: &mut SuiteTable<'_>) -> Result<Self> {
        table.take()
    }
}

impl MergingSettings {
    /// Number of rows per view and target area; [`Error::Argument`] for buffers that no unit has.
    pub fn rows_per_view(&self) -> Result<usize> {
        Ok(self.msaa.len() * self.choices()?.len())
    }

    /// The chosen units, in order.
    pub fn units(&self) -> impl Iterator<Item = MergingUnit> + Clone {
        self.method.iter().flat_map(|choice| choice.units()).copied()
    }

    /// Fields of the configuration that differ from `base` but that no timed frame reads.
    pub fn unused_fields(&self, base: &MeshConfig) -> Result<Vec<UnusedField>> {
        let timed = self.choices()?.into_iter().filter(|(unit, _)| *unit != MergingUnit::Reyes);
        let timed = timed.filter(|_| self.cycles).map(|(_, kind)| kind);
        Ok(self.hardware.unused_by(&timed.collect::<Vec<_>>(), base))
    }

    /// Units with their buffers, in order.
    pub(super) fn choices(&self) -> Result<Vec<BufferedUnit>> {
        let kinds = || self.units().map(MergingUnit::kind);
        if !self.buffer.is_empty() && kinds().all(|kind| kind == MergeUnitKind::None) {
            return Err(Error::needs("buffer", "the unit qfm or pmu"));
        }
        let mut choices = Vec::new();
        for (unit, kind) in self.units().zip(kinds()) {
            if self.buffer.is_empty() || kind == MergeUnitKind::None {
                choices.push((unit, kind));
                continue;
            }
            let is_finite = unit == MergingUnit::Pmu;
            let fitting = self.buffer.iter().filter(|b| !is_finite || b.0.is_some());
            let before = choices.len();
            choices.extend(fitting.map(|entries| (unit, kind.with_entries(entries.0))));
            let expected = "a number of entries, since the buffer of pmu is finite";
            Error::refuse_if(choices.len() == before, "buffer", expected, "unbounded")?;
        }
        Ok(choices)
    }

    /// The pattern of `samples` samples per pixel; [`Error::Argument`] for a number that has none.
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
        samples: u32,
        memory: Bytes,
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
