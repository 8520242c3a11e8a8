//! Traversal of the tiles, blocks and pixels that a triangle may cover.
//!
//! Tiles of 8x8 pixels are visited row by row, and the blocks of 2x2 pixels of a tile in Morton order.
//! Both are culled by bounds in time and on the lens and by the edges; the samples of the pixels of a
//! block are tested if they lie in its ranges.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::bounds::{CornerBounds, Rect, SampleRange};
use super::cost::RasterCounters;
use super::edges::EdgeBounds;
use super::lanes::{PixelHits, TestView, test_pixel};
use super::triangle::{FaceSet, MovingTriangle};
use crate::deferred::sample::pattern::{PixelSamples, StochasticPattern};
use crate::math::lanes::mask_bits;

/// Pixels along the side of a tile.
pub const TILE_PX: u32 = 8;
/// Pixels along the side of a block.
pub const BLOCK_PX: u32 = 2;

/// What the raster of all triangles of a frame shares.
#[derive(Debug, Clone, Copy)]
pub struct RasterView<'a> {
    /// Camera of the sample tests.
    pub test: TestView,
    /// Samples of all pixels.
    pub pattern: &'a StochasticPattern,
}

/// Consumer of the hits of a triangle.
pub trait HitSink<S: Simd> {
    /// Takes the hits of a pixel, at least one. Pixels come block by block, in each from the top left row
    /// by row.
    fn pixel(&mut self, pixel: [u32; 2], hits: &PixelHits<S>);
}

/// A triangle that is being traversed.
struct Traversal<'a> {
    view: &'a RasterView<'a>,
    triangle: &'a MovingTriangle,
    corners: CornerBounds,
    edges: EdgeBounds,
}

/// Visits the hits of a triangle in an area of the picture: first column and row, and those after the last
/// ones.
#[inline(always)]
pub fn traverse<S: Simd>(
    simd: S,
    view: &RasterView<'_>,
    triangle: &MovingTriangle,
    area: [u32; 4],
    counters: &mut RasterCounters,
    sink: &mut impl HitSink<S>,
) {
    let [x0, y0, x1, y1] = triangle.area.map(u32::from);
    let area = [
        x0.max(area[0]),
        y0.max(area[1]),
        x1.min(area[2]),
        y1.min(area[3]),
    ];
    if area[0] >= area[2] || area[1] >= area[3] {
        return;
    }
    let reach = view.test.centre[0].max(view.test.centre[1]);
    let corners = CornerBounds::new(triangle, &view.test.shear, reach);
    let whole = view.rect([x0, y0, x1, y1]);
    let traversal = Traversal {
        view,
        triangle,
        corners,
        edges: EdgeBounds::new(triangle, &view.test.shear, corners.slack(), &whole),
    };
    for row in area[1] / TILE_PX..area[3].div_ceil(TILE_PX) {
        for column in area[0] / TILE_PX..area[2].div_ceil(TILE_PX) {
            let [left, top] = [column * TILE_PX, row * TILE_PX];
            let tile = [
                left.max(area[0]),
                top.max(area[1]),
                (left + TILE_PX).min(area[2]),
                (top + TILE_PX).min(area[3]),
            ];
            counters.tile_tests += 1;
            if traversal.test(simd, tile, triangle.faces).is_some() {
                traversal.blocks(simd, [left, top], tile, counters, sink);
            }
        }
    }
}

impl RasterView<'_> {
    /// An area of the picture, from its centre.
    #[allow(
        clippy::cast_precision_loss,
        reason = "pictures have at most 2^15 pixels per side"
    )]
    #[inline(always)]
    pub fn rect(&self, [x0, y0, x1, y1]: [u32; 4]) -> Rect {
        let [x, y] = self.test.centre;
        Rect {
            least: [x0 as f32 - x, y0 as f32 - y],
            greatest: [x1 as f32 - x, y1 as f32 - y],
        }
    }

    /// Whether a triangle may cover samples of an area.
    #[inline(always)]
    pub fn may_cover<S: Simd>(&self, simd: S, triangle: &MovingTriangle, area: [u32; 4]) -> bool {
        let reach = self.test.centre[0].max(self.test.centre[1]);
        let corners = CornerBounds::new(triangle, &self.test.shear, reach);
        let rect = self.rect(area);
        let Some(range) = corners.range(simd, &rect) else {
            return false;
        };
        let edges = EdgeBounds::new(triangle, &self.test.shear, corners.slack(), &rect);
        !both(edges.faces(simd, &rect, &range), triangle.faces).is_empty()
    }
}

