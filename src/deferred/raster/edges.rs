//! Bounds of the edge functions of a moving, defocused triangle over a tile.
//!
//! With `X' = X + u Cx - x Z`, `Y' = Y + v Cy - y Z` and shears linear in `Z`, the edge function of corners j and k is
//!
//! ```text
//! X'_j Y'_k - X'_k Y'_j = a + b x + c y + u (k - p y) + v (m + q x)
//! ```
//!
//! where the terms in `x y` and `u v` cancel. The coefficients are quadratic in time. In Bernstein form over a tile's range
//! of times, the function lies between its values for the three coefficients, which are affine in each of x, y, u and v.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};

use super::bounds::{RangeLanes, Rect, RectLanes};
use super::triangle::{FaceSet, MovingTriangle};
use crate::camera::lens::LensShear;
use quadrille_base::math::narrow;

/// Coefficients of an edge: a, b, c, k, m, p, q.
const TERMS: usize = 7;
/// Bound on the rounding error of an edge's coefficients, relative to the product of its corners' distances.
const ROUNDING: f32 = 1.0 / 131_072.0;

/// Edge functions of a triangle, prepared for bounds over tiles.
#[derive(Debug, Clone, Copy)]
pub struct EdgeBounds {
    /// Origin of x and y, in pixels from the picture's centre.
    origin: [f32; 2],
    /// Bernstein coefficients of each edge's terms over the whole shutter.
    terms: [[[f32; 3]; TERMS]; 3],
    /// Bounds on the rounding error of each edge.
    slack: [f32; 3],
    moves: bool,
    is_blurred: bool,
}

impl EdgeBounds {
    /// Sets up the edges of a triangle. `slack` bounds the rounding of corners in the sample test; `area` holds all tiles.
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
        // Largest distance of each corner from any sample of the area, times Z.
        let reach = [0, 1, 2].map(|i| {
            let of = |e: usize, k: usize| {
                let p = ends[e][i];
                p[k].abs() + shear(p[2], k).abs() + half[k] * p[2].abs()
            };
            narrow(of(0, 0).max(of(0, 1)).max(of(1, 0)).max(of(1, 1)))
        });
        let mut terms = [[[0.0; 3]; TERMS]; 3];
        let mut bound = [0.0; 3];
        let moves = triangle.moves();
        for (edge, [j, k]) in [[1, 2], [2, 0], [0, 1]].into_iter().enumerate() {
            // Terms of the edge function for corner j at one end of the shutter and corner k at either end.
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
            let [one, other, last] =
                if moves { [product(0, 1), product(1, 0), product(1, 1)] } else { [first; 3] };
            bound[edge] =
                4.0 * (slack[j] * reach[k] + slack[k] * reach[j]) + ROUNDING * reach[j] * reach[k];
            for (term, coefficients) in terms[edge].iter_mut().enumerate() {
                let middle = f64::midpoint(one[term], other[term]);
                *coefficients = [first[term], middle, last[term]].map(narrow);
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

    /// Lanes in which a side of `faces` may be visible: each edge can have the sign of that side within the ranges.
    #[inline(always)]
    pub fn may_show<S: Simd>(
        &self,
        simd: S,
        rects: &RectLanes<S>,
        range: &RangeLanes<S>,
        lanes: mask32x16<S>,
        faces: FaceSet,
    ) -> mask32x16<S> {
        let [x, y] = [self.span(rects, 0), self.span(rects, 1)];
        let [u, v] = [centred(range.uv[0]), centred(range.uv[1])];
        let weights = Weights::new(range.t);
        let weights = if self.moves { &weights.0[..] } else { &[] };
        let zero = f32x16::splat(simd, 0.0);
        let mut front = lanes & mask32x16::splat(simd, faces.front);
        let mut back = lanes & mask32x16::splat(simd, faces.back);
        for (terms, &slack) in self.terms.iter().zip(&self.slack) {
            let mut above = front;
            let mut below = back;
            for at in 0..weights.len().max(1) {
                let weights = weights.get(at);
                let a = term(simd, &terms[0], weights);
                let b = term(simd, &terms[1], weights);
                let c = term(simd, &terms[2], weights);
                let mut middle = a + b * x[0] + c * y[0];
                let spread = if self.is_blurred {
                    let k = term(simd, &terms[3], weights);
                    let m = term(simd, &terms[4], weights);
                    let p = term(simd, &terms[5], weights);
                    let q = term(simd, &terms[6], weights);
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
                // NaN is neither above nor below zero, and culls nothing.
                above &= (middle - spread).simd_gt(zero);
                below &= (middle + spread).simd_lt(zero);
                // Most edges cull nothing, as the first coefficient already shows.
                if !(above | below).any_true() {
                    break;
                }
            }
            front &= !above;
            back &= !below;
        }
        front | back
    }

    /// Middles and half-widths of rectangles along an axis, relative to the origin.
    #[inline(always)]
    fn span<S: Simd>(&self, rects: &RectLanes<S>, axis: usize) -> [f32x16<S>; 2] {
        let origin = self.origin[axis];
        centred([rects.least[axis] - origin, rects.greatest[axis] - origin])
    }
}

/// Bernstein coefficient of a term over ranges of times, or the value of the term if the triangle is still.
#[inline(always)]
fn term<S: Simd>(
    simd: S,
    [first, middle, last]: &[f32; 3],
    weights: Option<&[f32x16<S>; 3]>,
) -> f32x16<S> {
    match weights {
        Some(w) => w[0] * *first + w[1] * *middle + w[2] * *last,
        None => f32x16::splat(simd, *first),
    }
}

/// Weights that convert Bernstein coefficients over the whole shutter to coefficients over ranges of times.
struct Weights<S: Simd>([[f32x16<S>; 3]; 3]);

impl<S: Simd> Weights<S> {
    /// Blossom of a quadratic at (t0, t0), (t0, t1) and (t1, t1).
    #[inline(always)]
    fn new([s, e]: [f32x16<S>; 2]) -> Self {
        let [p, q] = [-s + 1.0, -e + 1.0];
        Self([
            [p * p, s * 2.0 * p, s * s],
            [p * q, s * q + e * p, s * e],
            [q * q, e * 2.0 * q, e * e],
        ])
    }
}

#[inline(always)]
fn centred<S: Simd>([low, high]: [f32x16<S>; 2]) -> [f32x16<S>; 2] {
    [(low + high) * 0.5, (high - low) * 0.5]
}
