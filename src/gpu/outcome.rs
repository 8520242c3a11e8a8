//! What a run leaves behind: the picture, the cycles, and every counter.

use super::coalesce::bins::Flushes;
use super::coalesce::qru::QruCounters;
use super::crop::cache::CropCacheCounters;
use super::fates::{Fragments, Quads, Raster};
use super::geometry::assembly::{Assembly, Distribute};
use super::geometry::vertex::VertexShading;
use super::machine::Machine;
use super::pipeline::{Gpc, Named, Units};
use super::variant::Variant;
use super::zrop::surface::Surface;
use super::zrop::zcache::ZCacheCounters;
use crate::pipeline::maps::Maps;
use crate::pipeline::memory::l2::L2Counters;
use crate::pipeline::stage::Link;
use crate::pipeline::timing::{Activity, Cycle, Idle, Timeline};

/// A unit's cycles.
#[derive(Debug, Clone)]
pub struct UnitCycles {
    /// Its name.
    pub name: &'static str,
    /// Alike units whose cycles are summed: `busy` and `idle` make `instances` times the run's
    /// cycles.
    pub instances: u64,
    /// Cycles worked.
    pub busy: u64,
    /// Cycles not worked, by reason.
    pub idle: Vec<(String, u64)>,
    /// Timeline of the first of them, if one was kept.
    pub timeline: Option<Timeline>,
}

impl UnitCycles {
    /// Share of its cycles in which the unit worked.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a share, for people")]
    pub fn utilisation(&self) -> f64 {
        let total = self.busy + self.idle.iter().map(|(_, c)| c).sum::<u64>();
        if total == 0 {
            return 0.0;
        }
        self.busy as f64 / total as f64
    }

    /// Adds the cycles of a unit, in a run of `cycles`, to those of its like.
    pub fn add(units: &mut Vec<Self>, name: &'static str, mut activity: Activity, cycles: Cycle) {
        activity.idle_until(cycles, Idle::Drained);
        let timeline = activity.timeline().cloned();
        if let Some(unit) = units.iter_mut().find(|u| u.name == name) {
            unit.instances += 1;
            unit.busy += activity.busy;
            for ((_, sum), cycles) in unit.idle.iter_mut().zip(activity.idle) {
                *sum += cycles;
            }
            return;
        }
        let reasons = Idle::ALL.iter().map(|r| format!("{r:?}").to_lowercase());
        units.push(Self {
            name,
            instances: 1,
            busy: activity.busy,
            idle: reasons.zip(activity.idle).collect(),
            timeline,
        });
    }

