//! Cells of shading grids that grow with blur (after Vaidyanathan et al., "Adaptive Image Space Shading for Motion and
//! Defocus Blur", 2012).
//!
//! Blur over a disc of diameter `c` (defocus) has the variance of a box of side `sqrt(3/4) c` along each axis, and motion
//! along a segment of length `m` has the variance of a box of side `m`. The cells are boxes with the sum of the variances
//! of pixel and blur, scaled by a quality; a pixel is a box of side 1.

use crate::camera::lens::LensShear;
use crate::raster::triangle::MovingTriangle;

pub(super) const MOST_PX: f64 = 16.0;
/// Motion in pixels below which the grid does not follow the direction of motion.
const LEAST_MOTION_PX: f64 = 1e-3;
/// Variance of a disc of diameter 1, relative to the variance of a unit box.
const DISC_VARIANCE: f64 = 0.75;
const CORNERS: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Largest distances of shading points along two perpendicular directions of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spacing {
    /// Unit vector of the first direction: along the motion, or to the right without motion.
    direction: [f64; 2],
    /// Distances along the first direction and across it, in pixels.
    pub px: [f64; 2],
}

impl Spacing {
    /// Spacing of the pixel grid: one pixel along columns and rows.
    pub const PIXEL: Self = Self { direction: [1.0, 0.0], px: [1.0; 2] };

    /// Linear map from pixels to cells: for grid columns and grid rows, the coefficients of picture columns and rows.
    pub fn basis(&self) -> [[f64; 2]; 2] {
        let [x, y] = self.direction;
        [[x / self.px[0], y / self.px[0]], [-y / self.px[1], x / self.px[1]]]
    }

    /// Replaces the distances and keeps the directions.
    pub(crate) fn with_px(self, px: [f64; 2]) -> Self {
        Self { px, ..self }
    }
}

/// Blur of a triangle by motion and defocus.
#[derive(Debug, Clone, Copy)]
pub struct Blur<'a> {
    shear: &'a LensShear,
    quality: f64,
    /// Corner distances from the camera when the shutter opens and closes.
    distances: [[f64; 3]; 2],
    /// Unit vector along the mean motion of the corners, or to the right without motion.
    direction: [f64; 2],
    /// Smallest motion of a corner along the direction, in pixels.
    motion_px: f64,
}

impl<'a> Blur<'a> {
    /// Measures a triangle behind a lens. With a corner behind the eye at either end of the shutter, it counts as still.
    pub fn new(triangle: &MovingTriangle, shear: &'a LensShear, quality: f64) -> Self {
        let ends =
            [triangle.start, triangle.end()].map(|corners| corners.map(|p| p.map(f64::from)));
        let mut blur = Self {
            shear,
            quality,
            distances: ends.map(|corners| corners.map(|p| p[2])),
            direction: Spacing::PIXEL.direction,
            motion_px: 0.0,
        };
        if blur.distances.iter().flatten().any(|z| *z <= 0.0) {
            return blur;
        }
        let moves = [0, 1, 2]
            .map(|i| [0, 1].map(|k| ends[1][i][k] / ends[1][i][2] - ends[0][i][k] / ends[0][i][2]));
        let length = |m: &[f64; 2]| m[0].hypot(m[1]);
        let mean = [0, 1].map(|k| (moves[0][k] + moves[1][k] + moves[2][k]) / 3.0);
        if length(&mean) > LEAST_MOTION_PX {
            blur.direction = mean.map(|v| v / length(&mean));
        }
        // Only the part of each corner's motion along the common direction blurs along it.
        let along = moves.map(|m| (m[0] * blur.direction[0] + m[1] * blur.direction[1]).max(0.0));
        blur.motion_px = along.iter().copied().fold(f64::INFINITY, f64::min);
        blur
    }

    /// Spacing for the whole triangle.
    pub fn whole(&self) -> Spacing {
        self.spacing(&CORNERS)
    }

    /// Spacing for a convex part of the triangle, given the barycentrics of its corners. The blur is the minimum over the
    /// corners at both ends of the shutter, so that no point of the part is shaded more coarsely than its own blur allows;
    /// a part that the plane in focus cuts has no defocus.
    pub fn spacing(&self, part: &[[f64; 3]]) -> Spacing {
        let coc_px = |z: f64| 2.0 * self.shear.at(z)[0] / z;
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (distances, weights) in
            self.distances.iter().flat_map(|end| part.iter().map(move |weights| (end, weights)))
        {
            let z: f64 = (0..3).map(|i| weights[i] * distances[i]).sum();
            if z <= 0.0 || z.is_nan() {
                return Spacing::PIXEL;
            }
            least = least.min(coc_px(z));
            greatest = greatest.max(coc_px(z));
        }
        self.with_coc(least.max(-greatest).max(0.0))
    }

    /// Spacing for a circle of confusion with a diameter in pixels.
    pub(super) fn with_coc(&self, coc_px: f64) -> Spacing {
        let defocus = 1.0 + DISC_VARIANCE * coc_px * coc_px;
        let size = |variance: f64| (self.quality * variance.sqrt()).clamp(1.0, MOST_PX);
        let px = [size(defocus + self.motion_px * self.motion_px), size(defocus)];
        #[allow(clippy::float_cmp, reason = "clamped to exactly 1")]
        if px == [1.0; 2] {
            return Spacing::PIXEL;
        }
        Spacing { direction: self.direction, px }
    }

    /// Smallest circle of confusion in pixels at which cells may have this side across the motion; NaN if none is needed.
    pub(super) fn coc_for(&self, side_px: f64) -> f64 {
        (((side_px / self.quality).powi(2) - 1.0) / DISC_VARIANCE).sqrt()
    }

    /// Circle of confusion in pixels as a linear function of `1 / Z`: `[constant, slope]`. Negative in front of the focus.
    pub(super) fn coc_by_nearness(&self) -> [f64; 2] {
        [self.shear.a[0], self.shear.b[0]].map(|v| 2.0 * f64::from(v))
    }

    pub(super) fn moves_in_depth(&self) -> bool {
        self.distances[0] != self.distances[1]
    }
}
