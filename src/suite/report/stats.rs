//! Statistics as flat text in the form of gem5's `stats.txt`: blocks of one counter per line, with its name, its value,
//! and behind a `#` its meaning and unit.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::json::MethodReport;
use super::simulated::{Simulated, VariantRun};
use crate::rows::{
    AddedStorage, BlendedFragments, ColourCacheRow, FlushRow, LimitRow, PipelineCounts, UnitRow,
};
use quadrille_base::math::index;
use quadrille_gpu::compute::outcome::ComputeCounts;
use quadrille_gpu::compute::stream::KernelCost;
use quadrille_gpu::energy::{Energy, EnergyEvents};
use quadrille_gpu::frame::FrameTimes;
use quadrille_gpu::geometry::vertex_buffer::VertexBufferPeaks;
use quadrille_gpu::gscore::accelerator::{GscoreCounts, GscoreStage};
use quadrille_gpu::imitation::ImitationOutcome;
use quadrille_gpu::in_shader::{InterlockOutcome, ShaderBlendOutcome};
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::passes::Pass;
use quadrille_gpu::result::SimulationResult;
use quadrille_machine::{Counter, PortKind, Record, Timeline, UnitCycles};

const BEGIN: &str = "---------- Begin Simulation Statistics ----------";
const END: &str = "---------- End Simulation Statistics   ----------";

/// Keys of the JSON document that are not statistics, or are in the head of a block.
const LEFT_OUT: [&str; 4] = ["name", "output", "discrepancies", "host_"];

type Meanings = BTreeMap<String, &'static str>;

/// Statistics of a view as text. Each method has a block per recorded interval, if any, and a block of totals.
pub fn text(simulated: &Simulated<'_>) -> String {
    let mut text = String::new();
    for run in &simulated.runs {
        let meanings = meanings(&run.outcome);
        if let Some(result) = run.outcome.pipeline() {
            intervals(&mut text, simulated, run, result, &meanings);
        }
        let mut statistics = Vec::new();
        let report = serde_json::to_value(MethodReport::of(simulated, run)).unwrap_or_default();
        flatten("", &report, &mut statistics);
        if let Some(draw) = &simulated.mesh_draw {
            let draw = serde_json::to_value(draw).unwrap_or_default();
            flatten("mesh_draw", &draw, &mut statistics);
        }
        block(&mut text, simulated, run, &statistics, &meanings);
    }
    text
}

fn block(
    text: &mut String,
    simulated: &Simulated<'_>,
    run: &VariantRun,
    statistics: &[(String, String)],
    meanings: &Meanings,
) {
    let view = &simulated.view;
    let head = [
        ("scene", word(&simulated.scene.path), "File of the scene"),
        ("view", word(&view.name), "View"),
        ("method", run.name(), "Method"),
        ("preset", word(simulated.preset), "Preset of the configuration"),
        ("width", view.width.to_string(), "Width of the picture in pixels"),
        ("height", view.height.to_string(), "Height of the picture in pixels"),
    ];
    let head = head.map(|(name, value, meaning)| (name.to_owned(), value, meaning.to_owned()));
    let lines = statistics.iter().map(|(name, value)| {
        let meaning = meanings.get(name).map(|meaning| first_sentence(meaning));
        (name.clone(), value.clone(), meaning.unwrap_or_else(|| name.replace(['.', '_'], " ")))
    });
    let _ = writeln!(text, "\n{BEGIN}");
    for (name, value, meaning) in head.into_iter().chain(lines) {
        let unit = unit(&name, &value);
        let _ = writeln!(text, "{name:<50} {value:>20}  # {meaning} ({unit})");
    }
    let _ = writeln!(text, "\n{END}");
}

