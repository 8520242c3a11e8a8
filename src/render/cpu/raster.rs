//! Draws the splats of a tile, front to back.

use fearless_simd::{dispatch, f32x16, prelude::*};

use super::RenderSettings;
use super::blend::{
    BlendLimits, BlockLanes, Fragments, exponents, fragments, offsets, stop_kind, with_stop_kind,
};
use super::coverage::Strips;
use super::discs;
use super::layer_sink::LayerSink;
use super::runs::{BATCH, GROUP, PADDING, Runs, slot};
use super::tile::{BLOCK_OFFSETS, PixelLanes, SINK, Tile};
use crate::preprocess::ProjectedSplat;
use quadrille_base::math::lanes::{LaneCounts, has_mask_registers};
use quadrille_base::math::prefetch;
use quadrille_base::shading::cap_rounded_down;

/// Number of splats that are fetched together and whose block masks are computed together.
pub(super) const PART: usize = 16;
pub(super) const PREFETCH_SPLATS: usize = 64;

/// Draws the `splats` whose slots are the low halves of `list`, nearest first, into `tile`, which counts the blended
/// fragments, and stores the tile in `rows`. Stops early when every pixel is closed. `sink` accumulates layers.
pub(super) fn draw(
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    list: &[u64],
    settings: &RenderSettings,
    rows: &mut [&mut [[f32; 4]]],
    sink: &mut impl LayerSink,
) {
    let (kind, stop_at) = stop_kind(settings.profile.stop);
    let limits = BlendLimits { alpha_cap: cap_rounded_down(settings.profile.alpha_cap), stop_at };
    let is_disc = settings.profile.is_disc;
    dispatch!(settings.level.frame_level(), simd => {
        if is_disc {
            discs::draw_lanes(simd, tile, splats, list, (limits, kind), sink);
        } else {
            with_stop_kind!(kind, STOP => {
                draw_lanes::<_, _, STOP>(simd, tile, splats, list, limits, sink);
            });
        }
        sink.finish(tile);
        tile.store(simd, rows);
    });
}

#[inline(always)]
fn draw_lanes<S: Simd, L: LayerSink, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    list: &[u64],
    limits: BlendLimits,
    sink: &mut L,
) {
    let mut batch: Batch = bytemuck::Zeroable::zeroed();
    batch[PADDING].log2_opacity = f32::NEG_INFINITY;
    let mut alphas = Alphas([[0.0; 16]; BATCH]);
    let strips = Strips::new(simd, tile.origin);
    let first_block = tile.first_block(simd);
    for (i, chunk) in list.chunks(BATCH).enumerate() {
        tile.live &= !sink.hidden(|| splats[slot(chunk[0])].depth);
        if tile.live == 0 {
            break;
        }
        let mut masks = [0; BATCH];
        // A batch is loaded in parts: the arithmetic of coverage hides the loads of a part, but not of a whole batch.
        for first in (0..chunk.len()).step_by(PART) {
            let entries = &chunk[first..chunk.len().min(first + PART)];
            let ahead = list.get(i * BATCH + first + PREFETCH_SPLATS..);
            for &entry in ahead.unwrap_or_default().iter().take(PART) {
                prefetch(splats, slot(entry));
            }
            let part = &mut batch[first..first + entries.len()];
            for ((at, splat), &entry) in part.iter_mut().enumerate().zip(entries) {
                *splat = splats[slot(entry)];
                sink.load(first + at, slot(entry), splat);
            }
            // Closed blocks are removed from the masks here, so that no splat is listed for them.
            strips.block_masks(simd, part, tile.live, &mut masks[first..]);
        }
        // Splats are drawn block by block, in runs of 8 to 13. In the order of splats, each visit of a block would
        // wait for the store of the visit before (25 cycles each, against 8.3 in a run).
        let runs = Runs::of_masks(simd, &masks);
        let mut blender = Blender::<_, _, STOP> {
            simd,
            limits,
            batch: &batch,
            first_block,
            pixels: BlockLanes::load(simd, &tile.blocks[SINK]),
            block: SINK,
            tile,
            counts: LaneCounts::new(simd),
            sink,
        };
        // Passes take 0.82 to 0.86 of the time of groups with AVX2, and 1.25 times as long with AVX-512.
        if has_mask_registers(simd) {
            blender.draw_in_groups(&runs);
        } else {
            blender.draw_in_passes(&runs, &mut alphas);
        }
        blender.switch_to(SINK);
        let blended = blender.counts.sum(simd);
        tile.fragments_blended += blended;
    }
}

/// Splats of a batch, and the splat [`PADDING`], whose alpha is zero everywhere.
type Batch = [ProjectedSplat; BATCH + 1];

/// Blends the fragments of a batch, block by block.
///
/// A block's pixels stay in registers while all splats of the batch are blended into it. In the order of splats, the pixels
/// would be loaded and stored at each visit, and frames take 1.03 to 1.1 times as long (benches/NOTES.md).
struct Blender<'a, S: Simd, L, const STOP: u8> {
    simd: S,
    limits: BlendLimits,
    batch: &'a Batch,
    tile: &'a mut Tile,
    /// x and y of the pixels of the tile's first block.
    first_block: [f32x16<S>; 2],
    block: usize,
    /// Pixels of `block`; the copy in `tile` is out of date.
    pixels: BlockLanes<S>,
    counts: LaneCounts<S>,
    sink: &'a mut L,
}

