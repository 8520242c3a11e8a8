//! Results of a simulation: the picture, the cycles, and all counters.

use super::coalesce::bins::Flushes;
use super::coalesce::quad_reorder::QruCounters;
use super::coalesce::tile_coalescing::TcSpec;
use super::coalesce::tile_grid_coalescing::TgcSpec;
use super::crop::unit::{CROP_CACHE, CropCounters};
use super::draw_state::DrawState;
use super::geometry::assembly::AssemblyCounters;
use super::geometry::vertex::VertexCounters;
use super::geometry::vertex_buffer::VertexBufferPeaks;
use super::imitation::ImitationOutcome;
use super::in_shader::InShader;
use super::outcome_counts::{FragmentCounts, PrimitiveCounts, QuadCounts};
use super::passes::Pass;
use super::raster::coarse::CoarseCounters;
use super::raster::fine::FineCounters;
use super::raster::hi_z::HiZCounters;
use super::raster::setup::SetupCounters;
use super::variant::Variant;
use super::warp::attribute_cache::AttributeCounters;
use super::warp::cores::CoresCounters;
use super::warp::launch::LaunchCounters;
use super::warp::shader_blend::{ShaderBlendCounters, ShaderOrder};
use super::warp::update::UpdateCounters;
use super::zrop::framebuffer::{Framebuffer, FramebufferLines};
use super::zrop::unit::{Z_CACHE, ZropCounters};
use quadrille_base::image::Frame;
use quadrille_machine::{
    CacheCounters, Collected, Cycle, DramRequest, HeldLines, L2Counters, Maps, PackCounters,
    Record, StatisticsByUnit, Traffic, TrafficByClient, Unit, UnitCycles,
};

/// Result of a simulation of the graphics pipeline.
#[derive(Debug)]
#[non_exhaustive]
pub struct SimulationResult {
    /// Simulated variant of the pipeline.
    pub variant: Variant,
    /// Cycles from the start of the draw to the end of the last raster operation (a blend, a test, or a
    /// termination update that delays a test) and to the acceptance of the last write by the L2 or DRAM.
    /// Dirty data still cached then are not written.
    pub cycles: Cycle,
    /// Fragments by outcome.
    pub fragments: FragmentCounts,
    /// Number of fragments near the alpha cut that the reference renderer's arithmetic decided.
    pub near_cut_fragments: u64,
    /// Quads by outcome.
    pub quads: QuadCounts,
    /// Primitives and raster tiles by outcome.
    pub raster: PrimitiveCounts,
    /// Number of fragment warps launched.
    pub warps: u64,
    /// Number of vertex warps run.
    pub vertex_warps: u64,
    /// Flushes of tile-grid coalescing.
    pub tgc: Flushes,
    /// Flushes of tile coalescing.
    pub tc: Flushes,
    /// Statistics of quad reordering; zeros in variants without it.
    pub qru: QruCounters,
    /// Statistics of warp packing.
    pub pack: PackCounters,
    /// Pixels that reached the termination threshold.
    pub terminations: u64,
    /// Termination updates, one per pixel.
    pub updates: u64,
    /// Accesses of fragment warps to the first-level caches.
    pub l1: AttributeCounters,
    /// Peak occupancy of the buffer of vertex results.
    pub vertex_buffer: VertexBufferPeaks,
    /// Statistics of the CROP cache.
    pub crop_cache: CacheCounters,
    /// Statistics of the stencil and depth cache.
    pub z_cache: CacheCounters,
    /// Traffic of the L2.
    pub l2: L2Counters,
    /// Bytes moved to and from DRAM.
    pub dram_bytes: u64,
    /// Bytes moved to and from L2 and DRAM, by client.
    pub traffic: TrafficByClient,
    /// Cycles and terminated pixels of each pass; one entry if the splats were drawn at once.
    pub passes: Vec<Pass>,
    /// Work of the stencil updates between passes; their fragments and quads are in no other count.
    pub stencil_updates: UpdateCounters,
    /// Counts of blending in the shader, if CROP did not blend.
    pub in_shader: Option<InShader>,
    /// Results of the draws before an imitation of VR-Pipe's additions, if this draw is one.
    pub imitation: Option<ImitationOutcome>,
    /// Cycles by port, in pipeline order.
    pub units: Vec<UnitCycles>,
    /// Statistics of all units.
    pub statistics: StatisticsByUnit,
    /// Framebuffer at the end of the draw.
    pub framebuffer: Framebuffer,
    /// Per-pixel counts of fragments, if enabled.
    pub maps: Option<Box<Maps>>,
    /// Counters of units and memory by screen tile and by interval, if enabled.
    pub records: Vec<Record>,
    /// L2 content for the next frame of a sequence, if the draw is part of one.
    pub held_lines: Option<HeldLines>,
    /// Requests to DRAM by cycle, if recorded.
    pub dram_requests: Vec<DramRequest>,
}

