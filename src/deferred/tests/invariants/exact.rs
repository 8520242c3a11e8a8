//! Sample test in f64, directly from its definition.

use quadrille_deferred::camera::lens::LensShear;
use quadrille_deferred::raster::sample_test::Sample;
use quadrille_deferred::raster::triangle::MovingTriangle;

/// Exact result of the test of a sample against a triangle.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExactHit {
    pub(super) depth: f64,
    pub(super) is_hit: bool,
    /// Whether rounding may change the result: the sample is within 1e-4 px of an edge, or the point is close to the near
    /// plane.
    pub(super) is_close: bool,
}

pub(super) fn exact(
    triangle: &MovingTriangle,
    shear: &LensShear,
    near: f64,
    sample: &Sample,
) -> ExactHit {
    let t = f64::from(sample.t);
    let p = [0, 1, 2].map(|i| {
        let at = |k: usize| f64::from(triangle.start[i][k]) + t * f64::from(triangle.change[i][k]);
        let z = at(2);
        let lens = shear.at(z);
        let [x, y] =
            [0, 1].map(|k| at(k) + f64::from(sample.uv[k]) * lens[k] - f64::from(sample.xy[k]) * z);
        [x, y, z]
    });
    let edges = [[1, 2], [2, 0], [0, 1]].map(|[j, k]| p[j][0] * p[k][1] - p[k][0] * p[j][1]);
    // Distance from an edge in pixels: its value over the length of its gradient.
    let distances = [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let gradient =
            [p[k][2] * p[j][1] - p[j][2] * p[k][1], p[j][2] * p[k][0] - p[k][2] * p[j][0]];
        edges[i].abs() / gradient[0].hypot(gradient[1])
    });
    let front = edges.iter().all(|e| *e < 0.0) && triangle.faces.front;
    let back = edges.iter().all(|e| *e > 0.0) && triangle.faces.back;
    let sum: f64 = edges.iter().sum();
    let z: f64 = (0..3).map(|i| edges[i] / sum * p[i][2]).sum();
    let depth = near / z;
    ExactHit {
        depth,
        is_hit: (front || back) && depth > 0.0 && depth <= 1.0,
        is_close: distances.iter().any(|d| *d < 1e-4 || d.is_nan()) || (depth - 1.0).abs() < 1e-5,
    }
}