/// Writes a block per interval: the cycles of the ports by state, and the counters recorded with a cycle.
fn intervals(
    text: &mut String,
    simulated: &Simulated<'_>,
    run: &VariantRun,
    result: &SimulationResult,
    meanings: &Meanings,
) {
    let mut records = result.records.clone();
    if records.iter().all(|record| record.interval() == 0) {
        return;
    }
    let ports = result.units.iter();
    let mut timelines: Vec<_> = ports
        .filter(|unit| unit.kind == PortKind::Pipeline)
        .filter_map(|unit| Some((unit, unit.timeline.clone()?)))
        .collect();
    let windows = timelines.iter().map(|(_, timeline)| timeline.window);
    let length = windows.chain(records.iter().map(Record::interval)).max().unwrap_or(1);
    timelines.iter_mut().for_each(|(_, t)| t.widen(length));
    records.iter_mut().for_each(|record| record.widen(length));
    let named: Vec<_> = timelines.iter().map(|(unit, t)| states(unit, t)).collect();
    let intervals = result.cycles.div_ceil(length);
    for (interval, first) in (0..intervals).map(|n| (index(n), n * length)) {
        let mut statistics = vec![
            ("interval.first_cycle".to_owned(), first.to_string()),
            ("interval.cycles".to_owned(), (result.cycles.min(first + length) - first).to_string()),
        ];
        let mut add = |name: &str, value: u64| {
            if value > 0 {
                statistics.push((name.to_owned(), value.to_string()));
            }
        };
        for ((_, timeline), names) in timelines.iter().zip(&named) {
            if let Some(window) = timeline.windows.get(interval) {
                names.iter().for_each(|(state, name)| add(name, window[*state]));
            }
        }
        for record in &records {
            let changes = record.intervals().nth(interval).unwrap_or_default();
            // Ports have timelines of all their states.
            let columns = record.columns.iter().zip(changes);
            let of_counters = columns.filter(|(column, _)| !column.name.starts_with("units."));
            of_counters.for_each(|(column, change)| add(&column.name, *change));
        }
        block(text, simulated, run, &statistics, meanings);
    }
}

fn states(unit: &UnitCycles, timeline: &Timeline) -> Vec<(usize, String)> {
    let occurs = |state: &usize| timeline.windows.iter().any(|window| window[*state] > 0);
    let idle = (1..quadrille_machine::STATES).filter(occurs);
    // The totals name the idle states that occur, in the same order.
    let idle = idle.zip(&unit.idle);
    let idle = idle.map(|(state, (reason, _))| (state, format!("idle.{}", word(reason))));
    [(0, "busy".to_owned())]
        .into_iter()
        .chain(idle)
        .map(|(state, name)| (state, format!("units.{}.{name}", unit.name)))
        .collect()
}

/// Appends the numbers and words of a JSON value, with names joined by dots; lists add names or indices.
fn flatten(name: &str, value: &Value, statistics: &mut Vec<(String, String)>) {
    let below = |key: &str| match name {
        "" => word(key),
        _ => format!("{name}.{}", word(key)),
    };
    match value {
        Value::Object(object) => {
            let kept =
                object.iter().filter(|(key, _)| !LEFT_OUT.iter().any(|out| key.starts_with(out)));
            kept.for_each(|(key, value)| flatten(&below(key), value, statistics));
        }
        Value::Array(list) => {
            for (place, value) in list.iter().enumerate() {
                let own = value.get("name").and_then(Value::as_str);
                let place = own.map_or_else(|| place.to_string(), str::to_owned);
                flatten(&below(&place), value, statistics);
            }
        }
        Value::Null => statistics.push((name.to_owned(), "nan".to_owned())),
        Value::String(text) => statistics.push((name.to_owned(), word(text))),
        Value::Bool(_) | Value::Number(_) => statistics.push((name.to_owned(), value.to_string())),
    }
}

fn word(text: &str) -> String {
    text.replace(char::is_whitespace, "_")
}

fn first_sentence(text: &str) -> String {
    let text = text.trim();
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.').to_owned()
}

fn unit(name: &str, value: &str) -> &'static str {
    const BY_WORD: &[(&str, &str)] = &[
        ("bytes", "Byte"),
        ("busy", "Cycle"),
        ("idle", "Cycle"),
        ("cycles", "Cycle"),
        ("cycle", "Cycle"),
        ("fps", "Frame/Second"),
        ("ms", "Millisecond"),
        ("mj", "Millijoule"),
        ("w", "Watt"),
        ("mm2", "Square millimetre"),
        ("mhz", "Megahertz"),
        ("db", "Decibel"),
        ("ratio", "Ratio"),
        ("share", "Ratio"),
        ("utilisation", "Ratio"),
        ("occupancy", "Ratio"),
        ("throughput", "Ratio"),
    ];
    if value != "nan" && value.parse::<f64>().is_err() {
        return "Name";
    }
    let has = |word: &str| name.split(['.', '_']).any(|part| part == word);
    BY_WORD.iter().find(|(word, _)| has(word)).map_or("Count", |(_, unit)| unit)
}

