//! Model of a frame on the accelerator: the picture, and the time of the overlapping stages.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cull::Bitmaps;
use super::kept_order::{KeptCounts, KeptOrder};
use super::render::{self, TileWork};
use super::sort::{SortWork, chunk_cycles};
use super::spec::{GscoreSpec, SortOrder};
use crate::compute::assign::{TileLists, TileTest};
use crate::compute::block::BlockDraw;
use crate::compute::picture;
use crate::compute::renderer::SceneCounts;
use crate::config::Config;
use crate::draw::Draw;
use crate::warp::fragment::FragmentShader;
use quadrille_base::choice;
use quadrille_base::image::Frame;
use quadrille_base::image::metrics::{self, Protocol};
use quadrille_base::math::whole;
use quadrille_base::shading::StopRule;
use quadrille_base::units::cycles_to_ms;
use quadrille_base::{Result, Task};
use quadrille_machine::documented;

/// Stop rule of the reference renderer; GSCore stops below a transmittance of 1e-4, too.
const STOP: StopRule = StopRule::Before(1e-4);

choice! {
    /// A stage of a frame.
    pub enum StageName {
        /// Culling and conversion
        Cull = "cull",
        /// Sort by depth
        Sort = "sort",
        /// Blending
        Render = "render",
    }
}

documented! {
    /// Work and cycles of a stage of a frame.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub struct GscoreStage {
        /// Name of the stage.
        pub name: StageName,
        /// Cycles of the stage's units.
        pub unit_cycles: u64,
        /// Bytes read from and written to DRAM.
        pub bytes: u64,
        /// Cycles of the stage: the maximum of the compute cycles and the memory cycles.
        pub cycles: u64,
    }
}

documented! {
    /// Result of a frame on the accelerator, in cycles of its clock.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct GscoreCounts {
        /// Cycles from scene to picture: the slowest stage or the whole traffic of DRAM, plus the sort of the first chunk.
        pub frame_cycles: u64,
        /// Cycles of sort and rendering, from projected splats to the picture.
        pub raster_cycles: u64,
        /// Energy of the frame in mJ: the published power times the frame time, plus the energy of DRAM.
        pub frame_mj: f64,
        /// Energy of sort and rendering in mJ, computed in the same way.
        pub raster_mj: f64,
        /// Published area in mm2.
        pub area_mm2: f64,
        /// Pairs of a splat and a tile.
        pub pairs: u64,
        /// Chunks into which the pairs are sorted.
        pub chunks: u64,
        /// Entries that the cores read.
        pub entries: u64,
        /// Live subtiles that the cores draw, over all entries.
        pub subtiles: u64,
        /// Fragments blended.
        pub fragments_blended: u64,
        /// Work of each stage, in order.
        pub stages: Vec<GscoreStage>,
        /// Clock in MHz.
        pub clock_mhz: f64,
        /// Pairs of a frame that keeps the order of the frame before; absent for others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kept: Option<KeptCounts>,
    }
}

/// Result of a frame on the accelerator.
#[derive(Debug)]
pub struct GscoreResult {
    /// Cycles, energy and work of all stages.
    pub counts: GscoreCounts,
    /// Order that the next frame of a sequence keeps.
    pub(crate) order: Option<Arc<KeptOrder>>,
    /// Clock of the emulated GPU in MHz, for comparisons.
    pub(crate) gpu_clock_mhz: f64,
    /// Rendered picture.
    pub frame: Frame,
}

impl GscoreResult {
    /// Time of sort and rendering, in cycles of the emulated GPU.
    pub fn gpu_cycles(&self) -> u64 {
        whole(
            (self.counts.raster_cycles as f64 * self.gpu_clock_mhz / self.counts.clock_mhz).ceil(),
        )
    }

    /// Duration of `cycles` of the accelerator in milliseconds.
    pub fn ms(&self, cycles: u64) -> f64 {
        cycles_to_ms(cycles, self.counts.clock_mhz)
    }

    /// Describes counters that do not add up. The list is empty unless the model has a bug.
    pub fn discrepancies(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.counts.entries > self.counts.pairs || self.counts.subtiles > 4 * self.counts.entries
        {
            wrong.push(format!(
                "{} pairs cannot have {} entries read and {} subtiles drawn",
                self.counts.pairs, self.counts.entries, self.counts.subtiles
            ));
        }
        let slowest = self.counts.stages.iter().map(|stage| stage.cycles).max();
        if slowest > Some(self.counts.frame_cycles)
            || self.counts.raster_cycles > self.counts.frame_cycles
        {
            wrong.push(format!(
                "the frame has {} cycles, fewer than one of its stages: {:?}",
                self.counts.frame_cycles, self.counts.stages
            ));
        }
        wrong
    }
}

/// The GSCore accelerator, with a checked configuration.
#[derive(Debug, Clone)]
pub struct Gscore {
    config: Config,
    /// Order of the frame before.
    before: Option<Arc<KeptOrder>>,
}

impl Gscore {
    pub(crate) fn new(config: &Config) -> Result<Self> {
        config.validate()?;
        Ok(Self { config: config.clone(), before: None })
    }

    /// Prepares the accelerator for the frame after `before`, whose order it keeps if `gscore.order` says so.
    #[must_use]
    pub(crate) fn in_sequence(self, before: Option<&GscoreResult>) -> Self {
        Self { before: before.and_then(|before| before.order.clone()), ..self }
    }

    /// Renders the splats of `draw`. `scene` holds the counts of the whole scene, which culling has to process.
    pub fn run(
        &self,
        draw: &Draw,
        shader: FragmentShader<'_>,
        scene: &SceneCounts,
    ) -> GscoreResult {
        self.draw(draw, shader, scene, &Task::NEVER)
    }

