//! Draws the splats of a tile, front to back.

use fearless_simd::{dispatch, f32x16, prelude::*};

use super::RenderSettings;
use super::blend::{
    AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, Fragments, NEVER, blend, exponents, fragments,
    stop_kind,
};
use super::coverage::Strips;
use super::items::{BATCH, GROUP, Items, Log};
use super::layer_sink::LayerSink;
use super::tile::{PixelBlock, PixelLanes, Tile};
use crate::preprocess::ProjectedSplat;
use quadrille_base::math::lanes::{LaneCounts, has_mask_registers, mask_digest};
use quadrille_base::math::prefetch;
use quadrille_base::shading::cap_rounded_down;

/// Distance in batches at which a splat's cache line is prefetched.
const PREFETCH_BATCHES: usize = 2;

/// Draws the `splats` whose slots are the low halves of `list`, nearest first, into `tile`, which counts the fragments
/// blended, and stores it in the picture's `rows`. Stops early when every pixel is closed. Layers are
/// accumulated in `sink`.
pub(super) fn draw(
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    list: &[u64],
    settings: &RenderSettings,
    rows: &mut [&mut [[f32; 4]]],
    sink: &mut impl LayerSink,
) {
    let (kind, stop_at) = stop_kind(settings.profile.stop);
    let limits = BlendLimits {
        alpha_cap: cap_rounded_down(settings.profile.alpha_cap),
        stop_at,
    };
    dispatch!(settings.level.frame_level(), simd => {
        match kind {
            NEVER => draw_lanes::<_, _, NEVER>(simd, tile, splats, list, limits, sink),
            BEFORE => draw_lanes::<_, _, BEFORE>(simd, tile, splats, list, limits, sink),
            BEFORE_OR_AT => draw_lanes::<_, _, BEFORE_OR_AT>(simd, tile, splats, list, limits, sink),
            _ => draw_lanes::<_, _, AFTER>(simd, tile, splats, list, limits, sink),
        }
        tile.store(simd, rows);
    });
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the low half")]
fn slot(entry: u64) -> usize {
    entry as u32 as usize
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
    let mut batch: [ProjectedSplat; BATCH] = bytemuck::Zeroable::zeroed();
    let mut items = Items::new();
    let mut log = Log::new();
    let strips = Strips::new(simd, tile.origin);
    for (i, chunk) in list.chunks(BATCH).enumerate() {
        if tile.live == 0 {
            break;
        }
        let ahead = list
            .get((i + PREFETCH_BATCHES) * BATCH..)
            .unwrap_or_default();
        // One or three batches ahead could not be told apart from two on a busy machine (benches/NOTES.md).
        for &entry in &ahead[..ahead.len().min(BATCH)] {
            prefetch(splats, slot(entry));
        }
        for ((at, splat), &entry) in batch.iter_mut().enumerate().zip(chunk) {
            *splat = splats[slot(entry)];
            sink.load(at, slot(entry), splat);
        }
        // Closed blocks are removed from the masks here, so no item is listed for them.
        let masks = strips.block_masks(simd, &batch[..chunk.len()], tile.live);
        items.list(simd, &masks);
        let mut blender = Blender::<_, _, STOP> {
            simd,
            limits,
            first_block: tile.first_block(simd),
            pixels: &mut tile.blocks,
            counts: LaneCounts::new(simd),
            sink,
        };
        if has_mask_registers(simd) {
            draw_in_groups(&mut blender, &batch, (&items, &mut log));
        } else {
            draw_in_passes(&mut blender, &batch, (&items, &mut log));
        }
        tile.fragments_blended += blender.counts.sum(simd);
        tile.live &= !log.closed(simd, &items);
    }
}

/// Blends the fragments of a batch's items.
struct Blender<'a, S: Simd, L, const STOP: u8> {
    simd: S,
    limits: BlendLimits,
    /// x and y of the pixels of the tile's first block.
    first_block: [f32x16<S>; 2],
    pixels: &'a mut [PixelBlock],
    /// Fragments blended.
    counts: LaneCounts<S>,
    sink: &'a mut L,
}

