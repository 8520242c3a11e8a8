//! Source of the hits of a frame in submission order.

use std::ops::Range;

use fearless_simd::{Simd, dispatch};
use rayon::prelude::*;

use super::backend::alpha_test::PointTest;
use super::frame::{BIN_PX, StochasticFrame, is_tested_by_bin};
use super::geometry::DrawLayer;
use super::hits::{BlockHits, HitChunk, HitStream, QuadHits};
use super::raster::cost::RasterCounters;
use super::raster::cull::{Cells, Culler};
use super::raster::lanes::{GroupHits, TestView};
use super::raster::traverse::{HitSink, TILE_PX, traverse};
use super::raster::triangle::MovingTriangle;
use super::sample::pattern::StochasticPattern;
use super::shading::grid_cache::GridCache;
use quadrille_base::math::fit;

/// Largest total box area of the triangles of a part, in pixels. The hits of a part then take at most 34 MB.
const PART_PX: u64 = 1 << 18;
/// Parts that are rasterized before their hits are consumed, per thread.
const PARTS_PER_THREAD: usize = 4;

/// Unit of parallel raster: consecutive triangles of a chunk, or some rows of one large triangle.
#[derive(Debug, Clone)]
struct RasterPart {
    chunk: usize,
    triangles: Range<usize>,
    rows: Range<u32>,
}

impl HitStream for StochasticFrame {
    fn size(&self) -> [u32; 2] {
        self.view.size()
    }

    fn samples(&self) -> u32 {
        self.settings.samples
    }

    fn each_chunk(&self, layer: DrawLayer, consume: &mut dyn FnMut(&HitChunk)) -> RasterCounters {
        let parts = self.parts(layer);
        let window = PARTS_PER_THREAD * rayon::current_num_threads();
        let mut sum = RasterCounters::default();
        let left = || !self.task.is_cancelled();
        for parts in parts.chunks(window).take_while(|_| left()) {
            let hits: Vec<_> = parts.par_iter().map(|part| self.hits_of(layer, part)).collect();
            for (chunk, counters) in hits.iter().take_while(|_| left()) {
                sum.add(counters);
                consume(chunk);
            }
        }
        sum
    }
}

impl StochasticFrame {
    fn parts(&self, layer: DrawLayer) -> Vec<RasterPart> {
        let bottom = self.view.size()[1];
        let mut parts: Vec<RasterPart> = Vec::new();
        for (chunk, geometry) in self.geometry.chunks.iter().enumerate() {
            let mut pixels = PART_PX;
            for (at, triangle) in geometry.layer(layer).iter().enumerate() {
                let [x0, y0, x1, y1] = triangle.area.map(u32::from);
                let width = u64::from(x1 - x0);
                let own = width * u64::from(y1 - y0);
                pixels = pixels.saturating_add(own);
                if own > PART_PX {
                    let rows = PART_PX / (width * u64::from(TILE_PX));
                    let step = TILE_PX * u32::try_from(rows).unwrap_or(u32::MAX).max(1);
                    let first = y0 / TILE_PX * TILE_PX;
                    parts.extend((first..y1).step_by(step as usize).map(|row| RasterPart {
                        chunk,
                        triangles: at..at + 1,
                        rows: row..(row + step).min(y1),
                    }));
                    continue;
                }
                match parts.last_mut() {
                    Some(part) if part.chunk == chunk && pixels <= PART_PX => {
                        part.triangles.end = at + 1;
                    }
                    _ => {
                        pixels = own;
                        parts.push(RasterPart { chunk, triangles: at..at + 1, rows: 0..bottom });
                    }
                }
            }
        }
        parts
    }

    fn hits_of(&self, layer: DrawLayer, part: &RasterPart) -> (HitChunk, RasterCounters) {
        let level = self.settings.level.level();
        let mut chunk = HitChunk::default();
        let counters = dispatch!(level, simd => self.raster_part(simd, layer, part, &mut chunk));
        (chunk, counters)
    }

