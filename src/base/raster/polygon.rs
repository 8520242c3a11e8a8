//! Exact pixel coverage of a polygon, by edge functions on fixed-point vertices.
//!
//! An edge from `a` to `b`, the inside on its right hand (y points down), has the edge function
//!
//! ```text
//! E(p) = (a.y - b.y) (p.x - a.x) + (b.x - a.x) (p.y - a.y)      in 1/256 x 1/256 px
//! ```
//!
//! which is positive inside. A point on the edge is inside when the edge is a left one (inside to its right) or a top one
//! (level, inside below it): for these edges the test is `E >= 0`, else `E - 1 >= 0`. Pixel centres lie at `256 i + 128`,
//! so `E = 256 (A i + B j) + rest`, and since `A i + B j` is whole, `E >= 0` exactly when
//! `A i + B j + floor(rest / 256) >= 0`. `Edge` stores this form.
//!
//! With vertices inside [`GUARD_BAND`](crate::raster::geometry::GUARD_BAND), `|A|, |B| <= 2^30` and `|C| <= 2^53`; for any
//! `i32` pixel the edge function stays below `2^30 * 2^31 * 2 + 2^53 < 2^63`, so `i64` never overflows.

use crate::math::SimdLevel;
use crate::raster::geometry::{PixelRect, PrimitiveShape, SUBPIXEL_BITS, Vertex};
use crate::raster::strip::{HALF_ROWS, STRIP_COLUMNS, STRIP_ROWS, Strip};

/// Largest |x| of the columns that [`Polygon::strip`] is exact for, in pixels.
pub const MAX_COLUMN: i32 = 1 << 20;

/// Subpixel units per pixel, and from a pixel's corner to its centre.
const PIXEL: i32 = 1 << SUBPIXEL_BITS;
const CENTRE: i32 = PIXEL / 2;

/// Edge function: `a i + b j + c >= 0` if the centre of pixel (i, j) is inside.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    a: i32,
    b: i32,
    c: i64,
    /// 1 / a. Level edges use [`FAR`]: they act as left edges before or after all columns of a row.
    a_inverse: f64,
}

/// Offset that disables a bound: more than [`FAR`] times any numerator.
const NOWHERE: f64 = 1e60;
/// Finite substitute for infinity, which would give NaN: numerators are at least 1/2, and half of it is beyond all columns.
const FAR: f64 = 1e30;

impl Edge {
    const OPEN_LEFT: Self = Self { a: 0, b: 0, c: 0, a_inverse: FAR };
    const OPEN_RIGHT: Self = Self { a_inverse: -FAR, ..Self::OPEN_LEFT };

    fn new(from: Vertex, to: Vertex) -> Self {
        let (a, b) = (from.y - to.y, to.x - from.x);
        let is_top_left = a > 0 || (a == 0 && b > 0);
        let rest =
            i64::from(a) * i64::from(CENTRE - from.x) + i64::from(b) * i64::from(CENTRE - from.y);
        Self {
            a,
            b,
            c: (rest - i64::from(!is_top_left)) >> SUBPIXEL_BITS,
            a_inverse: if a == 0 { FAR } else { 1.0 / f64::from(a) },
        }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        i64::from(self.a) * x + i64::from(self.b) * y + self.c
    }

    fn is_left(&self) -> bool {
        self.a_inverse > 0.0
    }

    fn numerator(&self, y0: i32) -> f64 {
        let at_column_0 = i64::from(self.b) * i64::from(y0) + self.c;
        0.5 * f64::from(self.a) - 0.5 - at_column_0 as f64
    }

    /// Column at which the edge crosses row `y0 + row`. Rounded to the nearest integer, it is the first column inside of a
    /// left edge, or the first column outside of a right edge.
    ///
    /// With `k = b j + c`, the first whole `i` with `a i + k >= 0` for a > 0 is the first with `a i > -k - 1/2`, so
    /// `ceil(x)` for `x = (-k - 1/2) / a`; for a < 0 the first with `a i + k < 0`, so `a i < -k - 1/2`, is `ceil(x)` again.
    /// This returns `x + 1/2`, which rounds to `ceil(x)` as `x` is never whole: it is at least `1 / (2 |a|) >= 2^-31` off.
    ///
    /// In f64 that still holds where the result is at most [`MAX_COLUMN`]: there the numerator is at most `2^50`, a
    /// multiple of 1/2 and so exact, and the reciprocal and the product are each off by a relative `2^-53`, in all by
    /// `2^20 * 2^-52 < 2^-31`. Elsewhere roundings of the numerator, which begin at `2^52`, cannot bring the result back,
    /// as all steps are monotonic.
    #[inline(always)]
    fn crossing(&self, numerator: f64, row: f64) -> f64 {
        (numerator - f64::from(self.b) * row) * self.a_inverse
    }
}

