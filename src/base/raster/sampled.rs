//! Coverage of samples by a triangle: edge functions of [`crate::raster::polygon`] at a [`SamplePattern`]'s samples.
//!
//! At a point (X, Y) in 1/256 px the edge function is `a X + b Y + c`, with the fill rule's 1 taken off `c` for edges that
//! are neither left nor top; it is at least 0 at samples inside. With vertices inside the guard band it stays below `2^62`.
//!
//! [`SampledPolygon::covers`] is the definition. A quad's 64 samples are tested in 32-bit lanes: the value at
//! the quad's corner is clamped to +-2^30, which keeps every sign as long as the value changes by less than
//! 2^30 over the quad; larger triangles are tested sample by sample.

use fearless_simd::{Simd, dispatch, i32x16, prelude::*};

use crate::math::SimdLevel;
use crate::raster::geometry::{GUARD_BAND, PixelRect, Vertex};
use crate::raster::outline::{Outline, TileCover};
use crate::raster::samples::{MAX_SAMPLES, SamplePattern};
use crate::raster::tiles::RASTER_TILE_PX;

const TILE_QUADS: i32 = RASTER_TILE_PX.cast_signed() / 2;
/// Magnitude at a quad's corner above which the sign is constant over the quad.
const CLAMP: i64 = 1 << 30;
/// Largest `|a| + |b|` of an edge for lanes: over a quad of shading pixels of 512 units it changes by less than [`CLAMP`].
const STEEPEST: i64 = 1 << 19;

/// Edge function `a X + b Y + c`, at least 0 inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edge {
    a: i32,
    b: i32,
    c: i64,
}

impl Edge {
    fn new(from: Vertex, to: Vertex) -> Self {
        let (a, b) = (from.y - to.y, to.x - from.x);
        let is_top_left = a > 0 || (a == 0 && b > 0);
        let at_from = i64::from(a) * i64::from(from.x) + i64::from(b) * i64::from(from.y);
        Self { a, b, c: -at_from - i64::from(!is_top_left) }
    }

    #[inline(always)]
    fn at(&self, x: i32, y: i32) -> i64 {
        i64::from(self.a) * i64::from(x) + i64::from(self.b) * i64::from(y) + self.c
    }

    /// Maximum over the square `[x, x + side] x [y, y + side]`.
    #[inline(always)]
    fn greatest(&self, x: i32, y: i32, side: i32) -> i64 {
        self.at(x, y) + (i64::from(self.a.max(0)) + i64::from(self.b.max(0))) * i64::from(side)
    }
}

/// Triangle with edge functions for samples. Coordinates count shading pixels, 2x2 pixels with coarse shading.
#[derive(Debug, Clone, Copy)]
pub struct SampledPolygon {
    edges: [Edge; 3],
    /// Change of each edge function from a shading pixel's corner to its samples.
    offsets: [[i32; MAX_SAMPLES]; 3],
    /// Least and greatest corner of the bounding box, in 1/256 px.
    corners: [[i32; 2]; 2],
    pattern: &'static SamplePattern,
    side: i32,
    samples: u32,
    is_front: bool,
    fits_lanes: bool,
    level: SimdLevel,
}

/// Coverage of a quad of a raster tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampledQuad {
    /// Coverage mask of samples, shading pixel by shading pixel.
    pub coverage: u64,
    /// Mask of the shading pixels whose centre is covered.
    pub centres: u8,
}

/// Coverage of the samples of a raster tile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TileSamples {
    /// Quads of the tile, row by row.
    pub quads: [SampledQuad; 16],
    /// Mask of the quads that the triangle touches: bit `4 row + column`. They may have no coverage.
    pub touched: u16,
}

impl TileCover for TileSamples {
    fn quads(&self, _mask: u64) -> u64 {
        u64::from(self.touched.count_ones())
    }

    fn covered_quads(&self, _mask: u64) -> u64 {
        self.quads.iter().filter(|q| q.coverage != 0).count() as u64
    }

    fn fragments(&self, mask: u64) -> u64 {
        u64::from(mask.count_ones())
    }
}

impl SampledPolygon {
    /// Twice the area, positive for clockwise corners as seen with y down; `None` for 0 or outside the guard band.
    #[inline]
    fn turn([v0, v1, v2]: [Vertex; 3]) -> Option<i64> {
        let is_fit = |v: Vertex| v.x.unsigned_abs().max(v.y.unsigned_abs()) <= GUARD_BAND as u32;
        if !(is_fit(v0) & is_fit(v1) & is_fit(v2)) {
            return None;
        }
        let area = i64::from(v1.x - v0.x) * i64::from(v2.y - v0.y)
            - i64::from(v2.x - v0.x) * i64::from(v1.y - v0.y);
        (area != 0).then_some(area)
    }

