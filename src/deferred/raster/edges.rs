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

use super::bounds::{Rect, SampleRange};
use super::triangle::{FaceSet, MovingTriangle};
use crate::deferred::camera::lens::LensShear;
use crate::math::narrow;

/// Lanes: three coefficients for each of three edges.
const USED: usize = 9;
/// Coefficients of an edge: a, b, c, k, m, p, q.
const TERMS: usize = 7;
/// Bound of the rounding of an edge's coefficients, as a share of the product of its corners' distances.
const ROUNDING: f32 = 1.0 / 131_072.0;

/// The edges of a triangle.
#[derive(Debug, Clone, Copy)]
pub struct EdgeBounds {
    /// Column and row from the picture's centre that x and y are relative to.
    origin: [f32; 2],
    /// For each term and Bernstein coefficient over the whole shutter: the value of each edge.
    terms: [[[f32; 3]; 3]; TERMS],
    /// For each edge: the bound of all rounding.
    slack: [f32; 3],
    moves: bool,
    is_blurred: bool,
}

impl EdgeBounds {
    /// Sets up the edges of a triangle. `slack` bounds the rounding of its corners in the sample test.
    /// `area` is a rectangle that holds all tiles to be tested.
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
        let mut terms = [[[0.0; 3]; 3]; TERMS];
        let mut bound = [0.0; 3];
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
            let [one, other, last] = if triangle.moves() {
                [product(0, 1), product(1, 0), product(1, 1)]
            } else {
                [first; 3]
            };
            for term in 0..TERMS {
                let between = f64::midpoint(one[term], other[term]);
                for (coefficient, value) in
                    [first[term], between, last[term]].into_iter().enumerate()
                {
                    terms[term][coefficient][edge] = narrow(value);
                }
            }
            bound[edge] =
                4.0 * (slack[j] * reach[k] + slack[k] * reach[j]) + ROUNDING * reach[j] * reach[k];
        }
        Self {
            origin: origin.map(narrow),
            terms,
            slack: bound,
            moves: triangle.moves(),
            is_blurred: !lens.is_pinhole(),
        }
    }

    /// The sides of the triangle that samples of a rectangle in the given ranges may show: a side whose
    /// sign one of the edges cannot have is not among them.
    #[inline(always)]
    pub fn faces(&self, rect: &Rect, range: &SampleRange) -> FaceSet {
        let [x, y] = [0, 1].map(|k| {
            let [low, high] = [
                rect.least[k] - self.origin[k],
                rect.greatest[k] - self.origin[k],
            ];
            [f32::midpoint(low, high), (high - low) * 0.5]
        });
        // For each edge: how many of its coefficients are above zero, and below zero. Those that are not
        // numbers are neither.
        let (mut above, mut below) = ([0_u8; 3], [0_u8; 3]);
        if self.is_blurred {
            let [u, v] = [range.u, range.v]
                .map(|[low, high]| [f32::midpoint(low, high), (high - low) * 0.5]);
            let at = self.at_times(range.t);
            for lane in 0..USED {
                let [a, b, c, k, m, p, q] = at.map(|term| term[lane]);
                let middle =
                    a + b * x[0] + c * y[0] + u[0] * (k - p * y[0]) + v[0] * (m + q * x[0]);
                let spread = x[1] * (b + v[0] * q).abs()
                    + y[1] * (c - u[0] * p).abs()
                    + u[1] * (k - p * y[0]).abs()
                    + v[1] * (m + q * x[0]).abs()
                    + u[1] * y[1] * p.abs()
                    + v[1] * x[1] * q.abs()
                    + self.slack[lane % 3];
                above[lane % 3] += u8::from(middle - spread > 0.0);
                below[lane % 3] += u8::from(middle + spread < 0.0);
            }
        } else {
            let at = if self.moves {
                self.at_times(range.t)
            } else {
                self.still()
            };
            for lane in 0..USED {
                let [a, b, c] = [at[0][lane], at[1][lane], at[2][lane]];
                let middle = a + b * x[0] + c * y[0];
                let spread = x[1] * b.abs() + y[1] * c.abs() + self.slack[lane % 3];
                above[lane % 3] += u8::from(middle - spread > 0.0);
                below[lane % 3] += u8::from(middle + spread < 0.0);
            }
        }
        FaceSet {
            front: above.iter().all(|&count| count < 3),
            back: below.iter().all(|&count| count < 3),
        }
    }

    /// The Bernstein coefficients of all terms over a range of times: three lanes for each coefficient.
    #[inline(always)]
    fn at_times(&self, [s, e]: [f32; 2]) -> [[f32; USED]; TERMS] {
        // The blossom of a quadratic: its arguments are the ends of the range, twice one or one of each.
        let weights = [[s, s], [s, e], [e, e]]
            .map(|[a, b]| [(1.0 - a) * (1.0 - b), a * (1.0 - b) + b * (1.0 - a), a * b]);
        let mut at = [[0.0; USED]; TERMS];
        for (at, term) in at.iter_mut().zip(&self.terms) {
            for (k, w) in weights.iter().enumerate() {
                for edge in 0..3 {
                    at[3 * k + edge] =
                        w[0] * term[0][edge] + w[1] * term[1][edge] + w[2] * term[2][edge];
                }
            }
        }
        at
    }

    /// The terms of a triangle that does not move.
    #[inline(always)]
    fn still(&self) -> [[f32; USED]; TERMS] {
        self.terms
            .map(|term| std::array::from_fn(|lane| term[0][lane % 3]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bounds::CornerBounds;
    use super::super::sample_test::{Sample, sample_test};
    use super::*;

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
        EdgeBounds::new(triangle, lens, slack, &AREA).faces(rect, range)
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
            let range = bounds.range(&rect);
            let found = range.map(|range| {
                (
                    range,
                    EdgeBounds::new(&triangle, &lens, bounds.slack(), &AREA).faces(&rect, &range),
                )
            });
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