/// A triangle, or a rectangle along the axes.
///
/// A triangle has three edges: a left one, a right one, and a third which may be either or level. A rectangle has only its
/// pixel bounds, half-open as the fill rule requires.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polygon {
    edges: [Edge; 3],
    bounds: PixelRect,
}

impl Polygon {
    /// A triangle of either winding; `None` when its area is zero, or a vertex is outside the guard band.
    pub fn triangle([v0, v1, v2]: [Vertex; 3]) -> Option<Self> {
        let (area, bounds) = area_and_bounds([v0, v1, v2])?;
        let edges = if area > 0 {
            [Edge::new(v0, v1), Edge::new(v1, v2), Edge::new(v2, v0)]
        } else {
            [Edge::new(v0, v2), Edge::new(v2, v1), Edge::new(v1, v0)]
        };
        // At least one edge goes up and one down, or the area would be zero. They are found without branches, which could
        // not be predicted.
        let first = |is: fn(&Edge) -> bool| {
            let [a, b] = [&edges[0], &edges[1]].map(|edge| !is(edge));
            usize::from(a) + usize::from(a & b)
        };
        let (left, right) = (first(|e| e.a > 0), first(|e| e.a < 0));
        Some(Self { edges: [edges[left], edges[right], edges[3 - left - right]], bounds })
    }

    /// The rectangle between two corners; `None` for an area of zero or less, or a corner outside the guard band.
    pub fn rectangle(min: Vertex, max: Vertex) -> Option<Self> {
        let is_fit = min.is_in_guard_band() && max.is_in_guard_band();
        (is_fit && min.x < max.x && min.y < max.y).then(|| Self {
            edges: [Edge::OPEN_LEFT, Edge::OPEN_RIGHT, Edge::OPEN_LEFT],
            bounds: pixels_between(min, max),
        })
    }

    /// The pixels whose centres may be inside, not clipped to any picture.
    pub fn pixel_bounds(&self) -> PixelRect {
        self.bounds
    }

    /// The coarse raster's test of the pixels `[x0, x0 + size) x [y0, y0 + size)`: the block meets the bounds, and for each
    /// edge, the pixel centre furthest inside lies inside. Always true if a pixel of the block is covered; near corners it
    /// may also be true if none is.
    pub fn touches(&self, x0: i32, y0: i32, size: i32) -> bool {
        let (x0, y0) = (i64::from(x0), i64::from(y0));
        let (x1, y1) = (x0 + i64::from(size), y0 + i64::from(size));
        let bounds = self.bounds;
        let meets_bounds = (x0 < i64::from(bounds.x1)) & (x1 > i64::from(bounds.x0));
        let meets_bounds = meets_bounds & (y0 < i64::from(bounds.y1)) & (y1 > i64::from(bounds.y0));
        let is_inside = |edge: &Edge| {
            let x = if edge.a > 0 { x1 - 1 } else { x0 };
            let y = if edge.b > 0 { y1 - 1 } else { y0 };
            edge.at(x, y) >= 0
        };
        let [left, right, third] = &self.edges;
        meets_bounds & is_inside(left) & is_inside(right) & is_inside(third)
    }

    /// Whether the centre of pixel (x, y) is covered. This is the definition of coverage.
    pub fn covers(&self, x: i32, y: i32) -> bool {
        let is_inside = |edge: &Edge| edge.at(x.into(), y.into()) >= 0;
        self.bounds.contains(x, y) && self.edges.iter().all(is_inside)
    }

    /// Coverage of the strip whose first pixel is (`x0`, `y0`), without the pixels outside `clip`.
    ///
    /// Exact for columns within [`MAX_COLUMN`] of the picture's left edge, to either side.
    #[inline]
    pub fn strip(&self, [x0, y0]: [i32; 2], clip: PixelRect) -> Strip {
        debug_assert!((-MAX_COLUMN..=MAX_COLUMN - STRIP_COLUMNS).contains(&x0));
        let clip = clip.intersect(self.bounds);
        const HALF: i32 = STRIP_ROWS / 2;
        let mut words = [[0; HALF_ROWS]; 2];
        SimdLevel::best().run(
            #[inline(always)]
            || {
                if clip.y0 < y0 + HALF && clip.y1 > y0 {
                    words[0] = self.words([x0, y0], clip);
                }
                if clip.y0 < y0 + STRIP_ROWS && clip.y1 > y0 + HALF {
                    words[1] = self.words([x0, y0 + HALF], clip);
                }
            },
        );
        Strip::new(words, y0, clip)
    }

