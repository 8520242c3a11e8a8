//! Traversal of the tiles and blocks that a triangle may cover.
//!
//! Tiles of 8x8 pixels are visited row by row, and the blocks of 2x2 pixels of a tile in Morton order. Both are culled
//! by bounds in time and on the lens and by the edges; groups with samples in the block's ranges are tested.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};

use super::cost::RasterCounters;
use super::cull::{Cells, Culler, LANES, SampleRange};
use super::lanes::{BlockLanes, GroupHits, TestView, pixels, test_group};
use super::triangle::MovingTriangle;
use crate::sample::pattern::{GROUPS, SampleGroup, StochasticPattern};
use quadrille_base::math::lanes::mask_bits;
use quadrille_base::math::whole;

/// Side of a tile in pixels.
pub const TILE_PX: u32 = 8;
/// Side of a block in pixels.
pub const BLOCK_PX: u32 = 2;
/// Columns and rows, in pixels of the tile, of its blocks in Morton order.
const BLOCKS: [[f32; LANES]; 2] = [
    [0.0, 2.0, 0.0, 2.0, 4.0, 6.0, 4.0, 6.0, 0.0, 2.0, 0.0, 2.0, 4.0, 6.0, 4.0, 6.0],
    [0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 4.0, 4.0, 6.0, 6.0],
];

/// Camera and samples of a frame, which the raster of all its triangles uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RasterView<'a> {
    /// Camera of the sample tests.
    pub test: TestView,
    /// Samples of all pixels.
    pub pattern: &'a StochasticPattern,
}

/// Consumer of the hits of a triangle.
pub trait HitSink<S: Simd> {
    /// Takes the hits, at least one, of a sample group of the block of 2x2 pixels whose top left pixel is `pixel`.
    fn group(&mut self, pixel: [u32; 2], group: usize, hits: &GroupHits<S>);

    /// Ends a block, after all its groups. Blocks come tile by tile, in Morton order within a tile.
    #[inline(always)]
    fn end_block(&mut self, _pixel: [u32; 2]) {}
}

struct Traversal<'a> {
    view: &'a RasterView<'a>,
    triangle: &'a MovingTriangle,
    culler: Culler,
}

/// Passes the hits of a triangle in an area of the picture (first column and row, one past the last) to `sink`.
#[inline(always)]
pub(crate) fn traverse<S: Simd>(
    simd: S,
    view: &RasterView<'_>,
    triangle: &MovingTriangle,
    area: [u32; 4],
    counters: &mut RasterCounters,
    sink: &mut impl HitSink<S>,
) {
    let [x0, y0, x1, y1] = triangle.area.map(u32::from);
    let area = [x0.max(area[0]), y0.max(area[1]), x1.min(area[2]), y1.min(area[3])];
    if area[0] >= area[2] || area[1] >= area[3] {
        return;
    }
    let traversal = Traversal { view, triangle, culler: Culler::new(triangle, &view.test) };
    let mut tiles = Cells::new(TILE_PX, area);
    counters.tile_tests += u64::from(tiles.remaining());
    // Batches instead of a closure per kept cell: closures are compiled without the vector instructions of the
    // enclosing function, which makes the tests six times as slow.
    while let Some(batch) = tiles.test(simd, &traversal.culler) {
        for [column, row] in batch {
            let [left, top] = [column * TILE_PX, row * TILE_PX];
            let tile = [
                left.max(area[0]),
                top.max(area[1]),
                (left + TILE_PX).min(area[2]),
                (top + TILE_PX).min(area[3]),
            ];
            traversal.blocks(simd, [left, top], tile, counters, sink);
        }
    }
}

