//! The filters of FLIP: the eye's contrast sensitivity, and detectors of edges and points.

use std::f64::consts::PI;
use std::ops::RangeInclusive;

use crate::math::whole;

/// A Gaussian of the contrast sensitivity functions: `a sqrt(pi / b) exp(-pi^2 d^2 / b)` at the
/// distance d in degrees (Andersson et al. 2020, section 4.1.1 and table 1).
struct Sensitivity {
    a: f64,
    b: f64,
}

/// Sensitivity to luminance, red-green and blue-yellow.
const SENSITIVITIES: [&[Sensitivity]; 3] = [
    &[Sensitivity { a: 1.0, b: 0.0047 }],
    &[Sensitivity { a: 1.0, b: 0.0053 }],
    &[Sensitivity { a: 34.1, b: 0.04 }, Sensitivity { a: 13.5, b: 0.025 }],
];

/// Largest b of the Gaussians; determines the radius of all filters.
const WIDEST_B: f64 = 0.04;

const RADIUS_SIGMAS: f64 = 3.0;

const FEATURE_WIDTH_DEGREES: f64 = 0.082;

pub(super) struct Filters {
    /// For Y, Cx and Cz: summed filters of total weight 1, each as vertical and horizontal weights.
    pub(super) sensitivity: [Vec<[Vec<f64>; 2]>; 3],
    /// Normalised Gaussian, first and second derivative. The detector of horizontal edges, for example, is the
    /// Gaussian down the columns and the first derivative along the rows.
    pub(super) derivatives: [Vec<f64>; 3],
}

impl Filters {
    pub(super) fn new(pixels_per_degree: f64) -> Self {
        Self {
            sensitivity: SENSITIVITIES.map(|gaussians| sensitivity(gaussians, pixels_per_degree)),
            derivatives: derivatives(pixels_per_degree),
        }
    }
}

/// Gaussians of one channel, sampled on the square of the widest one; their weights sum to 1.
fn sensitivity(gaussians: &[Sensitivity], pixels_per_degree: f64) -> Vec<[Vec<f64>; 2]> {
    let sigma_degrees = (WIDEST_B / (2.0 * PI * PI)).sqrt();
    let distances = distances(RADIUS_SIGMAS * sigma_degrees * pixels_per_degree);
    let lines = gaussians.iter().map(|gaussian| {
        let line: Vec<f64> = distances
            .iter()
            .map(|distance| {
                let degrees = distance / pixels_per_degree;
                (-PI * PI * degrees * degrees / gaussian.b).exp()
            })
            .collect();
        (line, gaussian.a * (PI / gaussian.b).sqrt())
    });
    let lines: Vec<(Vec<f64>, f64)> = lines.collect();
    let weight = |(line, scale): &(Vec<f64>, f64)| scale * line.iter().sum::<f64>().powi(2);
    let total: f64 = lines.iter().map(weight).sum();
    let filters = lines.into_iter().map(|(line, scale)| {
        let vertical = line.iter().map(|value| value * scale / total).collect();
        [vertical, line]
    });
    filters.collect()
}

/// A Gaussian of weight 1, and its first two derivatives, whose weights of each sign sum to 1 and -1 (section 4.2).
fn derivatives(pixels_per_degree: f64) -> [Vec<f64>; 3] {
    let sigma = 0.5 * FEATURE_WIDTH_DEGREES * pixels_per_degree;
    let distances = distances(RADIUS_SIGMAS * sigma);
    let sampled = |factor: fn(f64) -> f64| -> Vec<f64> {
        let values = distances.iter().map(|distance| {
            let t = distance / sigma;
            factor(t) * (-0.5 * t * t).exp()
        });
        normalised(&values.collect::<Vec<f64>>())
    };
    [sampled(|_| 1.0), sampled(|t| -t), sampled(|t| t * t - 1.0)]
}

fn normalised(values: &[f64]) -> Vec<f64> {
    let positive: f64 = values.iter().filter(|&&value| value > 0.0).sum();
    let negative: f64 = -values.iter().filter(|&&value| value < 0.0).sum::<f64>();
    let scaled = |&value: &f64| value / if value < 0.0 { negative } else { positive };
    values.iter().map(scaled).collect()
}

fn distances(radius_pixels: f64) -> Vec<f64> {
    let radius = whole::<i16>(radius_pixels.ceil());
    let whole: RangeInclusive<i16> = -radius..=radius;
    whole.map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up() {
        let filters = Filters::new(67.0);
        for channel in &filters.sensitivity {
            let sum = |values: &[f64]| values.iter().sum::<f64>();
            let weights = channel.iter().map(|[down, across]| sum(down) * sum(across));
            assert!((weights.sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(channel[0][0].len(), 21, "3 sigma of the widest are 9.05 pixels");
        }
        let [gaussian, first, second] = &filters.derivatives;
        assert_eq!(gaussian.len(), 19, "3 sigma are 8.24 pixels");
        assert!((gaussian.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for derivative in [first, second] {
            assert!(derivative.iter().sum::<f64>().abs() < 1e-12);
            assert!((derivative.iter().map(|v| v.abs()).sum::<f64>() - 2.0).abs() < 1e-12);
        }
    }
}
