//! The edges of a moving, defocused triangle over a tile: bounds of their values.
//!
//! With `X' = X + u Cx - x Z`, `Y' = Y + v Cy - y Z` and shears that are linear in `Z`, the edge between
//! corners j and k is
//!
//! ```text
//! X'_j Y'_k - X'_k Y'_j = a + b x + c y + u (k - p y) + v (m + q x)
//! ```
//!
//! where the terms in `x y` and `u v` cancel. The coefficients are quadratic in time. In Bernstein form
//! over a tile's range of times, the edge lies between its values for the three coefficients, each of
//! which is affine in each of x, y, u and v.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::bounds::{Rect, SampleRange};
use super::triangle::{FaceSet, MovingTriangle};
use crate::deferred::camera::lens::LensShear;
use crate::math::lanes::mask_bits;
use crate::math::narrow;

/// Lanes: for each of three coefficients in time, three edges and an unused lane.
const LANES: usize = 16;
/// Coefficients of an edge: a, b, c, k, m, p, q.
const TERMS: usize = 7;
/// Bound of the rounding of an edge's coefficients, as a share of the product of its corners' distances.
const ROUNDING: f32 = 1.0 / 131_072.0;

/// The edges of a triangle.
#[derive(Debug, Clone, Copy)]
pub struct EdgeBounds {
    /// Column and row from the picture's centre that x and y are relative to.
    origin: [f32; 2],
    /// For each term and Bernstein coefficient over the whole shutter: the value of each edge, the same
    /// for all coefficients of the tile.
    terms: [[[f32; LANES]; 3]; TERMS],
    /// Bound of all rounding.
    slack: [f32; LANES],
    moves: bool,
    is_blurred: bool,
}

impl EdgeBounds {
    /// Sets up the edges of a triangle. `slack` bounds the rounding of its corners in the sample test.
    /// `area` is a rectangle that holds all tiles to be tested.
    #[inline(always)]
    pub fn new(triangle: &MovingTriangle, lens: &LensShear, slack: [f32; 3], area: &Rect) -> Self {
        let origin = [0, 1].map(|k| f64::from(f32::midpoint(area.least[k], area.greatest[k])));
        let half = [0, 1].map(|k| f64::from(area.greatest[k] - area.least[k]) / 2.0);
        let ends = [triangle.start, triangle.end()].map(|corners| {
            corners.map(|p| {
                let [x, y, z] = p.map(f64::from);
                [x - origin[0] * z, y - origin[1] * z, z]
            })
        });
        let [a, b] = [lens.a, lens.b].map(|v| v.map(f64::from));
        let shear = |z: f64, k: usize| a[k] * z + b[k];
        // The greatest distance of each corner from any sample of the area, times Z.
        let reach = [0, 1, 2].map(|i| {
            let of = |e: usize, k: usize| {
                let p = ends[e][i];
                p[k].abs() + shear(p[2], k).abs() + half[k] * p[2].abs()
            };
            narrow(of(0, 0).max(of(0, 1)).max(of(1, 0)).max(of(1, 1)))
        });
        let mut terms = [[[0.0; LANES]; 3]; TERMS];
        let mut bound = [0.0; LANES];
        let moves = triangle.moves();
        for (edge, [j, k]) in [[1, 2], [2, 0], [0, 1]].into_iter().enumerate() {
            // The terms of the product of corner j at one end and corner k at another one.
            let product = |ej: usize, ek: usize| -> [f64; TERMS] {
                let ([xj, yj, zj], [xk, yk, zk]) = (ends[ej][j], ends[ek][k]);
                let (cj, ck) = ([shear(zj, 0), shear(zj, 1)], [shear(zk, 0), shear(zk, 1)]);
                [
                    xj * yk - xk * yj,
                    zk * yj - zj * yk,
                    zj * xk - zk * xj,
                    cj[0] * yk - ck[0] * yj,
                    xj * ck[1] - xk * cj[1],
                    cj[0] * zk - ck[0] * zj,
                    zk * cj[1] - zj * ck[1],
                ]
            };
            let first = product(0, 0);
            let [one, other, last] = if moves {
                [product(0, 1), product(1, 0), product(1, 1)]
            } else {
                [first; 3]
            };
            let slack =
                4.0 * (slack[j] * reach[k] + slack[k] * reach[j]) + ROUNDING * reach[j] * reach[k];
            for lane in [edge, 4 + edge, 8 + edge] {
                for term in 0..TERMS {
                    terms[term][0][lane] = narrow(first[term]);
                    terms[term][1][lane] = narrow(f64::midpoint(one[term], other[term]));
                    terms[term][2][lane] = narrow(last[term]);
                }
                bound[lane] = slack;
            }
        }
        Self {
            origin: origin.map(narrow),
            terms,
            slack: bound,
            moves,
            is_blurred: !lens.is_pinhole(),
        }
    }

