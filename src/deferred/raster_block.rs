//! Raster of a block of 32x32 pixels: depth test, and shading points of the visible samples.
//!
//! Hits that pass the depth test are queued, and mapped to their shading points sixteen at a time.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

use super::raster::cost::RasterCounters;
use super::raster::lanes::GroupHits;
use super::raster::traverse::{HitSink, RasterView, traverse};
use super::raster::triangle::MovingTriangle;
use super::sample::pattern::{GROUPS, LANES, PIXEL_LANES};
use super::shading::grid_cache::GridCache;
use super::shading::grid_view::GridView;
use super::shading::spid::Spid;
use quadrille_base::math::lanes::{compress, mask_bits};

/// Block side in pixels. Samples and pattern of a block, 0.5 MiB, stay in the second-level cache of a core.
pub(super) const BLOCK_PX: u32 = 32;
/// Blocks of 2x2 pixels per side.
const SIDE: u32 = BLOCK_PX / 2;
const LANE_NUMBERS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

pub(super) struct RasterBlock<'a> {
    view: RasterView<'a>,
    grids: GridCache,
    picture: [u32; 2],
    corner: [u32; 2],
    size: [u32; 2],
    /// Sample groups of each block of 2x2 pixels, row by row.
    groups: Vec<[GroupState; GROUPS]>,
    /// Morton positions of the shading points of covered samples, group by group.
    mortons: Vec<u32>,
    queue: MapQueue,
}

/// Depths and visible primitives of a group's samples.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct GroupState {
    depths: [f32; LANES],
    primitives: [u32; LANES],
}

const EMPTY: GroupState = GroupState { depths: [0.0; LANES], primitives: [0; LANES] };

impl<'a> RasterBlock<'a> {
    pub(super) fn new(view: RasterView<'a>, grids: GridView, picture: [u32; 2]) -> Self {
        Self {
            view,
            grids: GridCache::new(grids),
            picture,
            corner: [0; 2],
            size: [0; 2],
            groups: vec![[EMPTY; GROUPS]; (SIDE * SIDE) as usize],
            mortons: vec![0; (SIDE * SIDE) as usize * GROUPS * LANES],
            queue: MapQueue::default(),
        }
    }

    pub(super) fn begin(&mut self, corner: [u32; 2]) {
        self.corner = corner;
        self.size = [0, 1].map(|k| (self.picture[k] - corner[k]).min(BLOCK_PX));
        for group in self.groups.as_flattened_mut() {
            // Only depths are cleared, which saves 1 % of the raster's time: the other values of a sample
            // count only if it has a depth.
            group.depths = EMPTY.depths;
        }
    }

    #[inline(always)]
    pub(super) fn raster<'t, S: Simd>(
        &mut self,
        simd: S,
        triangles: impl Iterator<Item = &'t MovingTriangle>,
        counters: &mut RasterCounters,
    ) {
        let [x, y] = self.corner;
        let area = [x, y, x + self.size[0], y + self.size[1]];
        for triangle in triangles {
            let mut sink = DepthTest {
                simd,
                corner: self.corner,
                groups: &mut self.groups,
                mortons: &mut self.mortons,
                queue: &mut self.queue,
                triangle,
                grids: &mut self.grids,
            };
            traverse(simd, &self.view, triangle, area, counters, &mut sink);
            if sink.queue.len > 0 {
                sink.map();
            }
        }
    }

    /// Copies the samples to the slices of the picture that begin at the block's row; `depths` is empty if not kept.
    pub(super) fn write(&self, spids: &mut [Spid], depths: &mut [f32]) {
        let count = self.view.pattern.count() as usize;
        let across = self.picture[0].div_ceil(2);
        let mortons = self.mortons.chunks_exact(GROUPS * LANES);
        for ((state, mortons), at) in self.groups.iter().zip(mortons).zip(0_u32..) {
            let block = [at % SIDE, at / SIDE];
            if 2 * block[0] >= self.size[0] || 2 * block[1] >= self.size[1] {
                continue;
            }
            let first = (block[1] * across + self.corner[0] / 2 + block[0]) as usize * 4 * count;
            let samples = self.view.pattern.block([0, 1].map(|k| self.corner[k] + 2 * block[k]));
            let used = || (0..LANES).filter(|lane| lane % PIXEL_LANES < count);
            let groups =
                || state.iter().zip(samples.numbers.iter()).take(self.view.pattern.groups());
            // Gathered in picture order before they are copied: groups hold samples by time, the picture
            // holds them pixel by pixel.
            let mut shown = [Spid::BACKGROUND; 4 * LANES];
            for ((group, numbers), mortons) in groups().zip(mortons.chunks_exact(LANES)) {
                let spids: [Spid; LANES] = std::array::from_fn(|lane| {
                    let shown = if group.depths[lane] > 0.0 { u32::MAX } else { 0 };
                    Spid {
                        primitive: group.primitives[lane] & shown,
                        morton: mortons[lane] & shown,
                    }
                });
                for lane in used() {
                    shown[usize::from(numbers[lane]) % shown.len()] = spids[lane];
                }
            }
            spids[first..first + 4 * count].copy_from_slice(&shown[..4 * count]);
            if let Some(depths) = depths.get_mut(first..first + 4 * count) {
                for (group, numbers) in groups() {
                    for lane in used() {
                        depths[usize::from(numbers[lane])] = group.depths[lane];
                    }
                }
            }
        }
    }
}