    /// Whether a triangle's corners are counter-clockwise on the picture, seen with y up; `None` if it has no outline.
    /// Cheaper than setting up the outline.
    #[inline]
    pub fn facing(corners: [Vertex; 3]) -> Option<bool> {
        Self::turn(corners).map(|area| area < 0)
    }

    /// The [bounds](Outline::bounds) of a triangle's outline, without setting it up.
    #[inline]
    pub fn bounds_of([v0, v1, v2]: [Vertex; 3], pattern: &SamplePattern) -> PixelRect {
        let least = [v0.x.min(v1.x).min(v2.x), v0.y.min(v1.y).min(v2.y)];
        let greatest = [v0.x.max(v1.x).max(v2.x), v0.y.max(v1.y).max(v2.y)];
        pixels_around([least, greatest], pattern.side_units())
    }

    /// Sets up a triangle of either winding; `None` if its area is zero or a vertex is outside the guard band.
    #[allow(clippy::cast_possible_truncation, reason = "offsets are used where they fit only")]
    pub fn triangle(
        [v0, v1, v2]: [Vertex; 3],
        pattern: &'static SamplePattern,
        level: SimdLevel,
    ) -> Option<Self> {
        let area = Self::turn([v0, v1, v2])?;
        let edges = if area > 0 {
            [Edge::new(v0, v1), Edge::new(v1, v2), Edge::new(v2, v0)]
        } else {
            [Edge::new(v0, v2), Edge::new(v2, v1), Edge::new(v1, v0)]
        };
        let steepness = |e: &Edge| i64::from(e.a.abs()) + i64::from(e.b.abs());
        let positions = pattern.lanes();
        let offsets = edges.map(|e| {
            std::array::from_fn(|k| {
                let [x, y] = [positions[0][k], positions[1][k]];
                e.a.wrapping_mul(x).wrapping_add(e.b.wrapping_mul(y))
            })
        });
        Some(Self {
            fits_lanes: edges.iter().all(|e| steepness(e) <= STEEPEST),
            edges,
            offsets,
            corners: [
                [v0.x.min(v1.x).min(v2.x), v0.y.min(v1.y).min(v2.y)],
                [v0.x.max(v1.x).max(v2.x), v0.y.max(v1.y).max(v2.y)],
            ],
            pattern,
            side: pattern.side_units(),
            samples: pattern.count(),
            // A negative area is counter-clockwise on the picture.
            is_front: area < 0,
            level,
        })
    }

    /// Whether the corners are counter-clockwise on the picture, with y up.
    pub fn is_front(&self) -> bool {
        self.is_front
    }

    /// Whether the triangle covers the point (x, y), in 1/256 px. This is the definition of coverage.
    pub fn covers(&self, x: i32, y: i32) -> bool {
        self.edges.iter().all(|e| e.at(x, y) >= 0)
    }

    /// Whether a square, in 1/256 px, meets the triangle: neither its bounding box nor an edge separates them.
    #[inline]
    fn meets(&self, x: i32, y: i32, side: i32) -> bool {
        let [least, greatest] = self.corners;
        let in_box = (greatest[0] >= x)
            & (least[0] <= x + side)
            & (greatest[1] >= y)
            & (least[1] <= y + side);
        let inside = |e: &Edge| e.greatest(x, y, side) >= 0;
        in_box & inside(&self.edges[0]) & inside(&self.edges[1]) & inside(&self.edges[2])
    }

    /// Coverage of a quad, computed in lanes; (x, y) is the top left corner of its first shading pixel, in 1/256 px.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "clamped, or of masks of 16 lanes")]
    fn quad_lanes<S: Simd>(&self, simd: S, x: i32, y: i32) -> u64 {
        let [a, b, c] = &self.offsets;
        let offsets =
            [i32x16::from_slice(simd, a), i32x16::from_slice(simd, b), i32x16::from_slice(simd, c)];
        let bases = self.edges.map(|e| e.at(x, y).clamp(-CLAMP, CLAMP) as i32);
        let zero = i32x16::splat(simd, 0);
        let full = u64::from(u16::MAX >> (16 - self.samples));
        let mut coverage = 0;
        for pixel in 0..4 {
            let (across, down) = (self.side * (pixel & 1), self.side * (pixel >> 1));
            let value = |k: usize| {
                let e = &self.edges[k];
                offsets[k] + (bases[k] + e.a * across + e.b * down)
            };
            let outside = (value(0) | value(1) | value(2)).simd_lt(zero);
            let inside = !outside.to_bitmask() & full;
            coverage |= inside << (self.samples * pixel.cast_unsigned());
        }
        coverage
    }

