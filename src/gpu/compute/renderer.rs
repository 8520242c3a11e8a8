//! Software renderer on the shader cores: tile lists, blocks, timing, and the preceding kernels.

use rayon::prelude::*;

use super::addresses::Addresses;
use super::assign::{Span, TileLists, TileTest, key_bits, spans, tiles_beyond};
use super::block::{BlockDraw, BlockOutcome, LaneTotals};
use super::cores::{self, KernelInput, KernelTime};
use super::kernels::{KernelWorkload, kernels};
use super::outcome::{ComputeCounts, ComputeMethod, ComputeResult};
use super::picture::{self, origin};
use super::stream::{KernelCost, KernelName, Limit};
use crate::config::Config;
use crate::draw::Draw;
use crate::warp::fragment::FragmentShader;
use quadrille_base::math::index;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_base::shading::StopRule;
use quadrille_base::{Result, Task};
use quadrille_machine::{Counter, Memory};

/// Splats per warp in the preprocess and duplicate kernels.
const LANES: u32 = 32;

/// Splats of a scene by position relative to the camera.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SceneCounts {
    /// Number of splats in the scene; larger than the index of any drawn splat.
    pub splats: u64,
    /// Number of splats culled at or before the near plane.
    pub near: u64,
    /// Degree of the spherical harmonics of the scene.
    pub sh_degree: u8,
}

impl SceneCounts {
    /// Counts of a scene that contains exactly the splats of `draw`.
    pub fn of(draw: &Draw) -> Self {
        let last = draw.splats.iter().map(|splat| u64::from(splat.index) + 1);
        Self {
            splats: last.max().unwrap_or(0).max(draw.splats.len() as u64),
            near: 0,
            sh_degree: 0,
        }
    }
}

impl SceneCounts {
    pub(crate) fn workload(&self, draw: &Draw) -> KernelWorkload {
        KernelWorkload {
            splats: self.splats.max(Self::of(draw).splats),
            near: self.near,
            visible: u64::from(draw.len()),
            sh_coefficients: (u64::from(self.sh_degree) + 1).pow(2),
            ..KernelWorkload::default()
        }
    }
}

/// A software renderer on the modelled shader cores, with a checked configuration.
#[derive(Debug, Clone)]
pub struct ComputeRenderer {
    config: Config,
    method: ComputeMethod,
}

impl ComputeRenderer {
    /// Creates a renderer. An error names the field of `config` that does not fit.
    pub fn new(config: &Config, method: ComputeMethod) -> Result<Self> {
        config.validate()?;
        Ok(Self { config: config.clone(), method })
    }

    /// Renders the splats of `draw`. `scene` holds the counts of the whole scene, and `stop` is the stop rule of the
    /// profile, which the method may replace.
    pub fn run(
        &self,
        draw: &Draw,
        shader: FragmentShader<'_>,
        scene: &SceneCounts,
        stop: StopRule,
    ) -> ComputeResult {
        self.draw(draw, shader, scene, stop, &Task::NEVER)
    }

    /// Like [`Self::run`]. The result has no meaning once `task` is cancelled.
    pub(crate) fn draw(
        &self,
        draw: &Draw,
        shader: FragmentShader<'_>,
        scene: &SceneCounts,
        stop: StopRule,
        task: &Task,
    ) -> ComputeResult {
        let config = &self.config;
        let block_draw = BlockDraw {
            shader: shader.with_near_cut(config.cores.near_cut),
            splats: &draw.splats,
            size: [draw.width, draw.height],
            stop: self.method.stop(stop),
        };
        let lists = TileLists::new(draw, self.method.tiles);
        let blocks = picture::blocks(draw, &block_draw, &lists, task);
        let splats = scene.workload(draw).splats;
        let addresses = Addresses::new(lists.pairs(), splats, block_draw.size);
        let clock = config.gpu.clock_mhz;
        let mut memory = Memory::new(&config.l2, &config.dram, clock, addresses.lines());
        let input = KernelInput {
            spec: &config.compute,
            cores: &config.cores,
            gpcs: config.gpu.gpcs,
            draw: block_draw,
            lists: &lists,
            blocks: &blocks,
            addresses: &addresses,
        };
        let time = cores::run(input, &mut memory, task);
        let longest = longest_pairs(draw, &lists, splats);
        let workload = KernelWorkload {
            pairs: lists.pairs(),
            longest_pairs: longest.iter().copied().map(u64::from).sum(),
            most_pairs: longest.into_iter().max().map_or(0, u64::from),
            key_bits: key_bits(lists.tiles()),
            ..scene.workload(draw)
        };
        let missed = self.fragments_missed(draw, block_draw, task);
        self.result(draw, &blocks, missed, &time, workload, &memory)
    }