impl SimulationResult {
    /// Collects the results of a unit chain and the shared state; `blending` is the shader's order, if the shader blends.
    pub(super) fn collect(
        variant: Variant,
        blending: Option<ShaderOrder>,
        passes: Vec<Pass>,
        units: &mut impl Unit,
        mut state: DrawState<'_>,
    ) -> Self {
        let run = Collected::of(units, state.memory.writes_done());
        let lines = FramebufferLines::of(&state.framebuffer);
        let of = &run.statistics;
        let assembly: AssemblyCounters = of.of();
        let setup: SetupCounters = of.of();
        let coarse: CoarseCounters = of.of();
        let hi_z: HiZCounters = of.of();
        let fine: FineCounters = of.of();
        let zrop: ZropCounters = of.of();
        let cores: CoresCounters = of.of();
        let crop: CropCounters = of.of();
        let stencil_updates: UpdateCounters = of.of();
        let shader_blend: ShaderBlendCounters = of.of();
        let tc: Flushes = of.of_unit(TcSpec::UNIT);
        let (framebuffer, race) = (state.framebuffer, state.race.as_deref());
        let in_shader = blending.map(|order| InShader::collect(order, of, &tc, &framebuffer, race));
        Self {
            variant,
            cycles: run.cycles,
            near_cut_fragments: state.near_cut,
            fragments: FragmentCounts {
                rasterized: fine.fragments
                    + hi_z.hidden_fragments
                    + coarse.fragments_terminated
                    + coarse.fragments_failed
                    - stencil_updates.fragments,
                hidden: hi_z.hidden_fragments
                    + coarse.fragments_failed
                    + zrop.fragments.stencil_failed
                    + zrop.fragments.depth_failed,
                terminated: zrop.fragments.terminated + coarse.fragments_terminated,
                shaded: cores.fragments_shaded,
                pruned: cores.fragments_pruned,
                merged: cores.fragments_merged,
                dropped: crop.fragments_dropped,
                blended: crop.fragments + shader_blend.fragments,
                late: crop.late,
            },
            quads: QuadCounts {
                rasterized: fine.quads + coarse.quads_terminated - stencil_updates.quads,
                hidden: zrop.quads.stencil_failed + zrop.quads.depth_failed,
                terminated: zrop.quads.terminated + coarse.quads_terminated,
                shaded: cores.quads_shaded,
                pruned: cores.quads_survived[0],
                merged_pairs: cores.quads_merged,
                dropped: crop.quads_dropped,
                blended: crop.quads + shader_blend.quads,
                live: {
                    let mut live = cores.quads_survived;
                    live[0] += zrop.quads.terminated + coarse.quads_terminated;
                    live
                },
            },
            raster: PrimitiveCounts {
                splats: u64::from(state.draw.len()),
                primitives: assembly.primitives_in,
                culled: assembly.degenerate + assembly.off_screen,
                set_up: setup.primitives,
                missed: coarse.primitives_missed,
                tiles: coarse.tiles_out,
                tiles_dropped: coarse.tiles_dropped,
                tiles_hidden: hi_z.hidden,
                tiles_empty: fine.tiles_empty,
            },
            pack: of.of(),
            warps: of.of::<LaunchCounters>().warps,
            vertex_warps: of.of::<VertexCounters>().warps,
            tgc: of.of_unit(TgcSpec::UNIT),
            tc,
            qru: of.of(),
            terminations: crop.terminations + stencil_updates.terminated,
            updates: zrop.updates,
            l1: of.of(),
            vertex_buffer: state.vertex_buffer.peaks(),
            crop_cache: of.of_unit(CROP_CACHE),
            z_cache: of.of_unit(Z_CACHE),
            l2: state.memory.l2.counters(),
            dram_bytes: state.memory.dram.bytes(),
            traffic: state.memory.l2.traffic,
            framebuffer,
            maps: state.maps,
            passes,
            stencil_updates,
            in_shader,
            imitation: None,
            units: [run.units, state.memory.units(run.cycles)].concat(),
            statistics: run.statistics,
            records: (run.records.into_iter().chain(state.memory.l2.take_record())).collect(),
            held_lines: state.memory.end_frame(&lines.tests),
            dram_requests: state.memory.dram.take_requests(),
        }
    }

