//! Results for people and for programs: pages, JSON, maps, traces, configurations.
//!
//! | file | turns into |
//! |---|---|
//! | [`json`] | the document of `sim --json` |
//! | [`screen`] | a screenful of text |
//! | [`maps`] | counts a pixel, as heat maps with a legend ([`heat`], [`legend`], [`font`]) |
//! | [`suite`] | the table of a suite of views, beside the published figures |
//! | [`versus`] | one subject as a mesh and as splats |
//! | [`trace`] | a Chrome trace, for Perfetto |
//! | [`config`] | a configuration as TOML that reads back, each field explained |
//!
//! All of them read a [`Simulated`] view; [`ratios`] is what variants are compared by.

pub(crate) mod config;
pub(crate) mod font;
pub(crate) mod heat;
pub(crate) mod json;
pub(crate) mod legend;
pub(crate) mod maps;
pub(crate) mod mesh;
pub(crate) mod ratios;
pub(crate) mod screen;
pub(crate) mod trace;
pub(crate) mod versus;

use std::time::Duration;

use serde::Serialize;

use crate::gpu::config::Config;
use crate::gpu::outcome::Outcome;

/// The scene that was drawn.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SceneFacts {
    /// Its file, as it was named.
    pub path: String,
    /// Splats in it.
    pub splats: usize,
    /// Degree of its spherical harmonics.
    pub sh_degree: u8,
}

/// The view that was drawn.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ViewFacts {
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AgainstReference {
    /// Peak signal-to-noise ratio in decibels; `None` when the pictures are identical.
    pub psnr_db: Option<f64>,
    /// The largest difference of a colour channel.
    pub max_abs: f64,
}

/// A variant that ran.
#[derive(Debug)]
pub(crate) struct VariantRun {
    /// What came out.
    pub outcome: Outcome,
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
    pub(crate) fn name(&self) -> String {
        self.outcome.variant.to_string()
    }
}

/// A view, run through any number of variants.
#[derive(Debug)]
pub(crate) struct Simulated<'a> {
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
    #[must_use]
    pub(crate) fn baseline(&self) -> Option<&Outcome> {
        let baseline = crate::gpu::variant::Variant::BASELINE;
        let mut outcomes = self.runs.iter().map(|run| &run.outcome);
        outcomes.find(|outcome| outcome.variant == baseline)
    }

    /// Milliseconds of `cycles` at the configured clock.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "cycles are far below 2^53")]
    pub(crate) fn ms(&self, cycles: u64) -> f64 {
        cycles as f64 / (self.config.gpu.clock_mhz * 1e3)
    }
}
