//! Blended triangles of a tile, drawn behind its opaque samples by forward rendering with a memo
//! (section 4.3): the depth is tested and not written.

use fearless_simd::{Simd, dispatch};

use super::shade::{QuadColours, QuadShader};
use crate::deferred::forward::heat_shares::EXECUTIONS_PER_QUAD;
use crate::deferred::forward::memo::Memo;
use crate::deferred::frame::StochasticFrame;
use crate::deferred::geometry::Layer;
use crate::deferred::hits::BlockHits;
use crate::deferred::raster::cost::RasterCounters;
use crate::deferred::raster::lanes::GroupHits;
use crate::deferred::raster::traverse::{HitSink, traverse};
use crate::deferred::raster::triangle::MovingTriangle;
use crate::deferred::shading::grid::{GridView, ShadingGrid};
use crate::deferred::shading::spid::Spid;

/// The samples of a tile and the memo of its blended draws.
#[derive(Debug)]
pub(super) struct BlendTarget<'a> {
    pub(super) frame: &'a StochasticFrame,
    /// First column and row of the tile, and those after the last ones.
    pub(super) area: [u32; 4],
    /// Columns of a tile in `colours`.
    pub(super) width: u32,
    /// Shader of quads, for a picture.
    pub(super) shader: Option<QuadShader<'a>>,
    pub(super) memo: Memo<QuadColours>,
    /// Premultiplied colours of samples and their alpha; empty without a picture.
    pub(super) colours: &'a mut [[f32; 4]],
    /// Shader executions of each pixel; empty if they are not wanted. A quad counts where it is shaded.
    pub(super) heat: &'a mut [f64],
}

impl BlendTarget<'_> {
    /// Draws all blended triangles that meet the tile, in submission order.
    pub(super) fn draw(&mut self) -> RasterCounters {
        let mut counters = RasterCounters::default();
        let frame = self.frame;
        let level = frame.settings.level.level();
        let [x0, y0, x1, y1] = self.area;
        for chunk in &frame.geometry.chunks {
            for triangle in chunk.layer(Layer::Blended) {
                let [left, top, right, bottom] = triangle.area.map(u32::from);
                if left < x1 && x0 < right && top < y1 && y0 < bottom {
                    counters.triangles += 1;
                    dispatch!(level, simd => self.triangle(simd, triangle, &mut counters));
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
        counters: &mut RasterCounters,
    ) {
        let (view, grids, area) = (self.frame.raster_view(), self.frame.grid_view(), self.area);
        let mut sink = Blend {
            target: self,
            triangle,
            grids: &grids,
            grid: None,
            block: BlockHits::default(),
        };
        traverse(simd, &view, triangle, area, counters, &mut sink);
    }

    /// Blends a hit over a sample of a pixel of the picture.
    fn blend(&mut self, [x, y]: [u32; 2], sample: usize, spid: Spid) {
        let [left, top, right, _] = self.area;
        let (column, row) = (x - left, y - top);
        let before = self.memo.counters().misses;
        let shader = &mut self.shader;
        let shade = || match shader {
            Some(shader) => shader.shade(spid.primitive, spid.morton >> 2, 0b1111),
            None => QuadColours::default(),
        };
        let colours = *self.memo.look_up(spid.quad(), shade, |_| ());
        if !self.heat.is_empty() && self.memo.counters().misses > before {
            self.heat[(row * (right - left) + column) as usize] += f64::from(EXECUTIONS_PER_QUAD);
        }
        if self.colours.is_empty() {
            return;
        }
        let [r, g, b, alpha] = colours[usize::from(spid.place())];
        let pixel = (row * self.width + column) as usize;
        let at = pixel * self.frame.visible.samples as usize + sample;
        let behind = self.colours[at];
        let over = |own: f32, behind: f32| own * alpha + behind * (1.0 - alpha);
        self.colours[at] = [
            over(r, behind[0]),
            over(g, behind[1]),
            over(b, behind[2]),
            over(1.0, behind[3]),
        ];
    }
}

/// The hits of a blended triangle.
struct Blend<'t, 'a> {
    target: &'t mut BlendTarget<'a>,
    triangle: &'t MovingTriangle,
    grids: &'t GridView,
    /// Made at the first hit.
    grid: Option<ShadingGrid>,
    /// Hits of the current block.
    block: BlockHits,
}

impl<S: Simd> HitSink<S> for Blend<'_, '_> {
    #[inline(always)]
    fn group(&mut self, pixel: [u32; 2], group: usize, hits: &GroupHits<S>) {
        let (triangle, grids) = (self.triangle, self.grids);
        let grid = self
            .grid
            .get_or_insert_with(|| ShadingGrid::new(triangle, grids));
        let numbers = &self.target.frame.pattern.block(pixel).numbers[group];
        self.block.add(numbers, hits, grid);
    }

    #[inline(always)]
    fn end_block(&mut self, [x, y]: [u32; 2]) {
        let visible = &self.target.frame.visible;
        let first = visible.pixel(x, y);
        let samples = visible.samples;
        for (number, hit) in self.block.drain() {
            if hit.depth > self.target.frame.visible.depths[first + number as usize] {
                let pixel = [x + number / samples % 2, y + number / samples / 2];
                let spid = Spid {
                    primitive: self.triangle.primitive,
                    morton: hit.morton,
                };
                self.target.blend(pixel, (number % samples) as usize, spid);
            }
        }
    }
}
