//! Structural similarity, pixel by pixel.

use std::ops::Range;

use rayon::prelude::*;

use super::super::planes::Pair;
use super::super::separable::Border;
use super::super::windows::{C1, C2, WINDOW_PIXELS, window};
use super::separable::Separable;

/// As the vector code's [`ssim`](crate::image::metrics::ssim), pixel by pixel.
pub(super) fn ssim(pair: &Pair, border: Option<Border>) -> f64 {
    let window = window();
    let margin = match border {
        Some(_) => 0,
        None => WINDOW_PIXELS / 2,
    };
    let border = border.unwrap_or(Border::Zero);
    let is_inside = |at: usize| {
        let (x, y) = (at % pair.width, at / pair.width);
        let within = |at: usize, length: usize| at >= margin && at + margin < length;
        pair.counts(at) && within(x, pair.width) && within(y, pair.height)
    };
    let counted = (0..pair.width * pair.height).filter(|at| is_inside(*at)).count();
    if counted == 0 {
        return ssim(pair, Some(border));
    }
    let [a, b] = &pair.colours;
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        let rows = (0..pair.height).into_par_iter().map_init(WindowedMeans::default, |rows, y| {
            rows.filter(a, b, pair, &window, border, y);
            let counted = (0..pair.width).filter(|x| is_inside(y * pair.width + x));
            counted.map(|x| rows.similarity(x)).sum()
        });
        // Summed in the order of the rows, so that threads do not change the result.
        sum += rows.collect::<Vec<f64>>().iter().sum::<f64>();
    }
    sum / (3.0 * counted as f64)
}

#[derive(Default)]
struct WindowedMeans {
    means: [Vec<f64>; 5],
    scratch: Vec<f64>,
}

impl WindowedMeans {
    fn filter(
        &mut self,
        a: &[f32],
        b: &[f32],
        pair: &Pair,
        window: &[f64],
        border: Border,
        y: usize,
    ) {
        let Self { means, scratch } = self;
        let mut row = RowInput { pixels: [a, b], pair, window, border, y, scratch };
        let [mean_a, mean_b, mean_aa, mean_bb, mean_ab] = means;
        row.mean_of(|p, _| p, mean_a);
        row.mean_of(|_, q| q, mean_b);
        row.mean_of(|p, _| p * p, mean_aa);
        row.mean_of(|_, q| q * q, mean_bb);
        row.mean_of(|p, q| p * q, mean_ab);
    }

    fn similarity(&self, x: usize) -> f64 {
        let [mean_a, mean_b, aa, bb, ab] = [0, 1, 2, 3, 4].map(|i| self.means[i][x]);
        let variances = aa - mean_a * mean_a + bb - mean_b * mean_b;
        let covariance = ab - mean_a * mean_b;
        let luminance = (2.0 * mean_a * mean_b + C1) / (mean_a * mean_a + mean_b * mean_b + C1);
        luminance * (2.0 * covariance + C2) / (variances + C2)
    }
}

struct RowInput<'a> {
    pixels: [&'a [f32]; 2],
    pair: &'a Pair,
    window: &'a [f64],
    border: Border,
    y: usize,
    scratch: &'a mut Vec<f64>,
}

impl RowInput<'_> {
    fn mean_of(&mut self, product: impl Fn(f64, f64) -> f64 + Copy, mean: &mut Vec<f64>) {
        let filter =
            Separable { vertical: self.window, horizontal: self.window, border: self.border };
        let [a, b] = self.pixels;
        let per_unit = 1.0 / f64::from(self.pair.peak);
        let source = |range: Range<usize>| {
            let pixels = a[range.clone()].iter().zip(&b[range]);
            pixels.map(move |(&p, &q)| product(f64::from(p) * per_unit, f64::from(q) * per_unit))
        };
        mean.clear();
        mean.resize(self.pair.width, 0.0);
        filter.add_row(source, self.pair.height, self.y, self.scratch, mean);
    }
}
