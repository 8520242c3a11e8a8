//! Frame time and energy of a method's result, derived from cycles and counters.

use super::coalesce::binning::TileListCounters;
use super::compute::kernels::{KernelWorkload, draw_kernels};
use super::compute::outcome::ComputeCounts;
use super::compute::program::{BLEND_LOADS, ENTRY_LOADS};
use super::compute::stream::KernelName;
use super::config::Config;
use super::crop::unit::CropCounters;
use super::energy::{EnergyEstimate, EnergyEvents, GpuSize};
use super::frame::FrameTimes;
use super::method::Method;
use super::outcome::Outcome;
use super::result::SimulationResult;
use super::warp::cores::CoresCounters;
use super::warp::tile_fetch::TileFetchCounters;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_machine::{CacheCounters, L2Counters, SECTOR_BYTES};

/// Modelled times of a frame with `outcome` after preprocessing `work`; `None` for the accelerator, whose stages overlap.
pub fn frame_times(
    outcome: &Outcome,
    work: &KernelWorkload,
    config: &Config,
) -> Option<FrameTimes> {
    let clock = config.gpu.clock_mhz;
    match outcome {
        Outcome::Pipeline(_, result) => {
            let [preprocess, sort] = draw_kernels(work, config).map(|kernel| kernel.cycles);
            Some(FrameTimes::new([preprocess, sort, result.cycles], clock))
        }
        Outcome::Compute(result) => {
            let [mut preprocess, mut sort, mut raster] = [0; 3];
            for kernel in &result.counts.kernels {
                match kernel.name {
                    KernelName::Preprocess => preprocess += kernel.cycles,
                    KernelName::Raster => raster += kernel.cycles,
                    _ => sort += kernel.cycles,
                }
            }
            Some(FrameTimes::new([preprocess, sort, raster], clock))
        }
        Outcome::Gscore(_) => None,
    }
}

/// Energy of the draw or raster kernel; `None` for the accelerator, which has other units.
pub fn energy(outcome: &Outcome, config: &Config) -> Option<EnergyEstimate> {
    let events = match outcome {
        Outcome::Pipeline(_, result) => of_draw(result, config),
        Outcome::Compute(result) => of_kernel(&result.counts, config),
        Outcome::Gscore(_) => return None,
    };
    const BYTES_OF_RGBA8: u64 = 4;
    let gpcs = config.gpu.gpcs;
    let blended = match outcome.method() {
        Method::Tiles(_) => config.tile_buffer.bytes_per_cycle,
        _ => config.crop.bytes_per_cycle,
    };
    let gpu = GpuSize {
        clock_mhz: config.gpu.clock_mhz,
        cores: gpcs * config.cores.cores,
        l2_bytes: config.l2.bytes,
        rops: gpcs * blended / BYTES_OF_RGBA8,
    };
    Some(config.energy.estimate(events, outcome.cycles(), &gpu))
}

/// Blocks of the raster kernel per slot above which placement has little effect: with 1.5 the time varies by 18 %, with 23
/// by 0.5 %.
const LEAST_BLOCKS_PER_PLACE: u64 = 10;

/// Warning for a software renderer whose picture has so few tiles that their placement on the cores decides the cycles.
pub fn placement_remark(outcome: &Outcome, config: &Config) -> Option<String> {
    let Outcome::Compute(result) = outcome else { return None };
    let tiles = TileLayout::new(result.frame.width(), result.frame.height()).tiles() as u64;
    let places = config.gpu.gpcs * config.cores.cores * result.counts.blocks_per_core;
    let least = LEAST_BLOCKS_PER_PLACE * places;
    (tiles < least).then(|| {
        format!(
            "{}: {tiles} tiles share {places} places for blocks, so that their placement decides up to a fifth of the \
             cycles; pictures of at least {least} tiles of {TILE_PX}x{TILE_PX} pixels can be compared",
            outcome.method()
        )
    })
}

/// Warning that the estimated power exceeds that of a GPU of this size and clock under load.
pub fn energy_warning(method: Method, estimate: &EnergyEstimate) -> Option<String> {
    estimate.exceeds_rail().then(|| {
        format!(
            "{method} takes {:.1} W without DRAM, more than the {:.1} W of a GPU of this size and clock under load: the \
             energies of energy.* are too high",
            estimate.watts_without_dram, estimate.rail_w
        )
    })
}

fn of_draw(result: &SimulationResult, config: &Config) -> EnergyEvents {
    let cores: CoresCounters = result.statistics.of();
    let crop: CropCounters = result.statistics.of();
    let entry = config.vertex.entry().attributes.div_ceil(SECTOR_BYTES);
    let l1 = &result.l1;
    // A miss writes the entry before it is read.
    let attributes = (l1.hits + 2 * l1.misses) * entry;
    // A shader that blends from the tile buffer accesses its sectors there.
    let fetched: TileFetchCounters = result.statistics.of();
    // A blend reads and writes its sectors; a test reads them, and an update or a stencil operation writes them.
    let colours = 2 * (accesses(&result.crop_cache) + fetched.sectors) + moved(&result.crop_cache);
    let per_test = if result.framebuffer.tests_write() { 2 } else { 1 };
    let tests = per_test * accesses(&result.z_cache) + moved(&result.z_cache);
    let qru = &result.qru;
    let listed = result.statistics.of::<TileListCounters>().entries;
    let vertices = result.vertex_warps * config.vertex.instructions;
    EnergyEvents {
        instructions: cores.instructions + vertices + result.stencil_updates.instructions,
        special: cores.warps * config.energy.fragment_special,
        unit_sectors: attributes + colours + tests,
        // Fragments blended in the shader are already counted among its instructions.
        quads_blended: crop.quads,
        raster_tiles: result.raster.tiles,
        bin_entries: result.tc.items + result.tgc.items + listed + 2 * qru.pairs + qru.singles,
        ..of_l2(&result.l2, result.dram_bytes)
    }
}

fn of_kernel(counts: &ComputeCounts, config: &Config) -> EnergyEvents {
    let stored = config.compute.shared_bytes_per_block.div_ceil(SECTOR_BYTES);
    // All lanes of a warp load one address, hence one sector. Sectors from the L2 are written to the first-level cache.
    let loaded = counts.warp_entries * ENTRY_LOADS + counts.warp_entries_blending * BLEND_LOADS;
    let filled = counts.l2.read_bytes / SECTOR_BYTES;
    EnergyEvents {
        instructions: counts.instructions,
        special: counts.warp_entries,
        unit_sectors: counts.rounds * stored + loaded + filled,
        ..of_l2(&counts.l2, counts.dram_bytes)
    }
}

fn of_l2(l2: &L2Counters, dram_bytes: u64) -> EnergyEvents {
    let wire_sectors = (l2.read_bytes + l2.written_bytes) / SECTOR_BYTES;
    EnergyEvents {
        wire_sectors,
        l2_sectors: wire_sectors + moved(&l2.cache),
        dram_bytes,
        ..EnergyEvents::default()
    }
}

fn accesses(cache: &CacheCounters) -> u64 {
    cache.hits + cache.misses
}

fn moved(cache: &CacheCounters) -> u64 {
    cache.fetched + cache.written_back
}
