//! The document of `sim --json`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::estimates;
use super::ratios::{Ratios, merge_ratio, ratio, shaded_ratio};
use super::simulated::{Simulated, VariantRun};
use crate::rows::{LimitRow, units};
use quadrille_gpu::coalesce::bins::Flushes;
use quadrille_gpu::config::Config;
use quadrille_gpu::in_shader::InShader;
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::result::SimulationResult;
use quadrille_gpu::variant::Variant;
use quadrille_machine::SECTOR_BYTES;

/// A view and its methods. Keys that begin with `host_` are times of this machine; all others are
/// the same on every run.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct SimulationDocument(Value);

impl SimulationDocument {
    /// Creates the document of a view.
    pub fn of(simulated: &Simulated<'_>) -> Self {
        let [prepare, all_variants] = simulated.host.map(|time| time.as_secs_f64() * 1e3);
        let variants = simulated.runs.iter().map(|run| variant(simulated, run));
        let baseline = simulated.baseline();
        let against_baseline = |run: &VariantRun| {
            let baseline = baseline.filter(|b| run.outcome.method() != b.variant.into())?;
            let ratios = json!(Ratios::between(baseline, &run.outcome));
            let [frame, energy] = estimates::ratios(simulated, run);
            Some((run.name(), joined([ratios, frame, energy])))
        };
        let ratios = simulated.runs.iter().filter_map(against_baseline);
        Self(json!({
            "scene": simulated.scene,
            "view": simulated.view,
            "profile": simulated.profile,
            "preset": simulated.preset,
            "changed": simulated.config.changes_from(simulated.preset).unwrap_or_default(),
            "config": simulated.config,
            "host_ms": prepare + all_variants,
            "host_ms_prepare": prepare,
            "variants": variants.collect::<Vec<_>>(),
            "ratios": ratios.collect::<BTreeMap<_, _>>(),
        }))
    }
}

pub(super) fn variant(simulated: &Simulated<'_>, run: &VariantRun) -> Value {
    let outcome = &run.outcome;
    let host_s = run.host.as_secs_f64();
    let quads = outcome.pipeline().map(|o| o.quads.rasterized);
    let [frame, energy] = estimates::documents(run);
    let rate = quads.map(|quads| json!({ "host_quads_per_s": quads as f64 / host_s.max(1e-9) }));
    joined([
        Value::Object(outcome_report(outcome, simulated.config)),
        json!({
            "output": run.output,
            "discrepancies": outcome.discrepancies(),
            "host_ms": host_s * 1e3,
        }),
        rate.unwrap_or_default(),
        json!(run.against_reference),
        frame,
        energy,
    ])
}

/// Everything that a run on `config` reports, apart from host times.
pub(crate) fn outcome_report(outcome: &Outcome, config: &Config) -> Map<String, Value> {
    let cycles = outcome.cycles();
    let of_method = match outcome {
        Outcome::Pipeline(method, outcome) => joined([
            pipeline(outcome, config),
            match method {
                Method::MultiPass(_) => json!({ "passes": outcome.passes }),
                _ => outcome.in_shader.as_ref().map_or(Value::Null, in_shader),
            },
        ]),
        Outcome::Compute(outcome) => json!({
            "fragments": { "blended": outcome.lanes.blended },
            "compute": outcome,
        }),
        Outcome::Gscore(outcome) => json!({
            "fragments": { "blended": outcome.fragments_blended },
            "gscore": outcome,
        }),
    };
    let report = joined([
        json!({
            "name": outcome.method().to_string(),
            "cycles": cycles,
            "frame_ms": cycles as f64 / (config.gpu.clock_mhz * 1e3),
        }),
        of_method,
    ]);
    match report {
        Value::Object(report) => report,
        _ => Map::new(),
    }
}

