use quadrille_base::choice;
use quadrille_gpu::mesh_pipeline::MeshConfig;
use quadrille_mesh::frame::{Cull, Faces};
use quadrille_mesh::shade::Sampling;
use quadrille_suite::merging_runs::{AreaMeaning, MergingSettings};
use quadrille_suite::rows::{BufferEntries, MergingUnit};

choice! {
    /// A value of `--unit`.
    enum UnitFlag {
        /// No unit: every quad is shaded
        None = "none",
        /// Quad-fragment merging
        Qfm = "qfm",
        /// Pixel merging
        Pmu = "pmu",
        /// No quads: grid vertices are shaded before the raster
        Reyes = "reyes",
        /// All of these
        All = "all",
    }
}

impl UnitFlag {
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

/// Flags about the pipeline. Several values of a flag, separated by commas, give a row for each
/// combination.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineFlags {
    /// Unit between the depth test and the shader
    #[arg(
        long = "unit",
        visible_alias = "method",
        alias = "variant",
        value_name = "UNIT",
        value_delimiter = ',',
        default_value = "none"
    )]
    units: Vec<UnitFlag>,
    /// Samples per pixel: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "4")]
    msaa: Vec<u32>,
    /// Entries of the unit's buffer, or "unbounded", which pmu has no row for [default: 32 for qfm, 512
    /// for pmu]
    #[arg(long = "buffer", value_name = "N", value_parser = str::parse::<BufferEntries>, value_delimiter = ',')]
    buffers: Vec<BufferEntries>,
    /// Items that the depth test culls before shading
    #[arg(long, default_value = "quads")]
    cull: Cull,
    /// Sides of triangles to draw
    #[arg(long, default_value = "material")]
    faces: Faces,
    /// Shade 2x2 pixels at once, with all their samples; for 1, 2 or 4 samples per pixel
    #[arg(long)]
    coarse: bool,
    /// Meaning of the areas of --tessellate
    #[arg(long, value_name = "MEANING", default_value = "bound")]
    area_is: AreaMeaning,
    /// Position in a pixel at which shading inputs are sampled
    #[arg(long, default_value = "centre")]
    sampling: Sampling,
}

impl PipelineFlags {
    pub(super) fn settings(&self, hardware: MeshConfig) -> MergingSettings {
        MergingSettings {
            unit: self.units.iter().flat_map(|unit| unit.units()).copied().collect(),
            msaa: self.msaa.clone(),
            buffer: self.buffers.clone(),
            cull: self.cull,
            faces: self.faces,
            coarse: self.coarse,
            area_is: self.area_is,
            sampling: self.sampling,
            psnr: false,
            psnr_supersampled: false,
            cycles: false,
            hardware,
        }
    }
}
