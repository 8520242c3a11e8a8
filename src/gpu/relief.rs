//! Relief of a view: cycles with each part of the machine at twice its rate or size, or at half its latency.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::config::Config;
use super::machine::Machine;
use super::method::Method;
use super::sensitivity::scaled;
use super::view::PreparedView;
use super::wiring::Watch;
use quadrille_base::{Result, Task, choice};
use quadrille_machine::{Cycle, Field, UnitCycles};

choice! {
    /// Kind of a part of the machine.
    #[derive(PartialOrd, Ord)]
    pub enum PartKind {
        /// The ports that limit a method, together; the ports of the highest demands if latency and bursts limit it.
        Limit = "limit",
        /// A unit, whose rates are doubled and whose durations are halved.
        Unit = "unit",
        /// The units of a section of the pipeline, together.
        Group = "group",
        /// A storage, which is doubled.
        Storage = "storage",
        /// A latency, which is halved.
        Latency = "latency",
    }
}

/// Units with their rates, the durations for which they are held, and the queues of items that wait for their data. The
/// names are the names of ports.
const UNITS: [(&str, &[&str]); 29] = [
    ("vertex", &["vertex.primitives_per_cycle"]),
    ("vpo", &["vpo.primitives_per_cycle"]),
    ("crossbar", &["crossbar.primitives_per_cycle"]),
    ("tgc", &["tgc.primitives_in_per_cycle"]),
    ("tgc_out", &["tgc.primitives_out_per_cycle"]),
    ("binning", &["binning.entries_per_cycle"]),
    ("binning_out", &["binning.primitives_per_cycle"]),
    ("setup", &["setup.primitives_per_cycle"]),
    (
        "coarse",
        &[
            "coarse.tiles_per_cycle",
            "coarse.primitives_per_cycle",
            "coarse.screen_tiles_tested_per_cycle",
        ],
    ),
    ("hi_z", &["hi_z.tiles_per_cycle", "hi_z.primitives_per_cycle"]),
    ("fine", &["fine.tiles_per_cycle", "fine.primitives_per_cycle"]),
    ("tc", &["tc.tiles_in_per_cycle", "tc.quads_in_per_cycle"]),
    ("tc_out", &["tc.quads_out_per_cycle"]),
    ("prop", &["prop.quads_in_per_cycle"]),
    ("zrop", &["zrop.quads_per_cycle", "zrop.update_cycles", "zrop.wait_queue"]),
    ("qru", &["qru.quads_per_cycle"]),
    ("pack", &["prop.quads_out_per_cycle"]),
    ("launch", &["launch.warps_per_cycle"]),
    ("cores", &["cores.cores", "cores.warps_out_per_cycle"]),
    (
        "crop",
        &["crop.bytes_per_cycle", "crop.quads_per_cycle", "crop.blend_cycles", "crop.wait_queue"],
    ),
    (
        "tile_buffer",
        &["tile_buffer.bytes_per_cycle", "tile_buffer.quads_per_cycle", "tile_buffer.blend_cycles"],
    ),
    ("tile_write", &["tile_buffer.l2_bytes_per_cycle"]),
    ("tile_fetch", &["tile_fetch.bytes_per_cycle", "tile_fetch.latency_cycles"]),
    ("z_l2", &["zrop.l2_bytes_per_cycle"]),
    ("crop_l2", &["crop.l2_bytes_per_cycle"]),
    ("l1_fill", &["cores.l1_bytes_per_cycle"]),
    ("interlock_entry", &["interlock.entry_cycles"]),
    ("l2", &["l2.slices"]),
    ("dram", &["dram.gb_per_s"]),
];

/// Fields with the rates of a port; empty for a storage.
pub fn rates_of(port: &str) -> impl Iterator<Item = &'static str> {
    let fields = UNITS.iter().find(|(name, _)| *name == port).map_or(&[][..], |(_, fields)| fields);
    fields.iter().copied().filter(|field| field.contains("_per_"))
}

/// Sections of the pipeline with their units.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "geometry",
        &["vertex", "vpo", "crossbar", "tgc", "tgc_out", "binning", "binning_out", "setup"],
    ),
    ("raster", &["coarse", "hi_z", "fine", "tc"]),
    ("tests", &["tc_out", "prop", "zrop"]),
    ("shading", &["qru", "pack", "launch", "cores"]),
    ("memory", &["z_l2", "crop_l2", "tile_write", "l1_fill", "l2", "dram"]),
];

/// Storages by field.
const STORAGES: [&str; 40] = [
    "vertex.buffer_bytes",
    "vertex.fetch_queue",
    "vertex.warps",
    "vpo.queue",
    "crossbar.queue",
    "tgc.queue",
    "tgc.bins",
    "tgc.bin_size",
    "tgc.fetch_queue",
    "binning.queue",
    "binning.bins",
    "binning.bin_size",
    "binning.block_queue",
    "binning.fetch_queue",
    "setup.queue",
    "coarse.queue",
    "hi_z.queue",
    "fine.queue",
    "tc.queue",
    "tc.bins",
    "tc.bin_size",
    "prop.queue",
    "zrop.queue",
    "zrop.wait_queue",
    "zrop.update_queue",
    "zrop.cache_bytes",
    "qru.queue",
    "qru.window",
    "qru.buffers",
    "pack.queue",
    "launch.queue",
    "cores.warps_per_core",
    "cores.l1_bytes",
    "crop.queue",
    "crop.wait_queue",
    "crop.cache_bytes",
    "tile_buffer.queue",
    "tile_buffer.buffers",
    "interlock.regions",
    "l2.bytes",
];

