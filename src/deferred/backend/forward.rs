//! Forward draws: alpha-tested and blended triangles of a tile, after its opaque samples (section 4.3).

use fearless_simd::{Simd, dispatch};

use super::alpha_test::PointTest;
use super::shade::{QuadColours, QuadShader};
use crate::forward::heat_shares::EXECUTIONS_PER_QUAD;
use crate::forward::memo::Memo;
use crate::frame::StochasticFrame;
use crate::geometry::DrawLayer;
use crate::hits::BlockHits;
use crate::raster::cost::RasterCounters;
use crate::raster::lanes::GroupHits;
use crate::raster::traverse::{HitSink, traverse};
use crate::raster::triangle::MovingTriangle;
use crate::shading::grid_cache::GridCache;
use crate::shading::spid::Spid;
use quadrille_mesh::frame::picture::over;

#[derive(Debug)]
pub(super) struct ForwardTarget<'a> {
    pub(super) frame: &'a StochasticFrame,
    /// Pixels of the tile: first column and row, and one past the last column and row.
    pub(super) area: [u32; 4],
    pub(super) width: u32,
    pub(super) shader: Option<QuadShader<'a>>,
    pub(super) memo: Memo<QuadColours>,
    pub(super) grids: GridCache,
    pub(super) depths: &'a mut [f32],
    /// Premultiplied RGBA colours of samples; empty without a picture.
    pub(super) colours: &'a mut [[f32; 4]],
    pub(super) covered: &'a mut [bool],
    /// Shader executions per pixel, or empty. A quad counts for the pixel whose sample causes its shading.
    pub(super) heat: &'a mut [f64],
}

impl ForwardTarget<'_> {
    /// Draws the triangles of the forward layers that overlap the tile, layer by layer in submission order.
    pub(super) fn draw(&mut self) -> RasterCounters {
        let mut counters = RasterCounters::default();
        let frame = self.frame;
        let level = frame.settings.level.level();
        let [x0, y0, x1, y1] = self.area;
        for layer in DrawLayer::FORWARD {
            for triangle in frame.geometry.chunks.iter().flat_map(|chunk| chunk.layer(layer)) {
                if frame.task.is_cancelled() {
                    return counters;
                }
                let [left, top, right, bottom] = triangle.area.map(u32::from);
                if left < x1 && x0 < right && top < y1 && y0 < bottom {
                    counters.triangles += 1;
                    dispatch!(level, simd => self.triangle(simd, triangle, layer, &mut counters));
                }
            }
        }
        counters
    }

    #[inline(always)]
    fn triangle<S: Simd>(
        &mut self,
        simd: S,
        triangle: &MovingTriangle,
        layer: DrawLayer,
        counters: &mut RasterCounters,
    ) {
        let frame = self.frame;
        let (view, area) = (frame.raster_view(), self.area);
        let mut sink =
            ForwardDraw { target: self, triangle, layer, alpha: None, block: BlockHits::default() };
        traverse(simd, &view, triangle, area, counters, &mut sink);
    }

    fn shade(&mut self, pixel: usize, spid: Spid) -> [f32; 4] {
        let before = self.memo.counters().misses;
        let shader = &mut self.shader;
        let shade = || match shader {
            Some(shader) => shader.shade(spid.primitive, spid.morton >> 2, 0b1111),
            None => QuadColours::default(),
        };
        let colours = *self.memo.look_up(spid.quad(), shade, |_| ());
        if !self.heat.is_empty() && self.memo.counters().misses > before {
            self.heat[pixel] += f64::from(EXECUTIONS_PER_QUAD);
        }
        colours[usize::from(spid.corner())]
    }
}

struct ForwardDraw<'t, 'a> {
    target: &'t mut ForwardTarget<'a>,
    triangle: &'t MovingTriangle,
    layer: DrawLayer,
    /// Created lazily at the first hit of an alpha-tested triangle.
    alpha: Option<PointTest<'a>>,
    block: BlockHits,
}

impl<S: Simd> HitSink<S> for ForwardDraw<'_, '_> {
    #[inline(always)]
    fn group(&mut self, pixel: [u32; 2], group: usize, hits: &GroupHits<S>) {
        let grid = self.target.grids.of(self.triangle);
        self.block.add(&self.target.frame.pattern.block(pixel).numbers[group], hits, grid);
    }

    #[inline(always)]
    fn end_block(&mut self, [x, y]: [u32; 2]) {
        let target = &mut *self.target;
        let (frame, primitive) = (target.frame, self.triangle.primitive);
        if self.layer == DrawLayer::AlphaTested && self.block.coverage() != 0 {
            let test = || PointTest::new(frame, primitive);
            self.alpha.get_or_insert_with(test);
        }
        let samples = target.frame.visible.samples;
        let [left, top, right, _] = target.area;
        for (number, hit) in self.block.drain() {
            let column = x + number / samples % 2 - left;
            let row = y + number / samples / 2 - top;
            let at = ((row * target.width + column) * samples + number % samples) as usize;
            if hit.depth <= target.depths[at] {
                continue;
            }
            let pixel = (row * (right - left) + column) as usize;
            let colour = target.shade(pixel, Spid { primitive, morton: hit.morton });
            if self.alpha.as_mut().is_some_and(|test| !test.keeps(hit.morton)) {
                continue;
            }
            target.covered[pixel] = true;
            if self.layer == DrawLayer::AlphaTested {
                target.depths[at] = hit.depth;
            }
            if let Some(sample) = target.colours.get_mut(at) {
                *sample = match self.layer {
                    DrawLayer::Blended => over(colour, *sample),
                    DrawLayer::AlphaTested | DrawLayer::Opaque => {
                        [colour[0], colour[1], colour[2], 1.0]
                    }
                };
            }
        }
    }
}
