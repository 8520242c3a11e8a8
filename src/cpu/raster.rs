//! A tile's splats, front to back.

use fearless_simd::{Simd, dispatch};

use super::RenderSettings;
use super::blend::{
    AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, NEVER, blend, cap_rounded_down, shade, stop_kind,
};
use super::coverage::block_mask;
use super::items::{BATCH, Items};
use super::tile::{SINK, TILE_BLOCKS, Tile, TilePlace};
use crate::math::lanes::GROUP;
use crate::math::prefetch;
use crate::preprocess::ProjectedSplat;

/// How many batches ahead a splat's cache line is asked for.
const PREFETCH_BATCHES: usize = 2;

/// Draws `slots` of `splats`, nearest first, into the tile at `place` and stores it in the
/// picture's `rows`; stops early when every pixel is closed. Returns the fragments blended.
pub(super) fn draw(
    place: TilePlace,
    splats: &[ProjectedSplat],
    slots: &[u32],
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
            NEVER => draw_lanes::<_, NEVER>(simd, &mut tile, splats, slots, limits),
            BEFORE => draw_lanes::<_, BEFORE>(simd, &mut tile, splats, slots, limits),
            BEFORE_OR_AT => draw_lanes::<_, BEFORE_OR_AT>(simd, &mut tile, splats, slots, limits),
            _ => draw_lanes::<_, AFTER>(simd, &mut tile, splats, slots, limits),
        }
        tile.store(simd, rows);
    });
    tile.fragments_blended
}

#[inline(always)]
fn draw_lanes<S: Simd, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    slots: &[u32],
    limits: BlendLimits,
) {
    let mut batch: [ProjectedSplat; BATCH] = bytemuck::Zeroable::zeroed();
    let mut items = Items::new();
    for (i, chunk) in slots.chunks(BATCH).enumerate() {
        if tile.live == 0 {
            return;
        }
        for &slot in slots
            .iter()
            .skip((i + PREFETCH_BATCHES) * BATCH)
            .take(BATCH)
        {
            prefetch(splats, slot as usize);
        }
        // Masks first, all of them: they are long chains of arithmetic that overlap as long as no
        // branch waits for one.
        let mut masks = [0; BATCH];
        for ((splat, mask), &slot) in batch.iter_mut().zip(&mut masks).zip(chunk) {
            *splat = splats[slot as usize];
            *mask = block_mask(simd, splat, tile.origin) & tile.live;
        }
        items.list(simd, &masks);
        draw_batch::<_, STOP>(simd, tile, &batch, &items, limits);
    }
}

#[inline(always)]
fn draw_batch<S: Simd, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    batch: &[ProjectedSplat; BATCH],
    items: &Items,
    limits: BlendLimits,
) {
    let mut blended = 0;
    for (group, blocks) in items.groups() {
        let mut splats = [&batch[0]; GROUP];
        let mut places = [[&tile.x[0], &tile.y[0]]; GROUP];
        for i in 0..GROUP {
            let b = usize::from(blocks[i]);
            splats[i] = &batch[usize::from(group[i]) % BATCH];
            places[i] = [&tile.x[b % TILE_BLOCKS], &tile.y[b / TILE_BLOCKS]];
        }
        let fragments = shade(simd, limits.alpha_cap, splats, places);
        // No branch between the four, or the compiler puts their arithmetic behind it, one by one.
        let (mut blended_bits, mut closed_bits) = (0, 0);
        for i in 0..GROUP {
            let block = &mut tile.blocks[usize::from(blocks[i])];
            let colour = splats[i].colour;
            let result = blend::<_, STOP>(simd, limits.stop_at, &fragments[i], colour, block);
            blended_bits |= result.blended << (16 * i);
            closed_bits |= result.closed << (16 * i);
        }
        blended += u64::from(blended_bits.count_ones());
        if has_full_lane(closed_bits) {
            close_blocks(tile, blocks, closed_bits);
        }
    }
    tile.fragments_blended += blended;
}

/// Whether one of the four 16-bit lanes is all ones.
#[inline(always)]
fn has_full_lane(bits: u64) -> bool {
    const ONES: u64 = 0x0001_0001_0001_0001;
    // The classic test for a zero lane, on the complement.
    (!bits).wrapping_sub(ONES) & bits & (ONES << 15) != 0
}

/// Takes the blocks whose 16 pixels are all closed out of the tile's live ones.
#[cold]
#[inline(never)]
fn close_blocks(tile: &mut Tile, blocks: &[u8; GROUP], closed_bits: u64) {
    for (i, &block) in blocks.iter().enumerate() {
        // The sink has no bit.
        if closed_bits >> (16 * i) & 0xffff == 0xffff && block < SINK {
            tile.live &= !(1 << block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_lanes_are_found() {
        for lane in 0..4 {
            assert!(has_full_lane(0xffff << (16 * lane)));
            assert!(!has_full_lane(0xfffe << (16 * lane)));
            assert!(!has_full_lane(0x7fff << (16 * lane)));
            assert!(has_full_lane(!(1 << (16 * lane))));
        }
        assert!(!has_full_lane(0) && has_full_lane(u64::MAX));
        assert!(!has_full_lane(0x7fff_fffe_efff_fff7));
    }
}