/// Latencies by field.
const LATENCIES: [&str; 4] =
    ["l2.latency_ns", "dram.latency_ns", "zrop.feedback_cycles", "cores.fragment_latency_cycles"];

/// Ports whose parts have other names.
const PARTS_OF_PORTS: [(&str, &str); 18] = [
    ("vertex_buffer", "vertex.buffer_bytes"),
    ("vertex_fetch", "vertex.fetch_queue"),
    ("tgc_fetch", "tgc.fetch_queue"),
    ("zrop_updates", "zrop.update_queue"),
    ("interlock", "interlock.regions"),
    ("list_fetch", "binning.fetch_queue"),
    ("tile_buffers", "tile_buffer.buffers"),
    ("pixel_order", "tile_fetch"),
    ("tile_read", "tile_fetch"),
    ("tile_store", "tile_fetch"),
    ("pack_out", "launch"),
    ("qru_out", "qru"),
    ("z_fill", "z_l2"),
    ("z_write", "z_l2"),
    ("crop_fill", "crop_l2"),
    ("crop_write", "crop_l2"),
    ("colour_read", "l1_fill"),
    ("colour_write", "l1_fill"),
];

/// A part of the machine, and the fields that relieve it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    name: String,
    kind: PartKind,
    fields: Vec<&'static str>,
}

impl Part {
    /// All parts, in the order of the pipeline.
    fn all() -> Vec<Self> {
        let units = UNITS.iter().map(|(name, fields)| (*name, PartKind::Unit, fields.to_vec()));
        let groups = GROUPS.iter().map(|(name, units)| {
            (*name, PartKind::Group, units.iter().flat_map(|unit| fields_of(unit)).collect())
        });
        let single = |kind| move |field: &'static str| (field, kind, vec![field]);
        let storages = STORAGES.into_iter().map(single(PartKind::Storage));
        let latencies = LATENCIES.into_iter().map(single(PartKind::Latency));
        let parts = units.chain(groups).chain(storages).chain(latencies);
        parts.map(|(name, kind, fields)| Self { name: name.to_owned(), kind, fields }).collect()
    }

    /// The ports that limit a method, together.
    fn limiting(ports: &[&UnitCycles]) -> Option<Self> {
        let mut fields: Vec<_> = ports.iter().flat_map(|port| fields_of(port.name)).collect();
        fields.sort_unstable();
        fields.dedup();
        let name = UnitCycles::names(ports)?;
        Some(Self { name, kind: PartKind::Limit, fields })
    }

    /// The changed fields that runs of `method` read, with their values.
    fn changes(&self, config: &Config, fields: &[Field], method: Method) -> Vec<(String, String)> {
        let read = fields.iter().filter(|field| {
            self.fields.contains(&field.name.as_str()) && config.is_read(field, &[method])
        });
        let changed = read.filter_map(|field| {
            let is_duration = ["_cycles", "_ns"].iter().any(|unit| field.name.ends_with(unit));
            let value = scaled(config, field, if is_duration { [1, 2] } else { [2, 1] })?;
            // Half of one cycle would be none.
            (value != "0").then(|| (field.name.clone(), value))
        });
        changed.collect()
    }
}

/// The fields that relieve a port or a part.
fn fields_of(name: &str) -> Vec<&'static str> {
    let other = PARTS_OF_PORTS.iter().find(|(port, _)| *port == name);
    let name = other.map_or(name, |(_, part)| part);
    let unit = UNITS.iter().find(|(unit, _)| *unit == name);
    let storage = STORAGES.iter().find(|field| **field == name);
    unit.map_or_else(|| storage.copied().into_iter().collect(), |(_, fields)| fields.to_vec())
}

/// A part of the machine, and the cycles of a method with that part relieved.
#[derive(Debug, Clone)]
pub struct PartRelief {
    /// Name of the port, group or field; of several ports, all names.
    pub name: String,
    /// Kind of the part.
    pub kind: PartKind,
    /// Changed fields with their values.
    pub changes: Vec<(String, String)>,
    /// Cycles with these values.
    pub cycles: Cycle,
    /// Share of the cycles that the relief saves: at most 1, and negative if it costs cycles.
    pub gain: f64,
}

/// Relief of a method.
#[derive(Debug, Clone)]
pub struct MethodRelief {
    /// The method.
    pub method: Method,
    /// Cycles with the configuration as it is.
    pub cycles: Cycle,
    /// Names of the ports that limit the run; `None` if latency and bursts do.
    pub limiting: Option<String>,
    /// All parts that runs of the method read, in order of falling gain.
    pub parts: Vec<PartRelief>,
}

