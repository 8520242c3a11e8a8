//! What a run of the mesh path in cycles leaves behind.

use super::colour::ColourCounters;
use super::depth::DepthBuffer;
use super::grids::GridsCounters;
use super::machine::MeshMachine;
use super::pack::PackCounters;
use crate::gpu::crop::cache::CropCacheCounters;
use crate::gpu::zrop::zcache::ZCacheCounters;
use crate::mesh::merge::MergeCounters;
use crate::pipeline::collect::UnitCycles;
use crate::pipeline::memory::l2::L2Counters;
use crate::pipeline::packets::{Beat, Quad};
use crate::pipeline::stage::Stage;
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::Unit;

/// A merging unit, or none, as part of the pipeline.
pub trait MergeStage: Unit + Stage<MeshMachine, In = Beat, Out = Quad> {
    /// What it counted.
    fn counters(&self) -> MergeCounters;
}

/// The result of a run.
#[derive(Debug)]
pub struct TimedOutcome {
    /// From the start of the frame to the end of the last write.
    pub cycles: Cycle,
    /// Every unit's cycles, in the order of the pipeline.
    pub units: Vec<UnitCycles>,
    /// Grids and triangles.
    pub grids: GridsCounters,
    /// Quads in, and what the unit counted: as a frame without time counts it.
    pub counters: MergeCounters,
    /// Quads sent to the shader.
    pub quads_shaded: u64,
    /// Warps.
    pub warps: PackCounters,
    /// Samples written.
    pub colour: ColourCounters,
    /// Raster tiles that Hi-Z dropped.
    pub tiles_hidden: u64,
    /// Colour cache.
    pub colour_cache: CropCacheCounters,
    /// Depth cache.
    pub z_cache: ZCacheCounters,
    /// L2.
    pub l2: L2Counters,
    /// Bytes moved from and to DRAM.
    pub dram_bytes: u64,
    /// What every sample shows: owners are triangles, counted over all grids with a triangle in
    /// the picture.
    pub depths: DepthBuffer,
    /// Quads that never left the pipeline.
    pub left_over: u64,
}

impl TimedOutcome {
    /// The unit that worked in the largest share of its cycles.
    #[must_use]
    pub fn limiting_unit(&self) -> Option<&UnitCycles> {
        let units = self.units.iter();
        units.max_by(|a, b| a.utilisation().total_cmp(&b.utilisation()))
    }

    /// What does not add up, one sentence each.
    #[must_use]
    pub fn discrepancies(&self) -> Vec<String> {
        let c = &self.counters;
        let shaded = match (&c.qfm, &c.pmu) {
            (Some(qfm), _) => qfm.quads_out(),
            (_, Some(pmu)) => pmu.quads_out() + c.barred,
            _ => c.tested(),
        };
        let written = self.colour.quads + self.colour.quads_hidden;
        let sums = [
            ("quads shaded", self.quads_shaded, shaded),
            ("quads packed", self.quads_shaded, self.warps.quads),
            ("quads written or hidden", self.quads_shaded, written),
            ("quads left over", self.left_over, 0),
        ];
        let wrong = sums.iter().filter(|(_, total, parts)| total != parts);
        let mut wrong: Vec<_> = wrong
            .map(|(what, total, parts)| format!("{what}: {total}, but their fates make {parts}"))
            .collect();
        for unit in &self.units {
            let sum = unit.busy + unit.idle.iter().map(|(_, c)| c).sum::<u64>();
            let expected = unit.instances * self.cycles;
            if sum != expected {
                let name = unit.name;
                wrong.push(format!("{name}: {sum} cycles accounted of {expected}"));
            }
        }
        wrong
    }
}
