//! Which blocks of a tile a splat's footprint touches.

use fearless_simd::{f32x16, prelude::*, u32x8, u32x16};

use super::tile::{BLOCK_PX, TILE_BLOCKS};
use crate::preprocess::ProjectedSplat;

/// Slack in pixels and in squared radius (log2 units), so that rounding never loses a block.
const SLACK_PX: f32 = 0.01;
const SLACK_RADIUS_SQUARED: f32 = 1e-3;

/// Bit `8 * row + column` for each 4x4 block of the tile at `origin` (centre of its first pixel,
/// from the picture's centre) that may hold a pixel over the cut; never misses one.
///
/// Rows of blocks are strips: within a strip the ellipse reaches furthest right at the height of
/// its rightmost point, clamped to the strip, and likewise left. Eight strips, both sides: sixteen
/// lanes.
#[inline(always)]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "small integers"
)]
pub(super) fn block_mask<S: Simd>(simd: S, splat: &ProjectedSplat, origin: [f32; 2]) -> u64 {
    let strip_top = f32x16::from_fn(simd, |i| (i % TILE_BLOCKS * BLOCK_PX) as f32) + origin[1];
    let strip_bottom = strip_top + (BLOCK_PX - 1) as f32;
    let side = f32x16::from_fn(simd, |i| if i < TILE_BLOCKS { -1.0 } else { 1.0 });
    let is_left = side.simd_lt(f32x16::splat(simd, 0.0));
    let tip = is_left.select(
        f32x16::splat(simd, splat.leftmost_y),
        f32x16::splat(simd, splat.rightmost_y),
    );
    let y = tip.max(strip_top).min(strip_bottom);
    let v = y.mul_add(
        f32x16::splat(simd, splat.v_per_y),
        f32x16::splat(simd, splat.v_at_centre),
    );
    let rest = f32x16::splat(simd, splat.radius_squared() + SLACK_RADIUS_SQUARED) - v * v;
    let inside = rest.simd_ge(f32x16::splat(simd, 0.0));
    let reach = inside.select(rest, f32x16::splat(simd, 0.0)).sqrt();
    // u = u_at_centre + u_per_x x - u_per_y y = +-reach, solved for x, from the tile's first pixel.
    let u_at_y = y.mul_add(
        f32x16::splat(simd, -splat.u_per_y),
        f32x16::splat(simd, splat.u_at_centre),
    );
    let x = (reach * side - u_at_y).mul_add(
        f32x16::splat(simd, splat.x_per_u),
        f32x16::splat(simd, -origin[0]),
    );
    // A block holds pixels 4b to 4b + 3: the first one needed ends at or after the left end.
    let ends = is_left.select(
        (x - ((BLOCK_PX - 1) as f32 + SLACK_PX)) * (1.0 / BLOCK_PX as f32),
        (x + SLACK_PX) * (1.0 / BLOCK_PX as f32),
    );
    let ends = is_left.select(ends.ceil(), ends.floor() + 1.0);
    let ends = ends
        .max(f32x16::splat(simd, 0.0))
        .min(f32x16::splat(simd, TILE_BLOCKS as f32));
    let ends = inside.select(ends, f32x16::splat(simd, 0.0));
    // Columns first..last of a row as bits: (2^last - 1) without (2^first - 1).
    let below = u32x16::splat(simd, 1) << ends.to_int::<u32x16<S>>();
    let (first, last) = below.split();
    let row_shift = u32x8::from_fn(simd, |row| (row % 4 * TILE_BLOCKS) as u32);
    let (upper, lower) = ((last - first) << row_shift).split();
    u64::from(upper.reduce_sum()) | u64::from(lower.reduce_sum()) << 32
}
