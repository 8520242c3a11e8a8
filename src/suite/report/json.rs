//! The document of `sim --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::estimates::{EnergyRatios, EnergyReport, FrameRatio, energy_ratios, frame_ratio};
use super::ratios::Ratios;
use super::simulated::{AgainstReference, SceneFacts, Simulated, VariantRun, ViewFacts};
use crate::rows::{CyclesWithMeshes, MeshDrawRow, MethodCounts};
use quadrille_base::units::milliseconds;
use quadrille_gpu::config::Config;
use quadrille_gpu::frame::FrameTimes;

/// A view and its methods. Keys that begin with `host_` are times of this machine; all others are the same on every run.
#[derive(Debug, Serialize)]
pub struct SimulationDocument<'a> {
    scene: &'a SceneFacts,
    view: &'a ViewFacts,
    profile: &'a str,
    preset: &'a str,
    changed: BTreeMap<String, String>,
    config: &'a Config,
    host_ms: f64,
    host_ms_prepare: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh_draw: Option<&'a MeshDrawRow>,
    methods: Vec<MethodReport<'a>>,
    ratios: BTreeMap<String, MethodRatios>,
}

#[derive(Debug, Serialize)]
pub(super) struct MethodReport<'a> {
    name: String,
    cycles: u64,
    frame_ms: f64,
    #[serde(flatten)]
    with_meshes: Option<CyclesWithMeshes>,
    #[serde(flatten)]
    counts: MethodCounts,
    output: Option<&'a str>,
    discrepancies: Vec<String>,
    host_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_quads_per_s: Option<f64>,
    #[serde(flatten)]
    against_reference: Option<AgainstReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<FrameTimes>,
    #[serde(flatten)]
    energy: Option<EnergyReport>,
}

#[derive(Debug, Serialize)]
struct MethodRatios {
    #[serde(flatten)]
    counts: Ratios,
    #[serde(flatten)]
    frame: Option<FrameRatio>,
    #[serde(flatten)]
    energy: Option<EnergyRatios>,
}

impl<'a> SimulationDocument<'a> {
    /// Creates the document of a view.
    pub fn of(simulated: &'a Simulated<'_>) -> Self {
        let [prepare, all_methods] = simulated.host.map(milliseconds);
        let baseline = simulated.baseline();
        let against_baseline = |run: &VariantRun| {
            let baseline = baseline.filter(|b| run.outcome.method() != b.variant.into())?;
            let ratios = MethodRatios {
                counts: Ratios::between(baseline, &run.outcome),
                frame: frame_ratio(simulated, run),
                energy: energy_ratios(simulated, run),
            };
            Some((run.name(), ratios))
        };
        Self {
            scene: simulated.scene,
            view: &simulated.view,
            profile: simulated.profile,
            preset: simulated.preset,
            changed: simulated.config.changes_from(simulated.preset).unwrap_or_default(),
            config: simulated.config,
            host_ms: prepare + all_methods,
            host_ms_prepare: prepare,
            mesh_draw: simulated.mesh_draw.as_ref(),
            methods: simulated.runs.iter().map(|run| MethodReport::of(simulated, run)).collect(),
            ratios: simulated.runs.iter().filter_map(against_baseline).collect(),
        }
    }
}

impl<'a> MethodReport<'a> {
    pub(super) fn of(simulated: &Simulated<'_>, run: &'a VariantRun) -> Self {
        let (outcome, host_s) = (&run.outcome, run.host.as_secs_f64());
        let quads = outcome.pipeline().map(|result| result.quads.rasterized);
        Self {
            name: run.name(),
            cycles: outcome.cycles(),
            frame_ms: simulated.ms(outcome.cycles()),
            with_meshes: simulated.with_meshes(outcome),
            counts: MethodCounts::of(outcome, simulated.config),
            output: run.output.as_deref(),
            discrepancies: outcome.discrepancies(),
            host_ms: milliseconds(run.host),
            host_quads_per_s: quads.map(|quads| quads as f64 / host_s.max(1e-9)),
            against_reference: run.against_reference,
            frame: run.frame,
            energy: run.energy.as_ref().map(EnergyReport::from),
        }
    }
}
