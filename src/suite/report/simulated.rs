//! The results of a view by any number of methods, as reports read them.

use quadrille_base::units::cycles_to_ms;
use std::time::Duration;

use serde::Serialize;

use crate::rows::{CyclesWithMeshes, MeshDrawRow};
use quadrille_gpu::config::Config;
use quadrille_gpu::energy::EnergyEstimate;
use quadrille_gpu::frame::FrameTimes;
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::result::SimulationResult;
use quadrille_gpu::variant::Variant;

/// Description of the scene in reports.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SceneFacts {
    /// Path of the file, as given.
    pub path: String,
    /// Number of splats.
    pub splats: usize,
    /// Degree of the spherical harmonics.
    pub sh_degree: u8,
}

/// Description of the view in reports.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ViewFacts {
    /// Name of the view.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Number of splats whose footprint may touch the picture.
    pub splats_in_frustum: u64,
}

/// Difference between a picture and the reference renderer's picture without a stop rule, in f32.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgainstReference {
    /// PSNR in decibels; `None` for identical pictures.
    #[serde(rename = "psnr_vs_reference_db")]
    pub psnr_db: Option<f64>,
    /// Largest difference of a colour channel.
    #[serde(rename = "max_abs_vs_reference")]
    pub max_abs: f64,
    /// Whether the reference renderer draws nothing, so that equal pictures say nothing.
    #[serde(rename = "blank_reference", skip_serializing_if = "std::ops::Not::not")]
    pub is_blank: bool,
}

/// Result of a method, with its picture's path and the requested estimates.
#[derive(Debug)]
pub struct VariantRun {
    /// Result of the method.
    pub outcome: Outcome,
    /// Time on the host, with the other methods running at the same time.
    pub host: Duration,
    /// Path of the picture, if one was written.
    pub output: Option<String>,
    /// Difference to the reference renderer, if requested.
    pub against_reference: Option<AgainstReference>,
    /// Modelled times of the whole frame, if requested.
    pub frame: Option<FrameTimes>,
    /// Energy of the draw, if requested.
    pub energy: Option<EnergyEstimate>,
}

impl VariantRun {
    /// Name of the method.
    pub fn name(&self) -> String {
        self.outcome.method().to_string()
    }
}

/// The results of a view by any number of methods.
#[derive(Debug)]
pub struct Simulated<'a> {
    /// Scene of the view.
    pub scene: &'a SceneFacts,
    /// View that was drawn.
    pub view: ViewFacts,
    /// Name of the profile that the splats were projected with.
    pub profile: &'static str,
    /// Configuration of the emulated GPU.
    pub config: &'a Config,
    /// Name of the preset that the configuration is based on.
    pub preset: &'a str,
    /// Time on the host to project and sort, and of all methods together.
    pub host: [Duration; 2],
    /// Draw of the meshes before the splats, if there are any.
    pub mesh_draw: Option<MeshDrawRow>,
    /// Run of each method.
    pub runs: Vec<VariantRun>,
}

impl Simulated<'_> {
    /// Result of the baseline, if it was run.
    pub fn baseline(&self) -> Option<&SimulationResult> {
        let baseline = Method::Pipeline(Variant::BASELINE);
        self.runs.iter().find(|run| run.outcome.method() == baseline)?.outcome.pipeline()
    }

    /// Runs of the graphics pipeline, with their results.
    pub fn pipelines(&self) -> impl Iterator<Item = (&VariantRun, &SimulationResult)> {
        self.runs.iter().filter_map(|run| Some((run, run.outcome.pipeline()?)))
    }

    /// Cycles of a method with those of the meshes before the splats, if there are any.
    pub fn with_meshes(&self, outcome: &Outcome) -> Option<CyclesWithMeshes> {
        let cycles = outcome.cycles();
        Some(self.mesh_draw.as_ref()?.with_splats(cycles, self.ms(cycles)))
    }

    /// Duration of `cycles` at the configured clock, in milliseconds.
    pub fn ms(&self, cycles: u64) -> f64 {
        cycles_to_ms(cycles, self.config.gpu.clock_mhz)
    }
}