    /// Converts the colours of the framebuffer to a picture.
    pub fn frame(&self) -> Frame {
        self.framebuffer.frame()
    }

    /// The ports with the highest occupancy, as [`UnitCycles::critical`] finds them.
    pub fn critical_units(&self) -> Vec<&UnitCycles> {
        UnitCycles::critical(&self.units)
    }

    /// Names of the ports that limit the run, separated by commas; `None` if latency and bursts do.
    pub fn limit(&self) -> Option<String> {
        UnitCycles::names(&UnitCycles::limiting(&self.units))
    }

    /// Counters and cycles that do not add up; empty unless the simulator has a bug.
    pub fn discrepancies(&self) -> Vec<String> {
        let (f, q, r) = (&self.fragments, &self.quads, &self.raster);
        let mut wrong = Vec::new();
        let mut check = |what: &str, total: u64, parts: u64| {
            if total != parts {
                wrong.push(format!("{what}: {total}, but the outcomes add up to {parts}"));
            }
        };
        let ended = f.hidden + f.terminated + f.shaded;
        check("fragments rasterized", f.rasterized, ended);
        let ended = f.pruned + f.merged + f.dropped + f.blended;
        check("fragments shaded", f.shaded, ended);
        let ended = q.hidden + q.terminated + q.shaded;
        check("quads rasterized", q.rasterized, ended);
        check("quads shaded", q.shaded, q.pruned + q.merged_pairs + q.dropped + q.blended);
        check("quads tested", q.rasterized - q.hidden, q.live.iter().sum());
        let live = (0..).zip(q.live).map(|(count, quads)| count * quads).sum();
        check("fragments over the cut", f.shaded - f.pruned, live);
        let updating = self.stencil_updates.quads;
        let dropped = self.statistics.of::<CoarseCounters>().quads_terminated;
        check("quads flushed", self.tc.items + dropped, q.rasterized + updating);
        check("quads packed", self.pack.quads, q.shaded + updating);
        check("warps", self.warps, self.pack.warps);
        let scanned = if self.variant.qru() { q.shaded } else { 0 };
        let reordered = 2 * self.qru.pairs + self.qru.singles;
        check("quads reordered", scanned, reordered);
        check("primitives flushed", if self.variant.tgc() { r.set_up } else { 0 }, self.tgc.items);
        let TrafficByClient { vertex, vertex_results, depth, colour } = &self.traffic;
        let moved = [vertex, vertex_results, depth, colour].map(Traffic::dram_bytes).iter().sum();
        check("bytes moved to and from DRAM", self.dram_bytes, moved);
        wrong.extend(UnitCycles::discrepancies(&self.units, self.cycles));
        wrong
    }
}
