//! The blocks of a tile that a splat's footprint touches.

use fearless_simd::{f32x16, i32x16, mask32x16, prelude::*, u32x8, u32x16};

use super::tile::{BLOCK_PX, TILE_BLOCKS};
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
#[cfg(target_arch = "x86_64")]
use quadrille_base::math::lanes::mask_bits;
use quadrille_base::math::lanes::sqrt_above;

/// Slack in pixels, so that rounding never loses a block.
pub(super) const SLACK_PX: f32 = 0.01;
/// Squared radius at the alpha cut minus log2 of the opacity, with a slack of 0.001 for rounding.
const RADIUS_SQUARED_ABOVE: f32 = 1e-3 - LOG2_ALPHA_CUT;

const BLOCKS_PER_PX: f32 = 1.0 / BLOCK_PX as f32;

/// Rows of blocks of a tile, called strips: the low eight lanes hold an ellipse's left ends, the high eight its right ends.
#[derive(Clone, Copy)]
pub(super) struct Strips<S: Simd> {
    top: f32x16<S>,
    bottom: f32x16<S>,
    /// -1 in lanes of left ends, 1 in lanes of right ends.
    side: f32x16<S>,
    /// Converts a distance from the picture's centre, in blocks, to one from the tile's first pixel. A left end
    /// touches a block up to its last pixel, a right end from its first pixel on.
    offset: f32x16<S>,
}

impl<S: Simd> Strips<S> {
    /// Strips of the tile whose first pixel's centre is at `origin` from the picture's centre.
    #[inline(always)]
    pub(super) fn new(simd: S, origin: [f32; 2]) -> Self {
        let top = f32x16::from_fn(simd, |i| (i % TILE_BLOCKS * BLOCK_PX) as f32) + origin[1];
        let slack = f32x16::from_fn(simd, |i| {
            if i < TILE_BLOCKS { -((BLOCK_PX - 1) as f32 + SLACK_PX) } else { SLACK_PX }
        });
        Self {
            top,
            bottom: top + (BLOCK_PX - 1) as f32,
            side: f32x16::from_fn(simd, |i| if i < TILE_BLOCKS { -1.0 } else { 1.0 }),
            offset: (slack - origin[0]) * BLOCKS_PER_PX,
        }
    }

    /// For each of at most [`BATCH`] splats, bit `8 * row + column` for each 4x4 block of the tile that is `live` and
    /// may hold a pixel above the alpha cut; conservative, so it never misses one.
    ///
    /// All masks are computed before any branch on one, so that their long chains of arithmetic overlap.
    #[inline(always)]
    pub(super) fn block_masks(
        &self,
        simd: S,
        splats: &[ProjectedSplat],
        live: u64,
        masks: &mut [u64],
    ) {
        #[cfg(target_arch = "x86_64")]
        if let fearless_simd::Level::Avx512(avx512) = simd.level() {
            for (mask, splat) in masks.iter_mut().zip(splats) {
                let (inside, end) = self.ends(simd, splat);
                *mask = blocks_avx512(avx512, mask_bits(inside), end.into()) & live;
            }
            return;
        }
        for (mask, splat) in masks.iter_mut().zip(splats) {
            let (inside, end) = self.ends(simd, splat);
            *mask = columns_to_mask(simd, inside, end) & live;
        }
    }

    /// Returns the strips that a footprint reaches, and its extent in each of them: from the ceiling of the left end to
    /// the ceiling of the right end (exclusive), in blocks of 0 to [`TILE_BLOCKS`].
    ///
    /// Within a strip the ellipse reaches furthest right at its rightmost point's height, clamped, and likewise left.
    #[inline(always)]
    fn ends(&self, simd: S, splat: &ProjectedSplat) -> (mask32x16<S>, f32x16<S>) {
        let lane = |v: f32| f32x16::splat(simd, v);
        let is_left = self.side.simd_lt(lane(0.0));
        let tip = is_left.select(lane(splat.leftmost_y), lane(splat.rightmost_y));
        let y = tip.max(self.top).min(self.bottom);
        let v = y.mul_add(lane(splat.v_per_y), lane(splat.v_at_centre));
        let rest = (-v).mul_add(v, lane(splat.log2_opacity + RADIUS_SQUARED_ABOVE));
        let inside = rest.simd_gt(lane(0.0));
        // An upper bound is enough for a conservative mask, and cheaper than the exact root.
        let reach = sqrt_above(simd, rest);
        // u = u_at_centre + u_per_x x - u_per_y y = +-reach, solved for x.
        let u_at_y = y.mul_add(lane(-splat.u_per_y), lane(splat.u_at_centre));
        let blocks_per_u = lane(splat.x_per_u * BLOCKS_PER_PX);
        // The first touched block, or the end of the touched blocks; callers round up.
        let end = reach.mul_add(self.side, -u_at_y).mul_add(blocks_per_u, self.offset);
        (inside, end.max(lane(0.0)).min(lane(TILE_BLOCKS as f32)))
    }
}

/// Mask of the blocks between the ends of each strip that is `inside`.
#[inline(always)]
fn columns_to_mask<S: Simd>(simd: S, inside: mask32x16<S>, end: f32x16<S>) -> u64 {
    let end = inside
        .select(end.ceil(), f32x16::splat(simd, 0.0))
        // Many levels have no conversion to unsigned integers.
        .to_int::<i32x16<S>>()
        .bitcast::<u32x16<S>>();
    // 2^last - 2^first has the bits first..last.
    let (first, last) = (u32x16::splat(simd, 1) << end).split();
    #[allow(clippy::cast_possible_truncation, reason = "small integers")]
    let row_shift = u32x8::from_fn(simd, |row| (row % 4 * TILE_BLOCKS) as u32);
    let (upper, lower) = ((last - first) << row_shift).split();
    u64::from(upper.reduce_sum()) | u64::from(lower.reduce_sum()) << 32
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn blocks_avx512(_token: Avx512, inside: u16, end: std::arch::x86_64::__m512) -> u64 {
        use std::arch::x86_64::*;
        const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
        let end = _mm512_maskz_cvt_roundps_epu32::<UP>(inside, end);
        // 2^end - 1, from a table of nine bytes.
        let before = _mm_set_epi64x(0xff, 0x7f3f_1f0f_0703_0100);
        let before = _mm_shuffle_epi8(before, _mm512_cvtepi32_epi8(end));
        let [blocks, _]: [u64; 2] =
            bytemuck::cast(_mm_andnot_si128(before, _mm_unpackhi_epi64(before, before)));
        blocks
    }
);
