//! Cells of shading grids that grow with blur (after Vaidyanathan et al., "Adaptive Image Space Shading
//! for Motion and Defocus Blur", 2012).
//!
//! Blur over a disc of diameter `c` (defocus) has the variance of a box of side `sqrt(3/4) c` along each
//! axis, and motion along a segment of length `m` has the variance of a box of side `m`. The cells have the
//! variance of pixel and blur together, scaled by a quality; a pixel is a box of side 1.

use crate::camera::lens::LensShear;
use crate::raster::triangle::MovingTriangle;

/// Greatest spacing of shading points, in pixels.
const MOST_PX: f64 = 16.0;
/// Motion below which a direction is not taken from it, in pixels.
const LEAST_MOTION_PX: f64 = 1e-3;

/// Greatest distances of shading points along two perpendicular directions of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spacing {
    /// Unit vector of the first direction: along the motion, or to the right if nothing moves.
    direction: [f64; 2],
    /// Distances along the first direction and across it, in pixels.
    pub px: [f64; 2],
}

impl Spacing {
    /// The pixel grid.
    pub const PIXEL: Self = Self {
        direction: [1.0, 0.0],
        px: [1.0; 2],
    };

    /// Cells per pixel, for columns and rows of the grid: coefficients of columns and rows of the picture.
    pub fn basis(&self) -> [[f64; 2]; 2] {
        let [x, y] = self.direction;
        [
            [x / self.px[0], y / self.px[0]],
            [-y / self.px[1], x / self.px[1]],
        ]
    }

    /// Other distances in the same directions.
    pub fn with_px(self, px: [f64; 2]) -> Self {
        Self { px, ..self }
    }
}

/// The spacing of a triangle's shading points. The blur is the least over the corners at both ends of the
/// shutter, so that no part of the triangle is shaded more coarsely than its own blur allows; there is no
/// defocus where the plane in focus cuts the triangle.
pub fn spacing(triangle: &MovingTriangle, shear: &LensShear, quality: f64) -> Spacing {
    let ends = [triangle.start, triangle.end()].map(|corners| corners.map(|p| p.map(f64::from)));
    let corners = || ends.iter().flatten();
    if corners().any(|p| p[2] <= 0.0) {
        return Spacing::PIXEL;
    }
    let blur = |p: &[f64; 3]| 2.0 * shear.at(p[2])[0] / p[2];
    let changes_sign = corners().any(|p| blur(p) > 0.0) && corners().any(|p| blur(p) < 0.0);
    let coc = if changes_sign {
        0.0
    } else {
        corners()
            .map(|p| blur(p).abs())
            .fold(f64::INFINITY, f64::min)
    };
    let moves = [0, 1, 2]
        .map(|i| [0, 1].map(|k| ends[1][i][k] / ends[1][i][2] - ends[0][i][k] / ends[0][i][2]));
    let length = |m: &[f64; 2]| m[0].hypot(m[1]);
    let mean = [0, 1].map(|k| (moves[0][k] + moves[1][k] + moves[2][k]) / 3.0);
    let direction = if length(&mean) > LEAST_MOTION_PX {
        mean.map(|v| v / length(&mean))
    } else {
        [1.0, 0.0]
    };
    // Only the part of each corner's motion along the common direction blurs along it.
    let along = moves.map(|m| (m[0] * direction[0] + m[1] * direction[1]).max(0.0));
    let motion = along.iter().copied().fold(f64::INFINITY, f64::min);
    let defocus = 1.0 + 0.75 * coc * coc;
    let size = |variance: f64| (quality * variance.sqrt()).clamp(1.0, MOST_PX);
    let px = [size(defocus + motion * motion), size(defocus)];
    #[allow(clippy::float_cmp, reason = "clamped to exactly 1")]
    if px == [1.0; 2] {
        return Spacing::PIXEL;
    }
    Spacing { direction, px }
}
