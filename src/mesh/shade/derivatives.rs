//! Screen derivatives of the values at the four shading pixels of a quad. Lengths on the screen are
//! in shading pixels, so that coarse shading filters a texture as wide as a shading pixel.

/// Minimum determinant of the steps to the two neighbours of a shading pixel, in squared shading pixels; below it,
/// differences would be magnified more than four times. An assumption.
const LEAST_DETERMINANT: f32 = 0.25;
/// The same limit for a fit to all four points: the determinant of their second moments, 1 for a regular quad. Assumed.
const LEAST_MOMENTS: f32 = 0.05;

/// Weights that turn the values at the four shading pixels into derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stencil {
    /// `x[i][c]`: weight of shading pixel `i` in the x derivative at shading pixel `c`. The sum over `i` is 0.
    x: [[f32; 4]; 4],
    y: [[f32; 4]; 4],
}

impl Stencil {
    /// Derivatives as on GPUs: plain differences of each row along x, of each column along y (Direct3D's fine derivatives).
    pub(super) const PLAIN: Self = Self {
        x: [
            [-1.0, -1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, -1.0, -1.0],
            [0.0, 0.0, 1.0, 1.0],
        ],
        y: [
            [-1.0, 0.0, -1.0, 0.0],
            [0.0, -1.0, 0.0, -1.0],
            [1.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, 1.0],
        ],
    };

    /// Corrects the differences for the sampling points, in shading pixels from any origin (QFM, section 4.2).
    ///
    /// At each shading pixel, the differences along its row and its column are two equations for the two derivatives. If
    /// they are nearly dependent, a plane is fitted to all four values; if that fails too, the plain differences stay.
    pub(super) fn at(points: [[f32; 2]; 4]) -> Self {
        let mut stencil = Self::PLAIN;
        for c in 0..4 {
            let (left, top) = (c & 2, c & 1);
            let [a, b] = step(points[left], points[left + 1]);
            let [p, q] = step(points[top], points[top + 2]);
            let determinant = a * q - b * p;
            if determinant.is_nan() || determinant < LEAST_DETERMINANT {
                stencil.fit(&points, c);
                continue;
            }
            for i in 0..4 {
                let along_row = Self::PLAIN.x[i][c];
                let along_column = Self::PLAIN.y[i][c];
                stencil.x[i][c] = (q * along_row - b * along_column) / determinant;
                stencil.y[i][c] = (a * along_column - p * along_row) / determinant;
            }
        }
        stencil
    }

    /// Sets the weights at shading pixel `c` to the slopes of the plane that fits all four values best.
    fn fit(&mut self, points: &[[f32; 2]; 4], c: usize) {
        let mean = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f32>() / 4.0);
        let offsets = points.map(|p| step(mean, p));
        let moment = |j: usize, k: usize| offsets.iter().map(|p| p[j] * p[k]).sum::<f32>();
        let (xx, xy, yy) = (moment(0, 0), moment(0, 1), moment(1, 1));
        let determinant = xx * yy - xy * xy;
        if determinant.is_nan() || determinant < LEAST_MOMENTS {
            return;
        }
        for (i, [x, y]) in offsets.into_iter().enumerate() {
            self.x[i][c] = (yy * x - xy * y) / determinant;
            self.y[i][c] = (xx * y - xy * x) / determinant;
        }
    }

    #[inline]
    pub(super) fn apply(&self, values: [f32; 4]) -> [[f32; 4]; 2] {
        // The weights sum to 0, so the first value may be subtracted from all; this avoids cancellation of
        // large numbers.
        let [_, b, c, d] = values.map(|v| v - values[0]);
        [&self.x, &self.y].map(|w| std::array::from_fn(|k| b * w[1][k] + c * w[2][k] + d * w[3][k]))
    }
}

