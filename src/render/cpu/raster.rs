//! Draws the splats of a tile, front to back.

use fearless_simd::{dispatch, prelude::*, u32x16};

use super::RenderSettings;
use super::blend::{
    AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, Fragments, NEVER, blend, shade, stop_kind,
};
use super::coverage::Strips;
use super::items::{BATCH, Items, Log};
use super::layer_sink::LayerSink;
use super::tile::{PixelBlock, Tile};
use crate::preprocess::ProjectedSplat;
use quadrille_base::math::lanes::{GROUP, count, mask_bits};
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
    dispatch!(settings.level.level(), simd => {
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
    let mut counted = u32x16::splat(simd, 0);
    for (i, chunk) in list.chunks(BATCH).enumerate() {
        if tile.live == 0 {
            break;
        }
        let ahead = list.get((i + PREFETCH_BATCHES) * BATCH..).unwrap_or_default();
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
        let work = (&items, &mut log);
        let blended = draw_batch::<_, _, STOP>(simd, tile, &batch, work, limits, sink);
        counted += blended;
        tile.live &= !log.closed(simd, &items);
    }
    // A lane would overflow after 2^32 splats.
    let counted = counted.to_array().map(u64::from);
    tile.fragments_blended += counted.iter().sum::<u64>();
}

/// A group of items with their shaded fragments, ready to be blended.
struct Shaded<'a, S: Simd> {
    fragments: [Fragments<S>; GROUP],
    splats: [&'a ProjectedSplat; GROUP],
    /// Numbers of the splats in the batch.
    numbers: &'a [u8; GROUP],
    blocks: &'a [u8; GROUP],
    /// Takes the pixels that refuse each fragment.
    refused: &'a mut [u16; GROUP],
}

/// Draws a batch's items. A group is blended while the next one is shaded: the two are independent,
/// and shading alone is a chain of latencies too long for a core to hide. Returns the number of fragments blended by
/// lane.
#[inline(always)]
fn draw_batch<S: Simd, L: LayerSink, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    batch: &[ProjectedSplat; BATCH],
    (items, log): (&Items, &mut Log),
    limits: BlendLimits,
    sink: &mut L,
) -> u32x16<S> {
    let first_block = tile.first_block(simd);
    let pixels = &mut tile.blocks;
    let mut counted = u32x16::splat(simd, 0);
    let mut waiting: Option<Shaded<'_, S>> = None;
    for ((group, blocks), refused) in items.groups().zip(log.groups()) {
        let splats = group.map(|number| &batch[usize::from(number) % BATCH]);
        let fragments = shade(simd, limits.alpha_cap, splats, (first_block, blocks));
        let shaded = Shaded {
            fragments,
            splats,
            numbers: group,
            blocks,
            refused,
        };
        // Blending one group while the next is shaded takes 0.86 of the time of shading and blending in turn.
        if let Some(ready) = waiting.replace(shaded) {
            counted += blend_group::<_, _, STOP>(simd, limits, pixels, ready, sink);
        }
    }
    if let Some(ready) = waiting {
        counted += blend_group::<_, _, STOP>(simd, limits, pixels, ready, sink);
    }
    counted
}

#[inline(always)]
#[allow(clippy::needless_pass_by_value, reason = "consumed, and inlined")]
fn blend_group<S: Simd, L: LayerSink, const STOP: u8>(
    simd: S,
    limits: BlendLimits,
    pixels: &mut [PixelBlock],
    ready: Shaded<'_, S>,
    sink: &mut L,
) -> u32x16<S> {
    let mut counted = u32x16::splat(simd, 0);
    // No branch between the four: the compiler would serialise their arithmetic behind it.
    for i in 0..GROUP {
        // Forcing the interleaving with empty assembly was tried (0.97 of the time) and not kept.
        let block = &mut pixels[usize::from(ready.blocks[i])];
        let (fragments, colour) = (&ready.fragments[i], ready.splats[i].colour);
        let blended = blend::<_, STOP>(simd, limits.stop_at, fragments, colour, block);
        let (number, block) = (usize::from(ready.numbers[i]), usize::from(ready.blocks[i]));
        sink.add(simd, number % BATCH, ready.splats[i], block, &blended);
        ready.refused[i] = mask_bits(blended.refused);
        counted = count(simd, counted, fragments.over_cut, blended.refused);
    }
    counted
}