impl Traversal<'_> {
    #[inline(always)]
    fn blocks<S: Simd>(
        &self,
        simd: S,
        [left, top]: [u32; 2],
        tile: [u32; 4],
        counters: &mut RasterCounters,
        sink: &mut impl HitSink<S>,
    ) {
        let x = f32x16::from_slice(simd, &BLOCKS[0]) + pixels(left);
        let y = f32x16::from_slice(simd, &BLOCKS[1]) + pixels(top);
        let area = tile.map(pixels);
        let side = pixels(BLOCK_PX);
        let inside = x.simd_lt(area[2])
            & y.simd_lt(area[3])
            & (x + side).simd_gt(area[0])
            & (y + side).simd_gt(area[1]);
        let inside = mask_bits(inside);
        counters.tile_tests += u64::from(inside.count_ones());
        let kept =
            // All sixteen blocks are in the lanes of one test, which takes 31 ns per block instead of 94
            // (benches/NOTES.md).
            self.culler.test_grid(simd, [pixels(left), pixels(top)], [x, y], side, area, inside);
        if kept.cells == 0 {
            return;
        }
        let ranges = kept.ranges();
        let mut left_over = kept.cells;
        while left_over != 0 {
            let place = left_over.trailing_zeros();
            left_over &= left_over - 1;
            let [x, y] =
                [left + BLOCK_PX * even_bits(place), top + BLOCK_PX * even_bits(place >> 1)];
            let inside = self.view.pattern.lanes() & lanes_inside([x, y], tile);
            self.samples(simd, [x, y], inside, &ranges.of(place as usize), counters, sink);
        }
    }

    /// Tests the samples of a block; `inside` has the lanes of the pixels in the area.
    #[inline(always)]
    fn samples<S: Simd>(
        &self,
        simd: S,
        pixel: [u32; 2],
        inside: u16,
        range: &SampleRange,
        counters: &mut RasterCounters,
        sink: &mut impl HitSink<S>,
    ) {
        let restricts = self.culler.restricts();
        let pattern = self.view.pattern;
        // Groups hold samples of 2x2 pixels by time, so that whole groups outside the range of times are skipped.
        // This takes 0.91 of the time of groups with the 16 samples of one pixel. Groups by time and lens position
        // need more tests with motion alone: 1.34 M instead of 1.24 M.
        let samples = pattern.block(pixel);
        let block = BlockLanes::new(simd, &self.view.test, pixel);
        let [first, last] = groups_between(range.t, pattern.groups());
        // A branch-free choice of the groups of all blocks of a tile beforehand takes 1.05 of the raster's time:
        // the choice goes through memory, which costs more than mispredicted branches.
        for (at, group) in samples.groups.iter().enumerate().take(last + 1).skip(first) {
            let mut wanted = inside;
            if restricts {
                wanted &= in_range(simd, group, range);
            }
            if wanted == 0 {
                continue;
            }
            counters.sample_tests += u64::from(wanted.count_ones());
            let hits = test_group(simd, self.triangle, &self.view.test, &block, group, wanted);
            if hits.hits != 0 {
                counters.hits += u64::from(hits.hits.count_ones());
                sink.group(pixel, at, &hits);
            }
        }
        sink.end_block(pixel);
    }
}

/// Mask of the lanes of a group whose pixels lie in an area (first column and row, one past the last).
#[inline(always)]
fn lanes_inside([x, y]: [u32; 2], [x0, y0, x1, y1]: [u32; 4]) -> u16 {
    let lanes = |is_in: bool, lanes: u16| if is_in { lanes } else { 0 };
    let columns = lanes(x >= x0, 0x0f0f) | lanes(x + 1 < x1, 0xf0f0);
    let rows = lanes(y >= y0, 0x00ff) | lanes(y + 1 < y1, 0xff00);
    columns & rows
}

/// Indices of the first and last group, of `groups`, with samples in a range of times.
#[inline(always)]
fn groups_between(times: [f32; 2], groups: usize) -> [usize; 2] {
    times.map(|time| whole::<usize>(time * groups as f32).min(groups.min(GROUPS) - 1))
}

#[inline(always)]
fn in_range<S: Simd>(simd: S, samples: &SampleGroup, range: &SampleRange) -> u16 {
    let t = within(simd, &samples.t, range.t);
    mask_bits(t & within(simd, &samples.u, range.uv[0]) & within(simd, &samples.v, range.uv[1]))
}

#[inline(always)]
fn within<S: Simd>(simd: S, lanes: &[f32; 16], [low, high]: [f32; 2]) -> mask32x16<S> {
    let v = f32x16::from_slice(simd, lanes);
    v.simd_ge(f32x16::splat(simd, low)) & v.simd_le(f32x16::splat(simd, high))
}

/// Bits 0 and 2 of a number, side by side: the column of a Morton position of four bits.
#[inline(always)]
fn even_bits(v: u32) -> u32 {
    v & 1 | v >> 1 & 2
}