/// Derivatives from two steps on the screen and the changes of the values along them; `None` for parallel or empty steps.
pub(super) fn from_steps<const N: usize>(
    steps_px: [[f32; 2]; 2],
    changes: [[f32; N]; 2],
) -> Option<[[f32; N]; 2]> {
    /// Minimum sine of the angle between the steps; below it, changes would be magnified more than 20 times. Assumed.
    const LEAST_SINE: f32 = 0.05;
    let [[a, b], [p, q]] = steps_px;
    let determinant = a * q - b * p;
    let lengths = (a * a + b * b).sqrt() * (p * p + q * q).sqrt();
    let [f, g] = changes;
    // Also false for NaN.
    let is_apart = determinant.abs() > LEAST_SINE * lengths;
    is_apart.then(|| {
        [
            std::array::from_fn(|k| (q * f[k] - b * g[k]) / determinant),
            std::array::from_fn(|k| (a * g[k] - p * f[k]) / determinant),
        ]
    })
}

#[inline]
fn step(from: [f32; 2], to: [f32; 2]) -> [f32; 2] {
    [to[0] - from[0], to[1] - from[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRES: [[f32; 2]; 4] = [[8.5, 4.5], [9.5, 4.5], [8.5, 5.5], [9.5, 5.5]];

    #[test]
    fn centres_give_plain_differences() {
        assert_eq!(Stencil::at(CENTRES), Stencil::PLAIN);
        let [dx, dy] = Stencil::PLAIN.apply([1.0, 3.0, 10.0, 20.0]);
        assert_eq!(dx, [2.0, 2.0, 10.0, 10.0]);
        assert_eq!(dy, [9.0, 17.0, 9.0, 17.0]);
    }

    #[test]
    fn points_off_centre_are_corrected() {
        let mut points = CENTRES;
        points[1] = [9.062_5, 4.937_5];
        let plane = |[x, y]: [f32; 2]| 0.25 * x - 3.0 * y;
        let [dx, dy] = Stencil::at(points).apply(points.map(plane));
        assert!(dx.iter().all(|d| (d - 0.25).abs() < 1e-5), "{dx:?}");
        assert!(dy.iter().all(|d| (d + 3.0).abs() < 1e-5), "{dy:?}");
        let [wrong, _] = Stencil::PLAIN.apply(points.map(plane));
        assert!((wrong[0] - 0.25).abs() > 0.5);
    }

    #[test]
    fn dependent_steps_are_fitted() {
        // From the first point both neighbours lie in the same direction.
        let points = [[8.5, 4.5], [9.0, 4.94], [8.94, 5.0], [9.94, 5.0]];
        let plane = |[x, y]: [f32; 2]| 0.25 * x - 3.0 * y;
        let [dx, dy] = Stencil::at(points).apply(points.map(plane));
        assert!((dx[0] - 0.25).abs() < 1e-3, "{dx:?}");
        assert!((dy[0] + 3.0).abs() < 1e-3, "{dy:?}");
        assert_eq!(Stencil::at([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]), Stencil::PLAIN);
        assert_eq!(Stencil::at([[f32::NAN; 2]; 4]), Stencil::PLAIN);
    }

    #[test]
    fn two_steps() {
        let plane = |[x, y]: [f32; 2]| [0.5 * x + 2.0 * y, y];
        let steps = [[1.0, 0.25], [-0.5, 2.0]];
        let [dx, dy] = from_steps(steps, steps.map(plane)).unwrap();
        assert!((dx[0] - 0.5).abs() < 1e-6 && dx[1].abs() < 1e-6, "{dx:?}");
        assert!((dy[0] - 2.0).abs() < 1e-6 && (dy[1] - 1.0).abs() < 1e-6, "{dy:?}");
        assert!(from_steps([[1.0, 1.0], [2.0, 2.0]], [[1.0], [2.0]]).is_none());
        assert!(from_steps([[0.0; 2], [1.0, 0.0]], [[1.0], [2.0]]).is_none());
    }
}