    fn quad_slowly(&self, x: i32, y: i32) -> u64 {
        let mut coverage = 0;
        for pixel in 0..4_i32 {
            let (x, y) = (x + self.side * (pixel & 1), y + self.side * (pixel >> 1));
            for (&[dx, dy], k) in self.pattern.offsets().iter().zip(0..) {
                let bit = u64::from(self.covers(x + dx, y + dy));
                coverage |= bit << (pixel.cast_unsigned() * self.samples + k);
            }
        }
        coverage
    }

    #[inline(always)]
    fn centres(&self, x: i32, y: i32) -> u8 {
        let half = self.side / 2;
        let mut outside = [0_i64; 4];
        for e in &self.edges {
            let base = e.at(x + half, y + half);
            let (across, down) =
                (i64::from(e.a) * i64::from(self.side), i64::from(e.b) * i64::from(self.side));
            outside[0] |= base;
            outside[1] |= base + across;
            outside[2] |= base + down;
            outside[3] |= base + across + down;
        }
        (0..4).fold(0, |mask, c| mask | u8::from(outside[c] >= 0) << c)
    }

    #[cold]
    fn clipped(&self, coverage: u64, centres: u8, [x, y]: [i32; 2], clip: PixelRect) -> (u64, u8) {
        let full = u64::from(self.pattern.full_pixel());
        (0..4).fold((coverage, centres), |(coverage, centres), pixel| {
            if clip.contains(x + (pixel & 1), y + (pixel >> 1)) {
                return (coverage, centres);
            }
            let shift = self.samples * pixel.cast_unsigned();
            (coverage & !(full << shift), centres & !(1 << pixel))
        })
    }

    #[inline(always)]
    fn tile_lanes<S: Simd>(
        &self,
        simd: S,
        [x0, y0]: [i32; 2],
        clip: PixelRect,
        out: &mut TileSamples,
    ) -> u64 {
        let quad = self.side * 2;
        // Quads inside both the tile and the box, in quads from the tile's corner.
        let range = |from: i32, to: i32, origin: i32| {
            let (from, to) = ((from - origin) >> 1, (to - origin + 1) >> 1);
            from.max(0)..to.min(TILE_QUADS)
        };
        let mut mask = 0;
        for row in range(clip.y0, clip.y1, y0) {
            for column in range(clip.x0, clip.x1, x0) {
                let (cx, cy) = (x0 + column * 2, y0 + row * 2);
                let (x, y) = (cx * self.side, cy * self.side);
                if !self.meets(x, y, quad) {
                    continue;
                }
                let mut coverage = if self.fits_lanes {
                    self.quad_lanes(simd, x, y)
                } else {
                    self.quad_slowly(x, y)
                };
                let mut centres = self.centres(x, y);
                if (cx + 1 >= clip.x1) | (cy + 1 >= clip.y1) {
                    (coverage, centres) = self.clipped(coverage, centres, [cx, cy], clip);
                }
                let position = row * TILE_QUADS + column;
                out.touched |= 1 << position;
                out.quads[position.cast_unsigned() as usize] = SampledQuad { coverage, centres };
                let pixels = u64::from(self.pattern.covered_pixels(coverage));
                let at = (row * 16 + column * 2).cast_unsigned();
                mask |= (pixels & 3 | (pixels & 12) << 6) << at;
            }
        }
        mask
    }
}

/// Bounds of a box in shading pixels of `side` units (a power of two), in whole quads: clipping further gains nothing.
#[inline]
fn pixels_around([least, greatest]: [[i32; 2]; 2], side: i32) -> PixelRect {
    let bits = side.trailing_zeros();
    let first = |v: i32| v >> bits & !1;
    let end = |v: i32| (v >> bits | 1) + 1;
    PixelRect {
        x0: first(least[0]),
        y0: first(least[1]),
        x1: end(greatest[0]),
        y1: end(greatest[1]),
    }
}

impl Outline for SampledPolygon {
    type Strip = ();
    type Samples = TileSamples;

    fn bounds(&self) -> PixelRect {
        pixels_around(self.corners, self.side)
    }

    #[inline]
    fn strip(&self, _origin: [i32; 2], _clip: PixelRect) {}

    #[inline]
    fn touches(&self, x0: i32, y0: i32, size: i32) -> bool {
        self.meets(x0 * self.side, y0 * self.side, size * self.side)
    }

    #[inline]
    fn tile(
        &self,
        (): &(),
        _strip_origin: [i32; 2],
        origin: [i32; 2],
        clip: PixelRect,
        samples: &mut TileSamples,
    ) -> Option<u64> {
        if !self.touches(origin[0], origin[1], RASTER_TILE_PX.cast_signed()) {
            return None;
        }
        Some(dispatch!(self.level.level(), simd => self.tile_lanes(simd, origin, clip, samples)))
    }
}