fn meanings(outcome: &Outcome) -> Meanings {
    let mut all = Meanings::new();
    documented(&mut all, "frame", FrameTimes::DOCS);
    documented(&mut all, "energy_events", EnergyEvents::DOCS);
    all.extend(Energy::DOCS.iter().map(|(field, text)| {
        let part = field.trim_end_matches("_mj");
        (format!("energy_mj.{part}"), *text)
    }));
    documented(&mut all, "", &OF_ALL);
    documented(&mut all, "energy_mj", &BAND);
    documented(&mut all, "interval", &INTERVAL);
    match outcome {
        Outcome::Pipeline(_, result) => of_pipeline(&mut all, result),
        Outcome::Compute(result) => {
            documented(&mut all, "fragments", BlendedFragments::DOCS);
            documented(&mut all, "compute", ComputeCounts::DOCS);
            counted(&mut all, "compute.lanes", &result.counts.lanes);
            counted(&mut all, "compute.cycles_by_reason", &result.counts.cycles_by_reason);
            counted(&mut all, "compute.l2", &result.counts.l2.cache);
            counted(&mut all, "compute.l2", &result.counts.l2);
            for kernel in &result.counts.kernels {
                documented(&mut all, &format!("compute.kernels.{}", kernel.name), KernelCost::DOCS);
            }
        }
        Outcome::Gscore(result) => {
            documented(&mut all, "fragments", BlendedFragments::DOCS);
            documented(&mut all, "gscore", GscoreCounts::DOCS);
            for stage in &result.counts.stages {
                documented(&mut all, &format!("gscore.stages.{}", stage.name), GscoreStage::DOCS);
            }
        }
    }
    all
}

fn of_pipeline(all: &mut Meanings, result: &SimulationResult) {
    documented(all, "", PipelineCounts::DOCS);
    documented(all, "", LimitRow::DOCS);
    documented(all, "flushes.tc", FlushRow::DOCS);
    documented(all, "flushes.tgc", FlushRow::DOCS);
    documented(all, "crop", ColourCacheRow::DOCS);
    documented(all, "storage_bytes_per_gpc", AddedStorage::DOCS);
    counted(all, "fragments", &result.fragments);
    counted(all, "quads", &result.quads);
    counted(all, "raster", &result.raster);
    counted(all, "flushes.tc", &result.tc);
    counted(all, "flushes.tgc", &result.tgc);
    counted(all, "qru", &result.qru);
    counted(all, "pack", &result.pack);
    counted(all, "crop", &result.crop_cache);
    counted(all, "zrop_cache", &result.z_cache);
    counted(all, "l1", &result.l1);
    counted(all, "l2", &result.l2.cache);
    counted(all, "l2", &result.l2);
    counted(all, "memory", &result.traffic);
    documented(all, "vertex_buffer", VertexBufferPeaks::DOCS);
    documented(all, "shader_blend", ShaderBlendOutcome::DOCS);
    documented(all, "interlock", InterlockOutcome::DOCS);
    documented(all, "imitation", ImitationOutcome::DOCS);
    for pass in 0..result.passes.len() {
        documented(all, &format!("passes.{pass}"), Pass::DOCS);
    }
    for unit in &result.units {
        let name = format!("units.{}", unit.name);
        documented(all, &name, UnitRow::DOCS);
        let idle = unit.idle.iter();
        all.extend(idle.map(|(reason, _)| (format!("{name}.idle.{}", word(reason)), IDLE)));
    }
    for (unit, counts) in result.statistics.units() {
        let counts = counts.into_iter();
        all.extend(counts.map(|count| (format!("counters.{unit}.{}", count.name), count.meaning)));
    }
}

const OF_ALL: [(&str, &str); 7] = [
    ("cycles", "Cycles from sorted splats to the picture"),
    ("frame_ms", "Time of the draw or of the raster kernel"),
    ("cycles_with_meshes", "Cycles of the meshes before the splats and of the splats"),
    ("frame_ms_with_meshes", "Time of the meshes before the splats and of the splats"),
    ("mesh_draw.cycles", "Cycles of all meshes before the splats"),
    ("power_without_dram_w", "Mean power without DRAM; 0 for a draw without time"),
    ("rail_w", "Power of a GPU of this size and clock under load, without DRAM"),
];
const BAND: [(&str, &str); 2] = [
    ("total_low", "Sum of the parts at the lower ends of their bands"),
    ("total_high", "Sum of the parts at the upper ends of their bands"),
];
const INTERVAL: [(&str, &str); 2] =
    [("first_cycle", "First cycle of the interval"), ("cycles", "Length of the interval")];
const IDLE: &str = "Cycles without work for this reason.";

fn documented(all: &mut Meanings, name: &str, docs: &[(&str, &'static str)]) {
    let dot = if name.is_empty() { "" } else { "." };
    all.extend(docs.iter().map(|(field, text)| (format!("{name}{dot}{field}"), *text)));
}

fn counted(all: &mut Meanings, name: &str, counter: &impl Counter) {
    let mut list = Vec::new();
    counter.list(name, "", &mut list);
    all.extend(list.into_iter().map(|count| (count.name, count.meaning)));
}