    #[inline(always)]
    fn raster_part<S: Simd>(
        &self,
        simd: S,
        layer: DrawLayer,
        part: &RasterPart,
        chunk: &mut HitChunk,
    ) -> RasterCounters {
        let view = self.raster_view();
        let mut grids = GridCache::new(self.grid_view());
        let area = [0, part.rows.start, self.view.size()[0], part.rows.end];
        let mut counters = RasterCounters::default();
        for triangle in &self.geometry.chunks[part.chunk].layer(layer)[part.triangles.clone()] {
            if self.task.is_cancelled() {
                break;
            }
            let mut sink = Recorder {
                chunk,
                triangle,
                grids: &mut grids,
                frame: self,
                layer,
                alpha: None,
                pattern: &self.pattern,
                block: BlockHits::default(),
            };
            traverse(simd, &view, triangle, area, &mut counters, &mut sink);
            if layer == DrawLayer::Opaque && is_tested_by_bin(triangle) {
                count_bins(simd, &view.test, triangle, &part.rows, &mut counters);
            }
        }
        counters
    }
}

/// Counts the tile tests of a large triangle in some rows as the raster by bins does: tests of all bins, and of the tiles
/// in kept bins. If whole bins were culled here, the order of the tiles would change, and with it the traffic.
#[inline(always)]
fn count_bins<S: Simd>(
    simd: S,
    view: &TestView,
    triangle: &MovingTriangle,
    rows: &Range<u32>,
    counters: &mut RasterCounters,
) {
    let [x0, y0, x1, y1] = triangle.area.map(u32::from);
    let [top, bottom] = [y0.max(rows.start), y1.min(rows.end)];
    if top >= bottom {
        return;
    }
    let tiles = |area: [u32; 4]| u64::from(Cells::new(TILE_PX, area).remaining());
    counters.tile_tests -= tiles([x0, top, x1, bottom]);
    let culler = Culler::new(triangle, view);
    let mut bins = Cells::new(BIN_PX, [x0, y0, x1, y1]);
    if top == y0 {
        counters.tile_tests += u64::from(bins.remaining());
    }
    while let Some(batch) = bins.test(simd, &culler) {
        for [column, row] in batch {
            let [left, upper] = [column * BIN_PX, row * BIN_PX];
            let [from, to] = [upper.max(top), (upper + BIN_PX).min(bottom)];
            if from < to {
                counters.tile_tests += tiles([left.max(x0), from, (left + BIN_PX).min(x1), to]);
            }
        }
    }
}

struct Recorder<'a> {
    chunk: &'a mut HitChunk,
    triangle: &'a MovingTriangle,
    grids: &'a mut GridCache,
    frame: &'a StochasticFrame,
    layer: DrawLayer,
    /// Created lazily at the first hit of an alpha-tested triangle.
    alpha: Option<PointTest<'a>>,
    pattern: &'a StochasticPattern,
    block: BlockHits,
}

impl<S: Simd> HitSink<S> for Recorder<'_> {
    #[inline(always)]
    fn group(&mut self, pixel: [u32; 2], group: usize, hits: &GroupHits<S>) {
        let grid = self.grids.of(self.triangle);
        self.block.add(&self.pattern.block(pixel).numbers[group], hits, grid);
    }

    #[inline(always)]
    fn end_block(&mut self, [x, y]: [u32; 2]) {
        let coverage = self.block.coverage();
        if coverage == 0 {
            return;
        }
        let block = [x / 2, y / 2].map(fit);
        self.chunk.quads.push(QuadHits {
            primitive: self.triangle.primitive,
            block,
            coverage,
            first: self.chunk.hits.len() as u64,
        });
        if self.layer == DrawLayer::AlphaTested {
            let (frame, primitive) = (self.frame, self.triangle.primitive);
            let test = || PointTest::new(frame, primitive);
            let alpha = self.alpha.get_or_insert_with(test);
            let mut kept = 0;
            for (sample, hit) in self.block.drain() {
                kept |= u64::from(alpha.keeps(hit.morton)) << sample;
                self.chunk.hits.push(hit);
            }
            self.chunk.kept.push(kept);
            return;
        }
        self.chunk.hits.extend(self.block.drain().map(|(_, hit)| hit));
    }
}
