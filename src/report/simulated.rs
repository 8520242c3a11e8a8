//! A view that was run through any number of variants: what reports are made of.

use std::time::Duration;

use serde::Serialize;

use crate::gpu::config::Config;
use crate::gpu::result::SimulationResult;

/// The scene that was drawn.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SceneFacts {
    /// Its file, as it was named.
    pub path: String,
    /// Splats in it.
    pub splats: usize,
    /// Degree of its spherical harmonics.
    pub sh_degree: u8,
}

/// The view that was drawn.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ViewFacts {
    /// Its name.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Splats that were drawn: those whose footprint may touch the picture.
    pub splats_in_frustum: u64,
}

/// How far a picture lies from the reference renderer's without early stop, colours as f32.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgainstReference {
    /// Peak signal-to-noise ratio in decibels; `None` when the pictures are identical.
    #[serde(rename = "psnr_vs_reference_db")]
    pub psnr_db: Option<f64>,
    /// The largest difference of a colour channel.
    #[serde(rename = "max_abs_vs_reference")]
    pub max_abs: f64,
}

/// A variant that ran.
#[derive(Debug)]
pub struct VariantRun {
    /// What came out.
    pub outcome: SimulationResult,
    /// Time on this machine, other variants at its side.
    pub host: Duration,
    /// Where its picture was written.
    pub output: Option<String>,
    /// How far its picture is from the reference, if that was asked for.
    pub against_reference: Option<AgainstReference>,
}

impl VariantRun {
    /// The variant's name.
    #[must_use]
    pub fn name(&self) -> String {
        self.outcome.variant.to_string()
    }
}

/// A view, run through any number of variants.
#[derive(Debug)]
pub struct Simulated<'a> {
    /// The scene.
    pub scene: &'a SceneFacts,
    /// The view.
    pub view: ViewFacts,
    /// Name of the profile it was projected with.
    pub profile: &'static str,
    /// The configuration.
    pub config: &'a Config,
    /// Name of the preset that the configuration began as.
    pub preset: &'a str,
    /// Time on this machine to project and sort, and for all variants together.
    pub host: [Duration; 2],
    /// The variants.
    pub runs: Vec<VariantRun>,
}

impl Simulated<'_> {
    /// The run of the conventional pipeline, if it is among the variants.
    pub(crate) fn baseline(&self) -> Option<&SimulationResult> {
        let baseline = crate::gpu::variant::Variant::BASELINE;
        let mut outcomes = self.runs.iter().map(|run| &run.outcome);
        outcomes.find(|outcome| outcome.variant == baseline)
    }

    /// Milliseconds of `cycles` at the configured clock.
    pub(crate) fn ms(&self, cycles: u64) -> f64 {
        cycles as f64 / (self.config.gpu.clock_mhz * 1e3)
    }
}
