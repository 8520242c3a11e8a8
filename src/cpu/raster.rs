//! A tile's splats, front to back.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use fearless_simd::{Simd, dispatch};

use super::RenderSettings;
use super::blend::{AFTER, BEFORE, BEFORE_OR_AT, BlendLimits, Brush, NEVER, stop_kind};
use super::coverage::block_mask;
use super::tile::{BLOCK_PX, TILE_BLOCKS, Tile};
use crate::preprocess::ProjectedSplat;

/// Splats fetched together: their cache lines travel at the same time.
const BATCH: usize = 16;

/// Draws `slots` of `splats`, nearest first, into `tile`; stops when every pixel is closed.
pub(super) fn draw(
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    slots: &[AtomicU32],
    settings: &RenderSettings,
) {
    let (kind, stop_at) = stop_kind(settings.profile.stop);
    #[allow(clippy::cast_possible_truncation, reason = "lanes are f32")]
    let limits = BlendLimits {
        alpha_cap: settings.profile.alpha_cap as f32,
        stop_at,
    };
    dispatch!(settings.level.level(), simd => match kind {
        NEVER => draw_lanes::<_, NEVER>(simd, tile, splats, slots, limits),
        BEFORE => draw_lanes::<_, BEFORE>(simd, tile, splats, slots, limits),
        BEFORE_OR_AT => draw_lanes::<_, BEFORE_OR_AT>(simd, tile, splats, slots, limits),
        _ => draw_lanes::<_, AFTER>(simd, tile, splats, slots, limits),
    });
}

#[inline(always)]
#[allow(clippy::cast_precision_loss, reason = "small integers")]
fn draw_lanes<S: Simd, const STOP: u8>(
    simd: S,
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    slots: &[AtomicU32],
    limits: BlendLimits,
) {
    let mut batch: [ProjectedSplat; BATCH] = bytemuck::Zeroable::zeroed();
    for slots in slots.chunks(BATCH) {
        if tile.live == 0 {
            return;
        }
        for (splat, slot) in batch.iter_mut().zip(slots) {
            *splat = splats[slot.load(Relaxed) as usize];
        }
        for splat in &batch[..slots.len()] {
            let mut blocks = block_mask(simd, splat, tile.origin) & tile.live;
            if blocks == 0 {
                continue;
            }
            let brush = Brush::new(simd, splat, tile.origin);
            while blocks != 0 {
                let b = blocks.trailing_zeros() as usize;
                blocks &= blocks - 1;
                let offset = [
                    (b % TILE_BLOCKS * BLOCK_PX) as f32,
                    (b / TILE_BLOCKS * BLOCK_PX) as f32,
                ];
                let result = brush.blend::<STOP>(simd, limits, offset, &mut tile.blocks[b]);
                tile.fragments_blended += u64::from(result.blended);
                if !result.open {
                    tile.live &= !(1 << b);
                }
            }
        }
    }
}
