//! The document of `sim --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ratios::{self, Ratios};
use super::simulated::{AgainstReference, SceneFacts, Simulated, VariantRun, ViewFacts};
use crate::gpu::coalesce::bins::Flushes;
use crate::gpu::coalesce::quad_reorder::QruCounters;
use crate::gpu::config::Config;
use crate::gpu::crop::cache::CropCacheCounters;
use crate::gpu::outcome_counts::{FragmentCounts, PrimitiveCounts, QuadCounts};
use crate::gpu::result::SimulationResult;
use crate::gpu::zrop::zcache::ZCacheCounters;
use crate::pipeline::collect::UnitCycles;
use crate::pipeline::memory::l2::L2Counters;
use crate::pipeline::memory::line::SECTOR_BYTES;

/// A view and its variants. Keys that begin with `host_` are times of this machine; all others are
/// the same on every run.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    scene: &'a SceneFacts,
    view: &'a ViewFacts,
    profile: &'a str,
    preset: &'a str,
    config: &'a Config,
    host_ms: f64,
    host_ms_prepare: f64,
    variants: Vec<VariantDocument<'a>>,
    /// Every variant but the baseline against it; empty where it did not run.
    ratios: BTreeMap<String, Ratios>,
}

impl<'a> Document<'a> {
    /// The document of a view.
    #[must_use]
    pub fn of(simulated: &'a Simulated<'_>) -> Self {
        let [prepare, variants] = simulated.host.map(|time| time.as_secs_f64() * 1e3);
        let baseline = simulated.baseline();
        let against = |run: &VariantRun| {
            let baseline = baseline.filter(|b| b.variant != run.outcome.variant)?;
            Some((run.name(), Ratios::between(baseline, &run.outcome)))
        };
        Self {
            scene: simulated.scene,
            view: &simulated.view,
            profile: simulated.profile,
            preset: simulated.preset,
            config: simulated.config,
            host_ms: prepare + variants,
            host_ms_prepare: prepare,
            variants: (simulated.runs.iter())
                .map(|run| VariantDocument::of(simulated, run))
                .collect(),
            ratios: simulated.runs.iter().filter_map(against).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct VariantDocument<'a> {
    name: String,
    cycles: u64,
    frame_ms: f64,
    limiting_unit: Option<&'a str>,
    fragments: FragmentCounts,
    quads: QuadCounts,
    raster: &'a PrimitiveCounts,
    warps: u64,
    vertex_warps: u64,
    flushes: BTreeMap<&'static str, FlushesDocument<'a>>,
    qru: &'a QruCounters,
    terminations: u64,
    termination_updates: u64,
    termination_ratio: Option<f64>,
    merge_ratio: Option<f64>,
    crop: CropDocument<'a>,
    zrop_cache: &'a ZCacheCounters,
    l2: &'a L2Counters,
    dram_bytes: u64,
    units: BTreeMap<&'static str, UnitDocument<'a>>,
    storage_bytes_per_gpc: Storage,
    output: Option<&'a str>,
    discrepancies: Vec<String>,
    host_ms: f64,
    host_quads_per_s: f64,
    #[serde(flatten)]
    against_reference: Option<AgainstReference>,
}

impl<'a> VariantDocument<'a> {
    fn of(simulated: &'a Simulated<'_>, run: &'a VariantRun) -> Self {
        let outcome = &run.outcome;
        let units = outcome.units.iter();
        Self {
            name: run.name(),
            cycles: outcome.cycles,
            frame_ms: simulated.ms(outcome.cycles),
            limiting_unit: outcome.limiting_unit().map(|unit| unit.name),
            fragments: outcome.fragments,
            quads: outcome.quads,
            raster: &outcome.raster,
            warps: outcome.warps,
            vertex_warps: outcome.vertex_warps,
            flushes: [("tgc", &outcome.tgc), ("tc", &outcome.tc)]
                .map(|(unit, flushes)| (unit, FlushesDocument::of(flushes)))
                .into(),
            qru: &outcome.qru,
            terminations: outcome.terminations,
            termination_updates: outcome.updates,
            termination_ratio: ratios::termination_ratio(outcome),
            merge_ratio: ratios::merge_ratio(outcome),
            crop: CropDocument::of(outcome),
            zrop_cache: &outcome.z_cache,
            l2: &outcome.l2,
            dram_bytes: outcome.dram_bytes,
            units: units.map(|u| (u.name, UnitDocument::of(u))).collect(),
            storage_bytes_per_gpc: Storage::of(simulated.config, outcome),
            output: run.output.as_deref(),
            discrepancies: outcome.discrepancies(),
            host_ms: run.host.as_secs_f64() * 1e3,
            host_quads_per_s: outcome.quads.rasterized as f64 / run.host.as_secs_f64().max(1e-9),
            against_reference: run.against_reference,
        }
    }
}

#[derive(Debug, Serialize)]
struct FlushesDocument<'a> {
    #[serde(flatten)]
    counts: &'a Flushes,
    total: u64,
    mean_items: Option<f64>,
}

impl<'a> FlushesDocument<'a> {
    fn of(counts: &'a Flushes) -> Self {
        Self {
            counts,
            total: counts.total(),
            mean_items: ratios::ratio(counts.items, counts.total()),
        }
    }
}

/// The cache's counters; `dram_bytes` is that of the whole draw, whose last user CROP is.
#[derive(Debug, Serialize)]
struct CropDocument<'a> {
    #[serde(flatten)]
    cache: &'a CropCacheCounters,
    l2_bytes: u64,
    dram_bytes: u64,
}

impl<'a> CropDocument<'a> {
    fn of(outcome: &'a SimulationResult) -> Self {
        let cache = &outcome.crop_cache;
        Self {
            cache,
            l2_bytes: (cache.fetched + cache.written_back) * SECTOR_BYTES,
            dram_bytes: outcome.dram_bytes,
        }
    }
}

/// A unit's cycles.
#[derive(Debug, Serialize)]
pub(crate) struct UnitDocument<'a> {
    busy: u64,
    idle: BTreeMap<&'a str, u64>,
    instances: u64,
    utilisation: f64,
}

impl<'a> UnitDocument<'a> {
    /// The document of a unit.
    pub(crate) fn of(unit: &'a UnitCycles) -> Self {
        let idle = unit.idle.iter();
        Self {
            busy: unit.busy,
            idle: idle.map(|(reason, c)| (reason.as_str(), *c)).collect(),
            instances: unit.instances,
            utilisation: unit.utilisation(),
        }
    }
}

/// Bytes of storage that a variant adds to each GPC.
#[derive(Debug, Serialize)]
struct Storage {
    tgc: u64,
    qru: u64,
    total: u64,
}

impl Storage {
    fn of(config: &Config, outcome: &SimulationResult) -> Self {
        let when = |on: bool, bytes: u64| if on { bytes } else { 0 };
        let tgc = when(outcome.variant.tgc(), config.tgc.storage_bytes());
        let qru = when(outcome.variant.qru(), config.qru.storage_bytes());
        let total = tgc + qru;
        Self { tgc, qru, total }
    }
}
