//! Result of a timed run of the mesh path.

use super::colour::ColourCounters;
use super::cores::MeshCoresCounters;
use super::depth::DepthBuffer;
use super::draw_state::MeshDrawState;
use super::grids::GridsCounters;
use super::quads::QuadsCounters;
use quadrille_gpu::crop::unit::CROP_CACHE;
use quadrille_gpu::raster::hi_z::HiZCounters;
use quadrille_gpu::zrop::unit::{Z_CACHE, ZropCounters};
use quadrille_machine::{
    CacheCounters, Collected, Cycle, L2Counters, PackCounters, Unit, UnitCycles,
};
use quadrille_mesh::merge::MergeCounters;

/// Cycles, counters and depths of a timed run of the mesh path.
#[derive(Debug)]
#[non_exhaustive]
pub struct TimedMeshResult {
    /// Cycles from the start of the frame to the end of the last write.
    pub cycles: Cycle,
    /// Cycles of every unit, in the order of the pipeline.
    pub units: Vec<UnitCycles>,
    /// Grids and triangles by outcome.
    pub grids: GridsCounters,
    /// Quads before the merging unit, and the unit's counters. Equal to the counters of a frame without time.
    pub counters: MergeCounters,
    /// Number of quads sent to the shader.
    pub quads_shaded: u64,
    /// Counts of packed warps and quads.
    pub warps: PackCounters,
    /// Quads and samples of the colour unit by outcome.
    pub colour: ColourCounters,
    /// Number of raster tiles that Hi-Z dropped.
    pub tiles_hidden: u64,
    /// Hits, misses and traffic of the colour cache.
    pub colour_cache: CacheCounters,
    /// Hits, misses and traffic of the depth cache.
    pub z_cache: CacheCounters,
    /// Traffic of the L2.
    pub l2: L2Counters,
    /// Bytes read from and written to DRAM.
    pub dram_bytes: u64,
    /// Depth buffer at the end: for every sample, its depth and the index of the triangle that it shows.
    pub depths: DepthBuffer,
    /// Number of quads that never left the pipeline; 0 unless the model has a bug.
    pub left_over: u64,
}

impl TimedMeshResult {
    pub(super) fn collect(pipeline: &mut impl Unit, state: MeshDrawState) -> Self {
        let run = Collected::of(pipeline, state.memory.writes_done());
        let statistics = &run.statistics;
        let hi_z: HiZCounters = statistics.of();
        let zrop: ZropCounters = statistics.of();
        let rasterized = statistics.of::<QuadsCounters>().covered;
        Self {
            cycles: run.cycles,
            grids: statistics.of(),
            counters: MergeCounters {
                rasterized: rasterized + hi_z.hidden_quads,
                culled: zrop.quads.depth_failed + hi_z.hidden_quads,
                ..statistics.of()
            },
            quads_shaded: statistics.of::<MeshCoresCounters>().quads,
            warps: statistics.of(),
            colour: statistics.of(),
            tiles_hidden: hi_z.hidden,
            colour_cache: statistics.of_unit(CROP_CACHE),
            z_cache: statistics.of_unit(Z_CACHE),
            l2: state.memory.l2.counters(),
            dram_bytes: state.memory.dram.bytes(),
            left_over: (state.fragments.len() + state.records.len()) as u64,
            depths: state.depths,
            units: [run.units, state.memory.units(run.cycles)].concat(),
        }
    }

    /// Describes counters and cycles that do not add up. The list is empty unless the model has a bug.
    pub fn discrepancies(&self) -> Vec<String> {
        let c = &self.counters;
        let shaded = match (&c.qfm, &c.pmu) {
            (Some(qfm), _) => qfm.quads_out() + c.barred,
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
        sums.into_iter()
            .filter(|(_, total, parts)| total != parts)
            .map(|(what, total, parts)| format!("{what}: {total}, but the parts make {parts}"))
            .chain(UnitCycles::discrepancies(&self.units, self.cycles))
            .collect()
    }
}
