//! Bicubic Bezier patches: points and normals.

use super::patches::{SurfacePoint, cross, unit};
use crate::mesh::files::bounds;

/// How far, in parameters, a normal is looked for inwards where the derivatives at the point give
/// none: a collapsed side, a cusp. An assumption; small against a patch, large against rounding.
const NUDGE: f32 = 1.0 / 256.0;
/// Square of the sine of the angle between the derivatives, times their relative lengths, below
/// which they give no normal. An assumption: some hundred times the rounding of `f32`, squared.
const LEAST_AREA_SQUARED: f32 = 1e-9;

/// A bicubic Bezier patch: control points row by row, rows along u. The fourth number is unused, so
/// that a point is one vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cubic(pub(super) [[f32; 4]; 16]);

type Lanes = [f32; 4];

fn mixed(points: [&Lanes; 4], weights: [f32; 4]) -> Lanes {
    std::array::from_fn(|k| {
        points[0][k] * weights[0]
            + points[1][k] * weights[1]
            + points[2][k] * weights[2]
            + points[3][k] * weights[3]
    })
}

/// Bernstein polynomials of degree 3.
fn basis(t: f32) -> [f32; 4] {
    let s = 1.0 - t;
    [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
}

fn basis_derivative(t: f32) -> [f32; 4] {
    let s = 1.0 - t;
    [
        -3.0 * s * s,
        3.0 * s * (s - 2.0 * t),
        3.0 * t * (2.0 * s - t),
        3.0 * t * t,
    ]
}

fn xyz(v: Lanes) -> [f32; 3] {
    [v[0], v[1], v[2]]
}

impl Cubic {
    pub(super) fn new(points: [[f32; 3]; 16]) -> Self {
        Self(points.map(|[x, y, z]| [x, y, z, 0.0]))
    }

    fn row(&self, row: usize) -> [&Lanes; 4] {
        std::array::from_fn(|i| &self.0[4 * row + i])
    }

    pub(super) fn position(&self, u: f32, v: f32) -> [f32; 3] {
        let b = basis(u);
        let rows: [Lanes; 4] = std::array::from_fn(|row| mixed(self.row(row), b));
        xyz(mixed(rows.each_ref(), basis(v)))
    }

    fn derivatives(&self, u: f32, v: f32) -> [[f32; 3]; 3] {
        let (b, d) = (basis(u), basis_derivative(u));
        let rows: [Lanes; 4] = std::array::from_fn(|row| mixed(self.row(row), b));
        let slopes: [Lanes; 4] = std::array::from_fn(|row| mixed(self.row(row), d));
        let bv = basis(v);
        [
            xyz(mixed(rows.each_ref(), bv)),
            xyz(mixed(slopes.each_ref(), bv)),
            xyz(mixed(rows.each_ref(), basis_derivative(v))),
        ]
    }

    /// Position and normal at (u, v). Where the derivatives give no normal, it is that of a point
    /// a little further in.
    #[inline]
    pub(super) fn point(&self, u: f32, v: f32) -> SurfacePoint {
        let [position, du, dv] = self.derivatives(u, v);
        let normal = Self::normal(du, dv).unwrap_or_else(|| {
            let inwards = |t: f32| t + (0.5 - t).clamp(-NUDGE, NUDGE);
            let [_, du, dv] = self.derivatives(inwards(u), inwards(v));
            unit(cross(du, dv))
        });
        SurfacePoint { position, normal }
    }

    fn normal(du: [f32; 3], dv: [f32; 3]) -> Option<[f32; 3]> {
        let across = cross(du, dv);
        let square = |v: [f32; 3]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let (area, longest) = (square(across), square(du).max(square(dv)));
        let enough = area > LEAST_AREA_SQUARED * longest * longest && area > f32::MIN_POSITIVE;
        enough.then(|| unit(across))
    }

    /// The box around the control points, which holds the patch.
    pub(super) fn bounds(&self) -> [[f32; 3]; 2] {
        bounds(self.0.iter().map(|p| xyz(*p)))
    }
}
