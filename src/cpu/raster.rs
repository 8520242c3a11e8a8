//! A tile's splats, front to back.

use fearless_simd::{dispatch, mask32x16, prelude::*};

use super::RenderSettings;
use super::blend::{
    AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, Fragments, NEVER, blend, shade, stop_kind,
};
use super::coverage::Strips;
use super::items::{BATCH, Items, Log};
use super::tile::{PixelBlock, TILE_BLOCKS, Tile, TilePlace};
use crate::math::lanes::GROUP;
use crate::math::prefetch;
use crate::preprocess::ProjectedSplat;
use crate::shading::cap_rounded_down;

/// How many batches ahead a splat's cache line is asked for.
const PREFETCH_BATCHES: usize = 2;

/// Draws the `splats` whose slots are the low halves of `list`, nearest first, into the tile at
/// `place` and stores it in the picture's `rows`; stops early when every pixel is closed. Returns the fragments blended.
pub(super) fn draw(
    place: TilePlace,
    splats: &[ProjectedSplat],
    list: &[u64],
    settings: &RenderSettings,
    rows: &mut [&mut [[f32; 4]]],
) -> u64 {
    let (kind, stop_at) = stop_kind(settings.profile.stop);
    let limits = BlendLimits {
        alpha_cap: cap_rounded_down(settings.profile.alpha_cap),
        stop_at,
    };
    let mut tile = Tile::new(place);
    dispatch!(settings.level.level(), simd => {
        match kind {
            NEVER => draw_lanes::<_, NEVER>(simd, &mut tile, splats, list, limits),
            BEFORE => draw_lanes::<_, BEFORE>(simd, &mut tile, splats, list, limits),
            BEFORE_OR_AT => draw_lanes::<_, BEFORE_OR_AT>(simd, &mut tile, splats, list, limits),
            _ => draw_lanes::<_, AFTER>(simd, &mut tile, splats, list, limits),
        }
        tile.store(simd, rows);
    });
    tile.fragments_blended
}

/// The slot of a list's entry.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the low half")]
fn slot(entry: u64) -> usize {
    entry as u32 as usize
}

#[inline(always)]
fn draw_lanes<S: Simd, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    list: &[u64],
    limits: BlendLimits,
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
        for &entry in ahead.take(BATCH) {
            prefetch(splats, slot(entry));
        }
        // Masks first, all of them: they are long chains of arithmetic that overlap as long as no
        // branch waits for one.
        let mut masks = [0; BATCH];
        for ((splat, mask), &entry) in batch.iter_mut().zip(&mut masks).zip(chunk) {
            *splat = splats[slot(entry)];
            *mask = strips.block_mask(simd, splat) & tile.live;
        }
        items.list(simd, &masks);
        draw_batch::<_, STOP>(simd, tile, &batch, &items, limits, &mut log);
        tile.fragments_blended += log.blended(items.len());
        tile.live &= !log.closed(&items);
    }
}

/// Four visits with their shaded fragments, waiting to be blended.
struct Shaded<'a, S: Simd> {
    fragments: [Fragments<S>; GROUP],
    splats: [&'a ProjectedSplat; GROUP],
    blocks: &'a [u8; GROUP],
    log: (&'a mut [u16; GROUP], &'a mut [u16; GROUP]),
}

/// Draws a batch's items. A group is blended while the next one is shaded: the two do not depend
/// on each other, and shading alone is a chain of latencies too long for a core to look beyond.
#[inline(always)]
fn draw_batch<S: Simd, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    batch: &[ProjectedSplat; BATCH],
    items: &Items,
    limits: BlendLimits,
    log: &mut Log,
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
        let mut places = [[&x[0], &y[0]]; GROUP];
        for i in 0..GROUP {
            let b = usize::from(blocks[i]);
            splats[i] = &batch[usize::from(group[i]) % BATCH];
            places[i] = [&x[b % TILE_BLOCKS], &y[b / TILE_BLOCKS]];
        }
        let fragments = shade(simd, limits.alpha_cap, splats, places);
        let shaded = Shaded {
            fragments,
            splats,
            blocks,
            log,
        };
        if let Some(ready) = waiting.replace(shaded) {
            blend_group::<_, STOP>(simd, limits, pixels, ready);
        }
    }
    if let Some(ready) = waiting {
        blend_group::<_, STOP>(simd, limits, pixels, ready);
    }
}

#[inline(always)]
#[allow(clippy::needless_pass_by_value, reason = "consumed, and inlined")]
fn blend_group<S: Simd, const STOP: u8>(
    simd: S,
    limits: BlendLimits,
    pixels: &mut [PixelBlock],
    ready: Shaded<'_, S>,
) {
    // No branch between the four, or the compiler puts their arithmetic behind it, one by one.
    for i in 0..GROUP {
        let block = &mut pixels[usize::from(ready.blocks[i])];
        let (fragments, colour) = (&ready.fragments[i], ready.splats[i].colour);
        let refused = blend::<_, STOP>(simd, limits.stop_at, fragments, colour, block);
        ready.log.0[i] = bits(fragments.over_cut);
        ready.log.1[i] = bits(refused);
    }
}

/// A mask's bits, a pixel each.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "a mask of 16 lanes has 16 bits"
)]
fn bits<S: Simd>(mask: mask32x16<S>) -> u16 {
    mask.to_bitmask() as u16
}