#[inline(always)]
fn both(a: FaceSet, b: FaceSet) -> FaceSet {
    FaceSet {
        front: a.front && b.front,
        back: a.back && b.back,
    }
}

impl Traversal<'_> {
    /// Ranges of samples of an area that may be hit, and the sides that they may show; `None` if there are
    /// none.
    #[inline(always)]
    fn test<S: Simd>(
        &self,
        simd: S,
        area: [u32; 4],
        faces: FaceSet,
    ) -> Option<(SampleRange, FaceSet)> {
        let rect = self.view.rect(area);
        let range = self.corners.range(simd, &rect)?;
        let faces = both(self.edges.faces(simd, &rect, &range), faces);
        (!faces.is_empty()).then_some((range, faces))
    }

    /// Visits the blocks of a tile, of which only the pixels in `tile` may be hit.
    #[inline(always)]
    fn blocks<S: Simd>(
        &self,
        simd: S,
        [left, top]: [u32; 2],
        tile: [u32; 4],
        counters: &mut RasterCounters,
        sink: &mut impl HitSink<S>,
    ) {
        for place in 0..(TILE_PX / BLOCK_PX).pow(2) {
            let [x, y] = [
                left + BLOCK_PX * even_bits(place),
                top + BLOCK_PX * even_bits(place >> 1),
            ];
            let block = [
                x.max(tile[0]),
                y.max(tile[1]),
                (x + BLOCK_PX).min(tile[2]),
                (y + BLOCK_PX).min(tile[3]),
            ];
            if block[0] >= block[2] || block[1] >= block[3] {
                continue;
            }
            counters.tile_tests += 1;
            if let Some((range, _)) = self.test(simd, block, self.triangle.faces) {
                self.pixels(simd, block, &range, counters, sink);
            }
        }
    }

    /// Tests the samples of the pixels of a block.
    #[inline(always)]
    fn pixels<S: Simd>(
        &self,
        simd: S,
        [x0, y0, x1, y1]: [u32; 4],
        range: &SampleRange,
        counters: &mut RasterCounters,
        sink: &mut impl HitSink<S>,
    ) {
        let restricts = self.corners.restricts();
        for y in y0..y1 {
            for x in x0..x1 {
                let samples = self.view.pattern.pixel(x, y);
                let mut wanted = self.view.pattern.lanes();
                if restricts {
                    wanted &= in_range(simd, samples, range);
                }
                if wanted == 0 {
                    continue;
                }
                counters.sample_tests += u64::from(wanted.count_ones());
                let pixel = ([x, y], samples);
                let hits = test_pixel(simd, self.triangle, &self.view.test, pixel, wanted);
                if hits.hits != 0 {
                    counters.hits += u64::from(hits.hits.count_ones());
                    sink.pixel([x, y], &hits);
                }
            }
        }
    }
}

/// The samples of a pixel in the given ranges.
#[inline(always)]
fn in_range<S: Simd>(simd: S, samples: &PixelSamples, range: &SampleRange) -> u16 {
    let t = within(simd, &samples.t, range.t);
    t & within(simd, &samples.u, range.u) & within(simd, &samples.v, range.v)
}

/// The lanes in a range.
#[inline(always)]
fn within<S: Simd>(simd: S, lanes: &[f32; 16], [low, high]: [f32; 2]) -> u16 {
    let v = f32x16::from_slice(simd, lanes);
    mask_bits(v.simd_ge(f32x16::splat(simd, low)) & v.simd_le(f32x16::splat(simd, high)))
}

/// The bits of a number at even positions, of four.
#[inline(always)]
fn even_bits(v: u32) -> u32 {
    v & 1 | v >> 1 & 2
}