    /// The sides of the triangle that samples of a rectangle in the given ranges may show: a side whose
    /// sign one of the edges cannot have is not among them.
    #[inline(always)]
    pub fn faces<S: Simd>(&self, simd: S, rect: &Rect, range: &SampleRange) -> FaceSet {
        let [x, y] = [self.span(rect, 0), self.span(rect, 1)];
        let slack = f32x16::from_slice(simd, &self.slack);
        let weights = self.moves.then(|| Weights::new(simd, range.t));
        let a = self.term(simd, 0, weights.as_ref());
        let b = self.term(simd, 1, weights.as_ref());
        let c = self.term(simd, 2, weights.as_ref());
        let mut middle = a + b * x[0] + c * y[0];
        let spread = if self.is_blurred {
            let k = self.term(simd, 3, weights.as_ref());
            let m = self.term(simd, 4, weights.as_ref());
            let p = self.term(simd, 5, weights.as_ref());
            let q = self.term(simd, 6, weights.as_ref());
            let [u, v] = [centred(range.u), centred(range.v)];
            let (along_u, along_v) = (k - p * y[0], m + q * x[0]);
            middle = middle + along_u * u[0] + along_v * v[0];
            (b + q * v[0]).abs() * x[1]
                + (c - p * u[0]).abs() * y[1]
                + along_u.abs() * u[1]
                + along_v.abs() * v[1]
                + p.abs() * (u[1] * y[1])
                + q.abs() * (v[1] * x[1])
                + slack
        } else {
            b.abs() * x[1] + c.abs() * y[1] + slack
        };
        // Values that are not numbers are neither above nor below zero.
        let zero = f32x16::splat(simd, 0.0);
        let above = mask_bits((middle - spread).simd_gt(zero));
        let below = mask_bits((middle + spread).simd_lt(zero));
        FaceSet {
            front: !has_edge(above),
            back: !has_edge(below),
        }
    }

    /// Middle and half-width of a rectangle along an axis.
    #[inline(always)]
    fn span(&self, rect: &Rect, axis: usize) -> [f32; 2] {
        let origin = self.origin[axis];
        centred([rect.least[axis] - origin, rect.greatest[axis] - origin])
    }

    /// The Bernstein coefficients of a term over a range of times.
    #[inline(always)]
    fn term<S: Simd>(&self, simd: S, term: usize, weights: Option<&Weights<S>>) -> f32x16<S> {
        let first = f32x16::from_slice(simd, &self.terms[term][0]);
        let Some(w) = weights else { return first };
        let middle = f32x16::from_slice(simd, &self.terms[term][1]);
        let last = f32x16::from_slice(simd, &self.terms[term][2]);
        first * w.0 + middle * w.1 + last * w.2
    }
}

/// Weights of the Bernstein coefficients over the whole shutter in those over a range of times.
struct Weights<S: Simd>(f32x16<S>, f32x16<S>, f32x16<S>);

impl<S: Simd> Weights<S> {
    /// The blossom of a quadratic: its arguments are the first time twice, both times, and the last time
    /// twice.
    #[inline(always)]
    fn new(simd: S, [s, e]: [f32; 2]) -> Self {
        let [p, q] = [1.0 - s, 1.0 - e];
        let lanes = |a: f32, b: f32, c: f32| {
            let all = [a, a, a, a, b, b, b, b, c, c, c, c, 0.0, 0.0, 0.0, 0.0];
            f32x16::from_slice(simd, &all)
        };
        Self(
            lanes(p * p, p * q, q * q),
            lanes(2.0 * s * p, s * q + e * p, 2.0 * e * q),
            lanes(s * s, s * e, e * e),
        )
    }
}

/// Middle and half-width of a range.
#[inline(always)]
fn centred([low, high]: [f32; 2]) -> [f32; 2] {
    [(low + high) * 0.5, (high - low) * 0.5]
}