    /// Says by whom units, in the order of the pipeline, were starved and blocked; leaves out
    /// reasons that never arose.
    pub fn name_reasons(units: &mut [Self]) {
        let names: Vec<_> = units.iter().map(|u| u.name).collect();
        for (i, unit) in units.iter_mut().enumerate() {
            let before = if i == 0 { "the draw" } else { names[i - 1] };
            let after = names.get(i + 1).copied().unwrap_or("memory");
            for (name, _) in &mut unit.idle {
                match name.as_str() {
                    "starved" => *name = format!("starved by {before}"),
                    "blocked" => *name = format!("blocked by {after}"),
                    _ => {}
                }
            }
            unit.idle.retain(|(_, cycles)| *cycles > 0);
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// What ran.
    pub variant: Variant,
    /// From the start of the draw to the end of the last raster operation, tests and termination
    /// updates that hold up a test among them.
    pub cycles: Cycle,
    /// Fragments.
    pub fragments: Fragments,
    /// Quads.
    pub quads: Quads,
    /// Raster.
    pub raster: Raster,
    /// Fragment warps launched.
    pub warps: u64,
    /// Vertex warps run.
    pub vertex_warps: u64,
    /// Flushes of tile-grid coalescing.
    pub tgc: Flushes,
    /// Flushes of tile coalescing.
    pub tc: Flushes,
    /// Quad reordering.
    pub qru: QruCounters,
    /// Pixels brought to the threshold, and the updates that ZROP has made of it.
    pub terminations: u64,
    /// Termination updates done before the end of the draw.
    pub updates: u64,
    /// CROP cache.
    pub crop_cache: CropCacheCounters,
    /// Stencil and depth cache.
    pub z_cache: ZCacheCounters,
    /// L2.
    pub l2: L2Counters,
    /// Bytes moved from and to DRAM.
    pub dram_bytes: u64,
    /// Every unit's cycles, in the order of the pipeline.
    pub units: Vec<UnitCycles>,
    /// The picture.
    pub surface: Surface,
    /// Counts a pixel, if asked for.
    pub maps: Option<Box<Maps>>,
}

impl Outcome {
    /// The activities of a GPC's units, in the order of the pipeline.
    pub(super) fn activities<'a>(units: &'a mut Units<'_>) -> Vec<Named<'a>> {
        let mut named: Vec<Named<'a>> = vec![
            ("tgc", &mut units.tgc.input),
            ("tgc_out", &mut units.tgc.output.activity),
            ("setup", &mut units.setup.pipe.activity),
            ("coarse", &mut units.coarse.pipe.activity),
            ("hi_z", &mut units.hi_z.pipe.activity),
            ("fine", &mut units.fine.pipe.activity),
            ("tc", &mut units.tc.input),
            ("tc_out", &mut units.tc.output.activity),
            ("prop", &mut units.prop.pipe.activity),
            ("zrop", &mut units.zrop.pipe.activity),
            ("qru", &mut units.qru.input),
            ("qru_out", &mut units.qru.pipe.activity),
            ("launch", &mut units.launch.pipe.activity),
        ];
        named.extend(
            units
                .cores
                .schedule
                .activity
                .iter_mut()
                .map(|a| ("cores", a)),
        );
        named.push(("crop", &mut units.crop.activity));
        named
    }

    pub(super) fn collect(
        variant: Variant,
        vertex: VertexShading,
        assembly: Link<Assembly, Distribute<Gpc>>,
        machine: Machine<'_>,
    ) -> Self {
        let Link {
            stage: assembly,
            next: Distribute { mut gpcs },
            ..
        } = assembly;
        // The last raster operation may be a blend, or a test that left nothing to blend.
        let ends = gpcs.iter_mut().map(|(_, gpc)| {
            let mut units = Units::of(gpc);
            let blended = units.retired.at;
            let worked = Self::activities(&mut units);
            let worked = worked.iter().map(|(_, activity)| activity.accounted());
            worked.fold(blended, Cycle::max)
        });
        let ends = ends.chain([assembly.pipe.activity.accounted()]);
        let cycles = ends.max().unwrap_or(0);
        let mut outcome = Self {
            variant,
            cycles,
            fragments: Fragments::default(),
            quads: Quads::default(),
            raster: Raster {
                splats: u64::from(machine.draw.len()),
                ..Raster::of_assembly(&assembly.counters)
            },
            warps: 0,
            vertex_warps: vertex.warps(),
            tgc: Flushes::default(),
            tc: Flushes::default(),
            qru: QruCounters::default(),
            terminations: 0,
            updates: 0,
            crop_cache: CropCacheCounters::default(),
            z_cache: ZCacheCounters::default(),
            l2: machine.memory.l2.counters.clone(),
            dram_bytes: machine.memory.dram.bytes(),
            units: Vec::new(),
            surface: machine.surface,
            maps: machine.maps,
        };
        UnitCycles::add(&mut outcome.units, "vertex", vertex.pipe.activity, cycles);
        UnitCycles::add(&mut outcome.units, "vpo", assembly.pipe.activity, cycles);
        for (_, gpc) in &mut gpcs {
            let mut units = Units::of(gpc);
            outcome.add_counters(&units);
            for (name, activity) in Self::activities(&mut units) {
                if variant.tgc || !name.starts_with("tgc") {
                    UnitCycles::add(&mut outcome.units, name, std::mem::take(activity), cycles);
                }
            }
        }
        UnitCycles::name_reasons(&mut outcome.units);
        outcome
    }

    fn add_counters(&mut self, units: &Units<'_>) {
        let zrop = &units.zrop.counters;
        let cores = &units.cores.counters;
        let crop = &units.crop.counters;
        let f = &mut self.fragments;
        f.rasterized += units.fine.counters.fragments + units.hi_z.hidden_fragments;
        f.hidden += units.hi_z.hidden_fragments
            + zrop.fragments.stencil_failed
            + zrop.fragments.depth_failed;
        f.terminated += zrop.fragments.terminated;
        f.shaded += cores.fragments_shaded;
        f.pruned += cores.fragments_pruned;
        f.merged += cores.fragments_merged;
        f.dropped += crop.fragments_dropped;
        f.blended += crop.fragments;
        f.late += crop.late;
        let q = &mut self.quads;
        q.rasterized += units.fine.counters.quads;
        q.hidden += zrop.quads.stencil_failed + zrop.quads.depth_failed;
        q.terminated += zrop.quads.terminated;
        q.shaded += cores.quads_shaded;
        q.pruned += cores.quads_pruned;
        q.merged_pairs += cores.quads_merged;
        q.dropped += crop.quads_dropped;
        q.blended += crop.quads;
        let r = &mut self.raster;
        r.set_up += units.setup.primitives;
        r.missed += units.coarse.primitives_missed;
        r.tiles += units.coarse.tiles_out;
        r.tiles_hidden += units.hi_z.hidden;
        r.tiles_empty += units.fine.counters.tiles_empty;
        self.warps += units.launch.warps;
        self.tgc.add(&units.tgc.flushes);
        self.tc.add(&units.tc.flushes);
        self.qru.quads_in += units.qru.counters.quads_in;
        self.qru.pairs += units.qru.counters.pairs;
        self.qru.singles += units.qru.counters.singles;
        self.qru.warps += units.qru.counters.warps;
        self.terminations += crop.terminations;
        self.updates += zrop.updates;
        self.crop_cache.add(&units.crop.cache.counters);
        let z = &units.zrop.cache().counters;
        self.z_cache.hits += z.hits;
        self.z_cache.misses += z.misses;
        self.z_cache.written_back += z.written_back;
    }

    /// The unit that worked in the largest share of its cycles.
    #[must_use]
    pub fn limiting_unit(&self) -> Option<&UnitCycles> {
        self.units
            .iter()
            .max_by(|a, b| a.utilisation().total_cmp(&b.utilisation()))
    }

    /// What does not add up, one sentence each: nothing may be lost between units, and every unit's
    /// cycles make the run's.
    #[must_use]
    pub fn discrepancies(&self) -> Vec<String> {
        let (f, q, r) = (&self.fragments, &self.quads, &self.raster);
        let sums = [
            (
                "fragments rasterized",
                f.rasterized,
                f.hidden + f.terminated + f.shaded,
            ),
            (
                "fragments shaded",
                f.shaded,
                f.pruned + f.merged + f.dropped + f.blended,
            ),
            (
                "quads rasterized",
                q.rasterized,
                q.hidden + q.terminated + q.shaded,
            ),
            (
                "quads shaded",
                q.shaded,
                q.pruned + q.merged_pairs + q.dropped + q.blended,
            ),
            ("quads flushed", q.rasterized, self.tc.items),
            (
                "quads packed",
                q.shaded,
                2 * self.qru.pairs + self.qru.singles,
            ),
            ("warps", self.warps, self.qru.warps),
            (
                "primitives flushed",
                if self.variant.tgc { r.set_up } else { 0 },
                self.tgc.items,
            ),
        ];
        let mut wrong: Vec<_> = sums
            .iter()
            .filter(|(_, total, parts)| total != parts)
            .map(|(what, total, parts)| format!("{what}: {total}, but their fates make {parts}"))
            .collect();
        for unit in &self.units {
            let sum = unit.busy + unit.idle.iter().map(|(_, c)| c).sum::<u64>();
            let expected = unit.instances * self.cycles;
            if sum != expected {
                wrong.push(format!(
                    "{}: {sum} cycles accounted of {expected}",
                    unit.name
                ));
            }
        }
        wrong
    }
}
