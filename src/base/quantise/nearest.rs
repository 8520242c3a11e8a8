//! Nearest centroids of rows of numbers, in register tiles.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*, u32x16};

use crate::math::SimdLevel;
use crate::task::Task;

pub(super) const LANES: usize = 16;
/// Rows per tile: six sums of two vectors fit the 16 registers of AVX2 beside the centroids.
const ROWS: usize = 6;

pub(super) struct Rows {
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
}

impl Rows {
    pub(super) fn row(&self, at: usize) -> &[f32] {
        &self.values[at * self.width..(at + 1) * self.width]
    }
}

pub(super) struct LaneBlock {
    dimensions: Vec<[f32; LANES]>,
    /// Half the squared norms; infinite for missing centroids.
    half_norms: [f32; LANES],
}

/// Up to [`ROWS`] rows, dimension by dimension.
type Tile = Vec<[f32; ROWS]>;

impl LaneBlock {
    pub(super) fn new(centroids: &[Vec<f32>]) -> Self {
        let mut block = Self {
            dimensions: vec![[0.0; LANES]; centroids[0].len()],
            half_norms: [f32::INFINITY; LANES],
        };
        for (lane, centroid) in centroids.iter().enumerate() {
            for (lanes, value) in block.dimensions.iter_mut().zip(centroid.iter()) {
                lanes[lane] = *value;
            }
            block.half_norms[lane] = centroid.iter().map(|v| v * v).sum::<f32>() / 2.0;
        }
        block
    }
}

/// Index, over all blocks, of the centroid nearest to each row; ties go to the first. Meaningless if cancelled.
pub(super) fn nearest(
    points: &Rows,
    rows: &[u32],
    blocks: &[&LaneBlock],
    level: SimdLevel,
    task: &Task,
) -> Vec<u32> {
    let mut found = vec![0; rows.len()];
    let mut tile = vec![[0.0; ROWS]; points.width];
    for (part, found) in rows.chunks(ROWS).zip(found.chunks_mut(ROWS)) {
        if task.is_cancelled() {
            break;
        }
        fill(&mut tile, part.iter().map(|row| points.row(*row as usize)));
        let nearest = dispatch!(level.level(), simd => nearest_to_tile(simd, blocks, &tile));
        found.copy_from_slice(&nearest[..found.len()]);
    }
    found
}

fn fill<'a>(tile: &mut Tile, rows: impl Iterator<Item = &'a [f32]>) {
    for (at, row) in rows.enumerate() {
        for (lanes, value) in tile.iter_mut().zip(row) {
            lanes[at] = *value;
        }
    }
}

/// Half the squared distances between rows and centroids, less half the squared norm of the row.
#[inline(always)]
fn distances<S: Simd>(simd: S, block: &LaneBlock, tile: &Tile) -> [f32x16<S>; ROWS] {
    let mut sums = [f32x16::simd_from(simd, block.half_norms); ROWS];
    for (lanes, values) in block.dimensions.iter().zip(tile) {
        let lanes = f32x16::simd_from(simd, *lanes);
        for row in 0..ROWS {
            // Not fused, so that every level gives the same palette.
            sums[row] -= lanes * f32x16::splat(simd, values[row]);
        }
    }
    sums
}

#[inline(always)]
fn nearest_to_tile<S: Simd>(simd: S, blocks: &[&LaneBlock], tile: &Tile) -> [u32; ROWS] {
    let mut best = [f32x16::splat(simd, f32::INFINITY); ROWS];
    let mut at = [u32x16::splat(simd, 0); ROWS];
    for (number, block) in (0_u32..).zip(blocks) {
        let sums = distances(simd, block, tile);
        let number = u32x16::splat(simd, number);
        for row in 0..ROWS {
            let is_less = sums[row].simd_lt(best[row]);
            best[row] = is_less.select(sums[row], best[row]);
            at[row] = is_less.select(number, at[row]);
        }
    }
    std::array::from_fn(|row| {
        let (best, at): ([f32; LANES], [u32; LANES]) = (best[row].into(), at[row].into());
        let mut lane = 0;
        for other in 1..LANES {
            // If centroids are equally near, the first one is chosen.
            let is_less = best[other] < best[lane];
            let is_before = best[other] == best[lane] && at[other] < at[lane];
            if is_less || is_before {
                lane = other;
            }
        }
        let of = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        at[lane] * of(LANES) + of(lane)
    })
}