    /// Covered pixels of half a strip from (`x0`, `y0`) on: a word per row, a bit for each of [`STRIP_COLUMNS`] columns.
    /// Columns are clipped to `clip`, rows are not.
    #[inline(always)]
    fn words(&self, [x0, y0]: [i32; 2], clip: PixelRect) -> [u64; HALF_ROWS] {
        let inside = |x: i32| f64::from(x.clamp(x0, x0 + STRIP_COLUMNS));
        let (first, end) = (inside(clip.x0), inside(clip.x1));
        let [left, right, third] = &self.edges;
        let numerators = [left.numerator(y0), right.numerator(y0), third.numerator(y0)];
        // The third edge bounds one side; these offsets keep it from bounding the other.
        let (no_left, no_right) = if third.is_left() { (0.0, NOWHERE) } else { (-NOWHERE, 0.0) };
        // 2 to the power of the column nearest to `x`, counted from `x0`, built from its bits.
        let bias = i64::from(EXPONENT_BIAS - x0).cast_unsigned();
        let power = |x: f64| {
            f64::from_bits((x + NO_FRACTION).to_bits().wrapping_add(bias) << FRACTION_BITS)
        };
        let mut words = [0; HALF_ROWS];
        for k in 0..HALF_ROWS {
            let third = third.crossing(numerators[2], ROWS[k]);
            let from = larger(left.crossing(numerators[0], ROWS[k]), third + no_left);
            let to = smaller(right.crossing(numerators[1], ROWS[k]), third + no_right);
            let from = smaller(larger(from, first), end);
            let to = larger(smaller(to, end), from);
            // Bits `from..to` set, as a number below 2^48; the sum with 2^52 has it in the low bits.
            let ones = power(to) - power(from);
            words[k] = (ones + LEAST_WHOLE).to_bits() & (LEAST_WHOLE_ULPS - 1);
        }
        words
    }
}

impl PrimitiveShape {
    /// Edge functions of the shape; `None` for an area of zero or a corner outside the guard band.
    #[inline]
    pub fn polygon(&self) -> Option<Polygon> {
        match *self {
            Self::Triangle(corners) => Polygon::triangle(corners),
            Self::Rectangle([least, greatest]) => Polygon::rectangle(least, greatest),
        }
    }

    /// [Bounds](Polygon::pixel_bounds) of the shape's polygon, without setting up its edges.
    #[inline]
    pub fn pixel_bounds(&self) -> Option<PixelRect> {
        match *self {
            Self::Triangle(corners) => area_and_bounds(corners).map(|(_, bounds)| bounds),
            Self::Rectangle(_) => self.polygon().map(|polygon| polygon.bounds),
        }
    }
}

/// Twice the area of a triangle, positive if its corners come clockwise as seen with y down, and the pixels whose centres
/// lie in the box around it; `None` when the area is zero, or a vertex is outside the guard band.
#[inline]
fn area_and_bounds([v0, v1, v2]: [Vertex; 3]) -> Option<(i64, PixelRect)> {
    let low = Vertex { x: v0.x.min(v1.x).min(v2.x), y: v0.y.min(v1.y).min(v2.y) };
    let high = Vertex { x: v0.x.max(v1.x).max(v2.x), y: v0.y.max(v1.y).max(v2.y) };
    // If both corners of the box are inside, all corners of the triangle are inside as well.
    if !(low.is_in_guard_band() & high.is_in_guard_band()) {
        return None;
    }
    // Differences of 2^30 at most, so below 2^61.
    let area = i64::from(v1.x - v0.x) * i64::from(v2.y - v0.y)
        - i64::from(v2.x - v0.x) * i64::from(v1.y - v0.y);
    (area != 0).then(|| (area, pixels_between(low, high)))
}

/// The pixels whose centres lie between two corners, low sides included. The fill rule covers no centre on the high sides:
/// edges there are right ones, or level with the inside above.
fn pixels_between(low: Vertex, high: Vertex) -> PixelRect {
    let first = |v: i32| (v + (PIXEL - 1 - CENTRE)) >> SUBPIXEL_BITS;
    PixelRect { x0: first(low.x), y0: first(low.y), x1: first(high.x), y1: first(high.y) }
}

const ROWS: [f64; HALF_ROWS] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Bits of the fraction of an f64, and the bias of its exponent.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const EXPONENT_BIAS: i32 = f64::MAX_EXP - 1;
/// 2^52: from here to twice as much, an f64 has its whole part in its low bits and no fraction.
const LEAST_WHOLE_ULPS: u64 = 1 << FRACTION_BITS;
const LEAST_WHOLE: f64 = LEAST_WHOLE_ULPS as f64;
/// 1.5 * 2^52: added to a number below 2^31 in size, rounds it to the nearest whole, ties to even, in the low bits.
const NO_FRACTION: f64 = 1.5 * LEAST_WHOLE;

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