/// Whether all coefficients of an edge are in a set.
#[inline(always)]
fn has_edge(set: u16) -> bool {
    let edges = set & set >> 4 & set >> 8;
    edges & 0b111 != 0
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::super::bounds::CornerBounds;
    use super::super::sample_test::{Sample, sample_test};
    use super::*;
    use crate::math::SimdLevel;

    const AREA: Rect = Rect {
        least: [-32.0, -32.0],
        greatest: [32.0, 32.0],
    };

    fn faces(
        triangle: &MovingTriangle,
        lens: &LensShear,
        rect: &Rect,
        range: &SampleRange,
    ) -> FaceSet {
        let slack = CornerBounds::new(triangle, lens, 32.0).slack();
        let edges = EdgeBounds::new(triangle, lens, slack, &AREA);
        dispatch!(SimdLevel::best().level(), simd => edges.faces(simd, rect, range))
    }

    #[test]
    fn tiles_beyond_an_edge_show_nothing() {
        let px = [[0.0, 0.0], [0.0, 20.0], [20.0, 0.0]];
        let triangle = MovingTriangle::unculled(px.map(|[x, y]| [[x, y, 1.0]; 2]), 1);
        let sharp = LensShear::default();
        let rect = |x: f32, y: f32| Rect {
            least: [x, y],
            greatest: [x + 2.0, y + 2.0],
        };
        let of = |x, y| faces(&triangle, &sharp, &rect(x, y), &SampleRange::ALL);
        assert!(of(1.0, 1.0).front && !of(1.0, 1.0).back);
        assert!(of(9.0, 9.0).front, "the edge crosses the tile");
        // Within the box of the triangle, beyond its third edge.
        assert!(of(12.0, 12.0).is_empty());
    }

    #[test]
    fn no_hit_is_culled() {
        // Random triangles, tiles and ranges: wherever a sample in the range hits, the side is kept.
        let mut state = 1_u64;
        let mut random = |least: f64, greatest: f64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            least + (greatest - least) * ((state >> 33) as f64 / 2_147_483_648.0)
        };
        let mut hits = 0;
        for round in 0..4000 {
            let near_eye = round % 3 == 0;
            let corners = [(); 3].map(|()| {
                let z = random(if near_eye { -1.0 } else { 1.0 }, 4.0);
                let [x, y] = [(); 2].map(|()| z * random(-24.0, 24.0));
                let by = [random(-8.0, 8.0), random(-8.0, 8.0), random(-0.5, 0.5)];
                [[x, y, z], [x + by[0], y + by[1], z + by[2]]]
            });
            let triangle = MovingTriangle::unculled(corners, 1);
            let lens = LensShear {
                a: [narrow(random(0.0, 4.0)); 2],
                b: [narrow(random(-8.0, 0.0)); 2],
            };
            let corner = [(); 2].map(|()| narrow(random(-30.0, 22.0)));
            let rect = Rect {
                least: corner,
                greatest: corner.map(|v| v + 8.0),
            };
            let bounds = CornerBounds::new(&triangle, &lens, 32.0);
            let range = dispatch!(SimdLevel::best().level(), simd => bounds.range(simd, &rect));
            let found = range.map(|range| (range, faces(&triangle, &lens, &rect, &range)));
            for _ in 0..64 {
                let sample = Sample {
                    xy: corner.map(|v| v + narrow(random(0.0, 8.0))),
                    uv: [(); 2].map(|()| narrow(random(-0.7, 0.7))),
                    t: narrow(random(0.0, 1.0)),
                };
                let Some(hit) = sample_test(&triangle, &lens, 0.01, &sample) else {
                    continue;
                };
                hits += 1;
                let (range, faces) =
                    found.unwrap_or_else(|| panic!("culled by bounds: {sample:?}"));
                assert!(
                    range.t[0] <= sample.t && sample.t <= range.t[1],
                    "{range:?} {sample:?}"
                );
                assert!(
                    range.u[0] <= sample.uv[0] && sample.uv[0] <= range.u[1],
                    "{range:?} {sample:?}"
                );
                assert!(
                    range.v[0] <= sample.uv[1] && sample.uv[1] <= range.v[1],
                    "{range:?} {sample:?}"
                );
                assert!(
                    if hit.is_front {
                        faces.front
                    } else {
                        faces.back
                    },
                    "{sample:?}"
                );
            }
        }
        assert!(hits > 10_000, "{hits}");
    }
}