    fn result(
        &self,
        draw: &Draw,
        blocks: &[BlockOutcome],
        fragments_missed: u64,
        time: &KernelTime,
        workload: KernelWorkload,
        memory: &Memory,
    ) -> ComputeResult {
        let config = &self.config;
        let mut lanes = LaneTotals::default();
        blocks.iter().for_each(|block| lanes.add(&block.lanes));
        let works = blocks.iter().flat_map(|block| &block.rounds);
        let warps = || works.clone().flat_map(|round| &round.warps);
        let raster = KernelCost {
            name: KernelName::Raster,
            bytes: memory.dram.bytes(),
            instructions: time.instructions,
            cycles: time.cycles,
            limited_by: limit(time),
        };
        let mut kernels = kernels(&workload, config);
        kernels.push(raster);
        ComputeResult {
            method: self.method,
            cycles: time.cycles,
            counts: ComputeCounts {
                pairs: workload.pairs,
                fragments_missed,
                rounds: works.clone().count() as u64,
                warp_entries: warps().map(|work| u64::from(work.entries)).sum(),
                warp_entries_blending: warps().map(|work| u64::from(work.blending)).sum(),
                lanes,
                instructions: time.instructions,
                cycles_by_reason: time.by_reason,
                schedulers: config.cores.all_schedulers() * config.gpu.gpcs,
                blocks_per_core: config.compute.blocks_per_core(&config.cores),
                kernels,
                l2: memory.l2.counters(),
                dram_bytes: memory.dram.bytes(),
            },
            workload,
            memory: memory.units(time.cycles),
            frame: picture::frame(draw, blocks),
        }
    }

    /// Number of fragments above the cut in tiles that do not list their splat. The complete lists are those of oriented
    /// boxes, which contain every such fragment.
    fn fragments_missed(&self, draw: &Draw, block_draw: BlockDraw<'_>, task: &Task) -> u64 {
        if task.is_cancelled() || self.method.tiles == TileTest::OrientedBox {
            return 0;
        }
        let layout = TileLayout::new(draw.width, draw.height);
        let level = block_draw.shader.level();
        let all = BlockDraw { stop: StopRule::Never, ..block_draw };
        let boxes = spans(draw, TileTest::OrientedBox, TILE_PX);
        let listed = spans(draw, self.method.tiles, TILE_PX);
        let missed =
            boxes.par_iter().zip(&listed).map(|(boxes, listed): (&Vec<Span>, &Vec<Span>)| {
                let mut missed = 0;
                if task.is_cancelled() {
                    return missed;
                }
                tiles_beyond(boxes, listed, layout.tiles_across, |splat, tile| {
                    missed += all.run(origin(layout, tile), &[splat], level).lanes.over_cut;
                });
                missed
            });
        missed.sum()
    }
}

fn limit(time: &KernelTime) -> Limit {
    let reasons = time.by_reason;
    let limits = [
        (reasons.issue, Limit::Issue),
        (reasons.chain, Limit::Chain),
        (reasons.barrier, Limit::Barrier),
        (reasons.memory, Limit::Memory),
        (reasons.tail, Limit::Tail),
    ];
    limits.iter().max_by_key(|(cycles, _)| *cycles).map_or(Limit::Issue, |(_, limit)| *limit)
}

/// Largest number of pairs per splat in each warp of 32 neighbouring splats.
fn longest_pairs(draw: &Draw, lists: &TileLists, splats: u64) -> Vec<u32> {
    let mut pairs = vec![0_u32; draw.splats.len()];
    for tile in 0..lists.tiles() {
        for &splat in lists.tile(tile) {
            pairs[splat as usize] += 1;
        }
    }
    let mut longest = vec![0_u32; index(splats.div_ceil(u64::from(LANES)))];
    for (splat, pairs) in draw.splats.iter().zip(pairs) {
        let warp = &mut longest[(splat.index / LANES) as usize];
        *warp = pairs.max(*warp);
    }
    longest
}