    pub(crate) fn draw(
        &self,
        draw: &Draw,
        shader: FragmentShader<'_>,
        scene: &SceneCounts,
        task: &Task,
    ) -> GscoreResult {
        let (config, spec) = (&self.config, &self.config.gscore);
        let block_draw = BlockDraw {
            shader: shader.with_near_cut(config.cores.near_cut),
            splats: &draw.splats,
            size: [draw.width, draw.height],
            stop: STOP,
        };
        let sorted = TileLists::new(draw, TileTest::OrientedBox);
        let keeps = spec.order == SortOrder::Kept;
        let updated = self.before.as_ref().filter(|_| keeps);
        let updated = updated.and_then(|before| before.updated(draw, &sorted, spec));
        let lists = updated.as_ref().map_or(&sorted, |updated| &updated.lists);
        let bitmaps = Bitmaps::new(draw, lists);
        let blocks = picture::blocks(draw, &block_draw, lists, task);
        let tiles: Vec<_> = (blocks.par_iter().enumerate())
            .map(|(tile, block)| TileWork::new(bitmaps.tile(tile), block.subtile_ends, spec))
            .collect();
        let sort =
            updated.as_ref().map_or_else(|| SortWork::of(lists, spec), |updated| updated.sort);
        let entries: u64 = tiles.iter().map(|tile| tile.entries).sum();
        let pairs = lists.pairs();
        let frame = picture::frame(draw, &blocks);
        let kept = updated.as_ref().map(|updated| {
            let exact = picture::frame(draw, &picture::blocks(draw, &block_draw, &sorted, task));
            let compared = metrics::compare(&frame, &exact, Protocol::Float);
            let psnr_vs_sorted_db = compared.ok().and_then(|compared| compared.psnr_db);
            let read = tiles.iter().map(|tile| tile.entries);
            KeptCounts { psnr_vs_sorted_db, ..updated.counted(read) }
        });
        // Pairs that are written to memory by tile, and pairs that the sort reads and writes.
        let [listed, read, written] = match &kept {
            None => [pairs; 3],
            Some(kept) => [kept.incoming, kept.table_pairs + kept.incoming, pairs],
        };
        let spans = if keeps { 2 * spec.span_bytes * draw.splats.len() as u64 } else { 0 };
        let passes = if spec.passes_in_memory { 2 * sort.passed_pairs } else { 0 };
        let depths = if keeps { entries * spec.depth_bytes } else { 0 };
        let work = scene.workload(draw);
        let culling = (work.splats * spec.culling_cycles).div_ceil(spec.culling_units);
        let preprocessed = work.preprocess_bytes(&config.kernels);
        let stages = [
            stage(StageName::Cull, culling, preprocessed + listed * spec.pair_bytes + spans, spec),
            stage(
                StageName::Sort,
                sort.cycles(spec),
                (read + written + passes) * spec.pair_bytes,
                spec,
            ),
            stage(
                StageName::Render,
                render::cycles(&tiles, spec),
                entries * (spec.entry_bytes + spec.pair_bytes)
                    + depths
                    + u64::from(draw.width) * u64::from(draw.height) * PIXEL_BYTES,
                spec,
            ),
        ];
        let mut tile_pairs = (0..sorted.tiles()).map(|tile| sorted.tile(tile).len() as u64);
        let first_tile = tile_pairs.find(|pairs| *pairs > 0);
        let first_chunk = chunk_cycles(first_tile.unwrap_or(0).min(spec.chunk), spec);
        let [frame_cycles, raster_cycles] =
            [&stages[..], &stages[1..]].map(|stages| overlapped(stages, spec) + first_chunk);
        let read = tiles.iter().map(|tile| tile.entries);
        let order = keeps.then(|| match updated {
            None => KeptOrder::first(draw, &sorted),
            Some(updated) => updated.written(draw, read),
        });
        let energy = |cycles: u64, stages: &[GscoreStage]| {
            let bytes: u64 = stages.iter().map(|stage| stage.bytes).sum();
            spec.power_w * cycles as f64 / (spec.clock_mhz * 1e3) + config.energy.dram_mj(bytes)
        };
        GscoreResult {
            counts: GscoreCounts {
                frame_cycles,
                raster_cycles,
                frame_mj: energy(frame_cycles, &stages),
                raster_mj: energy(raster_cycles, &stages[1..]),
                area_mm2: spec.area_mm2,
                pairs,
                chunks: sort.chunks,
                entries,
                subtiles: tiles.iter().map(|tile| tile.subtiles).sum(),
                fragments_blended: blocks.iter().map(|block| block.lanes.blended).sum(),
                stages: stages.to_vec(),
                clock_mhz: spec.clock_mhz,
                kept,
            },
            order: order.map(Arc::new),
            gpu_clock_mhz: config.gpu.clock_mhz,
            frame,
        }
    }
}

const PIXEL_BYTES: u64 = 12;

fn stage(name: StageName, unit_cycles: u64, bytes: u64, spec: &GscoreSpec) -> GscoreStage {
    GscoreStage { name, unit_cycles, bytes, cycles: unit_cycles.max(cycles_of(bytes, spec)) }
}

fn cycles_of(bytes: u64, spec: &GscoreSpec) -> u64 {
    whole((bytes as f64 * spec.clock_mhz / (spec.gb_per_s * 1e3)).ceil())
}

/// Cycles of concurrent stages that share DRAM: those of the slowest stage, or of the bytes of all stages.
fn overlapped(stages: &[GscoreStage], spec: &GscoreSpec) -> u64 {
    let bytes = stages.iter().map(|stage| stage.bytes).sum();
    stages.iter().map(|stage| stage.cycles).max().unwrap_or(0).max(cycles_of(bytes, spec))
}
