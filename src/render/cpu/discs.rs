//! Draws the discs of a tile, front to back: the loop for profiles of discs.
//!
//! A fragment takes a division and twice the arithmetic of an ellipse's, so that no interleaving is needed to hide latencies.
//! The stop rule is chosen per fragment, since a loop for each rule would quadruple the code.

use bytemuck::Zeroable;
use fearless_simd::{f32x16, prelude::*};

use super::blend::{BlendLimits, BlockLanes, Fragments, with_stop_kind};
use super::coverage::{SLACK_PX, Strips};
use super::layer_sink::LayerSink;
use super::runs::{BATCH, Runs, slot};
use super::tile::{BLOCK_OFFSETS, BLOCK_PX, TILE_BLOCKS, TILE_PX, Tile};
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedDisc, ProjectedSplat};
use quadrille_base::math::lanes::{LaneCounts, exp2_where};
use quadrille_base::math::whole;

/// Draws the discs of a list into a tile, as the raster does ellipses.
#[inline(always)]
pub(super) fn draw_lanes<S: Simd, L: LayerSink>(
    simd: S,
    tile: &mut Tile,
    splats: &[ProjectedSplat],
    list: &[u64],
    (limits, stop): (BlendLimits, u8),
    sink: &mut L,
) {
    let mut discs = [ProjectedDisc::zeroed(); BATCH];
    let mut batch = [ProjectedSplat::zeroed(); BATCH];
    let mut outlines = batch;
    let (strips, first_block) = (Strips::new(simd, tile.origin), tile.first_block(simd));
    for chunk in list.chunks(BATCH) {
        tile.live &= !sink.hidden(|| splats[slot(chunk[0])].depth);
        if tile.live == 0 {
            break;
        }
        let mut masks = [0; BATCH];
        for (at, &entry) in chunk.iter().enumerate() {
            let splat = splats[slot(entry)];
            (discs[at], batch[at]) = (bytemuck::cast(splat), splat);
            outlines[at] = discs[at].outline();
            masks[at] = filter_mask(&discs[at], tile.origin) & tile.live;
            // The sink may replace colour and depth, of which the disc needs the latter.
            sink.load(at, slot(entry), &mut batch[at]);
        }
        let (outlines, mut outlined) = (&outlines[..chunk.len()], [0; BATCH]);
        strips.block_masks(simd, outlines, tile.live, &mut outlined);
        for ((mask, outlined), outline) in masks.iter_mut().zip(outlined).zip(outlines) {
            // A disc that the plane of the camera cuts may reach any block.
            *mask |= if outline.log2_opacity.is_finite() { outlined } else { tile.live };
        }
        let mut counts = LaneCounts::new(simd);
        for (block, run) in Runs::of_masks(simd, &masks).iter() {
            let [column, row] = BLOCK_OFFSETS[block];
            let positions = [first_block[0] + column, first_block[1] + row];
            let mut pixels = BlockLanes::load(simd, &tile.blocks[block]);
            for number in run {
                let (fragments, depth) = shade(simd, &discs[number], positions, limits.alpha_cap);
                let (mut blended, is_open) = with_stop_kind!(stop, STOP => {
                    let blended = pixels.cover::<STOP>(simd, limits.stop_at, &fragments);
                    (blended, pixels.is_open::<STOP>(simd, limits.stop_at))
                });
                blended.depth = Some(depth);
                sink.add(simd, number, &batch[number], block, &blended);
                counts.add(simd, fragments.over_cut & blended.open);
                pixels.add(simd, blended.weight, batch[number].colour);
                if !is_open {
                    break;
                }
            }
            let block_of_tile = &mut tile.blocks[block];
            let is_open = with_stop_kind!(stop, STOP => {
                pixels.store::<STOP>(simd, limits.stop_at, block_of_tile)
            });
            if !is_open {
                tile.live &= !(1 << block);
            }
        }
        tile.fragments_blended += counts.sum(simd);
    }
}

/// Blocks of a tile that the low-pass filter of a disc may touch: those of the box around it.
fn filter_mask(disc: &ProjectedDisc, origin: [f32; 2]) -> u64 {
    let reach = disc.filter_radius_px() + SLACK_PX;
    let blocks = [0, 1].map(|axis| {
        let centre = disc.mean_px[axis] - origin[axis];
        let first = (centre - reach).ceil().max(0.0);
        let last = (centre + reach).floor().min((TILE_PX - 1) as f32);
        let of_block = |px: f32| whole::<usize>(px) / BLOCK_PX;
        if first <= last { of_block(first)..of_block(last) + 1 } else { 0..0 }
    });
    let [columns, rows] = blocks;
    let row = columns.fold(0, |mask, column| mask | 1_u64 << column);
    rows.fold(0, |mask, at| mask | row << (TILE_BLOCKS * at))
}

/// Fragments of a disc at the distances `x` and `y` from the picture's centre, and their depths.
/// [`ExactDisc`](crate::preprocess::ExactDisc) defines them.
#[inline(always)]
fn shade<S: Simd>(
    simd: S,
    disc: &ProjectedDisc,
    [x, y]: [f32x16<S>; 2],
    alpha_cap: f32,
) -> (Fragments<S>, f32x16<S>) {
    let lane = |v: f32| f32x16::splat(simd, v);
    let (dx, dy) = (x - disc.mean_px[0], y - disc.mean_px[1]);
    let ([w0, w1], [y0, y1]) = (disc.w_by_axis, disc.y_by_axis);
    // The planes through the column and the row of a pixel. Closures would be called here, not inlined.
    let k0 = dx.mul_add(lane(w0), lane(-disc.x[0]));
    let k1 = dx.mul_add(lane(w1), lane(-disc.x[1]));
    let k2 = dx.mul_add(lane(disc.depth), lane(-disc.x[2]));
    let l0 = dy.mul_add(lane(w0), lane(-y0));
    let l1 = dy.mul_add(lane(w1), lane(-y1));
    let l2 = dy.mul_add(lane(disc.depth), lane(-disc.y_at_centre));
    let per_z = lane(1.0) / (-k1).mul_add(l0, k0 * l1);
    let u = (-k2).mul_add(l1, k1 * l2) * per_z;
    let v = (-k0).mul_add(l2, k2 * l0) * per_z;
    let on_disc = u.mul_add(u, v * v);
    // One standard deviation of the low-pass filter is sqrt(1/2) pixels.
    let low_pass = dx.mul_add(dx, dy * dy) * std::f32::consts::LOG2_E;
    let is_on_disc = on_disc.simd_le(low_pass);
    let exponent = lane(disc.log2_opacity) - is_on_disc.select(on_disc, low_pass);
    let met = u.mul_add(lane(w0), v.mul_add(lane(w1), lane(disc.depth)));
    let depth = is_on_disc.select(met, lane(disc.depth));
    let over_cut = exponent.simd_ge(lane(LOG2_ALPHA_CUT)) & depth.simd_gt(lane(0.0));
    let [alpha] = exp2_where(simd, [over_cut], [exponent]);
    let alpha = alpha.min(lane(alpha_cap));
    // Depths are multiplied by weights of 0 elsewhere, and must be finite.
    (Fragments { over_cut, alpha }, over_cut.select(depth, lane(disc.depth)))
}
