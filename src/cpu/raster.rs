//! A tile's splats, front to back.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use fearless_simd::{Simd, dispatch};

use super::RenderSettings;
use super::blend::{
    AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, NEVER, blend, cap_rounded_down, stop_kind,
};
use super::coverage::block_mask;
use super::tile::{TILE_BLOCKS, Tile};
use crate::math::prefetch;
use crate::preprocess::ProjectedSplat;

/// Splats fetched together: their cache lines travel at the same time.
const BATCH: usize = 16;
/// How many batches ahead a splat's cache line is asked for.
const PREFETCH_BATCHES: usize = 2;
/// Items written together.
const GROUP: usize = 8;

/// Draws `slots` of `splats`, nearest first, into `tile` and stores it in the picture's `rows`;
/// stops early when every pixel is closed. Returns the fragments blended.
pub(super) fn draw(
    mut tile: Tile,
    splats: &[ProjectedSplat],
    slots: &[AtomicU32],
    settings: &RenderSettings,
    rows: &mut [&mut [[f32; 4]]],
) -> u64 {
    let (kind, stop_at) = stop_kind(settings.profile.stop);
    let limits = BlendLimits {
        alpha_cap: cap_rounded_down(settings.profile.alpha_cap),
        stop_at,
    };
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

/// The work of a batch: which splat goes into which block, splat by splat.
struct Items {
    /// `splat << 6 | block`; as long as every splat in every block, and a group to spare.
    items: [u16; BATCH * TILE_BLOCKS * TILE_BLOCKS + GROUP],
    len: usize,
}

impl Items {
    /// Appends `splat` for each block of `mask`. Whole groups are written and the excess is
    /// overwritten later: a branch a group is predictable where one a block is not.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "splat < BATCH and block < 64 by construction"
    )]
    fn push(&mut self, splat: usize, mut mask: u64) {
        let mut place = self.len;
        self.len += mask.count_ones() as usize;
        while mask != 0 {
            for item in &mut self.items[place..place + GROUP] {
                *item = (splat << 6) as u16 | (mask.trailing_zeros() & 63) as u16;
                mask &= mask.wrapping_sub(1);
            }
            place += GROUP;
        }
    }
}

#[inline(always)]
fn draw_lanes<S: Simd, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    slots: &[AtomicU32],
    limits: BlendLimits,
) {
    let mut batch: [ProjectedSplat; BATCH] = bytemuck::Zeroable::zeroed();
    let mut items = Items {
        items: [0; BATCH * TILE_BLOCKS * TILE_BLOCKS + GROUP],
        len: 0,
    };
    for (i, chunk) in slots.chunks(BATCH).enumerate() {
        if tile.live == 0 {
            return;
        }
        for slot in slots
            .iter()
            .skip((i + PREFETCH_BATCHES) * BATCH)
            .take(BATCH)
        {
            prefetch(splats, slot.load(Relaxed) as usize);
        }
        items.len = 0;
        for (k, (splat, slot)) in batch.iter_mut().zip(chunk).enumerate() {
            *splat = splats[slot.load(Relaxed) as usize];
            items.push(k, block_mask(simd, splat, tile.origin) & tile.live);
        }
        for &item in &items.items[..items.len] {
            let (splat, b) = (
                &batch[usize::from(item >> 6) % BATCH],
                usize::from(item & 63),
            );
            let place = [&tile.x[b % TILE_BLOCKS], &tile.y[b / TILE_BLOCKS]];
            let result = blend::<_, STOP>(simd, limits, splat, place, &mut tile.blocks[b]);
            tile.fragments_blended += u64::from(result.blended);
            if result.closed {
                tile.live &= !(1 << b);
            }
        }
    }
}
