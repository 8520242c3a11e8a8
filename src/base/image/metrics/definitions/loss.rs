//! The loss of trainers and its gradient, window by window.

use super::super::loss::{LossPadding, LossTerms};
use super::super::windows::{C1, C2, WINDOW_PIXELS, window};

/// As [`LossPictures`](crate::image::metrics::LossPictures), in f64.
pub(super) struct Stack {
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
    pub(super) padding: LossPadding,
}

/// A window whose similarity counts: index and weight of each value within the picture.
type Taps = Vec<(usize, f64)>;

impl Stack {
    fn windows(&self) -> Vec<Taps> {
        let Self { width, height, channels, .. } = *self;
        let reach = WINDOW_PIXELS / 2;
        let margin = if self.padding == LossPadding::Valid { reach } else { 0 };
        let weights = window();
        let mut windows = Vec::new();
        for row in 0..self.a.len() / (width * channels) {
            let y = row % height;
            for x in 0..width {
                let within = |at: usize, length: usize| at >= margin && at + margin < length;
                if !within(x, width) || !within(y, height) {
                    continue;
                }
                for channel in 0..channels {
                    let mut taps = Vec::new();
                    for (dy, down) in weights.iter().enumerate() {
                        for (dx, across) in weights.iter().enumerate() {
                            let (tap_x, tap_y) = (x + dx, y + dy);
                            let inside =
                                |at: usize, length: usize| at >= reach && at - reach < length;
                            if inside(tap_x, width) && inside(tap_y, height) {
                                let tap_row = row - y + tap_y - reach;
                                let pixel = tap_row * width + tap_x - reach;
                                taps.push((pixel * channels + channel, down * across));
                            }
                        }
                    }
                    windows.push(taps);
                }
            }
        }
        windows
    }

    pub(super) fn terms(&self) -> LossTerms {
        let differences = self.a.iter().zip(&self.b).map(|(a, b)| (a - b).abs());
        let windows = self.windows();
        let similarities = windows.iter().map(|taps| self.similarity(taps)[0]);
        LossTerms {
            mean_absolute: differences.sum::<f64>() / self.a.len() as f64,
            ssim: similarities.sum::<f64>() / windows.len() as f64,
        }
    }

    /// Similarity of a window, and its derivatives by the means of a, a^2 and a b.
    fn similarity(&self, taps: &Taps) -> [f64; 4] {
        let mean = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            taps.iter().map(|(at, weight)| weight * of(self.a[*at], self.b[*at])).sum()
        };
        let (a, b) = (mean(&|a, _| a), mean(&|_, b| b));
        let variances = mean(&|a, _| a * a) - a * a + mean(&|_, b| b * b) - b * b;
        let covariance = mean(&|a, b| a * b) - a * b;
        let numerators = [2.0 * a * b + C1, 2.0 * covariance + C2];
        let denominators = [a * a + b * b + C1, variances + C2];
        let (product, per) =
            (numerators[0] * numerators[1], 1.0 / (denominators[0] * denominators[1]));
        let by_square = -product * per / denominators[1];
        let by_product = 2.0 * numerators[0] * per;
        let by_mean = 2.0 * b * numerators[1] * per
            - 2.0 * a * product * per / denominators[0]
            - b * by_product
            - 2.0 * a * by_square;
        [product * per, by_mean, by_square, by_product]
    }

    /// Derivatives of the weighted sum of the terms by the values of `a`.
    pub(super) fn gradient(&self, factors: &LossTerms) -> Vec<f64> {
        let per_value = factors.mean_absolute / self.a.len() as f64;
        let sign = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).signum() * per_value };
        let mut gradient: Vec<f64> = self.a.iter().zip(&self.b).map(sign).collect();
        let windows = self.windows();
        for taps in &windows {
            let [_, by_mean, by_square, by_product] = self.similarity(taps);
            for &(at, weight) in taps {
                let by_value = by_mean + 2.0 * self.a[at] * by_square + self.b[at] * by_product;
                gradient[at] += factors.ssim / windows.len() as f64 * weight * by_value;
            }
        }
        gradient
    }
}