/// Samples that wait to be mapped to shading points; fewer than sixteen between groups of hits.
#[derive(Debug, Default)]
struct MapQueue {
    weights: [[f32; 2 * LANES]; 3],
    /// Indices of the samples in the block: group by group, in a group lane by lane.
    samples: [u32; 2 * LANES],
    len: usize,
}

struct DepthTest<'a, S: Simd> {
    simd: S,
    corner: [u32; 2],
    groups: &'a mut [[GroupState; GROUPS]],
    mortons: &'a mut [u32],
    queue: &'a mut MapQueue,
    triangle: &'a MovingTriangle,
    grids: &'a mut GridCache,
}

impl<S: Simd> DepthTest<'_, S> {
    /// Removes up to sixteen samples from the front of the queue and maps them to shading points.
    #[inline(always)]
    fn map(&mut self) {
        let grid = self.grids.of(self.triangle);
        let queue = &mut *self.queue;
        // Not `map`, whose closure is compiled without vector instructions: with a closure here, the raster takes 1.4 to
        // 1.7 times as long.
        let [a, b, c] = &queue.weights;
        let weights = [
            f32x16::from_slice(self.simd, &a[..LANES]),
            f32x16::from_slice(self.simd, &b[..LANES]),
            f32x16::from_slice(self.simd, &c[..LANES]),
        ];
        let mut mortons = [0; LANES];
        grid.map_lanes(self.simd, weights).store_slice(&mut mortons);
        let count = queue.len.min(LANES);
        for (&sample, &morton) in queue.samples[..count].iter().zip(&mortons) {
            self.mortons[sample as usize] = morton;
        }
        for weights in &mut queue.weights {
            weights.copy_within(LANES.., 0);
        }
        queue.samples.copy_within(LANES.., 0);
        queue.len -= count;
    }
}

impl<S: Simd> HitSink<S> for DepthTest<'_, S> {
    #[inline(always)]
    fn group(&mut self, [x, y]: [u32; 2], group: usize, hits: &GroupHits<S>) {
        let simd = self.simd;
        let block = (y - self.corner[1]) / 2 * SIDE + (x - self.corner[0]) / 2;
        let state = &mut self.groups[block as usize][group];
        let stored = f32x16::from_slice(simd, &state.depths);
        let covered = mask32x16::from_bitmask(simd, u64::from(hits.hits));
        let wins = hits.depth.simd_gt(stored) & covered;
        // Hidden hits are already counted, since the hardware tests them too.
        let lanes = mask_bits(wins);
        if lanes == 0 {
            return;
        }
        wins.select(hits.depth, stored).store_slice(&mut state.depths);
        let primitives = u32x16::from_slice(simd, &state.primitives);
        let own = u32x16::splat(simd, self.triangle.primitive);
        wins.select(own, primitives).store_slice(&mut state.primitives);
        let queue = &mut *self.queue;
        let end = queue.len % LANES;
        #[allow(clippy::cast_possible_truncation, reason = "at most 4")]
        let first = (block * GROUPS as u32 + group as u32) * LANES as u32;
        let samples = u32x16::from_slice(simd, &LANE_NUMBERS) + first;
        compress(simd, samples.bitcast(), lanes)
            .bitcast::<u32x16<S>>()
            .store_slice(&mut queue.samples[end..end + LANES]);
        for (queue, weights) in queue.weights.iter_mut().zip(hits.weights) {
            compress(simd, weights, lanes).store_slice(&mut queue[end..end + LANES]);
        }
        queue.len = end + lanes.count_ones() as usize;
        if queue.len >= LANES {
            self.map();
        }
    }
}
