//! Draws the splats of a tile, front to back.

use fearless_simd::{dispatch, prelude::*};

use super::RenderSettings;
use super::blend::{
    AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, Fragments, NEVER, blend, shade, stop_kind,
};
use super::coverage::Strips;
use super::items::{BATCH, Items, Log};
use super::layer_sink::LayerSink;
use super::tile::{PixelBlock, TILE_BLOCKS, Tile, TileArea};
use crate::preprocess::ProjectedSplat;
use quadrille_base::math::lanes::{GROUP, mask_bits};
use quadrille_base::math::prefetch;
use quadrille_base::shading::cap_rounded_down;

/// Distance in batches at which a splat's cache line is prefetched.
const PREFETCH_BATCHES: usize = 2;

/// Draws the `splats` whose slots are the low halves of `list`, nearest first, into the tile at
/// `area` and stores it in the picture's `rows`. Stops early when every pixel is closed. Layers are
/// accumulated in `sink`. Returns the tile, which counts the fragments blended.
pub(super) fn draw(
    area: TileArea,
    splats: &[ProjectedSplat],
    list: &[u64],
    settings: &RenderSettings,
    rows: &mut [&mut [[f32; 4]]],
    sink: &mut impl LayerSink,
) -> Tile {
    let (kind, stop_at) = stop_kind(settings.profile.stop);
    let limits = BlendLimits {
        alpha_cap: cap_rounded_down(settings.profile.alpha_cap),
        stop_at,
    };
    let mut tile = Tile::new(area);
    dispatch!(settings.level.level(), simd => {
        match kind {
            NEVER => draw_lanes::<_, _, NEVER>(simd, &mut tile, splats, list, limits, sink),
            BEFORE => draw_lanes::<_, _, BEFORE>(simd, &mut tile, splats, list, limits, sink),
            BEFORE_OR_AT => draw_lanes::<_, _, BEFORE_OR_AT>(simd, &mut tile, splats, list, limits, sink),
            _ => draw_lanes::<_, _, AFTER>(simd, &mut tile, splats, list, limits, sink),
        }
        tile.store(simd, rows);
    });
    tile
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
            return;
        }
        let ahead = list.iter().skip((i + PREFETCH_BATCHES) * BATCH);
        // One or three batches ahead could not be told apart from two on a busy machine (benches/NOTES.md).
        for &entry in ahead.take(BATCH) {
            prefetch(splats, slot(entry));
        }
        // All masks first: they are long chains of arithmetic that overlap as long as no branch
        // depends on one.
        let mut masks = [0; BATCH];
        let places = batch.iter_mut().zip(&mut masks).enumerate();
        for ((at, (splat, mask)), &entry) in places.zip(chunk) {
            *splat = splats[slot(entry)];
            sink.load(at, slot(entry), splat);
            // Closed blocks are removed from the mask here, so no item is listed for them.
            *mask = strips.block_mask(simd, splat) & tile.live;
        }
        items.list(simd, &masks);
        let work = (&items, &mut log);
        draw_batch::<_, _, STOP>(simd, tile, &batch, work, limits, sink);
        // Counted once per batch from the log, which keeps mask moves out of the loop over items.
        tile.fragments_blended += log.blended(items.len());
        tile.live &= !log.closed(&items);
    }
}

/// A group of items with their shaded fragments, ready to be blended.
struct Shaded<'a, S: Simd> {
    fragments: [Fragments<S>; GROUP],
    splats: [&'a ProjectedSplat; GROUP],
    /// Numbers of the splats in the batch.
    numbers: &'a [u8; GROUP],
    blocks: &'a [u8; GROUP],
    log: (&'a mut [u16; GROUP], &'a mut [u16; GROUP]),
}

/// Draws a batch's items. A group is blended while the next one is shaded: the two are independent,
/// and shading alone is a chain of latencies too long for a core to hide.
#[inline(always)]
fn draw_batch<S: Simd, L: LayerSink, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    batch: &[ProjectedSplat; BATCH],
    (items, log): (&Items, &mut Log),
    limits: BlendLimits,
    sink: &mut L,
) {
    let Tile {
        blocks: pixels,
        x,
        y,
        ..
    } = tile;
    let mut waiting: Option<Shaded<'_, S>> = None;
    for ((group, blocks), log) in items.groups().zip(log.groups()) {
        let mut splats = [&batch[0]; GROUP];
        let mut positions = [[&x[0], &y[0]]; GROUP];
        for i in 0..GROUP {
            let b = usize::from(blocks[i]);
            splats[i] = &batch[usize::from(group[i]) % BATCH];
            positions[i] = [&x[b % TILE_BLOCKS], &y[b / TILE_BLOCKS]];
        }
        let fragments = shade(simd, limits.alpha_cap, splats, positions);
        let shaded = Shaded {
            fragments,
            splats,
            numbers: group,
            blocks,
            log,
        };
        // Blending one group while the next is shaded takes 0.86 of the time of shading and blending in turn.
        if let Some(ready) = waiting.replace(shaded) {
            blend_group::<_, _, STOP>(simd, limits, pixels, ready, sink);
        }
    }
    if let Some(ready) = waiting {
        blend_group::<_, _, STOP>(simd, limits, pixels, ready, sink);
    }
}

#[inline(always)]
#[allow(clippy::needless_pass_by_value, reason = "consumed, and inlined")]
fn blend_group<S: Simd, L: LayerSink, const STOP: u8>(
    simd: S,
    limits: BlendLimits,
    pixels: &mut [PixelBlock],
    ready: Shaded<'_, S>,
    sink: &mut L,
) {
    // No branch between the four: the compiler would serialise their arithmetic behind it.
    for i in 0..GROUP {
        // Forcing the interleaving with empty assembly was tried (0.97 of the time) and not kept.
        let block = &mut pixels[usize::from(ready.blocks[i])];
        let (fragments, colour) = (&ready.fragments[i], ready.splats[i].colour);
        let blended = blend::<_, STOP>(simd, limits.stop_at, fragments, colour, block);
        let (number, block) = (usize::from(ready.numbers[i]), usize::from(ready.blocks[i]));
        sink.add(simd, number % BATCH, ready.splats[i], block, &blended);
        ready.log.0[i] = mask_bits(fragments.over_cut);
        ready.log.1[i] = mask_bits(blended.refused);
    }
}
