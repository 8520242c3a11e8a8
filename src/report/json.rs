//! The document of `sim --json`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ratios::{self, Ratios};
use super::{Simulated, VariantRun};
use crate::gpu::coalesce::bins::Flushes;
use crate::gpu::config::Config;
use crate::gpu::crop::cache::SECTOR_BYTES;
use crate::gpu::outcome::{Outcome, UnitCycles};

/// A view and its variants. Keys that begin with `host_` are times of this machine; all others are
/// the same on every run.
#[must_use]
pub(crate) fn document(simulated: &Simulated<'_>) -> Value {
    let [prepare, variants] = simulated.host.map(|time| time.as_secs_f64() * 1e3);
    json!({
        "scene": simulated.scene,
        "view": simulated.view,
        "profile": simulated.profile,
        "preset": simulated.preset,
        "config": simulated.config,
        "host_ms": prepare + variants,
        "host_ms_prepare": prepare,
        "variants": simulated.runs.iter().map(|run| variant(simulated, run)).collect::<Vec<_>>(),
        "ratios": ratios_of(simulated),
    })
}

/// Every variant but the baseline against it; empty where it did not run.
fn ratios_of(simulated: &Simulated<'_>) -> Map<String, Value> {
    let Some(baseline) = simulated.baseline() else {
        return Map::new();
    };
    let others = simulated.runs.iter().filter(|run| {
        let variant = run.outcome.variant;
        variant != baseline.variant
    });
    others
        .map(|run| {
            let ratios = Ratios::between(baseline, &run.outcome);
            (run.name(), json!(ratios))
        })
        .collect()
}

fn variant(simulated: &Simulated<'_>, run: &VariantRun) -> Value {
    let outcome = &run.outcome;
    let units = outcome.units.iter();
    let mut document = json!({
        "name": run.name(),
        "cycles": outcome.cycles,
        "frame_ms": simulated.ms(outcome.cycles),
        "limiting_unit": outcome.limiting_unit().map(|unit| unit.name),
        "fragments": outcome.fragments,
        "quads": outcome.quads,
        "raster": outcome.raster,
        "warps": outcome.warps,
        "vertex_warps": outcome.vertex_warps,
        "flushes": {"tgc": flushes(&outcome.tgc), "tc": flushes(&outcome.tc)},
        "qru": outcome.qru,
        "terminations": outcome.terminations,
        "termination_updates": outcome.updates,
        "termination_ratio": ratios::termination_ratio(outcome),
        "merge_ratio": ratios::merge_ratio(outcome),
        "crop": crop(outcome),
        "zrop_cache": outcome.z_cache,
        "l2": outcome.l2,
        "dram_bytes": outcome.dram_bytes,
        "units": units.map(|u| (u.name.to_owned(), unit(u))).collect::<Map<_, _>>(),
        "storage_bytes_per_gpc": storage(simulated.config, outcome),
        "output": run.output,
        "discrepancies": outcome.discrepancies(),
        "host_ms": run.host.as_secs_f64() * 1e3,
        "host_quads_per_s": host_quads_per_s(run),
    });
    if let Some(against) = run.against_reference {
        document["psnr_db_vs_reference"] = json!(against.psnr_db);
        document["max_abs_vs_reference"] = json!(against.max_abs);
    }
    document
}

/// Quads rasterized in a second of this machine's time.
#[allow(clippy::cast_precision_loss, reason = "a rate, for people")]
fn host_quads_per_s(run: &VariantRun) -> f64 {
    run.outcome.quads.rasterized as f64 / run.host.as_secs_f64().max(1e-9)
}

fn flushes(flushes: &Flushes) -> Value {
    let mut object = json!(flushes);
    object["total"] = json!(flushes.total());
    object["mean_items"] = json!(ratios::ratio(flushes.items, flushes.total()));
    object
}

/// The cache's counters; `dram_bytes` is that of the whole draw, whose last user CROP is.
fn crop(outcome: &Outcome) -> Value {
    let cache = &outcome.crop_cache;
    let mut object = json!(cache);
    object["l2_bytes"] = json!((cache.fetched + cache.written_back) * SECTOR_BYTES);
    object["dram_bytes"] = json!(outcome.dram_bytes);
    object
}

/// A unit's cycles.
pub(super) fn unit(unit: &UnitCycles) -> Value {
    let idle = unit.idle.iter();
    json!({
        "busy": unit.busy,
        "idle": idle.map(|(reason, c)| (reason.clone(), json!(c))).collect::<Map<_, _>>(),
        "instances": unit.instances,
        "utilisation": unit.utilisation(),
    })
}

/// Bytes of storage that a variant adds to each GPC.
#[derive(Debug, Serialize)]
struct Storage {
    tgc: u64,
    qru: u64,
    total: u64,
}

fn storage(config: &Config, outcome: &Outcome) -> Storage {
    let when = |on: bool, bytes: u64| if on { bytes } else { 0 };
    let tgc = when(outcome.variant.tgc, config.tgc.storage_bytes());
    let qru = when(outcome.variant.qru, config.qru.storage_bytes());
    Storage {
        tgc,
        qru,
        total: tgc + qru,
    }
}