impl<S: Simd, L: LayerSink, const STOP: u8> Blender<'_, S, L, STOP> {
    /// Blends the fragments of `splat`, which is number `number` of the batch, into a block; returns whether any
    /// pixel is open to them, as the log of items has it.
    #[inline(always)]
    fn blend(
        &mut self,
        fragments: &Fragments<S>,
        (splat, number): (&ProjectedSplat, u8),
        block: u8,
    ) -> u16 {
        let (simd, block) = (self.simd, usize::from(block));
        let pixels = &mut self.pixels[block];
        let blended = blend::<_, STOP>(simd, self.limits.stop_at, fragments, splat.colour, pixels);
        let number = usize::from(number) % BATCH;
        self.sink.add(simd, number, splat, block, &blended);
        self.counts.add(simd, fragments.over_cut & blended.open);
        mask_digest(simd, blended.open)
    }

    #[inline(always)]
    #[allow(clippy::needless_pass_by_value, reason = "consumed, and inlined")]
    fn blend_group(&mut self, ready: Shaded<'_, S>) {
        // No branch between the four: the compiler would serialise their arithmetic behind it.
        for i in 0..GROUP {
            // Forcing the interleaving with empty assembly was tried (0.97 of the time) and not kept.
            let splat = (ready.splats[i], ready.numbers[i]);
            ready.open[i] = self.blend(&ready.fragments[i], splat, ready.blocks[i]);
        }
    }
}

/// A group of items with their shaded fragments, ready to be blended.
struct Shaded<'a, S: Simd> {
    fragments: [Fragments<S>; GROUP],
    splats: [&'a ProjectedSplat; GROUP],
    /// Numbers of the splats in the batch.
    numbers: &'a [u8; GROUP],
    blocks: &'a [u8; GROUP],
    /// Takes whether any pixel is open to each fragment.
    open: &'a mut [u16; GROUP],
}

/// Draws a batch's items in groups. A group is blended while the next one is shaded: the two are independent, and
/// shading alone is a chain of latencies too long for a core to hide.
#[inline(always)]
fn draw_in_groups<S: Simd, L: LayerSink, const STOP: u8>(
    blender: &mut Blender<'_, S, L, STOP>,
    batch: &[ProjectedSplat; BATCH],
    (items, log): (&Items, &mut Log),
) {
    let (simd, first_block, alpha_cap) =
        (blender.simd, blender.first_block, blender.limits.alpha_cap);
    let mut waiting: Option<Shaded<'_, S>> = None;
    for ((numbers, blocks), open) in items.groups().zip(log.groups()) {
        let splats = numbers.map(|number| &batch[usize::from(number) % BATCH]);
        let exponents = exponents(simd, splats, (first_block, blocks));
        let shaded = Shaded {
            fragments: fragments(simd, alpha_cap, exponents),
            splats,
            numbers,
            blocks,
            open,
        };
        // Blending one group while the next is shaded takes 0.86 of the time of shading and blending in turn.
        if let Some(ready) = waiting.replace(shaded) {
            blender.blend_group(ready);
        }
    }
    if let Some(ready) = waiting {
        blender.blend_group(ready);
    }
}

/// Items that go through a pass before the next pass takes them.
const PASS: usize = 64;

/// Values of the items of a pass.
#[repr(align(64))]
struct PassLanes([PixelLanes; PASS]);

/// As [`draw_in_groups`], where vector registers are too few for the arithmetic of a whole item: exponents, alphas and
/// blending in passes of their own, each with its constants in registers.
#[inline(always)]
fn draw_in_passes<S: Simd, L: LayerSink, const STOP: u8>(
    blender: &mut Blender<'_, S, L, STOP>,
    batch: &[ProjectedSplat; BATCH],
    (items, log): (&Items, &mut Log),
) {
    let (simd, first_block, alpha_cap) =
        (blender.simd, blender.first_block, blender.limits.alpha_cap);
    let splat = |number: u8| &batch[usize::from(number) % BATCH];
    let mut lanes = PassLanes([[0.0; 16]; PASS]);
    for ((numbers, blocks), open) in items.parts(PASS).zip(log.parts(PASS)) {
        let lanes = &mut lanes.0[..numbers.len()];
        for (lanes, (&number, &block)) in lanes.iter_mut().zip(numbers.iter().zip(blocks)) {
            let [exponent] = exponents(simd, [splat(number)], (first_block, &[block]));
            exponent.store_array(lanes);
        }
        for lanes in &mut *lanes {
            let exponent = f32x16::load_array_ref(simd, lanes);
            let [fragments] = fragments(simd, alpha_cap, [exponent]);
            fragments.alpha.store_array(lanes);
        }
        let items = numbers.iter().zip(blocks).zip(open);
        for (lanes, ((&number, &block), open)) in lanes.iter().zip(items) {
            let fragments = Fragments::of_alpha(simd, f32x16::load_array_ref(simd, lanes));
            *open = blender.blend(&fragments, (splat(number), number), block);
        }
    }
}