impl<S: Simd, L: LayerSink, const STOP: u8> Blender<'_, S, L, STOP> {
    /// Stores the block's pixels and loads the next block's.
    #[inline(always)]
    fn switch_to(&mut self, block: usize) {
        let (simd, tile) = (self.simd, &mut *self.tile);
        let is_open =
            self.pixels.store::<STOP>(simd, self.limits.stop_at, &mut tile.blocks[self.block]);
        // A selection, since frames took longer with a branch here (benches/NOTES.md).
        let live = tile.live & !(1 << (self.block % SINK));
        tile.live = if is_open || self.block == SINK { tile.live } else { live };
        self.block = block;
        self.pixels = BlockLanes::load(simd, &tile.blocks[block]);
    }

    #[inline(always)]
    fn positions(&self, block: usize) -> [f32x16<S>; 2] {
        let ([x, y], [column, row]) = (self.first_block, BLOCK_OFFSETS[block % SINK]);
        [x + column, y + row]
    }

    /// Blends the fragments of splat `number` without its colour; returns their weights.
    #[inline(always)]
    fn cover(&mut self, fragments: &Fragments<S>, number: usize) -> f32x16<S> {
        let (simd, splat) = (self.simd, &self.batch[number]);
        let blended = self.pixels.cover::<STOP>(simd, self.limits.stop_at, fragments);
        self.sink.add(simd, number % BATCH, splat, self.block, &blended);
        self.counts.add(simd, fragments.over_cut & blended.open);
        blended.weight
    }

    #[inline(always)]
    fn add(&mut self, weight: f32x16<S>, number: usize) {
        self.pixels.add(self.simd, weight, self.batch[number].colour);
    }

    #[inline(always)]
    fn blend_group(&mut self, group: &Shaded<S>) {
        // There is no branch between the four fragments: the compiler would serialise their arithmetic.
        for (fragments, &number) in group.fragments.iter().zip(&group.numbers) {
            let weight = self.cover(fragments, number);
            self.add(weight, number);
        }
    }

    #[inline(always)]
    fn shade(&self, numbers: [usize; GROUP], positions: [f32x16<S>; 2]) -> Shaded<S> {
        let splats = numbers.map(|number| &self.batch[number]);
        let offsets = offsets(self.simd, splats, positions);
        let exponents = exponents(self.simd, splats, offsets);
        Shaded { fragments: fragments(self.simd, self.limits.alpha_cap, exponents), numbers }
    }

    /// Draws the runs in groups. A group is blended while the next is shaded, also across blocks: the two are
    /// independent, and shading alone is a latency chain too long for a core to hide.
    #[inline(always)]
    fn draw_in_groups(&mut self, runs: &Runs) {
        // A group of splats with alpha zero starts the pipeline, so that the loop needs no special case.
        let mut waiting = self.shade([PADDING; GROUP], self.first_block);
        for (block, mut run) in runs.iter() {
            let positions = self.positions(block);
            let shaded = self.shade(run.group(), positions);
            self.blend_group(&waiting);
            self.switch_to(block);
            waiting = shaded;
            while !run.is_empty() && self.pixels.is_open::<STOP>(self.simd, self.limits.stop_at) {
                let shaded = self.shade(run.group(), positions);
                self.blend_group(&waiting);
                waiting = shaded;
            }
        }
        self.blend_group(&waiting);
    }

    /// Like [`draw_in_groups`](Self::draw_in_groups), for levels with too few registers: exponents, alphas,
    /// weights and colours in separate passes, each with its constants and sums in registers.
    #[inline(always)]
    fn draw_in_passes(&mut self, runs: &Runs, Alphas(lanes): &mut Alphas) {
        let simd = self.simd;
        for (block, run) in runs.iter() {
            let positions = self.positions(block);
            for (i, number) in run.enumerate() {
                let splat = [&self.batch[number]];
                let [exponent] = exponents(simd, splat, offsets(simd, splat, positions));
                exponent.store_array(&mut lanes[i % BATCH]);
            }
            for lanes in &mut lanes[..run.len()] {
                let exponent = f32x16::load_array_ref(simd, lanes);
                let [fragments] = fragments(simd, self.limits.alpha_cap, [exponent]);
                fragments.alpha.store_array(lanes);
            }
            self.switch_to(block);
            for (i, number) in run.enumerate() {
                let lanes = &mut lanes[i % BATCH];
                let alpha = f32x16::load_array_ref(simd, lanes);
                self.cover(&Fragments::of_alpha(simd, alpha), number).store_array(lanes);
            }
            for (i, number) in run.enumerate() {
                self.add(f32x16::load_array_ref(simd, &lanes[i % BATCH]), number);
            }
        }
    }
}

struct Shaded<S: Simd> {
    fragments: [Fragments<S>; GROUP],
    numbers: [usize; GROUP],
}

/// Buffer for the exponents, then the alphas, then the weights of a run's splats.
#[repr(align(64))]
struct Alphas([PixelLanes; BATCH]);