/// Names and meanings of the numbers that are computed from counters.
pub(super) const DERIVED: &[(&str, &str)] = &[
    ("frame_ms", "Time of the draw or of the raster kernel"),
    ("termination_updates", "Termination updates, one per pixel"),
    ("flushes.tc.total", "Flushes for any reason"),
    ("flushes.tc.mean_items", "Mean quads of a flush"),
    ("flushes.tgc.total", "Flushes for any reason"),
    ("flushes.tgc.mean_items", "Mean primitives of a flush"),
    ("shaded_ratio", "Fragments rasterized, divided by fragments not terminated"),
    ("merge_ratio", "Quads blended without merging, divided by quads blended"),
    ("crop.l2_bytes", "Bytes between the colour cache and the L2"),
    ("crop.dram_bytes", "Bytes of colours between the L2 and DRAM"),
    ("storage_bytes_per_gpc.tgc", "Bins of tile-grid coalescing"),
    ("storage_bytes_per_gpc.tgc_fetch", "Vertices that tile-grid coalescing reads again"),
    ("storage_bytes_per_gpc.qru", "Buffers of quad reordering"),
    ("storage_bytes_per_gpc.zrop", "Beats and updates of early termination"),
    ("storage_bytes_per_gpc.total", "Storage that the method adds"),
    ("storage_bytes_per_gpc.l2_vertex_results", "Part of the L2 for vertex results"),
    ("fragments.blended", "Fragments blended"),
    ("energy_mj.total_low", "Sum of the parts at the lower ends of their bands"),
    ("energy_mj.total_high", "Sum of the parts at the upper ends of their bands"),
    ("power_without_dram_w", "Mean power without DRAM; 0 for a draw without time"),
    ("rail_w", "Power of a GPU of this size and clock under load, without DRAM"),
];

fn pipeline(outcome: &SimulationResult, config: &Config) -> Value {
    let cache = &outcome.crop_cache;
    let counts = json!({
        "fragments": outcome.fragments,
        "near_cut_fragments": outcome.near_cut_fragments,
        "quads": outcome.quads,
        "raster": outcome.raster,
        "warps": outcome.warps,
        "vertex_warps": outcome.vertex_warps,
        "flushes": { "tc": flushes(&outcome.tc), "tgc": flushes(&outcome.tgc) },
        "qru": outcome.qru,
        "pack": outcome.pack,
        "terminations": outcome.terminations,
        "termination_updates": outcome.updates,
        "shaded_ratio": shaded_ratio(outcome),
        "merge_ratio": merge_ratio(outcome),
        "crop": joined([
            json!(cache),
            json!({
                "l2_bytes": (cache.fetched + cache.written_back) * SECTOR_BYTES,
                "dram_bytes": outcome.traffic.colour.dram_bytes(),
            }),
        ]),
        "zrop_cache": outcome.z_cache,
        "l1": outcome.l1,
        "l2": outcome.l2,
        "vertex_buffer": outcome.vertex_buffer,
        "dram_bytes": outcome.dram_bytes,
        "memory": outcome.traffic,
        "units": units(&outcome.units),
        "counters": outcome.statistics,
        "storage_bytes_per_gpc": storage_bytes_per_gpc(config, outcome.variant),
    });
    let cycles = json!({ "cycles": outcome.cycles });
    joined([cycles, json!(LimitRow::of(&outcome.units)), counts])
}

fn in_shader(counts: &InShader) -> Value {
    match counts {
        InShader::Unordered(counts) => json!({ "shader_blend": counts }),
        InShader::Interlocked(counts) => json!({ "interlock": counts }),
    }
}

fn flushes(counts: &Flushes) -> Value {
    let total = counts.total();
    let means = json!({ "total": total, "mean_items": ratio(counts.items, total) });
    joined([json!(counts), means])
}

/// Storage that the variant adds to each GPC, and the L2 lines for vertex results, which all variants have.
fn storage_bytes_per_gpc(config: &Config, variant: Variant) -> Value {
    let when = |on: bool, bytes: u64| if on { bytes } else { 0 };
    let tgc = when(variant.tgc(), config.tgc.storage_bytes());
    let qru = when(variant.qru(), config.qru.storage_bytes());
    let zrop = when(variant.het(), config.zrop.storage_bytes());
    let fetch = when(variant.tgc(), config.tgc.fetch_bytes(config.vertex.position_bytes));
    json!({
        "tgc": tgc,
        "tgc_fetch": fetch,
        "qru": qru,
        "zrop": zrop,
        "total": tgc + fetch + qru + zrop,
        "l2_vertex_results": config.vertex_buffer_bytes(),
    })
}

/// Joins the keys of objects; null adds none.
pub fn joined<const N: usize>(parts: [Value; N]) -> Value {
    let objects = parts.into_iter().filter_map(|part| match part {
        Value::Object(object) => Some(object),
        _ => None,
    });
    Value::Object(objects.flatten().collect())
}