impl MethodRelief {
    /// The relief of the ports that limit the method, or of those of the highest demands if none does.
    pub fn of_limit(&self) -> Option<&PartRelief> {
        self.parts.iter().find(|part| part.kind == PartKind::Limit)
    }

    /// The relief with the largest gain among parts of a kind.
    pub fn best(&self, kind: PartKind) -> Option<&PartRelief> {
        self.parts.iter().find(|part| part.kind == kind)
    }
}

/// Simulates `view` on `methods` as configured and with each part relieved. Progress is in runs; `begin` is told their
/// number and the host time of the runs as configured.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) naming a field of `config` that does not fit, and
/// [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
pub fn relief(
    view: &PreparedView<'_>,
    config: &Config,
    methods: &[Method],
    task: &Task,
    begin: &mut dyn FnMut(usize, Duration),
) -> Result<Vec<MethodRelief>> {
    let fields = config.fields();
    let start = Instant::now();
    let mut reliefs = Vec::new();
    let mut jobs = Vec::new();
    let machines = Machine::all(config, methods, Watch::default())?;
    let unchanged: Vec<_> = machines.par_iter().map(|machine| machine.run(view, task)).collect();
    for (at, (&method, run)) in methods.iter().zip(unchanged).enumerate() {
        let outcome = run?.outcome;
        let units = outcome.units();
        let ports = UnitCycles::critical(&units);
        for part in Part::limiting(&ports).into_iter().chain(Part::all()) {
            let changes = part.changes(config, &fields, method);
            if !changes.is_empty() {
                jobs.push((at, part, changes));
            }
        }
        let limiting = UnitCycles::names(&UnitCycles::limiting(&units));
        let cycles = outcome.cycles();
        reliefs.push(MethodRelief { method, cycles, limiting, parts: Vec::new() });
    }
    begin(jobs.len(), start.elapsed());
    let steps = task.steps(jobs.len() as u64);
    let relieved = jobs.into_par_iter().map(|(at, part, changes)| {
        let with = |config: Config, (field, value): &(String, String)| {
            config.with(&format!("{field}={value}"))
        };
        let relieved = changes.iter().try_fold(config.clone(), with)?;
        let run = Machine::new(&relieved, methods[at], Watch::default())?.run(view, task)?;
        steps.advance(1)?;
        let (before, cycles) = (reliefs[at].cycles, run.outcome.cycles());
        let gain = if before == 0 { 0.0 } else { 1.0 - cycles as f64 / before as f64 };
        Ok((at, PartRelief { name: part.name, kind: part.kind, changes, cycles, gain }))
    });
    for (at, part) in relieved.collect::<Result<Vec<_>>>()? {
        reliefs[at].parts.push(part);
    }
    for relief in &mut reliefs {
        relief.parts.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    }
    Ok(reliefs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field exists, and every rate, queue and size of the pipeline's units relieves a part.
    #[test]
    fn every_rate_and_storage_of_the_pipeline_relieves_a_part() {
        let config = Config::default();
        let fields = config.fields();
        let parts = Part::all();
        for field in parts.iter().flat_map(|part| &part.fields) {
            assert!(fields.iter().any(|known| known.name == **field), "{field}");
        }
        let other_machines = ["gscore", "compute", "kernels", "frame", "energy", "passes"];
        for field in &fields {
            let (unit, name) = field.name.split_once('.').unwrap();
            let is_rate = name.ends_with("_per_cycle") && name != "slice_bytes_per_cycle";
            let is_storage = ["queue", "bins", "bin_size", "window", "buffers", "cache_bytes"]
                .iter()
                .any(|storage| name.ends_with(storage));
            if (is_rate || is_storage) && !other_machines.contains(&unit) {
                let relieves = |part: &Part| part.fields.contains(&field.name.as_str());
                assert!(parts.iter().any(relieves), "{}", field.name);
            }
        }
    }

    /// Rates are doubled and durations halved, but a duration of one cycle is not. Fields of other methods are left out.
    #[test]
    fn rates_are_doubled_and_durations_halved() {
        let config = Config::default();
        let fields = config.fields();
        let changes = |name: &str, method: &str| {
            let part = Part::all().into_iter().find(|part| part.name == name).unwrap();
            let changes = part.changes(&config, &fields, Method::parse(method).unwrap());
            changes.iter().map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>()
        };
        let crop = [
            "crop.quads_per_cycle=8",
            "crop.bytes_per_cycle=128",
            "crop.wait_queue=1280",
            "crop.blend_cycles=1",
        ];
        let mut changed = changes("crop", "baseline");
        changed.sort_by_key(|change| crop.iter().position(|known| known == change));
        assert_eq!(changed, crop);
        assert_eq!(changes("zrop", "het"), ["zrop.quads_per_cycle=16", "zrop.wait_queue=512"]);
        assert_eq!(changes("tgc", "qm"), ["tgc.primitives_in_per_cycle=2"]);
        assert!(changes("tgc", "het").is_empty());
        assert_eq!(changes("l2.latency_ns", "het"), ["l2.latency_ns=120.0"]);
    }
}
