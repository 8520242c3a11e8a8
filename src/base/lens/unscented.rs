//! The unscented transform: mean and covariance of a Gaussian after a mapping, from the images of seven of its points (Wan and
//! van der Merwe, "The unscented Kalman filter for nonlinear estimation", 2000), with the constants of gsplat and 3DGUT.

/// Spread of the points.
const ALPHA: f64 = 0.1;
/// Prior knowledge of the distribution: 2 for Gaussians.
const BETA: f64 = 2.0;
/// Second scaling parameter.
const KAPPA: f64 = 0.0;
/// Number of dimensions.
const DIMENSIONS: f64 = 3.0;
/// Square of the distance of the outer points from the mean, in standard deviations.
const SPREAD: f64 = ALPHA * ALPHA * (DIMENSIONS + KAPPA);
/// Weight of each outer point.
const OUTER: f64 = 1.0 / (2.0 * SPREAD);
/// Weight of the mean in the mean; that in the covariance is larger by `1 - ALPHA^2 + BETA`.
const MIDDLE: f64 = 1.0 - DIMENSIONS / SPREAD;
const MIDDLE_OF_COVARIANCE: f64 = MIDDLE + 1.0 - ALPHA * ALPHA + BETA;

/// Number of points: the mean, and two along each axis.
pub const SIGMA_POINTS: usize = 7;

/// Returns the points of a Gaussian with this mean and these axes, vectors as long as the standard deviations.
pub fn sigma_points(mean: [f64; 3], axes: [[f64; 3]; 3]) -> [[f64; 3]; SIGMA_POINTS] {
    let length = SPREAD.sqrt();
    std::array::from_fn(|point| {
        let Some(outer) = point.checked_sub(1) else { return mean };
        let side = if outer < 3 { length } else { -length };
        [0, 1, 2].map(|row| mean[row] + side * axes[outer % 3][row])
    })
}

/// Returns the mean and the covariance (xx, xy, yy) of the distribution whose points are `images`, in the order of
/// [`sigma_points`].
pub fn moments(images: &[[f64; 2]; SIGMA_POINTS]) -> ([f64; 2], [f64; 3]) {
    // Relative to the image of the mean, so that the large weights of both signs cancel no digits.
    let [middle, outer @ ..] = images;
    let shifts = outer.map(|[x, y]| [x - middle[0], y - middle[1]]);
    let shift = [0, 1].map(|axis| OUTER * shifts.iter().map(|shift| shift[axis]).sum::<f64>());
    let product = |[x, y]: [f64; 2]| [x * x, x * y, y * y];
    let mut covariance = product(shift).map(|v| MIDDLE_OF_COVARIANCE * v);
    for [x, y] in shifts {
        let products = product([x - shift[0], y - shift[1]]);
        for (sum, product) in covariance.iter_mut().zip(products) {
            *sum += OUTER * product;
        }
    }
    ([middle[0] + shift[0], middle[1] + shift[1]], covariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_maps_have_their_moments() {
        let (mean, axes) = ([3.0, -1.0, 2.0], [[0.3, 0.1, 0.0], [0.0, 0.5, 0.2], [0.1, 0.0, 0.4]]);
        let map = |p: [f64; 3]| [2.0 * p[0] - p[1] + 7.0, 0.5 * p[1] + 3.0 * p[2]];
        let (found, covariance) = moments(&sigma_points(mean, axes).map(map));
        let expected = map(mean);
        assert!((0..2).all(|axis| (found[axis] - expected[axis]).abs() < 1e-12), "{found:?}");
        let zero = map([0.0; 3]);
        let columns = axes.map(|axis| {
            let [x, y] = map(axis);
            [x - zero[0], y - zero[1]]
        });
        let of = |a: usize, b: usize| columns.iter().map(|c| c[a] * c[b]).sum::<f64>();
        for (found, expected) in covariance.iter().zip([of(0, 0), of(0, 1), of(1, 1)]) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }

    /// Of `x^2`, with x normal: the mean is the variance.
    #[test]
    fn the_mean_of_a_square_is_the_variance() {
        let axes = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let (found, _) = moments(&sigma_points([0.0; 3], axes).map(|p| [p[0] * p[0], p[1]]));
        assert!((found[0] - 4.0).abs() < 1e-12, "{found:?}");
    }
}
